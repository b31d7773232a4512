"""Options of commands that treat one model, such as `check`, `build`, `run`, `simulate` and `animate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from ..core.progress import Progress, silent
from .common import CompilerName, Fmi, Fresh, GivenInputs, Html, Live, March, OmcPath, Out, OwnRumoca, Timeout
from .option import Option


@dataclass(frozen=True)
class CheckOptions:
    """Options of the command `check`."""

    draw: Annotated[
        bool, Option("write drawing.png, .svg and .html: the mechanism in its initial state", "--draw")
    ] = False
    out: Out = None


@dataclass(frozen=True)
class ModelicaOptions:
    """Options of the command `modelica`."""

    out: Out = None
    drives: Annotated[
        bool, Option("also write NameDrives.mo, with flanges of the Modelica Standard Library", "--drives")
    ] = False


@dataclass(frozen=True)
class BuildOptions:
    """Options of the command `build`.

    Parameters
    ----------
    out
        Folder of the files. Default: `Name`, the name of the model, or `Name_CASE` if a case is
        applied.
    compiler
        `openmodelica`, `native`, or `auto` for OpenModelica if `omc` is installed.
    fmi
        Version of FMI, `2.0` or `3.0`.
    platforms
        Systems to compile for, such as `linux64`, `win64` and `wasm32`: a list, or a text with
        commas. Default: this computer.
    march
        Processors to compile for: `native` (this processor) or `x86-64-v3`. Default: all.
    omc
        Path of the OpenModelica compiler `omc`, or `docker:IMAGE`.
    timeout
        Time limit for `omc`, s.
    progress
        Function that is called with an activity and the completed fraction.
    """

    out: Out = None
    compiler: CompilerName = "auto"
    fmi: Fmi = "2.0"
    _: KW_ONLY
    platforms: Annotated[
        str | Sequence[str],
        Option(
            "systems to compile for, such as linux64,win64,darwin64,wasm32 (default: this computer)",
            type=str,
            shows_default=False,
        ),
    ] = ""
    march: March = ""
    omc: OmcPath = None
    timeout: Timeout = 600.0
    progress: Progress = silent


@dataclass(frozen=True)
class BuildFiles:
    """Options for additional files that the command `build` writes."""

    reference_results: Annotated[
        bool,
        Option(
            "write the reference results Name_ref.csv, Name_ref.opt and so on beside the FMU",
            "--reference-results",
        ),
    ] = False
    inputs: GivenInputs = None


@dataclass(frozen=True)
class SspOptions:
    """Options of the command `ssp`.

    Parameters
    ----------
    out
        Folder of FMU and archive; default: `Name`, the name of the model, or `Name_CASE` if a case
        is applied.
    controller
        FMU of a controller; its variables are connected to variables of the plant with the same
        names.
    connect
        Texts `"A=B"` that connect a variable A of the plant with a variable B of the controller.
    fmi
        Version of FMI, `2.0` or `3.0`.
    march
        Processors to compile for: `native` (this processor) or `x86-64-v3`. Default: all.
    progress
        Function that is called with an activity and the completed fraction.
    """

    out: Out = None
    controller: Annotated[
        Path | str | None,
        Option("FMU of a controller, connected to the plant by names of variables", type=Path | None),
    ] = None
    _: KW_ONLY
    connect: Annotated[
        Sequence[str],
        Option(
            "A=B, may be repeated: connect variable A of the plant with variable B of the controller",
            type=list[str],
        ),
    ] = ()
    fmi: Fmi = "2.0"
    march: March = ""
    progress: Progress = silent


@dataclass(frozen=True)
class SplitOptions:
    """Options of the command `split`.

    Parameters
    ----------
    at
        Joints (named by their links), loop closures and two-point force elements (`[[lines]]`) to
        cut: a list, or a text with commas.
    out
        Folder of archives and descriptions; default: `Name`, the name of the model, or `Name_CASE`
        if a case is applied.
    fmi
        Version of FMI, `2.0` or `3.0`.
    march
        Processors to compile for: `native` (this processor) or `x86-64-v3`. Default: all.
    step
        Communication step, s, for the bushings (spring-dampers in place of joints). Default
        stiffness and damping are stable in other co-simulation programs at this step. Default: a
        tenth of the output step. The default step is shorter if the bushings would otherwise
        deflect by more than 0.1 % of the mechanism's extent.
    stiffness
        Stiffness of each bushing in all directions, N/m; default: the largest value that is stable
        at this communication step.
    damping
        Damping of each bushing in all directions, N·s/m; default: half of the critical damping.
    progress
        Function that is called with an activity and the completed fraction.
    """

    at: Annotated[
        str | Sequence[str],
        Option("joints (by their links), closures and ropes to cut, separated by commas", type=str),
    ]
    out: Out = None
    _: KW_ONLY
    fmi: Fmi = "2.0"
    march: March = ""
    step: Annotated[
        float | None, Option("communication step for bushings, s (default: output_step/10 or less)")
    ] = None
    stiffness: Annotated[float | None, Option("stiffness of bushings, N/m (default: from the step)")] = None
    damping: Annotated[float | None, Option("damping of bushings, N.s/m (default: from the step)")] = None
    progress: Progress = silent


@dataclass(frozen=True)
class RunOptions:
    """Options of the command `run`.

    Parameters
    ----------
    out
        Folder for all files. Default: `Name`, the name of the model, or `Name_CASE` if a case is
        applied.
    inputs
        Inputs of the FMU over time: a CSV file, or arrays by name with the times `time` in s.
        Default: zero.
    tolerance
        Admissible error, relative to the scale of each signal. Default: 100 times
        `simulation.tolerance` of the description, between 1e-6 and 1e-2.
    rumoca
        Whether to simulate the Modelica source also by the Modelica compiler rumoca, if it is
        installed.
    compiler
        `openmodelica`, `native`, or `auto`: both if OpenModelica is installed, otherwise only
        `native`.
    fmi
        Version of FMI, `2.0` or `3.0`.
    march
        Processors to compile for: `native` (this processor) or `x86-64-v3`. Default: all.
    omc
        Path of the OpenModelica compiler `omc`, or `docker:IMAGE`.
    timeout
        Time limit for `omc` and for the simulation in rumoca, s.
    live
        Whether the report contains the model as WebAssembly. The browser can then simulate the
        mechanism with other inputs and parameters. Requires ziglang.
    fresh
        Whether to simulate again, even if the results of an earlier command can be reused.
    command
        Command line that repeats the run, for the report.
    progress
        Function that is called with an activity and the completed fraction.
    """

    out: Out = None
    _: KW_ONLY
    inputs: GivenInputs = None
    tolerance: Annotated[
        float | None,
        Option("admissible error, relative to the scale of each signal (1e-6, or 100 times simulation.tolerance)"),
    ] = None
    rumoca: OwnRumoca = True
    compiler: CompilerName = "auto"
    fmi: Fmi = "2.0"
    march: March = ""
    omc: OmcPath = None
    timeout: Timeout = 600.0
    live: Live = False
    fresh: Fresh = False
    command: str = ""
    progress: Progress = silent


@dataclass(frozen=True)
class CompareOptions:
    """Options of the command `compare`."""

    first: Annotated[Path, Option("result file (CSV) or FMU, the reference", positional=True)]
    second: Annotated[Path, Option("result file (CSV) or FMU, compared with the first", positional=True)]
    tolerance: Annotated[float, Option("admissible error, relative to the scale of each signal")] = 1e-6
    complete: Annotated[bool, Option("disagree if time spans or signals differ (exit status 1)")] = False
    fresh: Fresh = False


@dataclass(frozen=True)
class MotionOptions:
    """Options of `loads`, and of the simulation for an animation.

    Parameters
    ----------
    inputs
        Inputs of the FMU over time: a CSV file, or arrays by name with the times `time` in s. Default:
        zero.
    progress
        Function that is called with an activity and the completed fraction.
    fresh
        Whether to simulate again, even if the results of an earlier command can be reused.
    """

    inputs: GivenInputs = None
    progress: Progress = silent
    fresh: Fresh = False


@dataclass(frozen=True)
class SimulateOptions(MotionOptions):
    """Options of the command `simulate`.

    Parameters
    ----------
    solver
        `reference`: the reference solver, which needs no compiler. `fmu`: co-simulation of the
        native FMU, which is compiled first. The default on the command line is `fmu`.
    stop
        End time, s. Default: `simulation.stop` of the description.
    """

    _: KW_ONLY
    solver: Annotated[
        str, Option("solver: fmu, by the compiled FMU | reference, which needs no compiler", unset="fmu")
    ] = "reference"
    stop: Annotated[float | None, Option("end time, s (default: simulation.stop of the description)")] = None


@dataclass(frozen=True)
class AnimateOptions:
    """Options of the command `animate`."""

    out: Out = None
    inputs: GivenInputs = None
    html: Html = False
    gif: Annotated[bool, Option("write an animated GIF", "--gif")] = False
    mp4: Annotated[bool, Option("write a film by ffmpeg", "--mp4")] = False
    live: Live = False
    fresh: Fresh = False
    result: Annotated[
        Path | None,
        Option("result file (CSV) or FMU to animate, with the reference run as a transparent ghost"),
    ] = None


@dataclass(frozen=True)
class ViewOptions:
    """Options of the command `view`."""

    port: Annotated[int, Option("port on this computer (default: a free one)", least=0, shows_default=False)] = 0
    browser: Annotated[bool, Option("open the page in the browser")] = True


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of the command `evaluate`."""

    state: Annotated[Path, Option('JSON file of the state: {"t": 0.0, "q": […], "qd": […]}')]


@dataclass(frozen=True)
class CacheOptions:
    """Options of the command `cache`."""

    clear: Annotated[bool, Option("remove all stored results", "--clear")] = False


@dataclass(frozen=True)
class Folder:
    """Folder of a command's files; default: the name of the model."""

    out: Out = None
