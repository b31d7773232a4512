"""100 s of the crane's motion, its constraints kept by nothing, by Baumgarte's terms, and by projection.

    python benchmarks/projection.py

prints what each run of the FMU leaves of the constraints and what it costs, and draws docs/projection.png.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description import Description
from gpmelica.report.plots import style
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.build import build_native

ROOT = Path(__file__).parents[1]
FIGURE = ROOT / "docs" / "projection.png"
STOP, OUTPUT_STEP, TOLERANCE = 100.0, 0.1, 1e-6
BOOMS = {"rigid boom": 1, "flexible boom": 4}
_ROUNDING = 1e-16  # of numbers of size 1: less cannot be told from zero
OFF = {"projection": 0}
DORMAND_PRINCE = {"solver_method": 2}  # the FMU itself would take the stiff method for the flexible boom
KEPT_BY: dict[str, dict[str, float]] = {
    "nothing": OFF,
    "Baumgarte (110/s, 20/s)": OFF | {"alpha": 110.0, "beta": 20.0},
    "projection": {},
}
SIGNALS = ("violation_position", "violation_velocity", "projection_correction", "projections", "column_angle")


def crane(elements: int) -> System:
    """The crane of the examples with so many boom elements, projected, without Baumgarte's terms."""
    data = tomllib.loads((ROOT / "examples" / "crane.toml").read_text(encoding="utf-8"))
    data["constraints"] |= {"projection": True, "alpha": 0.0, "beta": 0.0}
    next(link for link in data["links"] if link["name"] == "boom")["beam"]["elements"] = elements
    return assemble_system(Description.model_validate(data))


def simulate(fmu: Path, mode: runs.Mode, name: str, settings: Mapping[str, float]) -> Trajectory:
    """One run of the FMU; the crane goes round the ellipse for all of its time."""
    return runs.simulate(
        fmu,
        mode,
        SIGNALS,
        name=name,
        stop=STOP,
        output_step=OUTPUT_STEP,
        tolerance=TOLERANCE,
        parameters=settings if mode == "me" else {**settings, **DORMAND_PRINCE},
    )


def row(table: Table, boom: str, mode: str, run: Trajectory) -> None:
    """Add a row with a run's constraint violations, corrections and counts."""
    signals, rounds = run.signals, np.ptp(run.signals["column_angle"]) / (2 * np.pi)
    table.add_row(
        boom,
        mode,
        run.name,
        f"{signals['violation_position'].max():.1e}",
        f"{signals['violation_velocity'].max():.1e}",
        f"{signals['projection_correction'][-1]:.1e}",
        f"{signals['projections'][-1]:.0f}",
        f"{run.extra['solver_evaluations']:.3g}",
        f"{run.wall_s:.2f}",
        f"{rounds:.1f}",
    )


def draw(found: Mapping[str, list[Trajectory]]) -> None:
    """Draw the norm of the constraint violation over time, a panel per boom."""
    with style.styled():
        figure = style.new_figure(3.4)
        panels = figure.subplots(1, len(found), sharey=True)
        for axes, (boom, trajectories) in zip(panels, found.items(), strict=True):
            for run in trajectories:
                norm = np.maximum(run.signals["violation_position"], _ROUNDING)
                axes.plot(run.time, norm, linewidth=1.0, label=run.name)
            axes.axhline(1e-10, linestyle="--", color=style.MUTED, linewidth=1.0, label="projection_tolerance")
            axes.set_title(boom)
            axes.set_xlabel("time in s")
            style.log_axis(axes)
        panels[0].set_ylabel("norm of the constraints")
        style.legend_of(figure, panels[0].get_lines())
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Co-simulation of both booms; model exchange of the rigid one, by FMPy's CVODE."""
    headings = ("boom", "mode", "kept by", "‖Φ‖", "‖Φ̇‖", "correction", "projections", "evaluations", "s", "rounds")
    table, found = Table(*headings, title=f"{STOP:g} s of the crane, tolerance {TOLERANCE:g}"), {}
    for boom, elements in BOOMS.items():
        with TemporaryDirectory() as folder:
            fmu = build_native(crane(elements), Path(folder)).path
            found[boom] = [simulate(fmu, "cs", name, settings) for name, settings in KEPT_BY.items()]
            for run in found[boom]:
                row(table, boom, "CS", run)
            if elements > 1:
                continue
            exchanged = {"nothing": OFF} | {
                f"projection from {limit:g}": {"projection_tolerance": limit} for limit in (1e-10, 1e-5)
            }
            for name, settings in exchanged.items():
                row(table, boom, "ME", simulate(fmu, "me", name, settings))
    Console(width=130).print(table)
    draw(found)


if __name__ == "__main__":
    main()
