"""Options of tasks that make many runs: study, sweep, optimize."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

from ..core.progress import Progress, silent
from .common import OwnRumoca, Seed
from .option import Option

_SCHEDULER = "auto: processes | processes | here | dask | address of a Dask scheduler, tcp://…"


@dataclass(frozen=True)
class StudyOptions:
    """Options of `study`.

    Parameters
    ----------
    out
        Folder for everything; default: `Name_study`.
    rumoca
        Whether to run the Modelica source in rumoca also, if it is installed.
    progress
        Function that is called with an activity and the fraction done, after each case.
    """

    out: Annotated[
        Path | str | None, Option("folder for what is written (default: Name_study)", type=Path | None)
    ] = None
    _: KW_ONLY
    rumoca: OwnRumoca = True
    progress: Progress = silent


@dataclass(frozen=True)
class StudyChoice:
    """Runs that `study` makes."""

    cases: Annotated[bool, Option("all cases of the description", "--cases")] = False


@dataclass(frozen=True)
class SweepOptions:
    """Options of `sweep`.

    Parameters
    ----------
    settings
        Key → values: an array or list, a range `"100:1000:10"` (first, last, count), or a distribution
        `"normal(2.1e11, 1e10)"`, `"uniform(0, 1)"`; or texts `KEY=VALUES`. Keys are parameters of the FMU or
        dotted keys of the description.
    objectives
        `"name=expression"` of signals, such as `"top=peak(E_z)"`; see docs/sweeps.md.
    out
        Folder of the results; default: the model's name, the case and `_sweep`.
    samples
        Number of samples of the distributions, for each combination of the listed values.
    sampler
        `sobol`, `lhs`, `random`; `saltelli` or `morris` for sensitivities.
    seed
        Seed of the samples; the same seed gives the same samples.
    signals
        Signals to keep of each run at all output times; default: those of the objectives.
    scheduler
        `processes`, `here` (this process alone), `dask` (of this machine), the address of a Dask scheduler, or
        `auto`: processes.
    command
        Command line that repeats the sweep, for the report.
    progress
        Function that is called with an activity and the fraction done.
    """

    settings: Annotated[
        Mapping[str, Any] | str | Sequence[str],
        Option(
            "KEY=VALUES, may come again: a,b,c | first:last:count | normal(mean,deviation) | uniform(least,most)",
            "--set",
            type=list[str],
            unset=(),
        ),
    ]
    objectives: Annotated[
        str | Sequence[str],
        Option(
            "name=expression of signals, such as top=peak(E_z); may come again",
            "--objective",
            type=list[str],
            unset=(),
        ),
    ]
    out: Annotated[Path | str | None, Option("folder of the results (default: Name_sweep)", type=Path | None)] = (
        None
    )
    _: KW_ONLY
    samples: Annotated[int | None, Option("of the distributions, per point of the grid")] = None
    sampler: Annotated[str, Option("sobol | lhs | random | saltelli | morris")] = "sobol"
    seed: Seed = 0
    signals: Annotated[
        str | Sequence[str] | None,
        Option(
            "to be kept of each run, may come again (default: the objectives')",
            "--signal",
            type=list[str] | None,
        ),
    ] = None
    scheduler: Annotated[str, Option(_SCHEDULER)] = "auto"
    command: str = ""
    progress: Progress = silent


@dataclass(frozen=True)
class OptimizeOptions:
    """Options of `optimize`.

    Parameters
    ----------
    bounds
        Key → (least, most), or texts `KEY=uniform(least,most)`; keys as those of `sweep`.
    objective
        Expression of signals to be made small, such as `"peak(E_z)"`; a minus sign makes the expression large.
    out
        Folder of the FMU; default: the model's name, the case and `_optimum`.
    constraints
        `"rms(column_angle_effort) <= 900"`, or `>=`.
    method
        `evolution` (SciPy's differential evolution) or `simplex` (Nelder and Mead).
    evaluations
        Largest number of runs.
    seed
        Seed of the evolution.
    scheduler
        `processes`, `here` (this process alone), `dask`, or the address of a Dask scheduler.
    progress
        Function that is called with an activity and the fraction done.
    """

    bounds: Annotated[
        Mapping[str, tuple[float, float]] | str | Sequence[str],
        Option("KEY=uniform(least,most), may come again", "--set", type=list[str], unset=()),
    ]
    objective: Annotated[
        str,
        Option(
            "expression of signals to be made small, such as peak(E_z) or -final(E_x)",
            unset="",
            shows_default=False,
        ),
    ]
    out: Annotated[
        Path | str | None,
        Option("folder of what is written (default: Name_optimum)", type=Path | None),
    ] = None
    _: KW_ONLY
    constraints: Annotated[
        str | Sequence[str],
        Option("expression <= number, or >=; may come again", "--constraint", type=list[str], unset=()),
    ] = ()
    method: Annotated[str, Option("evolution (differential) | simplex (Nelder and Mead)")] = "evolution"
    evaluations: Annotated[int, Option("most runs")] = 1000
    seed: Seed = 0
    scheduler: Annotated[str, Option(_SCHEDULER)] = "processes"
    progress: Progress = silent


@dataclass(frozen=True)
class Verification:
    """Run that follows a search."""

    verify: Annotated[bool, Option("run the best values in full, with a report", "--verify")] = False
