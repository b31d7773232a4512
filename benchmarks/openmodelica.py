"""Builds and evaluations by OpenModelica for 9, 18 and 36 coordinates, beside the native FMU and MultiBody.

The crane of the examples with its boom in 1, 4 and 10 rigid elements. What is drawn with MultiBody is its chain,
without programmed constraints and with one spring on each of the base's coordinates, and the whole machine. All
numbers come from this one run and are CPU time, so that their ratios mean something on any machine, whatever else
it does.

python benchmarks/openmodelica.py [--omc OMC] [--elements 1 4 10] [--beside FILE.mo:CLASS] [--plain]
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from crane import build
from evaluation_time import evaluation_time
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_multibody import chain
from helpers_multibody_crane import crane as whole_crane

from gpmelica.core.errors import BuildError, MissingToolError
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.generator import modelica

ELEMENTS = (1, 4, 10)  # of the boom: n = 9, 18, 36
MISSING_TOOL = 3
TIMEOUT = 3600.0  # s, of one build


@dataclass(frozen=True)
class Row:
    """One FMU of a chain of n coordinates: who built it, in how many s of CPU time, its bytes, s per evaluation.

    n  number of coordinates; 0: another Modelica source
    """

    n: int
    by: str
    build: float
    size: int
    evaluation: float


@dataclass(frozen=True)
class Plain(openmodelica.Omc):
    """An omc that chooses the C compiler's flags itself."""

    @property
    def environment(self) -> dict[str, str]:
        """Without Gpmelica's flags."""
        return {key: value for key, value in super().environment.items() if key == "PATH"}


def measured(elements: int, omcs: dict[str, openmodelica.Omc], folder: Path) -> Iterator[Row]:
    """Yield FMUs of a chain by OpenModelica, by the native backend, and drawn with MultiBody.

    omcs  label in the table → OpenModelica
    """
    begin = _cpu()
    crane = build(elements, folder)
    seconds, model = _cpu() - begin, crane.model
    own = Request(model.name, model.modelica(), modelica.experiment(model.name), "2.0", "me")
    for flags, omc in omcs.items():
        yield compiled(crane.n, f"OpenModelica{flags}", own, folder, omc)
    yield Row(crane.n, "native", seconds, crane.fmu.stat().st_size, evaluation_time(crane.fmu))
    drawings = {"": chain(model, "Chain"), ", whole machine": whole_crane(model, "Whole")}
    for (drawn, text), (flags, omc) in product(drawings.items(), omcs.items()):
        name = text.split()[1]
        request = Request(name, text, name, "2.0", "me", ("Modelica",))
        try:
            yield compiled(crane.n, f"OpenModelica, MultiBody{drawn}{flags}", request, folder, omc)
        except (MissingToolError, BuildError) as error:
            print(f"n = {crane.n}: no FMU of MultiBody{drawn}{flags}: {error}", file=sys.stderr)


def compiled(n: int, by: str, request: Request, folder: Path, omc: openmodelica.Omc) -> Row:
    """A Modelica text by omc, which runs as a script: a session's CPU time is not known before it ends."""
    begin = _cpu()
    built = compile_text(request, folder / request.name, omc, timeout=TIMEOUT, sessions=False)
    return Row(n, by, _cpu() - begin, built.size, evaluation_time(built.fmu))


def _cpu() -> float:
    """CPU time of this process and of its finished children, s."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def beside(text: str, omcs: dict[str, openmodelica.Omc], folder: Path) -> Iterator[Row]:
    """A text from elsewhere, `FILE.mo:CLASS`."""
    file, _, simulated = text.rpartition(":")
    request = Request("Beside", Path(file).read_text("utf-8"), simulated, "2.0", "me")
    for flags, omc in omcs.items():
        yield compiled(0, f"OpenModelica, {simulated}{flags}", request, folder, omc)


def table(rows: list[Row]) -> Table:
    """One line per FMU; the last two columns are ratios to OpenModelica's FMU of the same, or the last, chain."""
    result = Table("n", "FMU by", "build, s", "size, MB", "evaluation, µs", "build", "evaluation", box=MARKDOWN)
    own = {row.n: row for row in rows if row.by == "OpenModelica"}
    own[0] = list(own.values())[-1]
    for row in rows:
        result.add_row(
            str(row.n or "–"),
            row.by,
            f"{row.build:.1f}",
            f"{row.size / 1e6:.2f}",
            f"{row.evaluation * 1e6:.1f}",
            f"{row.build / own[row.n].build:.2f}",
            f"{row.evaluation / own[row.n].evaluation:.2f}",
        )
    return result


def main() -> int:
    """Measure and print; exit status 3 without omc."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--omc", help="path of omc, or docker:IMAGE")
    parser.add_argument("--beside", metavar="FILE.mo:CLASS", help="one more Modelica text in the same run")
    parser.add_argument("--plain", action="store_true", help="with omc's own flags for C, too")
    parser.add_argument("--elements", type=int, nargs="+", default=ELEMENTS, help="rigid elements of the boom")
    arguments = parser.parse_args()
    try:
        omc = openmodelica.find(arguments.omc)
    except MissingToolError as error:
        print(error, file=sys.stderr)
        return MISSING_TOOL
    omcs = {"": omc} | ({", omc's flags": Plain(omc.program, omc.image)} if arguments.plain else {})
    rows: list[Row] = []
    for elements in arguments.elements:
        with TemporaryDirectory() as folder:
            rows += measured(elements, omcs, Path(folder))
            if arguments.beside and elements == arguments.elements[-1]:
                rows += beside(arguments.beside, omcs, Path(folder))
    console = Console(width=120)
    console.print(omc.version())
    console.print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
