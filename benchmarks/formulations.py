"""The formulations side by side: size, agreement, drift (Krasinskiy 2023).

    python benchmarks/formulations.py

prints for every example how many states each formulation has, how many unknowns it solves for and what one
evaluation of its native FMU costs; the largest differences between the formulations; and draws how far constraints
are violated over time, with and without stabilisation, into docs/formulations.png.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import fmpy
import numpy as np
from evaluation_time import evaluation_time
from matplotlib.lines import Line2D
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from scipy.ndimage import maximum_filter1d

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_backends import Compiled, Fmu
from helpers_examples import FORMULATIONS
from helpers_formulations import (
    EXAMPLES,
    Array,
    Start,
    State,
    consistent_start,
    example,
    reference_accelerations,
    relative_error,
    states,
    trajectory_error,
)
from helpers_problem import simulate

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.mechanism import Mechanism
from gpmelica.report.plots import style
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.build import build_native

FIGURE = Path(__file__).parents[1] / "docs" / "formulations.png"
STATES, TIMES, TOLERANCE = 20, 5, 1e-10
COLOURS = dict(zip(FORMULATIONS, (style.BLUE, "#d55e00", "#009e73"), strict=True))
DRIFTING = ("four_bar_3d", "planar")
REGULAR = ["coupler.angle", "rocker.angle"]  # dependent: no dead centre
STABILISATION = ("alpha", "beta", "kappa")
HORIZON, LOOSE = 20.0, 1e-8  # s, and a relative tolerance so loose that drift shows


@dataclass(frozen=True)
class Row:
    """One formulation of one example.

    states      number of state variables
    unknowns    number of accelerations and multipliers that are solved for
    evaluation  time of the native FMU's derivatives, µs
    native, reference  relative difference of q̈ from the reference's gpme
    run, reference_run  difference of the coordinates over a run, relative to their ranges
    """

    states: int
    unknowns: int
    evaluation: float
    native: float
    reference: float
    run: float
    reference_run: float


@dataclass(frozen=True)
class Truth:
    """The reference's gpme from a consistent start: its run, states along it and the accelerations there."""

    mechanism: Mechanism
    start: Start
    span: dict[str, float]
    run: Trajectory
    states: list[State]
    accelerations: Array


def truth(name: str, case: str | None, stop: float) -> Truth:
    """Simulate the truth that other formulations are compared with."""
    mechanism, span = example(name, case, "gpme"), {"stop": stop, "output_step": stop / 100}
    start = consistent_start(mechanism)
    run = simulate(mechanism, start=start, tolerance=TOLERANCE, **span)
    at = states(mechanism, run, start, STATES, seed=3)
    return Truth(mechanism, start, span, run, at, reference_accelerations(mechanism, start, at))


def measure(name: str, case: str | None, formulation: str, expected: Truth) -> tuple[int, Row]:
    """Rank of the constraints, and one formulation of an example."""
    mechanism, start = example(name, case, formulation), expected.start
    run = simulate(mechanism, start=start, tolerance=TOLERANCE, **expected.span)
    model = assemble_system(mechanism.chain)
    with TemporaryDirectory() as folder:
        fmu = build_native(model, Path(folder)).path
        native = native_accelerations(model, fmu, Path(folder) / "unpacked", expected.states)
        seconds = min(evaluation_time(fmu) for _ in range(TIMES))
        by_fmu = native_run(model, fmu, start, tolerance=TOLERANCE, **expected.span)
    own = reference_accelerations(mechanism, start, expected.states)
    return len(model.dependent), Row(
        len(model.program.states),
        _unknowns(model, formulation),
        seconds * 1e6,
        relative_error(native, expected.accelerations),
        relative_error(own, expected.accelerations),
        trajectory_error(mechanism, by_fmu, expected.run),
        trajectory_error(mechanism, run, expected.run),
    )


def native_accelerations(model: System, fmu: Path, folder: Path, at: Sequence[State]) -> Array:
    """q̈ by the native FMU's outputs, shape (states, n); friction states are zero."""
    fmpy.extract(str(fmu), str(folder))
    coordinates = model.mechanism.coordinates
    outputs = [f"{c.symbol}_ddot" for c in coordinates]
    found = []
    for t, q, qd in at:
        values = {c.symbol: x for c, x in zip(coordinates, q, strict=True)}
        values |= {f"{c.symbol}_dot": x for c, x in zip(coordinates, qd, strict=True)}
        x = [values.get(state.name, 0.0) for state in model.program.states]
        with Fmu(Compiled(model, fmu, folder), "me") as instance:
            instance.start(time=t).enter_continuous_time()
            instance.set_states(x)
            found.append(instance.get(outputs))
    return np.array(found)


