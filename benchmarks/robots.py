"""Every robot that example-robot-data ships, imported and held against Pinocchio's own reader of URDF.

    pip install -e '.[test]'
    python benchmarks/robots.py [--base fixed|floating] [--only NAME …] [--above N] [--fmu] [--out FILE]

M, h and forward dynamics of the generated equations at 20 random states and of the reference at one, relative to
the largest number; with --fmu those of the native FMU, what its build costs, and its evaluation beside that of
Pinocchio's ABA. The condition of the states' mass matrix is up to 1e6: iCub's head and neck have next to no
inertia about one axis, and at 4e6 Pinocchio's ABA leaves the larger residual. With --above those robots alone that
have more coordinates; with --out each robot is a line of that file, and those in it already are not tried again.
Ends with exit status 1 where an error is above 1e-9.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import tomllib
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio as pin
from crane import Crane
from native_loops import NativeLoops, compile_loops
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_stages import StagedModel
from helpers_urdf import Array, Dynamics, GeneratedMatrices, PinocchioRobot, dissipated, robots

from gpmelica import DescriptionError, analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.api.exchange import Conversion, convert_urdf
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers.binaries import toolchains
from gpmelica.mechanism import signal_names
from gpmelica.runs.fmpy_runs.instance import Instance

TOLERANCE = 1e-9
STATES = 20
CONDITION = 1e6  # of a state's mass matrix, scaled, above which Pinocchio's q̈ has fewer digits than are asked for
ROUNDS = 40
COMPARED = ("robot", "base", "n", "links", "equations", "reference")
COLUMNS = (*COMPARED, "FMU", "build s", "wall s", "FMU µs", "ABA µs", "ratio")


def main() -> int:
    """Try, print; exit status."""
    options = _options()
    known = _known(options.out)
    found = []
    for path in robots():
        if options.only and path.name not in options.only:
            continue
        key = (path.parent.parent.name, path.name, options.base)
        row = known.get(key) or _row(path, options)
        if row is None:
            continue
        found.append(row)
        print(json.dumps(row), file=sys.stderr)
        if options.out is not None and key not in known:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return _say(found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed")
    parser.add_argument("--only", nargs="*", default=(), help="names of files")
    parser.add_argument("--above", type=int, default=0, help="number of coordinates")
    parser.add_argument("--fmu", action="store_true", help="build the native FMU, too")
    parser.add_argument("--out", type=Path, default=None)
    return parser.parse_args()


def _known(out: Path | None) -> dict[tuple[str, str, str], dict[str, Any]]:
    lines = [] if out is None or not out.is_file() else out.read_text(encoding="utf-8").splitlines()
    return {(row["folder"], row["robot"], row["base"]): row for row in map(json.loads, lines)}


def _row(path: Path, options: argparse.Namespace) -> dict[str, Any] | None:
    """Row of results of one robot; None if the robot has too few coordinates."""
    row: dict[str, Any] = {"robot": path.name, "folder": path.parent.parent.name, "base": options.base}
    begin = time.process_time()
    try:
        model = _prepared(convert_urdf(path, options.base))
    except DescriptionError as error:
        return row | {"refused": "; ".join(problem.message for problem in error.problems)[:300]}
    if model.mechanism.n <= options.above:
        return None
    row |= {"n": model.mechanism.n, "links": len(model.mechanism.bodies), "prepare s": time.process_time() - begin}
    floating = options.base == "floating"
    truth = PinocchioRobot(path, model, floating)
    states = [state for state in truth.states(3 * STATES, seed=1) if truth(*state).condition < CONDITION][:STATES]
    expected = [truth(q, qd) for q, qd in states]
    matrices, staged = GeneratedMatrices(model), StagedModel(model)
    row["equations"] = max(
        Dynamics(*matrices(*state), staged(0.0, *state).qdd).error(right)
        for state, right in zip(states, expected, strict=True)
    )
    row["reference"] = _reference(model, *states[0]).error(expected[0])
    return row | (_fmu(path, floating, model, states, expected, row["prepare s"]) if options.fmu else {})


def _prepared(found: Conversion) -> System:
    """Prepare the description; start from 0.3 rad if the robot is singular at zero angles."""
    _ = found.valid  # Raises the error of a robot without regular equations of motion.
    data = tomllib.loads(found.text)
    if any(note.startswith("cannot start") for note in found.notes):
        for link in data["links"]:
            if link["joint"]["type"] == "revolute":
                link["joint"]["position"] = 0.3
    return assemble_system(from_data(data))


def _reference(model: System, q: Array, qd: Array) -> Dynamics:
    found = analysis.evaluate(model.problem, 0.0, q, qd)
    return Dynamics(found.M, found.h - found.Q - dissipated(model.mechanism, qd), found.qdd)


def _fmu(
    path: Path, floating: bool, model: System, states: list[Any], expected: list[Dynamics], prepare_s: float
) -> dict[str, float]:
    """Error of q̈; CPU and wall seconds from the URDF to the FMU; µs of one evaluation, FMU and Pinocchio's ABA."""
    with TemporaryDirectory() as folder:
        begin, children, wall = time.process_time(), _children(), time.monotonic()
        sources = native.generate(model.native_program, model.chain)
        fmu = Path(folder) / f"{model.name}.fmu"
        native.build(sources, fmu, toolchains("2.0"), {})
        seconds = prepare_s + time.process_time() - begin + _children() - children
        wall = prepare_s + time.monotonic() - wall
        names = signal_names(model.mechanism.coordinates, "acceleration")
        with Instance(fmu) as instance:
            errors = [
                np.abs(instance.values(names, 0.0, np.concatenate(state)) - right.qdd).max()
                / np.abs(right.qdd).max()
                for state, right in zip(states, expected, strict=True)
            ]
        q, qd = (np.array(part) for part in zip(*states, strict=True))
        built = Crane(model, sources, fmu, 0.0, seconds)
        with NativeLoops(built, compile_loops(built, Path(folder)), q, qd) as loops:
            calls = max(STATES, 60_000 // model.mechanism.n**2)
            aba, nothing = _aba(path, floating, calls), _Loop(pin.Model(), [(np.zeros(0), np.zeros(0))], calls)
            times = [(loops.evaluations(calls), aba(), nothing()) for _ in range(ROUNDS)]
    # what other processes do only adds
    own, with_calls, overhead = (1e6 * min(column) / calls for column in zip(*times, strict=True))
    theirs = with_calls - overhead
    costs = {"build s": seconds, "wall s": wall, "FMU µs": own, "ABA µs": theirs, "ratio": own / theirs}
    return {"FMU": max(errors)} | costs


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Loop:
    """Seconds of so many forward dynamics of a model at points of q and v, calls from Python included."""

    def __init__(self, model: Any, points: list[tuple[Array, Array]], calls: int) -> None:
        self._model, self._data, self._effort = model, model.createData(), np.zeros(model.nv)
        self._points, self._calls = points, calls

    def __call__(self) -> float:
        function, begin = pin.aba, time.perf_counter()
        for q, v in islice(cycle(self._points), self._calls):
            function(self._model, self._data, q, v, self._effort)
        return time.perf_counter() - begin


def _aba(path: Path, floating: bool, calls: int) -> _Loop:
    """Pinocchio's own floating base, of quaternions."""
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floating else []))
    rng, rest = np.random.default_rng(1), pin.neutral(model)
    points = [
        (pin.integrate(model, rest, rng.normal(size=model.nv)), rng.normal(size=model.nv)) for _ in range(STATES)
    ]
    return _Loop(model, points, calls)


def _say(found: list[dict[str, Any]]) -> int:
    table = Table(*COLUMNS, box=MARKDOWN)
    for row in found:
        if "refused" not in row:
            table.add_row(*(_text(row.get(column, "")) for column in COLUMNS))
    console = Console(width=200)
    console.print(table)
    for row in found:
        if "refused" in row:
            console.print(f"refused: {row['robot']} ({row['base']}): {row['refused']}", markup=False)
    tried = [row for row in found if "refused" not in row]
    worst = max((row.get(key, 0.0) for row in tried for key in ("equations", "reference", "FMU")), default=0.0)
    console.print(
        f"{len(tried)} imported, {len(found) - len(tried)} refused, largest error {worst:.2g}", markup=False
    )
    return int(not worst <= TOLERANCE)


def _text(value: Any) -> str:
    return (
        f"{value:.2g}"
        if isinstance(value, float) and abs(value) < 1e-3
        else f"{value:.4g}"
        if isinstance(value, float)
        else str(value)
    )


if __name__ == "__main__":
    sys.exit(main())
