"""Functions that draw signals over time, with one panel per unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..core.errors import UnknownNameError
from ..core.trajectory import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Curves with different line styles remain visible even if their values are equal.
_STYLES = ("-", "--", ":", "-.")


class Signals(Protocol):
    """Typing protocol for the results of a simulation.

    The results contain signals and their units by name. The signal `time` contains the output
    times, s.
    """

    @property
    def units(self) -> Mapping[str, str]:
        """Unit of each signal by name."""

    def __getitem__(self, name: str) -> Array: ...

    def __iter__(self) -> Iterator[str]: ...


def draw(runs: Mapping[str, Signals], names: Sequence[str]) -> list[Axes]:
    """Draw the named signals of several runs in one figure, with one panel per unit.

    The keys of `runs` are the labels in the legend.
    """
    from matplotlib import pyplot

    if not runs:
        raise UnknownNameError("expected at least one run to plot, got none")
    first = next(iter(runs.values()))
    if not names:
        raise UnknownNameError(f"expected names of signals to plot, got none; known are: {', '.join(first)}")
    values = {(label, name): run[name] for label, run in runs.items() for name in names}
    units = {name: first.units.get(name, "") for name in names}
    panels = list(dict.fromkeys(units.values()))
    figure, grid = pyplot.subplots(len(panels), squeeze=False, sharex=True, layout="constrained")
    for unit, axes in zip(panels, grid[:, 0], strict=True):
        for name in (name for name in names if units[name] == unit):
            for k, (label, run) in enumerate(runs.items()):
                legend = ", ".join(filter(None, (name, label)))
                axes.plot(run["time"], values[label, name], _STYLES[k % len(_STYLES)], label=legend)
        axes.set_ylabel(unit)
        axes.legend()
    figure.supxlabel("time in s")
    return list(grid[:, 0])
