"""Longest computing time of a communication step of the native FMU: a million steps of 1 ms of model time.

    python benchmarks/real_time.py [--steps N]

The crane of the examples by the fixed-step method, RK4, stable with steps of 50 µs where the boom is elastic, and
by the default one. Times by the clock, of a C loop about fmi2DoStep: what the system does meanwhile is in the
largest ones, as it would be for anybody whose process has no core of its own.
"""

from __future__ import annotations

import argparse
import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory

import fmpy
import numpy as np
from crane import Array, Crane, build
from fmpy.fmi2 import FMU2Slave
from native_loops import compile_loops
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

SIZE = 1e-3  # s, of a communication step
RUNGE_KUTTA, DEFAULT = 1, 0
RUNS = (
    (1, RUNGE_KUTTA, 1e-3),
    (1, DEFAULT, 0.0),
    (4, RUNGE_KUTTA, 5e-5),
    (4, DEFAULT, 0.0),
)  # elements, method, step


def times(crane: Crane, loops: ctypes.CDLL, method: int, step: float, steps: int) -> Array:
    """Computing time of each communication step, s, shape (steps,); RuntimeError if one fails."""
    description, folder = fmpy.read_model_description(str(crane.fmu)), fmpy.extract(str(crane.fmu))
    references = {v.name: v.valueReference for v in description.modelVariables}
    fmu = FMU2Slave(
        guid=description.guid,
        unzipDirectory=str(folder),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="timed",
    )
    fmu.instantiate()
    fmu.setInteger([references["solver_method"]], [method])
    if method == RUNGE_KUTTA:
        fmu.setReal([references["solver_step"]], [step])
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    found = np.empty(steps)
    do_step = ctypes.cast(fmu.dll.fmi2DoStep, ctypes.c_void_p)
    component, seconds = ctypes.c_void_p(fmu.component), ctypes.c_void_p(found.ctypes.data)
    status = loops.run_steps(do_step, component, ctypes.c_double(SIZE), steps, seconds)
    fmu.freeInstance()
    if status:
        raise RuntimeError(f"a step ended with status {status}")
    return found


def main() -> None:
    """A row per boom and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10**6)
    steps = parser.parse_args().steps
    table = Table("boom", "method", "median, µs", "99.99 %, µs", "longest, µs", "beyond 1 ms", box=MARKDOWN)
    for elements, method, step in RUNS:
        with TemporaryDirectory() as folder:
            crane = build(elements, Path(folder))
            found = 1e6 * times(crane, compile_loops(crane, Path(folder)), method, step, steps)
        numbers = (np.median(found), np.quantile(found, 0.9999), found.max())
        title = f"RK4, {1e6 * step:.0f} µs" if method == RUNGE_KUTTA else "default"
        late = np.count_nonzero(found > 1e6 * SIZE)
        table.add_row(f"n = {crane.n}", title, *(f"{x:.1f}" for x in numbers), str(late))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
