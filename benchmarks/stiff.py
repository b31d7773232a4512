"""RSRRP closed by replacement joints of 1e8 N/m: co-simulation by each of the FMU's methods.

    python benchmarks/stiff.py

Communication steps of 10 ms; errors against the Rosenbrock method at a tolerance of 1e-11, relative to range.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import fmpy
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_backends import Compiled
from helpers_replacement import model_of
from helpers_stiff import DORMAND_PRINCE, RK4, ROSENBROCK, StiffRun, co_simulate

from gpmelica import analysis
from gpmelica.tasks.build import build_native

CASES = ("spherical_replacement", "revolute_replacement")
NAMES = ("crank_angle", "slider_position", "rocker_angle")
STIFFNESS, STEP, STOP = 1e8, 1e-2, 1.0  # N/m, s, s
TOLERANCES = (1e-4, 1e-6, 1e-8)
ROUNDS = 3


def build(case: str, folder: Path) -> Compiled:
    """Build the linkage's FMU."""
    model = model_of(case, STIFFNESS)
    fmu = build_native(model, folder).path
    return Compiled(model, fmu, Path(fmpy.extract(str(fmu), str(folder / "unpacked"))))


def longest_step(compiled: Compiled) -> float:
    """s, with which RK4 stays stable at the start."""
    model = compiled.model
    return analysis.modes(replace(model.problem, dependent=model.dependent))[0].longest_rk4_step


def runs(compiled: Compiled) -> Iterator[tuple[str, StiffRun]]:
    """Each method with its name: the explicit ones as they are needed, the implicit one at three tolerances."""
    step = 0.95 * longest_step(compiled)
    yield f"Runge–Kutta 4, step {step:.2g} s", _run(compiled, solver_method=RK4, solver_step=step)
    yield "Dormand–Prince, 1e-6", _run(compiled, tolerance=1e-6, solver_method=DORMAND_PRINCE)
    for tolerance in TOLERANCES:
        yield f"Rosenbrock, {tolerance:.0e}", _run(compiled, tolerance=tolerance, solver_method=ROSENBROCK)


def _run(compiled: Compiled, tolerance: float | None = None, **settings: float) -> StiffRun:
    """Return the fastest of several runs, because other processes only add time."""
    found = [
        co_simulate(compiled, NAMES, step=STEP, stop=STOP, tolerance=tolerance, **settings) for _ in range(ROUNDS)
    ]
    return min(found, key=lambda run: run.seconds)


def print_table(case: str, compiled: Compiled) -> None:
    """One row per run, with its speed against that of RK4."""
    exact = co_simulate(compiled, NAMES, step=STEP, stop=STOP, tolerance=1e-11, solver_method=ROSENBROCK)
    headings = ("method", "error", "steps", "evaluations", "Jacobians", "ms per s", "RK4's time")
    table = Table(*headings, title=f"{case}, {STIFFNESS:.0e} N/m", box=MARKDOWN)
    slowest = None
    for name, run in runs(compiled):
        slowest = slowest or run.seconds
        counts = (f"{run.counts[key]:,}" for key in ("steps", "evaluations", "jacobians"))
        ratio = f"{slowest / run.seconds:.1f} ×"
        table.add_row(name, f"{run.error(exact):.1e}", *counts, f"{1e3 * run.seconds:.1f}", ratio)
    Console(width=120).print(table)


def main() -> None:
    """Both replacement joints."""
    for case in CASES:
        with TemporaryDirectory() as folder:
            print_table(case, build(case, Path(folder)))


if __name__ == "__main__":
    main()
