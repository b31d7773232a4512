"""Options of commands that linearise the equations: `linearize` and `modes`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from ..core.progress import Progress, silent
from .common import GivenInputs, Out
from .option import Option

GivenState: TypeAlias = Path | str | Mapping[str, Any]


@dataclass(frozen=True)
class StateOptions:
    """Options for the operating point of a linear model. The default is the initial state.

    Parameters
    ----------
    time
        Time in s at which the state of a simulation is the operating point.
    state
        Operating point: a JSON file, or `{"t": 0.0, "q": […], "qd": […], "z": […]}` with time in s,
        coordinates, rates and friction states.
    equilibrium
        Whether the operating point is the equilibrium that `Model.statics` finds.
    trim
        Whether the operating point is a steady state that the inputs maintain. Joints in
        `statics.locked` keep their positions, and motions keep their values at t = 0. All other
        positions and the inputs are computed.
    inputs
        Inputs of the FMU over time: a CSV file, or arrays by name with the times `time` in s.
        Default: zero.
    progress
        Function that is called with an activity and the completed fraction.
    """

    _: KW_ONLY
    time: Annotated[
        float | None, Option("time of a simulation, s, whose state is the operating point", "--time")
    ] = None
    state: Annotated[
        GivenState | None,
        Option('JSON file of the operating point: {"t": 0.0, "q": […], "qd": […]}', "--state", type=Path | None),
    ] = None
    equilibrium: Annotated[
        bool, Option("operating point: the equilibrium that statics finds", "--equilibrium")
    ] = False
    trim: Annotated[
        bool,
        Option(
            "operating point: a steady state, with the inputs that maintain it; linearize writes them to"
            " trim.csv, for run --input",
            "--trim",
        ),
    ] = False
    inputs: GivenInputs = None
    progress: Progress = silent

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that the user has set to select an operating point; more than one is an error."""
        chosen = {"time": self.time is not None, "state": self.state is not None}
        chosen |= {"equilibrium": self.equilibrium, "trim": self.trim}
        return tuple(name for name, is_given in chosen.items() if is_given)


CHOICES_OF_STATE = ("time", "state", "equilibrium", "trim")


@dataclass(frozen=True)
class LinearizeOptions(StateOptions):
    """Options of `linearize`: operating point, outputs and states of the linear model.

    Parameters
    ----------
    outputs
        Names of the outputs of the linear model. Default: all except norms of constraint violations.
    full
        Whether dependent coordinates and their rates are also states of the linear model. Its
        eigenvalues then include those of the constraint stabilisation.
    """

    _: KW_ONLY
    outputs: Annotated[
        str | Sequence[str] | None,
        Option("name of an output, may be repeated (default: all)", "--output", type=list[str] | None),
    ] = None
    full: Annotated[
        bool, Option("keep all states of the equations, with the constraint stabilisation", "--full")
    ] = False


@dataclass(frozen=True)
class LinearizeFiles:
    """Options for files that the command `linearize` writes."""

    bode: Annotated[bool, Option("also write the Bode plot bode.svg of all inputs and outputs", "--bode")] = False
    out: Annotated[Path | None, Option("folder for linear.json, linear.npz and linear.mat (default: none)")] = None


@dataclass(frozen=True)
class ModesAlongOptions(StateOptions):
    """Options of `modes_along`: a varied key, its values, and the operating point at each value.

    Parameters
    ----------
    key
        `t` for the time of a simulation in s, a name in `[parameters]`, or a dotted key of the
        description. With `t`, the states of the simulation are the operating points, and options
        that select an operating point must not be set.
    values
        Values of the key in rising or falling order, shape (K,).
    """

    key: str
    values: Iterable[float]


@dataclass(frozen=True)
class ModesFiles:
    """Options for animations and tables that the command `modes` writes."""

    html: Annotated[bool, Option("write modes.html, an animation of the modes", "--html")] = False
    gif: Annotated[bool, Option("write modes.gif, an animation of one --mode", "--gif")] = False
    mp4: Annotated[bool, Option("write modes.mp4 by ffmpeg, an animation of one --mode", "--mp4")] = False
    numbers: Annotated[
        list[int] | None,
        Option("number of a mode to animate, may be repeated (default: all)", "--mode", least=1),
    ] = None
    amplitude: Annotated[
        float | None,
        Option("amplitude of the coordinate with the largest motion, rad or m (default: clearly visible)"),
    ] = None
    along: Annotated[
        str | None,
        Option(
            "KEY=a,b,c or KEY=first:last:count (count evenly spaced values, first and last included): modes at"
            " values of a key of the description, or at times of a simulation (t=0:5:51); with --out also"
            " modes_along.csv, .json, .svg and .png"
        ),
    ] = None
    out: Out = None
