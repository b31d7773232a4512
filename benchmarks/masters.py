"""The slewing crane closed by its controller in three masters, against one simulation of both.

    python benchmarks/masters.py

prints the largest error of the column's angle and the wall time per communication step, and draws the errors into
docs/masters.png.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_masters import SLEWING, controller, masters

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description import load
from gpmelica.exchange.ssp.system import write_ssp
from gpmelica.report.plots import style
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.build import build_native

FIGURE = Path(__file__).parents[1] / "docs" / "masters.png"
DESCRIPTION = SLEWING / "slewing.toml"
ERRORS = (0.002, 0.005, 0.01, 0.02, 0.05)  # ticks, rad
STEPS = (0.04, 0.02, 0.01, 0.005, 0.0025)
STOP, ANGLE = 2.0, "column_angle"
RUNS = (("FMPy", "2.0"), ("libcosim", "2.0"), ("ecos", "2.0"), ("ecos", "3.0"))


def monolithic(folder: Path) -> Trajectory:
    """Plant and controller in one model, by model exchange at a tight tolerance."""
    fmu = build_native(assemble_system(load(DESCRIPTION, "closed")), folder).path
    return runs.simulate(fmu, "me", [ANGLE], name="closed", stop=STOP, output_step=STEPS[-1], tolerance=1e-11)


def measure(run: Callable[[float], tuple[np.ndarray, np.ndarray]], truth: Trajectory) -> list[tuple[float, float]]:
    """Largest error, rad, and wall time, s, at each communication step."""
    found = []
    for step in STEPS:
        begin = time.perf_counter()
        times, angles = run(step)
        rows = np.searchsorted(truth.time, times - 1e-9)
        error = float(np.abs(angles - truth.signals[ANGLE][rows]).max())
        found.append((error, time.perf_counter() - begin))
    return found


def print_table(found: dict[str, list[tuple[float, float]]]) -> None:
    """One row per master, one column per communication step."""
    table = Table("master, FMUs", *(f"{1e3 * step:g} ms" for step in STEPS), title="error in rad (wall time)")
    for name, values in found.items():
        table.add_row(name, *(f"{error:.2e} ({wall:.2f} s)" for error, wall in values))
    Console(width=130).print(table)


def draw(found: dict[str, list[tuple[float, float]]]) -> None:
    """Errors over communication steps, and the slope of order 1."""
    with style.styled():
        figure = style.new_figure(3.4)
        axes = figure.subplots()
        for (name, values), marker in zip(found.items(), "osD^", strict=True):
            size = 9 if marker == "D" else 5  # the lines lie on each other
            axes.loglog(
                STEPS, [error for error, _ in values], marker=marker, markersize=size, fillstyle="none", label=name
            )
        last = found["libcosim, FMI 2.0"][-1][0]
        axes.loglog(STEPS, [last * step / STEPS[-1] for step in STEPS], "k:", linewidth=1.0, label="order 1")
        axes.minorticks_off()
        axes.set_xticks(STEPS, [f"{1e3 * step:g}" for step in STEPS])
        axes.set_yticks(ERRORS, [f"{error:g}" for error in ERRORS])
        axes.set_xlabel("communication step in ms")
        axes.set_ylabel("largest error of the angle in rad")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Build, run and report."""
    found = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        truth = monolithic(folder / "closed")
        model = assemble_system(load(DESCRIPTION, "plant"))
        for master, fmi in RUNS:
            plant = build_native(model, folder / fmi, fmi=fmi).path
            archive = write_ssp(plant, folder / fmi, controller(fmi, folder / fmi))

            def run(step: float, master: str = master, archive: Path = archive) -> tuple[np.ndarray, np.ndarray]:
                times, signals = masters().MASTERS[master](archive, step, STOP, [f"Plant.{ANGLE}"])
                return times, signals[f"Plant.{ANGLE}"]

            found[f"{master}, FMI {fmi}"] = measure(run, truth)
    print_table(found)
    draw(found)


if __name__ == "__main__":
    main()
