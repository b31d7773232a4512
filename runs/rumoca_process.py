"""Simulation by rumoca in a separate process, because rumoca may ignore Ctrl-C and its own time limit.

The process first simulates the whole time span. If the process reaches a time limit, a second
process simulates only the first part of the time span. The limits refer to processor time if the
system can measure it, so that other processes do not affect the verdict.
"""

from __future__ import annotations

import json
import math
import pickle
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.errors import BuildError, GpmelicaError, SolveError
from ..core.files import write_atomically
from ..core.trajectory import Trajectory
from ..core.workers import alone
from .rumoca import CompiledModel

NAME = "modelica-rumoca"
# If the simulation of the whole time span takes too long, only this fraction of the time span is simulated.
_FIRST = 1 / 16
# Only operating systems with the signal SIGXCPU can limit the processor time.
_COUNTED = hasattr(signal, "SIGXCPU")
_JOB, _DONE = "job.json", "done"


@dataclass(frozen=True)
class SimulationJob:
    """Modelica class to be simulated from t = 0, with the settings of the simulation.

    Parameters
    ----------
    text, model : str
        Modelica source and name of the class.
    names : list of str
        Variables to record.
    stop, output_step : float
        End time and output interval, s.
    tolerance : float
        Relative tolerance.
    effort : float
        Maximum processor time of a process, s; wall-clock time if the system does not measure processor time.
    limit : float
        Maximum wall-clock time of all processes, s.
    """

    text: str
    model: str
    names: list[str]
    stop: float
    output_step: float
    tolerance: float
    effort: float
    limit: float

    @property
    def first_part(self) -> float:
        """End time, s, of a shorter simulation that is tried if the whole one reaches a time limit."""
        steps = max(round(_FIRST * self.stop / self.output_step), 1)
        return float(min(steps * self.output_step, self.stop))


def simulate(job: SimulationJob, meanwhile: Callable[[], object] = lambda: None) -> Trajectory | None:
    """Simulate a Modelica class by rumoca in a separate process.

    Parameters
    ----------
    job : SimulationJob
        Class and settings.
    meanwhile : callable
        Function that is called ten times per second; an exception cancels the simulation.

    Returns
    -------
    Trajectory or None
        Result over the whole time span, or over its first part if a limit was reached. None if a limit
        was reached even for the first part.

    Raises
    ------
    BuildError, SolveError
        If rumoca fails, with rumoca's message.
    """
    begin = time.monotonic()
    whole = _simulated(job, meanwhile)
    if whole is not None or job.first_part >= job.stop:
        return whole
    rest = max(job.limit - (time.monotonic() - begin), 0.0)
    part = _simulated(replace(job, stop=job.first_part, limit=rest), meanwhile)
    return part and replace(part, note="stopped by the time limit")


def _simulated(job: SimulationJob, meanwhile: Callable[[], object]) -> Trajectory | None:
    with TemporaryDirectory(prefix="gpmelica-rumoca-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / _JOB).write_text(json.dumps(asdict(job)), "utf-8")
        status = alone(__name__, folder, job.limit if _COUNTED else min(job.effort, job.limit), meanwhile)
        if status and not (_COUNTED and status == -signal.SIGXCPU):
            raise SolveError(f"{NAME}: the process ended with status {status}")
        return _result(folder)


def _result(folder: Path) -> Trajectory | None:
    if not (folder / _DONE).exists():
        return None
    done: Trajectory | GpmelicaError = pickle.loads((folder / _DONE).read_bytes())
    if isinstance(done, GpmelicaError):
        raise done
    return done


def main(folder: Path) -> None:
    """Run the simulation job that a folder contains, and write the result or the error to this folder."""
    job = SimulationJob(**json.loads((folder / _JOB).read_text("utf-8")))
    if _COUNTED:
        _grant(job.effort)
    done: Trajectory | GpmelicaError
    try:
        done = _run(CompiledModel(job.text, job.model), job)
    except (BuildError, SolveError) as error:
        done = error
    write_atomically(folder / _DONE, pickle.dumps(done))


def _run(compiled: CompiledModel, job: SimulationJob) -> Trajectory:
    """Simulate the compiled model. After a failure, repeat the simulation with a tenth of the tolerance.

    The repetition may succeed, because a tighter tolerance changes the steps. For example, rumoca may
    reject the last step of a run because two of rumoca's own results differ slightly.
    """
    run = partial(compiled.simulate, job.names, stop=job.stop, output_step=job.output_step, budget=job.limit)
    try:
        return run(tolerance=job.tolerance)
    except SolveError:
        return run(tolerance=0.1 * job.tolerance)


def _grant(effort: float) -> None:
    """Limit the processor time of this process to `effort`, s.

    At the limit, the operating system ends the process with the signal SIGXCPU.
    """
    import resource  # noqa: PLC0415 - exists on Unix only

    seconds, most = math.ceil(effort), resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if most < 0 else min(seconds, most), most))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
