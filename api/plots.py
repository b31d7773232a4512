"""Plots of signals over time, of one run or of several runs in one figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .panels import draw
from .results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(runs: Run | Mapping[str, Run] | Iterable[Run], *names: str) -> list[Axes]:
    """Plot signals of several runs over time in one Matplotlib figure, with one panel per unit.

    Parameters
    ----------
    runs
        One run, several runs, or a mapping from labels in the legend to runs. Runs without labels
        get the names of their solvers as labels; several runs of the same solver also get a number.
    *names
        Names of the signals, at least one.

    Returns
    -------
    list of matplotlib.axes.Axes
        Axes of the panels, from top to bottom.

    Raises
    ------
    UnknownNameError
        If no run or no name is given, or if a run lacks one of the signals.

    Examples
    --------
    >>> import gpmelica as gp
    >>> def run(mass):
    ...     return gp.load("examples/four_bar_3d.toml", links={"crank": {"mass": mass}}).simulate(stop=0.02)
    >>> runs = {"1 kg": run(1.0), "2 kg": run(2.0)}
    >>> [axes.get_ylabel() for axes in gp.plot(runs, "crank_angle")]
    ['rad']
    """
    return draw(_labelled(runs), names)


def _labelled(runs: Run | Mapping[str, Run] | Iterable[Run]) -> dict[str, Run]:
    """Return a mapping from labels in the legend to runs. If there is only one run, its label is empty."""
    if isinstance(runs, Run):
        return {"": runs}
    if isinstance(runs, Mapping):
        return dict(runs)
    listed = list(runs)
    names = [run.name for run in listed]
    labels = (name if names.count(name) == 1 else f"{name} {k}" for k, name in enumerate(names, 1))
    return dict(zip(labels, listed, strict=True))
