"""Options for the co-simulation of coupled FMUs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from ..core.progress import Progress, silent
from .option import Option


@dataclass(frozen=True)
class CosimSystem:
    """Argument of the command `cosim`: path of an SSP archive."""

    system: Annotated[Path, Option("SSP archive of co-simulation FMUs", positional=True)]


@dataclass(frozen=True)
class CosimOptions:
    """Options of the command `cosim`.

    Parameters
    ----------
    out
        Folder for `report.html`, `result.json`, `report.txt` and `signals.csv`. Default on the
        command line: a folder with the name of the archive. A call from Python writes no files by
        default.
    tolerance
        Admissible error, relative to the range of each signal. Default: the tolerance in the
        archive, or 1e-4.
    method
        Coupling method: `sequential`, `hermite`, `mean_force` or `pin` for all groups of dependent
        FMUs; or `auto`, which chooses a method for each group.
    step
        Fixed communication step, s. Default: the estimated error controls the steps.
    order
        Degree of the polynomials by which the sequential method extrapolates inputs, 0 to 2.
    stop
        Final time, s. Default: the final time in the archive.
    compare
        Whether to simulate the system also by other coupling methods and steps. The report then
        contains the error and the wall time of each run.
    command
        Command line that repeats the simulation, for the report.
    progress
        Function that is called with an activity and the completed fraction.
    """

    out: Annotated[
        Path | str | None, Option("folder for the files (default: the name of the archive)", type=Path | None)
    ] = None
    _: KW_ONLY
    tolerance: Annotated[float | None, Option("admissible error, relative to the range of each signal (1e-4)")] = (
        None
    )
    method: Annotated[str, Option("coupling method: auto | sequential | hermite | mean_force | pin")] = "auto"
    step: Annotated[float | None, Option("fixed communication step, s (default: according to the tolerance)")] = (
        None
    )
    order: Annotated[int | None, Option("degree of extrapolation of the sequential method, 0 to 2")] = None
    stop: Annotated[float | None, Option("final time, s (default: the final time in the archive)")] = None
    compare: Annotated[bool, Option("simulate by other methods and steps, too; report errors and times")] = False
    command: str = ""
    progress: Progress = silent
