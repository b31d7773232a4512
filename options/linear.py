"""Options of tasks about one state: linearize, modes, modes along a key."""

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
    """Operating point of a linear model; by default the initial state.

    Parameters
    ----------
    time
        Time of the run, s, whose state is the operating point.
    state
        Operating point: a JSON file, or `{"t": 0.0, "q": […], "qd": […], "z": […]}`.
    equilibrium
        Whether the operating point is the equilibrium that `statics` finds.
    trim
        Whether the operating point is a steady state that the inputs hold: joints in `statics.locked` keep their
        positions; the other positions and the inputs are found.
    inputs
        Inputs of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default: zero.
    progress
        Function that is called with an activity and the fraction done.
    """

    _: KW_ONLY
    time: Annotated[float | None, Option("time of the run, s, whose state it is about", "--time")] = None
    state: Annotated[
        GivenState | None,
        Option('JSON file {"t": 0.0, "q": […], "qd": […]} that it is about', "--state", type=Path | None),
    ] = None
    equilibrium: Annotated[bool, Option("about the equilibrium that statics finds", "--equilibrium")] = False
    trim: Annotated[bool, Option("about a rest that the inputs hold: finds them", "--trim")] = False
    inputs: GivenInputs = None
    progress: Progress = silent

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that choose an operating point and are given; at most one may be."""
        chosen = {"time": self.time is not None, "state": self.state is not None}
        chosen |= {"equilibrium": self.equilibrium, "trim": self.trim}
        return tuple(name for name, is_given in chosen.items() if is_given)


CHOICES_OF_STATE = ("time", "state", "equilibrium", "trim")


@dataclass(frozen=True)
class LinearizeOptions(StateOptions):
    """Options of `linearize`: an operating point, and what to keep of the linear model.

    Parameters
    ----------
    outputs
        Names of the outputs to keep; default: all except the norms of violations.
    full
        Whether to keep all states of the equations, with the poles of what stabilises the constraints.
    """

    _: KW_ONLY
    outputs: Annotated[
        str | Sequence[str] | None,
        Option("name of an output, may come again (default: all)", "--output", type=list[str] | None),
    ] = None
    full: Annotated[bool, Option("all states of the equations, with the constraints' stabilisation", "--full")] = (
        False
    )


@dataclass(frozen=True)
class LinearizeFiles:
    """Files that `linearize` writes from the command line."""

    bode: Annotated[bool, Option("draw bode.svg of inputs and outputs, too", "--bode")] = False
    out: Annotated[Path | None, Option("folder for linear.json, linear.npz and linear.mat (default: none)")] = None


@dataclass(frozen=True)
class ModesAlongOptions(StateOptions):
    """Options of `modes_along`: a key, its values, and the operating point at each value.

    Parameters
    ----------
    key
        `t`, time of the run in s; a name of `[parameters]`; or a dotted key of the description. Only a key of
        the description may have an operating point other than the default.
    values
        Values of the key, one after the other, rising or falling, shape (K,).
    """

    key: str
    values: Iterable[float]


@dataclass(frozen=True)
class ModesFiles:
    """Pictures of modes that `modes` draws from the command line, or the key that they depend on."""

    html: Annotated[bool, Option("write modes.html: the machine swings in its modes", "--html")] = False
    gif: Annotated[bool, Option("write modes.gif, of the --mode", "--gif")] = False
    mp4: Annotated[bool, Option("write modes.mp4 by ffmpeg, of the --mode", "--mp4")] = False
    numbers: Annotated[
        list[int] | None,
        Option("number of a mode that is shown, may come again (default: all)", "--mode", least=1),
    ] = None
    amplitude: Annotated[
        float | None, Option("of the coordinate that moves most, rad or m (default: what is seen well)")
    ] = None
    along: Annotated[
        str | None,
        Option(
            "KEY=first:last:count or KEY=a,b,c: modes at these values of a key of the description, or times"
            " of the run (t=0:5:50); with --out also modes_along.csv, .json, .svg and .png"
        ),
    ] = None
    out: Out = None
