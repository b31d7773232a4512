"""Singular configurations that runs pass: the N-four-bar mechanism at tolerances from 1e-4 to 1e-12, for 10 s.

    python benchmarks/singular_passages.py [--windows 2 …] [--tolerances 1e-4 …] [--runs cs me reference] [--json]

Each run has to stay on the branch of its initial velocities, on which all rods are parallel, or has to end with
a message. A row has windows, kind of run and tolerance; largest deviation of a rod's angle from the closed form,
and of the rods' angles from each other, rad, or the time of the message, s; and the wall time, s. Exit status 1 if
a run ends well on another branch.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers_four_bars import n_four_bar, parallel_angle

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.runs.fmpy_runs.simulate import simulate
from gpmelica.tasks.build import build_native

STOP, STEP = 10.0, 0.025  # s
OTHER_BRANCH = 0.1  # rad: on another branch rods are apart by more, soon


@dataclass(frozen=True)
class Passage:
    """One run: deviation from the closed form and of the rods from each other, rad, or the message; times, s."""

    windows: int
    run: str
    tolerance: float
    deviation: float | None
    apart: float | None
    ended: float | None
    message: str
    wall: float

    @property
    def is_wrong(self) -> bool:
        """Whether the run ended well on another branch."""
        return self.apart is not None and not self.apart < OTHER_BRANCH


def _run(model: System, fmu: Path, kind: str, tolerance: float) -> Trajectory:
    if kind == "reference":
        return analysis.simulate(model.problem, analysis.RunSettings(tolerance=tolerance))
    signals = [name for name in model.units if name.startswith("rod")]
    mode = "me" if kind == "me" else "cs"
    return simulate(fmu, mode, signals, name=kind, stop=STOP, output_step=STEP, tolerance=tolerance)


def _deviations(run: Trajectory, windows: int) -> tuple[float, float]:
    """Largest deviation from the closed form and of the rods from each other, rad."""
    rods = run.columns([f"rod{k}_angle" for k in range(windows + 1)])
    from_form = np.abs(rods - parallel_angle(windows, run.time)[:, None]).max()
    return float(from_form), float(np.abs(rods - rods[:, :1]).max())


def _end(message: str) -> float | None:
    times = re.findall(r"t = (\d+\.?\d*(?:e-?\d+)?) s", message)
    return float(times[-1]) if times else None


def passage(model: System, fmu: Path, windows: int, kind: str, tolerance: float) -> Passage:
    """One run of one model."""
    begun = time.perf_counter()
    deviation, apart, ended, message = None, None, None, ""
    try:
        deviation, apart = _deviations(_run(model, fmu, kind, tolerance), windows)
    except SolveError as error:
        message = str(error)
        ended = _end(message)
    return Passage(windows, kind, tolerance, deviation, apart, ended, message, time.perf_counter() - begun)


def _row(found: Passage) -> str:
    what = f"message, t = {found.ended} s"
    if found.deviation is not None:
        what = f"{found.deviation:.1e} rad, {found.apart:.1e} rad"
    wrong = "  WRONG BRANCH" if found.is_wrong else ""
    return f"{found.windows:3d}  {found.run:9s}  {found.tolerance:.0e}  {what:28s}  {found.wall:6.1f} s{wrong}"


def measure(
    windows: Sequence[int], kinds: Sequence[str], tolerances: Sequence[float], *, tell: bool
) -> list[Passage]:
    """All runs; `tell` prints a row as soon as it is known."""
    found = []
    for count in windows:
        model = assemble_system(from_data(n_four_bar(count)))
        with tempfile.TemporaryDirectory() as folder:
            fmu = Path(build_native(model, Path(folder)).path) if {*kinds} & {"cs", "me"} else Path()
            for kind in kinds:
                for tolerance in tolerances:
                    found.append(passage(model, fmu, count, kind, tolerance))
                    if tell:
                        print(_row(found[-1]), flush=True)
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, nargs="+", default=[2, 5, 10, 20, 40])
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
    parser.add_argument("--runs", nargs="+", choices=["cs", "me", "reference"], default=["cs", "me"])
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    given = parser.parse_args()
    found = measure(given.windows, given.runs, given.tolerances, tell=not given.json)
    if given.json:
        print(json.dumps([asdict(passed) for passed in found], indent=2))
    return int(any(passed.is_wrong for passed in found))


if __name__ == "__main__":
    sys.exit(main())
