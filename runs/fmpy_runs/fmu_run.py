"""Settings of an FMU run in FMPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Literal

from ...core.progress import Progress, silent
from .inputs import InputTable

Mode = Literal["me", "cs"]


@dataclass(frozen=True)
class FmuRun:
    """Settings of an FMU run in FMPy.

    Parameters
    ----------
    mode
        `me` for model exchange, `cs` for co-simulation.
    names
        Names of the variables to record.
    name
        Name of the trajectory, and of the run in messages.
    stop, output_step
        End time and output interval, s.
    tolerance
        Relative tolerance of FMPy's CVODE (`me`) or of the FMU's own solver (`cs`).
    parameters
        Parameter values that are set before initialisation.
    nominals
        Magnitudes of states by name for FMPy's CVODE. A magnitude is used if it is smaller than the
        nominal value of the state.
    inputs
        Inputs of the FMU over time; None if all inputs are zero.
    progress
        Callback with the name and the completed fraction.
    log_file
        File that receives the FMU's standard output.
    """

    mode: Mode
    names: Sequence[str]
    _: KW_ONLY
    name: str
    stop: float
    output_step: float
    tolerance: float
    parameters: Mapping[str, float] | None = None
    nominals: Mapping[str, float] | None = None
    inputs: InputTable | None = None
    progress: Progress = silent
    log_file: Path | None = None
