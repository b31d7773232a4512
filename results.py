"""A run as a user of the package holds it: arrays by name, a table, a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import MissingToolError, UnknownNameError
from .generator.language.suggest import unknown
from .trajectory import Array, Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Run:
    """Signals of one run over time, each an array of shape (N,) under its name in the FMU.

    Parameters:
        trajectory  the run as the solver left it
        units       signal → unit, as in the FMU: `rad`, `m/s`, `N.m`

    >>> run = Run(Trajectory("reference", np.array([0.0, 0.5]), {"E_x": np.array([2.0, 3.0])}), {"E_x": "m"})
    >>> run["E_x"][-1]
    np.float64(3.0)
    >>> list(run)
    ['time', 'E_x']
    >>> run["E_y"]
    Traceback (most recent call last):
    ...
    gpmelica.errors.UnknownNameError: there is no signal 'E_y'; known are: time, E_x
    """

    trajectory: Trajectory
    units: Mapping[str, str]

    @property
    def name(self) -> str:
        """Of what ran: reference, fmu-native-cs, …"""
        return self.trajectory.name

    @property
    def time(self) -> Array:
        """Output times, shape (N,), s."""
        return self.trajectory.time

    def __getitem__(self, name: str) -> Array:
        if name == "time":
            return self.time
        if name not in self.trajectory.signals:
            raise UnknownNameError(unknown("signal", name, self))
        return self.trajectory.signals[name]

    def __iter__(self) -> Iterator[str]:
        yield from ("time", *self.trajectory.signals)

    def __len__(self) -> int:
        return 1 + len(self.trajectory.signals)

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self.trajectory.signals

    def __repr__(self) -> str:
        return f"<Run {self.name}: {len(self) - 1} signals at {len(self.time)} times to {self.time[-1]:g} s>"

    def to_dataframe(self) -> DataFrame:
        """The signals as columns of a pandas table, by the time in s; raises MissingToolError without pandas."""
        try:
            from pandas import DataFrame, Index
        except ImportError:
            raise MissingToolError("to_dataframe needs pandas; pip install pandas") from None
        return DataFrame(dict(self.trajectory.signals), index=Index(self.time, name="time"))

    def plot(self, *names: str) -> list[Axes]:
        """Draw signals over time by matplotlib's pyplot, those of one unit together; returns the axes.

        Raises UnknownNameError for a name that is not there, or if there are none.
        """
        from matplotlib import pyplot

        if not names:
            raise UnknownNameError(f"give names of signals to plot; known are: {', '.join(self)}")
        values = {name: self[name] for name in names}
        panels = list(dict.fromkeys(self.units.get(name, "") for name in names))
        figure, grid = pyplot.subplots(len(panels), squeeze=False, sharex=True, layout="constrained")
        for unit, axes in zip(panels, grid[:, 0], strict=True):
            for name in names:
                if self.units.get(name, "") == unit:
                    axes.plot(self.time, values[name], label=name)
            axes.set_ylabel(unit)
            axes.legend()
        figure.supxlabel("time in s")
        return list(grid[:, 0])
