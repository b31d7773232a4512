"""Co-simulation of coupled FMUs from Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..core.csv_file import write_csv
from ..core.files import write_atomically
from ..core.strict_json import strict_json
from ..core.trajectory import Trajectory
from ..coupling.compared_run import ComparedRun
from ..coupling.method_comparison import compare
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
    """Signals of a co-simulation of coupled FMUs, with a verdict on their accuracy.

    The names of the signals have the form `FMU.variable`.

    Parameters
    ----------
    trajectory
        Output times in s, and signals, each of shape (N,).
    units
        Unit of each signal.
    model
        Always None, because a coupled system has no description.
    inputs
        Always None, because a coupled system has no free inputs.
    verdict
        Coupling methods, estimated error, energy residuals and remarks.

    Examples
    --------
    The command `gpmelica ssp examples/four_bar_3d.toml` writes the archive of this example.

    >>> import gpmelica as gp
    >>> run = gp.cosim("FourBar3D/FourBar3D.ssp", stop=0.1, step=0.01)
    >>> run.energy_residual, run.rejected_steps
    (0.0, 0)
    """

    verdict: Coupled | None = None

    @property
    def coupled(self) -> Coupled:
        """Verdict on the co-simulation: coupling methods, estimated error, energy residuals and remarks."""
        assert self.verdict is not None
        return self.verdict

    @property
    def ok(self) -> bool:
        """Whether the run is complete, its estimated error is admissible, and the coupling conserves energy.

        Rigid connections between FMUs must also remain closed.
        """
        return self.coupled.ok

    @property
    def error(self) -> float:
        """Largest estimated error of any signal, relative to the range of that signal."""
        return self.coupled.error

    @property
    def energy_residual(self) -> float:
        """Largest energy error that the coupling causes at a connection, relative to the transferred energy."""
        return self.coupled.energy_residual

    @property
    def rejected_steps(self) -> int:
        """Number of communication steps that were rejected and repeated."""
        return self.coupled.rejected_steps

    @property
    def remarks(self) -> tuple[CouplingRemark, ...]:
        """Remarks on the coupling that need the user's attention."""
        return tuple(self.coupled.remarks)

    @property
    def comparison(self) -> tuple[ComparedRun, ...]:
        """Errors and computing times of runs with other coupling methods or communication steps.

        The tuple is empty unless the option `compare` is set.
        """
        return tuple(self.coupled.comparison)

    def data(self) -> dict[str, Any]:
        """Return the verdict as plain data, the contents of `result.json`.

        Returns
        -------
        dict
            Values that the module `json` accepts.
        """
        return self.coupled.data()


@taking(CosimOptions)
def cosim(system: Path | str, options: CosimOptions) -> CoupledRun:
    """Simulate the coupled FMUs of an SSP archive, and estimate the error.

    The archive contains co-simulation FMUs of FMI 2.0 or 3.0. The error is estimated from further
    simulations with other communication steps.

    Parameters
    ----------
    system
        SSP archive (System Structure and Parameterization, version 1.0 or 2.0).

    Returns
    -------
    CoupledRun
        Signals with names `FMU.variable` at 1,001 output times, and a verdict.

    Raises
    ------
    DescriptionError
        If the archive or a connection is invalid; the error contains all problems.
    SolveError
        If the coupling is unstable, or if an FMU fails.

    Examples
    --------
    The command `gpmelica ssp examples/four_bar_3d.toml` writes the archive of this example.

    >>> import gpmelica as gp
    >>> run = gp.cosim("FourBar3D/FourBar3D.ssp", stop=0.1, step=0.01)
    >>> run["Plant.crank_angle"].shape
    (1001,)
    """
    if options.out is not None:
        withdraw_cosim(Path(system), options.out)
    wishes = Options(options.tolerance, options.method, options.step, options.order, options.stop)
    with TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as folder, captured(None):
        opened = open_system(Path(system), Path(folder))
        try:
            found = couple(opened, wishes, options.progress)
            if options.compare:
                found = replace(found, comparison=compare(opened, wishes, found, options.progress))
        finally:
            opened.close()
    trajectory = Trajectory("coupled", found.time, found.signals, found.record.wall_s, len(found.record.pieces))
    run = CoupledRun(trajectory, found.units, verdict=found)
    if options.out is not None:
        _write(run, Path(options.out), options.command)
    return run


def _write(run: CoupledRun, out: Path, command: str) -> None:
    # The module is imported here, because its import of matplotlib takes about a second.
    from ..coupling.page import write_page

    write_page(out, run.coupled, command)
    write_csv(out / "signals.csv", run.trajectory)
    write_atomically(out / "report.txt", "\n".join(lines(run.coupled)) + "\n")
    write_atomically(out / "result.json", strict_json(run.data()))
