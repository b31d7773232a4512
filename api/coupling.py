"""Coupled systems of FMUs from Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..core.csv_file import write_csv
from ..core.files import write_atomically
from ..core.progress import Progress, silent
from ..core.strict_json import strict_json
from ..core.trajectory import Trajectory
from ..coupling.report import lines
from ..coupling.system import CouplingRemark, open_system
from ..coupling.verdict import Coupled, Options, couple
from ..runs.fmpy_runs.chatter import captured
from ..tasks.verdicts import withdraw_cosim
from .results import Run


@dataclass(frozen=True, eq=False)
class CoupledRun(Run):
    """Run of a coupled system with its verdict; signals are named `FMU.variable`.

    Parameters
    ----------
    verdict : methods, estimated error, energy residuals and remarks
    """

    verdict: Coupled | None = None

    @property
    def coupled(self) -> Coupled:
        """The verdict of a coupled run, which is always there."""
        assert self.verdict is not None
        return self.verdict

    @property
    def ok(self) -> bool:
        """Whether the coupling agrees with finer runs and holds."""
        return self.coupled.ok

    @property
    def error(self) -> float:
        """Estimated error, relative to the range of the worst signal."""
        return self.coupled.error

    @property
    def energy_residual(self) -> float:
        """Largest energy created or lost at a connection, relative to the energy turned over there."""
        return self.coupled.energy_residual

    @property
    def rejected_steps(self) -> int:
        """Number of steps that were rolled back and repeated."""
        return self.coupled.rejected_steps

    @property
    def remarks(self) -> tuple[CouplingRemark, ...]:
        """Facts about the coupling that need attention."""
        return tuple(self.coupled.remarks)

    def data(self) -> dict[str, Any]:
        """Return what `result.json` contains."""
        return self.coupled.data()


def cosim(
    system: Path | str,
    out: Path | str | None = None,
    *,
    tolerance: float | None = None,
    method: str = "auto",
    step: float | None = None,
    order: int | None = None,
    stop: float | None = None,
    progress: Progress = silent,
) -> CoupledRun:
    """Run the FMUs of an SSP archive together and judge the result by coarser and finer runs.

    Parameters
    ----------
    system : SSP archive, version 1.0 or 2.0, of co-simulation FMUs 2.0 and 3.0
    out : folder for `result.json`, `report.txt` and `signals.csv`; nothing is written without it
    tolerance : admissible error, relative to the range of each signal (1e-4, or the archive's)
    method : auto, sequential, hermite, mean_force or pin
    step : fixed communication step, s; without it the tolerance decides
    order : degree of extrapolation of the sequential method, 0 … 2
    stop : end of the run, s (the archive's)
    progress : called with an activity and the fraction of it that is done

    Returns
    -------
    CoupledRun : signals by `FMU.variable` over 1,001 output times, with the verdict

    Raises
    ------
    DescriptionError : with all problems of the archive and its connections
    SolveError : if the coupling is unstable, or an FMU fails
    """
    if out is not None:
        withdraw_cosim(Path(system), out)
    options = Options(tolerance, method, step, order, stop)
    with TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as folder, captured(None):
        opened = open_system(Path(system), Path(folder))
        try:
            found = couple(opened, options, progress)
        finally:
            opened.close()
    trajectory = Trajectory("coupled", found.time, found.signals, found.record.wall_s, len(found.record.pieces))
    run = CoupledRun(trajectory, found.units, verdict=found)
    if out is not None:
        _write(run, Path(out))
    return run


def _write(run: CoupledRun, out: Path) -> None:
    write_csv(out / "signals.csv", run.trajectory)
    write_atomically(out / "report.txt", "\n".join(lines(run.coupled)) + "\n")
    write_atomically(out / "result.json", strict_json(run.data()))
