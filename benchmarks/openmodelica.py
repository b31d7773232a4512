"""Builds and evaluations by OpenModelica for 9, 18 and 36 coordinates, beside the native FMU and MultiBody.

The crane of the examples with its boom in 1, 4 and 10 rigid elements. All numbers come from this one run, so that
their ratios mean something on any machine.

python benchmarks/openmodelica.py [--omc OMC] [--elements 1 4 10]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import multibody
from crane import build
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from gpmelica.errors import BuildError, MissingToolError
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_evaluation_time import evaluation_time

ELEMENTS = (1, 4, 10)  # of the boom: n = 9, 18, 36
MISSING_TOOL = 3


@dataclass(frozen=True)
class Row:
    """One FMU of a chain of n coordinates: who built it, in how many s, its bytes, s per evaluation."""

    n: int
    by: str
    build: float
    size: int
    evaluation: float


def measured(elements: int, omc: openmodelica.Omc, folder: Path) -> Iterator[Row]:
    """The same chain by OpenModelica, by the native backend, and drawn with MultiBody where omc has it."""
    crane = build(elements, folder)
    model = crane.model
    by_omc = openmodelica.build(model, folder / "omc", omc=omc)
    yield Row(crane.n, "OpenModelica", by_omc.seconds, by_omc.size, evaluation_time(by_omc.fmu))
    seconds = crane.generation_s + crane.compile_s
    yield Row(crane.n, "native", seconds, crane.fmu.stat().st_size, evaluation_time(crane.fmu))
    text = multibody.text(model.mechanism, model.start[0], "Drawn")
    try:
        drawn = compile_text(Request("Drawn", text, "Drawn", "2.0", "me", ("Modelica",)), folder / "drawn", omc)
    except (MissingToolError, BuildError) as error:
        print(f"n = {crane.n}: no FMU of the chain in MultiBody: {error}", file=sys.stderr)
        return
    yield Row(crane.n, "OpenModelica, MultiBody", drawn.seconds, drawn.size, evaluation_time(drawn.fmu))


def table(rows: list[Row]) -> Table:
    """One line per FMU; the last two columns are ratios to OpenModelica's FMU of the same chain."""
    result = Table("n", "FMU by", "build, s", "size, MB", "evaluation, µs", "build", "evaluation", box=MARKDOWN)
    own = {row.n: row for row in rows if row.by == "OpenModelica"}
    for row in rows:
        result.add_row(
            str(row.n),
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
    parser.add_argument("--elements", type=int, nargs="+", default=ELEMENTS, help="rigid elements of the boom")
    arguments = parser.parse_args()
    try:
        omc = openmodelica.find(arguments.omc)
    except MissingToolError as error:
        print(error, file=sys.stderr)
        return MISSING_TOOL
    rows: list[Row] = []
    for elements in arguments.elements:
        with TemporaryDirectory() as folder:
            rows += measured(elements, omc, Path(folder))
    console = Console(width=110)
    console.print(omc.version())
    console.print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
