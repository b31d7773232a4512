"""The mobile robot of Wojtyra and Frączek 2013: path, reactions under three eliminations, and which are unique.

    python benchmarks/reactions.py

prints the ranks and the table of section 4.2, and how much motion and reactions differ between the eliminations of
section 4.4; draws the counterparts of Fig. 3 and Fig. 4 into docs/mobile_robot.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from gpmelica import analysis
from gpmelica.core.trajectory import Trajectory
from gpmelica.description import load
from gpmelica.mechanism import Mechanism, build
from gpmelica.report.plots import style

Array = NDArray[np.float64]
ROOT = Path(__file__).parents[1]
EXAMPLE, FIGURE = ROOT / "examples" / "mobile_robot.toml", ROOT / "docs" / "mobile_robot.png"
# case: the paper's numbers of the rows
ELIMINATIONS = {"without_C_y_W4": "6, 21", "without_W1_W4": "18, 21", "without_W2_W4": "19, 21"}
CASES = (*ELIMINATIONS, "minimum_norm")
COLOURS = (style.BLUE, "#d55e00", "#009e73")
POINTS = {
    "centre": style.INK,
    "W1": style.BLUE,
    "W2": "#56b4e9",
    "W3": "#009e73",
    "W4": "#e69f00",
    "W5": "#d55e00",
}


def forces(mechanism: Mechanism, run: Trajectory) -> dict[str, Array]:
    """World components of each joint's force on its link and of the pivots B and C, of edges and drive, N."""
    q = np.column_stack([run.signals[c.symbol] for c in mechanism.coordinates])
    axes = np.array([analysis.poses(mechanism, row)[:, :2, :2] for row in q])
    found = {}
    for b, body in enumerate(mechanism.bodies[1:], start=1):
        local = np.column_stack([run.signals[f"{body.link}_load_f{axis}"] for axis in "xy"])
        found |= _components(body.link, axes[:, b], local)
    for pivot in ("B", "C"):
        local = np.column_stack([run.signals[f"{pivot}_{axis}_force"] for axis in "xy"])
        found |= _components(pivot, axes[:, 0], local)
    edges = {f"W{k}": run.signals[f"W{k}_force"] for k in range(1, 6)}
    return found | edges | {"driving": run.signals["H_position_effort"]}


def _components(name: str, axes: Array, local: Array) -> dict[str, Array]:
    x, y = np.einsum("kij,kj->ik", axes, local)
    return {f"{name} x": x, f"{name} y": y}


def largest_difference(names: list[str], runs: list[dict[str, Array]]) -> float:
    """Over time, between any two runs."""
    return max(float(np.ptp([run[name] for run in runs], axis=0).max()) for name in names)


def _problem(mechanism: Mechanism) -> analysis.InitialValueProblem:
    return analysis.InitialValueProblem(mechanism, analysis.start_state(analysis.ReferenceModel(mechanism)))


def solvability(mechanism: Mechanism) -> analysis.Reactions:
    """Prints the ranks of section 4.2; returns the verdicts, too."""
    found = analysis.reactions(_problem(mechanism))
    print(f"{found.rows} rows, {found.columns} columns, rank {found.rank.rank}: p = {found.redundancy}")
    print(f"rank of the holonomic rows {found.holonomic}, of the nonholonomic ones {found.nonholonomic}")
    return found


def draw(runs: list[Trajectory], found: list[dict[str, Array]]) -> None:
    """Fig. 3 above; Fig. 4 below: reactions that are not unique on the left, unique ones on the right."""
    with style.styled():
        figure = style.new_figure(8.4)
        top, bottom = figure.subfigures(2, 1, height_ratios=(1.0, 1.5))
        _paths(top.subplots(), runs[0])
        panels = bottom.subplots(3, 2, sharex=True)
        for row, names in zip(panels, (("B x", "D x"), ("B y", "D y"), ("W3", "W5")), strict=True):
            for axes, name in zip(row, names, strict=True):
                _over_time(axes, name, [run.time for run in runs], [each[name] for each in found])
        for axes in panels[-1]:
            axes.set_xlabel("time in s")
        for axes in panels[:, 0]:
            axes.set_ylabel("N")
        handles = [
            Line2D([], [], label=f"without rows {rows}", color=colour)
            for rows, colour in zip(ELIMINATIONS.values(), COLOURS, strict=True)
        ]
        bottom.legend(handles=handles, loc="outside upper left", ncols=3)
        figure.savefig(FIGURE, dpi=150)


def _paths(axes: Axes, run: Trajectory) -> None:
    for name, colour in POINTS.items():
        x, y = run.signals[f"{name}_x"], run.signals[f"{name}_y"]
        width = 2.2 if name == "centre" else 1.0
        axes.plot(x, y, linewidth=width, color=colour, label=name)
    axes.set_aspect("equal")
    axes.set_title("Paths of the platform's centre and of the contacts (Wojtyra and Frączek 2013 Fig. 3)")
    axes.set_xlabel("x in m")
    axes.set_ylabel("y in m")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _over_time(axes: Axes, name: str, times: list[Array], values: list[Array]) -> None:
    """Thinner and thinner lines, so that equal ones show all their colours."""
    for time, series, colour, width in zip(times, values, COLOURS, (4.5, 2.6, 1.0), strict=True):
        axes.plot(time, series, color=colour, linewidth=width)
    unique = "not unique" if name[0] == "B" or name == "W3" else "unique"
    axes.set_title(f"{name}: {unique}")


def main() -> None:
    """Tables and the figure."""
    mechanisms = {case: build(load(EXAMPLE, case)) for case in CASES}
    settings = analysis.RunSettings(loads="all", multipliers=True)
    runs = [analysis.simulate(_problem(each), settings) for each in mechanisms.values()]
    found = [forces(each, run) for each, run in zip(mechanisms.values(), runs, strict=True)]
    motion = [c.symbol + end for c in mechanisms["without_W1_W4"].coordinates for end in ("", "_dot")]
    print(f"largest difference of the motion: {largest_difference(motion, [dict(r.signals) for r in runs]):.1g}")
    table = Table("pair", "unique", "largest force, N", "largest difference between cases, N")
    for verdict in solvability(mechanisms["minimum_norm"]).verdicts:
        names = [name for name in found[0] if name.split()[0] == verdict.name]
        largest = max(float(np.abs(each[name]).max()) for each in found for name in names)
        numbers = f"{largest:.3g}", f"{largest_difference(names, found):.2g}"
        table.add_row(verdict.name, "yes" if verdict.unique else "no", *numbers)
    Console(width=100).print(table)
    draw(runs[: len(ELIMINATIONS)], found[: len(ELIMINATIONS)])


if __name__ == "__main__":
    main()
