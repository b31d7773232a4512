"""Coupled systems of FMUs from Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..core.csv_file import write_csv
from ..core.files import write_atomically
from ..core.strict_json import strict_json
from ..core.trajectory import Trajectory
from ..coupling.report import lines
from ..coupling.system import CouplingRemark, open_system
from ..coupling.verdict import Coupled, Options, couple
from ..options.coupling import CosimOptions
from ..options.keywords import taking
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


@taking(CosimOptions)
def cosim(system: Path | str, options: CosimOptions) -> CoupledRun:
    """Run the FMUs of an SSP archive together and judge the result by coarser and finer runs.

    The archive has SSP version 1.0 or 2.0, and co-simulation FMUs of FMI 2.0 and 3.0.

    Returns
    -------
    CoupledRun : signals by `FMU.variable` over 1,001 output times, with the verdict

    Raises
    ------
    DescriptionError : with all problems of the archive and its connections
    SolveError : if the coupling is unstable, or an FMU fails
    """
    if options.out is not None:
        withdraw_cosim(Path(system), options.out)
    wishes = Options(options.tolerance, options.method, options.step, options.order, options.stop)
    with TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as folder, captured(None):
        opened = open_system(Path(system), Path(folder))
        try:
            found = couple(opened, wishes, options.progress)
        finally:
            opened.close()
    trajectory = Trajectory("coupled", found.time, found.signals, found.record.wall_s, len(found.record.pieces))
    run = CoupledRun(trajectory, found.units, verdict=found)
    if options.out is not None:
        _write(run, Path(options.out))
    return run


def _write(run: CoupledRun, out: Path) -> None:
    write_csv(out / "signals.csv", run.trajectory)
    write_atomically(out / "report.txt", "\n".join(lines(run.coupled)) + "\n")
    write_atomically(out / "result.json", strict_json(run.data()))
