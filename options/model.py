"""Options of tasks about one model: check, build, run, simulate, animate and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from ..core.progress import Progress, silent
from .common import CompilerName, Fmi, GivenInputs, Html, March, OmcPath, Out, OwnRumoca, Timeout
from .option import Option


@dataclass(frozen=True)
class CheckOptions:
    """Options of `check`."""

    draw: Annotated[bool, Option("write drawing.png, .svg and .html: the machine at its start", "--draw")] = False
    out: Out = None


@dataclass(frozen=True)
class ModelicaOptions:
    """Options of `modelica`."""

    out: Out = None
    drives: Annotated[
        bool, Option("NameDrives.mo, too: with flanges of the Modelica Standard Library", "--drives")
    ] = False


@dataclass(frozen=True)
class BuildOptions:
    """Options of `build`.

    Parameters
    ----------
    out
        Folder; default: the model's name, `_` and the case.
    compiler
        `openmodelica`, `native`, or `auto`: OpenModelica if there is an omc.
    fmi
        Version of FMI, `2.0` or `3.0`.
    platforms
        Systems to build for, such as `linux64` and `win64`, a list or a text with commas; default: this machine.
    march
        Processors to build for: `native` (this one) or `x86-64-v3`; default: all.
    omc
        Path of the omc to use, or `docker:IMAGE`.
    timeout
        Longest time that omc may take, s.
    progress
        Function that is called with an activity and the fraction done.
    """

    out: Out = None
    compiler: CompilerName = "auto"
    fmi: Fmi = "2.0"
    _: KW_ONLY
    platforms: Annotated[
        str | Sequence[str] | None,
        Option(
            "systems to build for, such as linux64,win64,darwin64 (default: this machine's)",
            type=str | None,
            unset=None,
        ),
    ] = ()
    march: March = ""
    omc: OmcPath = None
    timeout: Timeout = 600.0
    progress: Progress = silent


@dataclass(frozen=True)
class BuildFiles:
    """Further files that `build` writes from the command line."""

    reference_results: Annotated[
        bool, Option("write Name_ref.csv, Name_ref.opt and so on beside the FMU", "--reference-results")
    ] = False
    inputs: GivenInputs = None


@dataclass(frozen=True)
class SspOptions:
    """Options of `ssp`."""

    out: Out = None
    controller: Annotated[Path | None, Option("FMU to connect with the plant by the names of its variables")] = (
        None
    )
    fmi: Fmi = "2.0"
    march: March = ""


@dataclass(frozen=True)
class SplitOptions:
    """Options of `split`.

    Parameters
    ----------
    at
        Joints, named by their links, loop closures and lines to cut; a list, or a text with commas.
    out
        Folder of archives and descriptions; default: the model's name, `_` and the case.
    fmi
        Version of FMI, `2.0` or `3.0`.
    march
        Processors to build for: `native` (this one) or `x86-64-v3`; default: all.
    step
        Communication step of masters that run the archive with bushings, s; default: a tenth of the output step.
    stiffness
        Stiffness of each bushing in all directions, N/m; default: as stiff as the step allows.
    damping
        Damping of each bushing in all directions, N·s/m; default: half of the critical damping.
    progress
        Function that is called with an activity and the fraction done.
    """

    at: Annotated[
        str | Sequence[str],
        Option("joints (by their links), closures and ropes to cut, separated by commas", type=str),
    ]
    out: Out = None
    _: KW_ONLY
    fmi: Fmi = "2.0"
    march: March = ""
    step: Annotated[float | None, Option("step of masters for the bushings, s (default: output_step/10)")] = None
    stiffness: Annotated[float | None, Option("stiffness of bushings, N/m (default: by the step)")] = None
    damping: Annotated[float | None, Option("damping of bushings, N.s/m (default: by the step)")] = None
    progress: Progress = silent


@dataclass(frozen=True)
class RunOptions:
    """Options of `run`.

    Parameters
    ----------
    out
        Folder for all files; default: the model's name, `_` and the case.
    inputs
        Inputs of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default: zero.
    tolerance
        Admissible error, relative to each signal's scale; default: 1e-6, or 100 times the description's
        `simulation.tolerance` if that is more, at most 1e-2.
    rumoca
        Whether to run the Modelica source in rumoca also, if it is installed.
    compiler
        `openmodelica`, `native`, or `auto`: both if there is an omc.
    fmi
        Version of FMI, `2.0` or `3.0`.
    march
        Processors to build the native FMU for: `native` (this one) or `x86-64-v3`; default: all.
    omc
        Path of the omc to use, or `docker:IMAGE`.
    timeout
        Longest time that omc, and rumoca's run, may take, s.
    command
        Command line that repeats the run, for the report.
    progress
        Function that is called with an activity and the fraction done.
    """

    out: Out = None
    _: KW_ONLY
    inputs: GivenInputs = None
    tolerance: Annotated[
        float | None,
        Option("admissible error, relative to each signal's scale (1e-6, or 100 times the description's)"),
    ] = None
    rumoca: OwnRumoca = True
    compiler: CompilerName = "auto"
    fmi: Fmi = "2.0"
    march: March = ""
    omc: OmcPath = None
    timeout: Timeout = 600.0
    command: str = ""
    progress: Progress = silent


@dataclass(frozen=True)
class CompareOptions:
    """Options of `compare`."""

    first: Annotated[Path, Option("result file (CSV) or FMU, taken as the truth", positional=True)]
    second: Annotated[Path, Option("result file (CSV) or FMU", positional=True)]
    tolerance: Annotated[float, Option("admissible error, relative to each signal's scale")] = 1e-6


@dataclass(frozen=True)
class MotionOptions:
    """Options of `simulate` and `loads`.

    Parameters
    ----------
    inputs
        Inputs of the FMU over time: a CSV file, or arrays by name, `time` (s) among them; default: zero.
    progress
        Function that is called with an activity and the fraction done.
    """

    inputs: GivenInputs = None
    progress: Progress = silent


@dataclass(frozen=True)
class AnimateOptions:
    """Options of `animate`."""

    out: Out = None
    inputs: GivenInputs = None
    html: Html = False
    gif: Annotated[bool, Option("film for documents", "--gif")] = False
    mp4: Annotated[bool, Option("film by ffmpeg", "--mp4")] = False
    result: Annotated[
        Path | None,
        Option("result file (CSV) or FMU whose motion is shown, with the reference as its ghost"),
    ] = None


@dataclass(frozen=True)
class EvaluateOptions:
    """Options of `evaluate`."""

    state: Annotated[Path, Option('JSON file {"t": 0.0, "q": […], "qd": […]}')]


@dataclass(frozen=True)
class Folder:
    """Folder of a command's files, with the model's own as default value."""

    out: Out = None