def native_run(
    model: System, fmu: Path, start: Start, *, stop: float, output_step: float, tolerance: float
) -> Trajectory:
    """Co-simulation from a start of one's own."""
    symbols = [c.symbol for c in model.mechanism.coordinates]
    known = {v.name for v in fmpy.read_model_description(str(fmu)).modelVariables}
    values = {
        f"{s}{end}": float(x)
        for end, part in zip(("_start", "_dot_start"), start, strict=True)
        for s, x in zip(symbols, part, strict=True)
    }
    parameters = {name: value for name, value in values.items() if name in known}
    settings = {"stop": stop, "output_step": output_step, "tolerance": tolerance}
    return runs.simulate(fmu, "cs", symbols, name=model.name, parameters=parameters, **settings)


def _unknowns(model: System, formulation: str) -> int:
    n, rank = model.mechanism.n, len(model.dependent)
    return {"gpme": n, "gpme_reduced": n - rank, "lagrange": n + rank}[formulation]


def size_table(measured: dict[str, tuple[Row, ...]]) -> Table:
    """Krasinskiy 2023's claim: states and unknowns of each formulation."""
    headings = ("", *(f"{formulation}: states, unknowns, µs" for formulation in FORMULATIONS))
    table = Table(*headings, box=MARKDOWN)
    for title, rows in measured.items():
        table.add_row(title, *(f"{row.states}, {row.unknowns}, {row.evaluation:.2f}" for row in rows))
    return table


def agreement_table(measured: dict[str, tuple[Row, ...]]) -> Table:
    """Largest differences of any formulation from the reference's gpme."""
    headings = (f"{what}, {who}" for what in ("q̈", "motion") for who in ("native", "reference"))
    table = Table("", *headings, box=MARKDOWN)
    for title, rows in measured.items():
        columns = zip(*((row.native, row.reference, row.run, row.reference_run) for row in rows), strict=True)
        table.add_row(title, *(f"{max(values):.0e}" for values in columns))
    return table


def drift() -> dict[tuple[str, bool], Trajectory]:
    """Runs of the four-bar by formulation, and whether it is stabilised."""
    found = {}
    for formulation in FORMULATIONS:
        for stabilised in (True, False):
            off = {} if stabilised else dict.fromkeys((f"constraints__{key}" for key in STABILISATION), 0.0)
            mechanism = example(*DRIFTING, formulation, constraints__dependent=REGULAR, **off)
            found[formulation, stabilised] = simulate(mechanism, stop=HORIZON, tolerance=LOOSE)
    return found


def draw(runs: dict[tuple[str, bool], Trajectory]) -> None:
    """Positions on the left, velocities on the right: the largest violation within a second.

    gpme and lagrange have the same states and violations, so one is drawn wide below the other.
    """
    with style.styled():
        figure = style.new_figure(3.6)
        panels = figure.subplots(1, 2)
        for axes, level, unit in zip(panels, ("position", "velocity"), ("m", "m/s"), strict=True):
            for (formulation, stabilised), run in runs.items():
                within = int(1.0 / (run.time[1] - run.time[0]))
                values = maximum_filter1d(run.signals[f"violation_{level}"], within)
                line, width = "-" if stabilised else ":", 3.0 if formulation == "gpme" else 1.2
                axes.plot(run.time, values, line, color=COLOURS[formulation], linewidth=width)
            style.log_axis(axes)
            axes.set_title(f"violation of {level}")
            axes.set_ylabel(unit)
            axes.set_xlabel("time in s")
        names = [Line2D([], [], label=name, color=colour) for name, colour in COLOURS.items()]
        kinds = (("α, β, κ of the example", "-"), ("α = β = κ = 0", ":"))
        lines = [Line2D([], [], label=text, color=style.MUTED, linestyle=line) for text, line in kinds]
        style.legend_of(figure, [*names, *lines])
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Tables and the figure."""
    console = Console(width=150)
    measured: dict[str, tuple[Row, ...]] = {}
    for name, case, stop in EXAMPLES:
        with Console(file=sys.stderr).status(name):
            expected = truth(name, case, stop)
            ranks, rows = zip(*(measure(name, case, each, expected) for each in FORMULATIONS), strict=True)
        title = f"{name}{f' {case}' if case else ''}: n = {expected.mechanism.n}, rank {ranks[0]}"
        measured[title] = rows
    console.print(size_table(measured))
    console.print(agreement_table(measured))
    runs = drift()
    for (formulation, stabilised), run in runs.items():
        position, velocity = (run.signals[f"violation_{level}"].max() for level in ("position", "velocity"))
        kind = "stabilised" if stabilised else "not stabilised"
        print(f"{formulation}, {kind}: violated by up to {position:.1e} m, {velocity:.1e} m/s")
    draw(runs)


if __name__ == "__main__":
    main()
