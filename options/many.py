"""Options of commands that make many simulations: `study`, `sweep` and `optimize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

from ..core.progress import Progress, silent
from .common import Fresh, OwnRumoca, Seed
from .option import Option

_SCHEDULER = "workers: auto (processes) | processes | here | dask | address of a Dask scheduler, tcp://…"


@dataclass(frozen=True)
class StudyOptions:
    """Options of the command `study`.

    Parameters
    ----------
    out
        Folder for all files. Default: `Name_study`.
    rumoca
        Whether to simulate the Modelica source also by the Modelica compiler rumoca, if it is
        installed.
    fresh
        Whether to simulate again, even if the results of an earlier command can be reused.
    progress
        Function that is called with an activity and the completed fraction, after each case.
    """

    out: Annotated[Path | str | None, Option("folder for the files (default: Name_study)", type=Path | None)] = (
        None
    )
    _: KW_ONLY
    rumoca: OwnRumoca = True
    fresh: Fresh = False
    progress: Progress = silent


@dataclass(frozen=True)
class StudyChoice:
    """Option of the command `study` to simulate all cases of a description."""

    cases: Annotated[bool, Option("simulate all cases of the description", "--cases")] = False


@dataclass(frozen=True)
class SweepOptions:
    """Options of the command `sweep`.

    Parameters
    ----------
    settings
        Values by key, or texts `KEY=VALUES`. Values are an array or list, a range `"100:1000:10"`
        (first, last, count), or a distribution `"normal(2.1e11, 1e10)"` (mean, standard deviation)
        or `"uniform(0, 1)"`. Keys are parameters of the FMU or dotted keys of the description.
    objectives
        Texts `"name=expression"` with expressions of signals, such as `"top=peak(E_z)"`; see
        docs/sweeps.md.
    out
        Folder of the results. Default: `Name_sweep` with the name of the model, or
        `Name_CASE_sweep` if a case is applied.
    maximize
        Objectives whose large values are better: names of `objectives`, or texts
        `"name=expression"`. These goals decide which runs are the best and the worst.
    minimize
        Objectives whose small values are better, in the same form as for `maximize`.
    samples
        Number of samples of the distributions, for each combination of the listed values.
    sampler
        Sampling method `sobol`, `lhs` (Latin hypercube) or `random`; `saltelli` or `morris` for
        sensitivities.
    seed
        Seed of the samples; the same seed gives the same samples.
    signals
        Names of the signals that are stored for each simulation at all output times. Default: the
        signals in the objectives.
    scheduler
        `processes` or `auto` for worker processes on this computer; `here` for this process only;
        `dask` for Dask on this computer; or the address of a Dask scheduler.
    workers
        Largest number of worker processes on this computer. Default and upper limit: one process
        per core.
    command
        Command line that repeats the sweep, for the report.
    progress
        Function that is called with an activity and the completed fraction.
    """

    settings: Annotated[
        Mapping[str, Any] | str | Sequence[str],
        Option(
            "KEY=VALUES, may be repeated: a,b,c | first:last:count, such as 100:1000:10 for 10 evenly spaced"
            " values from 100 to 1000 | normal(mean,deviation) | uniform(least,most)",
            "--set",
            type=list[str],
            unset=(),
        ),
    ]
    objectives: Annotated[
        str | Sequence[str],
        Option(
            "name=expression of signals, such as top=peak(E_z), may be repeated",
            "--objective",
            type=list[str],
        ),
    ] = ()
    out: Annotated[Path | str | None, Option("folder for the results (default: Name_sweep)", type=Path | None)] = (
        None
    )
    _: KW_ONLY
    maximize: Annotated[
        str | Sequence[str],
        Option("objective whose large values are better: its name, or name=expression", type=list[str]),
    ] = ()
    minimize: Annotated[
        str | Sequence[str],
        Option("objective whose small values are better: its name, or name=expression", type=list[str]),
    ] = ()
    samples: Annotated[int | None, Option("number of samples of the distributions, per point of the grid")] = None
    sampler: Annotated[str, Option("sampling method: sobol | lhs | random | saltelli | morris")] = "sobol"
    seed: Seed = 0
    signals: Annotated[
        str | Sequence[str] | None,
        Option(
            "name of a signal to store, may be repeated (default: the signals in the objectives)",
            "--signal",
            type=list[str] | None,
        ),
    ] = None
    scheduler: Annotated[str, Option(_SCHEDULER)] = "auto"
    workers: Annotated[
        int | None, Option("largest number of worker processes on this machine (default: one per core)")
    ] = None
    command: str = ""
    progress: Progress = silent


@dataclass(frozen=True)
class OptimizeOptions:
    """Options of the command `optimize`.

    Parameters
    ----------
    bounds
        Smallest and largest value by key, or texts `KEY=uniform(least,most)`. Keys are as in
        `sweep`.
    objective
        Expression of signals to be minimised, such as `"peak(E_z)"`. A minus sign before an
        expression maximises the expression: `"-final(E_x)"`.
    out
        Folder of the FMU. Default: `Name_optimum` with the name of the model, or
        `Name_CASE_optimum` if a case is applied.
    constraints
        Texts such as `"rms(column_angle_effort) <= 900"`, with `<=` or `>=`.
    method
        `evolution` for SciPy's differential evolution, or `simplex` for the method of Nelder and
        Mead.
    evaluations
        Maximum number of simulations.
    seed
        Seed of the differential evolution.
    scheduler
        `processes` for worker processes on this computer; `here` for this process only; `dask` for
        Dask on this computer; or the address of a Dask scheduler.
    progress
        Function that is called with an activity and the completed fraction.
    """

    bounds: Annotated[
        Mapping[str, tuple[float, float]] | str | Sequence[str],
        Option("KEY=uniform(least,most), may be repeated", "--set", type=list[str], unset=()),
    ]
    objective: Annotated[
        str,
        Option(
            "expression of signals to minimise, such as peak(E_z) or -final(E_x)",
            unset="",
            shows_default=False,
        ),
    ]
    out: Annotated[
        Path | str | None,
        Option("folder for the files (default: Name_optimum)", type=Path | None),
    ] = None
    _: KW_ONLY
    constraints: Annotated[
        str | Sequence[str],
        Option(
            "expression <= number or expression >= number, may be repeated",
            "--constraint",
            type=list[str],
            unset=(),
        ),
    ] = ()
    method: Annotated[str, Option("search method: evolution (differential) | simplex (Nelder and Mead)")] = (
        "evolution"
    )
    evaluations: Annotated[int, Option("maximum number of simulations")] = 1000
    seed: Seed = 0
    scheduler: Annotated[str, Option(_SCHEDULER)] = "processes"
    progress: Progress = silent


@dataclass(frozen=True)
class Verification:
    """Option to simulate the model with the best parameter values after an optimisation."""

    verify: Annotated[bool, Option("run all solvers with the best values, and write a report", "--verify")] = False
