"""A run as a user of the package holds it: arrays by name, a table, a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis.prepared import Prepared
from ..core.errors import MissingToolError, UnknownNameError
from ..core.progress import Progress, silent
from ..core.trajectory import Array, Trajectory
from ..language.suggest import unknown
from ..runs.fmpy_runs.inputs import InputTable, problem_with

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from ..analysis import InitialValueProblem


@dataclass(frozen=True, eq=False)
class Run:
    """Signals of one run over time, each an array of shape (N,) under its name in the FMU.

    Parameters:
        trajectory  the run as the solver left it
        units       signal → unit, as in the FMU: `rad`, `m/s`, `N.m`
        model       what ran; None where only the signals are known
        inputs      of the FMU, that it ran with

    >>> run = Run(Trajectory("reference", np.array([0.0, 0.5]), {"E_x": np.array([2.0, 3.0])}), {"E_x": "m"})
    >>> run["E_x"][-1]
    np.float64(3.0)
    >>> list(run)
    ['time', 'E_x']
    >>> run["E_y"]
    Traceback (most recent call last):
    ...
    gpmelica.core.errors.UnknownNameError: there is no signal 'E_y'; known are: time, E_x
    """

    trajectory: Trajectory
    units: Mapping[str, str]
    model: Prepared | None = None
    inputs: InputTable | None = None

    @property
    def name(self) -> str:
        """Name of the run: reference, fmu-native-cs, …"""
        return self.trajectory.name

    @property
    def time(self) -> Array:
        """Output times, shape (N,), s."""
        return self.trajectory.time

    def __getitem__(self, name: str) -> Array:
        if name == "time":
            return self.time
        if not isinstance(name, str):
            raise UnknownNameError(f"expected the name of a signal, got {name!r}")
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

    def powers(self) -> dict[str, Array]:
        """Return the power of each force element, shape (N,), W; negative if absorbed.

        By what it is: `line rope`, `contact deck`, `support front`, `force wind`, `springs of boom`,
        `stops of boom`, `friction of column`, `closure mount`; by the reference's laws at the run's states.
        Drives are not among them: theirs are efforts times rates.
        Raises UnknownNameError where the run knows no model, DescriptionError where it lacks coordinates,
        SolveError where loads that friction follows cannot be found.
        """
        from .. import analysis, scene

        if self.model is None:
            raise UnknownNameError("powers are of a run of a model; take one of Model.simulate")
        scene.check_coordinates(self.model.mechanism, self.trajectory)
        run, problem = self.trajectory, self._problem(self.model)
        elements = analysis.course(problem, run, most=len(run.time)).power
        return {**elements, **analysis.friction_powers(problem, run)}

    def _problem(self, model: Prepared) -> InitialValueProblem:
        """Equations that the run fulfils."""
        return problem_with(model, self.inputs)

    def animate(
        self, path: Path | str, ghost: Run | None = None, case: str = "", progress: Progress = silent
    ) -> Path:
        """Write a film: `.html`, which plays in any browser and needs no other file, `.gif` or `.mp4`.

        Parameters:
            ghost  run that goes beside it, such as the reference's; forces are of it
            case   for the page's title

        Raises DescriptionError for another ending or a run that lacks coordinates, UnknownNameError where the run
        knows no model, MissingToolError for an mp4 without ffmpeg.
        """
        from .. import scene
        from ..report.animation import check_ending, write_animation

        target = Path(path)
        check_ending(target)
        if self.model is None:
            raise UnknownNameError("only a run of a model can be animated; take one of Model.simulate")
        runs = [run.trajectory for run in (self, ghost) if run is not None]
        for run in runs:
            scene.check_coordinates(self.model.mechanism, run)
        problem = self._problem(self.model)
        found = scene.film(problem, runs)
        return write_animation(target, found, case, progress)
