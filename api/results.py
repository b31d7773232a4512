"""Signals of a simulation: arrays by name, pandas data frames, plots and animations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.system import System
from ..core.errors import MissingToolError, UnknownNameError
from ..core.html_table import html_lines, html_note, html_table
from ..core.progress import Progress, silent
from ..core.trajectory import Array, Trajectory
from ..language.suggest import unknown
from ..runs.fmpy_runs.inputs import InputTable, problem_with
from .panels import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from ..analysis import InitialValueProblem
    from ..runs.compare.compare import Comparison

# A notebook shows at most this number of signals in the table of a run.
_MOST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Run:
    """Signals of one simulation by name of the FMU variable, each an array of shape (N,).

    A run is a mapping: `run["crank_angle"]` is an array, `list(run)` contains all names, and
    `"time" in run` is true.

    Parameters
    ----------
    trajectory
        Output times in s, and signals.
    units
        Unit of each signal as in the FMU, such as `rad`, `m/s` or `N.m`.
    model
        Simulated model; None if only the signals are known.
    inputs
        Inputs of the FMU during the simulation, or None.

    Examples
    --------
    >>> import gpmelica as gp
    >>> run = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
    >>> run
    <Run reference: 17 signals at 3 times to 0.02 s>
    >>> run["crank_angle"].round(3)
    array([1.2  , 1.241, 1.283])
    >>> run.units["crank_angle"]
    'rad'
    >>> run["crank_angel"]
    Traceback (most recent call last):
    ...
    gpmelica.core.errors.UnknownNameError: there is no signal 'crank_angel'; did you mean 'crank_angle'?
    """

    trajectory: Trajectory
    units: Mapping[str, str]
    model: System | None = None
    inputs: InputTable | None = None

    @property
    def name(self) -> str:
        """Name of the solver that computed the run, such as `reference` or `fmu-native-cs`."""
        return self.trajectory.name

    @property
    def reused(self) -> str:
        """Date and time of the earlier command that computed this run; empty for a new run."""
        return self.trajectory.reused

    @property
    def time(self) -> Array:
        """Output times in s, shape (N,)."""
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

    def _repr_html_(self) -> str:
        signals = list(self.trajectory.signals.items())
        rows = [
            (name, self.units.get(name, ""), float(np.min(x)), float(np.max(x)), float(x[0]), float(x[-1]))
            for name, x in signals[:_MOST_ROWS]
        ]
        more = [f"and {len(signals) - _MOST_ROWS} more signals"] if len(signals) > _MOST_ROWS else []
        made = [f"run of an earlier command, {self.reused}"] if self.reused else []
        header = ("signal", "unit", "smallest", "largest", "initial", "final")
        return html_lines(repr(self).strip("<>"), *made) + html_table(header, rows) + "".join(map(html_note, more))

    def to_dataframe(self) -> DataFrame:
        """Return the signals as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per output time and one column per signal; the index is the time in s.

        Raises
        ------
        MissingToolError
            If pandas is not installed.

        Examples
        --------
        >>> import gpmelica as gp
        >>> run = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
        >>> run.to_dataframe().shape
        (3, 17)
        """
        try:
            from pandas import DataFrame, Index
        except ImportError:
            raise MissingToolError("to_dataframe needs pandas; pip install pandas") from None
        return DataFrame(dict(self.trajectory.signals), index=Index(self.time, name="time"))

    def plot(self, *names: str) -> list[Axes]:
        """Plot signals over time by Matplotlib, with one panel per unit.

        Parameters
        ----------
        *names
            Names of the signals, at least one.

        Returns
        -------
        list of matplotlib.axes.Axes
            Axes of the panels, from top to bottom.

        Raises
        ------
        UnknownNameError
            If no name is given, or if the run has no signal of that name.

        Examples
        --------
        >>> import gpmelica as gp
        >>> run = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
        >>> [axes.get_ylabel() for axes in run.plot("E_x", "crank_angle", "E_y")]
        ['m', 'rad']
        """
        return draw({"": self}, names)

    def compare(self, other: Run, tolerance: float = 1e-6, complete: bool = False) -> Comparison:
        """Compare another run with this run, signal by signal.

        Parameters
        ----------
        other
            Run to compare with this run. If the output times differ, the run with more output times is
            interpolated.
        tolerance
            Admissible error of each signal, relative to the signal's scale.
        complete
            Whether the runs disagree if they cover different time spans or have different signals.

        Returns
        -------
        Comparison
            Whether the runs agree (`ok`), the largest relative error (`max_rel_error`), the signal with
            this error (`worst_signal`), and the errors of all common signals. The attribute `complete` is
            false if time spans or signals differ; `coverage` contains the time spans and the names of the
            signals that were not compared.

        Raises
        ------
        DescriptionError
            If the tolerance is not positive, or if the runs have no common signal or time span.

        Examples
        --------
        >>> import gpmelica as gp
        >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02})
        >>> heavier = gp.load("examples/four_bar_3d.toml", links={"crank": {"mass": 2.0}})
        >>> found = model.simulate().compare(heavier.simulate(stop=0.02))
        >>> found.ok, found.max_rel_error > 0.01
        (False, True)
        """
        from ..options.checks import above_zero
        from ..runs.compare.compare import compare, required_complete

        above_zero("tolerance", tolerance)
        natural = self.trajectory.natural or other.trajectory.natural
        found = compare(replace(self.trajectory, natural=natural), other.trajectory, self.units, tolerance)
        return required_complete(found) if complete else found

    def powers(self) -> dict[str, Array]:
        """Return the mechanical power that each force element supplies to the mechanism.

        The force laws of the reference solver are evaluated at the states of the run. Drives are
        not included: the power of a drive is its force or torque times the velocity of its
        coordinate.

        Returns
        -------
        dict of str to ndarray
            Power in W, shape (N,), negative if the element absorbs energy. Keys are the kind and
            name of the element, such as `line rope`, `contact deck`, `support front`, `force wind`,
            `springs of boom`, `stops of boom`, `friction of column` or `closure mount`.

        Raises
        ------
        UnknownNameError
            If the run has no model.
        DescriptionError
            If the run lacks the signals of some coordinates.
        SolveError
            If the joint reactions that friction depends on cannot be determined.

        Examples
        --------
        >>> import gpmelica as gp
        >>> powers = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate().powers()
        >>> sorted(powers)
        ['force drive', 'springs of rocker']
        >>> bool((powers["springs of rocker"] <= 0.0).all())
        True
        """
        from .. import analysis, scene

        if self.model is None:
            raise UnknownNameError(
                "expected a run with a model, such as a result of Model.simulate; this run contains signals only"
            )
        scene.check_coordinates(self.model.mechanism, self.trajectory)
        run, problem = self.trajectory, self._problem(self.model)
        elements = analysis.course(problem, run, most=len(run.time)).power
        return {**elements, **analysis.friction_powers(problem, run)}

    def _problem(self, model: System) -> InitialValueProblem:
        return problem_with(model, self.inputs)

    def animate(
        self,
        path: Path | str,
        ghost: Run | None = None,
        case: str = "",
        progress: Progress = silent,
        *,
        live: bool = False,
    ) -> Path:
        """Write an animation of the mechanism.

        Parameters
        ----------
        path
            File to write. The suffix `.html` makes a self-contained page for any browser; `.gif` and `.mp4`
            make films.
        ghost
            Second run, drawn as a transparent mechanism, such as the run of the reference solver. If a
            second run is given, the force arrows show its forces instead of the first run's forces.
        case
            Name of the case for the title of the page.
        progress
            Function that is called with an activity and the completed fraction.
        live
            Whether the page can simulate the mechanism with other inputs and parameters. The page then
            contains the model as WebAssembly.

        Returns
        -------
        Path
            Path of the written file.

        Raises
        ------
        DescriptionError
            If the suffix is unknown, if a run lacks the signals of some coordinates, or if a mesh is
            invalid.
        UnknownNameError
            If the run has no model.
        MissingToolError
            If ffmpeg is missing for an MP4 film, or ziglang for a page with `live`.

        Examples
        --------
        >>> import gpmelica as gp
        >>> run = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
        >>> run.animate("four_bar.html").name
        'four_bar.html'
        """
        from .. import scene
        from ..browser import live_part
        from ..report.animation import check_ending, write_animation

        target = Path(path)
        check_ending(target)
        if self.model is None:
            raise UnknownNameError(
                "expected a run with a model, such as a result of Model.simulate; this run contains signals only"
            )
        runs = [run.trajectory for run in (self, ghost) if run is not None]
        for run in runs:
            scene.check_coordinates(self.model.mechanism, run)
        problem = self._problem(self.model)
        found = scene.film(problem, runs)
        inputs = None if self.inputs is None else self.inputs.trajectory
        part = live_part(self.model, None, inputs, progress) if live and target.suffix == ".html" else None
        return write_animation(target, found, case, progress, live=part)
