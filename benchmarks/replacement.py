"""Replacement joints of the linkage RSRRP against its cut joint, over the replacement's stiffness (Urbaś 2016).

    python benchmarks/replacement.py

prints the largest differences of motion and joint loads, and draws them into docs/replacement.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_replacement import FORCES, MOTION, STIFFNESSES, differences, slope

from gpmelica.report.plots import style

FIGURE = Path(__file__).parents[1] / "docs" / "replacement.png"
CASES = ("spherical_replacement", "revolute_replacement")
_UNITS = dict.fromkeys(FORCES, "N") | {"crank_angle": "rad", "rocker_angle": "rad", "slider_position": "m"}


def print_table(case: str, found: dict[str, NDArray[np.float64]]) -> None:
    """One row per signal, and the exponent of a power law through it."""
    headings = ("signal", *(f"{stiffness:.0e} N/m" for stiffness in STIFFNESSES), "exponent")
    table = Table(*headings, title=f"{case}: largest difference from the cut joint")
    for name, values in found.items():
        numbers = (f"{value:.3g}" for value in values)
        table.add_row(f"{name}, {_UNITS[name]}", *numbers, f"{slope(STIFFNESSES, values):.3f}")
    Console(width=110).print(table)


def draw(found: dict[str, dict[str, NDArray[np.float64]]]) -> None:
    """Motion above, joint loads below; a column per case."""
    with style.styled():
        figure = style.new_figure(5.2)
        grid = figure.subplots(2, len(found), sharex=True, sharey="row")
        for column, (case, values) in enumerate(found.items()):
            _panel(grid[0, column], {name: values[name] for name in MOTION}, case.replace("_", " ") + ": motion")
            _panel(grid[1, column], {name: values[name] for name in FORCES}, "joint loads")
            grid[1, column].set_xlabel("stiffness in N/m")
        for axes, unit in zip(grid[:, 0], ("rad or m", "N"), strict=True):
            axes.set_ylabel(f"difference in {unit}")
        for axes in grid[:, -1]:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(FIGURE, dpi=150)


def _panel(axes: Axes, values: dict[str, NDArray[np.float64]], title: str) -> None:
    for name, marker in zip(values, "osD^v", strict=False):
        label = name.replace("_load_", " load, ").replace("_", " ")
        axes.loglog(STIFFNESSES, values[name], marker=marker, markersize=4, linewidth=1.0, label=label)
    top = 3 * max(series[0] for series in values.values())
    steepness = [top * STIFFNESSES[0] / stiffness for stiffness in STIFFNESSES]
    axes.loglog(STIFFNESSES, steepness, "--", color=style.MUTED, linewidth=1.0, label="1/stiffness")
    axes.set_title(title)
    for side in (axes.xaxis, axes.yaxis):
        side.set_major_formatter(FuncFormatter(lambda value, _: style.power_of_ten(value)))
        side.set_minor_locator(NullLocator())


def main() -> None:
    """Both replacement joints."""
    found = {}
    for case in CASES:
        with TemporaryDirectory() as folder:
            found[case] = differences(case, Path(folder))
        print_table(case, found[case])
    draw(found)


if __name__ == "__main__":
    main()
