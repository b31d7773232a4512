"""Options of runs of coupled FMUs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from ..core.progress import Progress, silent
from .option import Option


@dataclass(frozen=True)
class CosimSystem:
    """Archive that `cosim` runs."""

    system: Annotated[Path, Option("SSP archive of co-simulation FMUs", positional=True)]


@dataclass(frozen=True)
class CosimOptions:
    """Options of `cosim`.

    Parameters
    ----------
    out
        Folder for `result.json`, `report.txt` and `signals.csv`; default: the archive's name, from Python none.
    tolerance
        Admissible error, relative to the range of each signal; default: the archive's, or 1e-4.
    method
        Method for all groups in place of the chosen ones.
    step
        Fixed communication step, s; without it the tolerance decides.
    order
        Degree of extrapolation of the sequential method, 0 to 2.
    stop
        End of the run, s; default: the archive's.
    progress
        Function that is called with an activity and the fraction done.
    """

    out: Annotated[
        Path | str | None, Option("folder for what is written (default: the archive's name)", type=Path | None)
    ] = None
    _: KW_ONLY
    tolerance: Annotated[float | None, Option("admissible error, relative to the range of each signal (1e-4)")] = (
        None
    )
    method: Annotated[str, Option("auto | sequential | hermite | mean_force | pin")] = "auto"
    step: Annotated[float | None, Option("fixed communication step, s (default: by tolerance)")] = None
    order: Annotated[int | None, Option("degree of extrapolation of the sequential method, 0–2")] = None
    stop: Annotated[float | None, Option("end of the run, s (default: the archive's)")] = None
    progress: Progress = silent
