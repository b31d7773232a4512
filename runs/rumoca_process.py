"""Simulation by rumoca in a separate process, because rumoca may ignore Ctrl-C and its own time limit.

The process first simulates a part of the time span, then the whole span. When its time limit is
reached, the last finished result counts. The limit refers to processor time where the system supports
it, so that other processes do not affect the verdict.
"""

from __future__ import annotations

import json
import math
import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..core.errors import BuildError, GpmelicaError, SolveError
from ..core.files import write_atomically
from ..core.trajectory import Trajectory
from ..core.workers import alone
from .rumoca import CompiledModel

NAME = "modelica-rumoca"
_FIRST = 1 / 16  # length of the first part, relative to the run
_COUNTED = hasattr(signal, "SIGXCPU")  # whether the system can limit processor time
_JOB, _DONE = "job.json", "done"


def simulate(
    text: str,
    model: str,
    names: Sequence[str],
    *,
    stop: float,
    output_step: float,
    tolerance: float,
    effort: float,
    limit: float,
) -> Trajectory | None:
    """Simulate a Modelica class by rumoca in a separate process.

    Parameters
    ----------
    text, model : str
        Modelica source and name of the class.
    names : sequence of str
        Variables to record.
    stop, output_step : float
        End time and output interval, s.
    tolerance : float
        Relative tolerance.
    effort : float
        Maximum processor time, s; wall-clock time if the system does not measure processor time.
    limit : float
        Maximum wall-clock time, s.

    Returns
    -------
    Trajectory or None
        Result over the whole time span, or over its first part if a limit was reached; None without a
        result.

    Raises
    ------
    BuildError, SolveError
        If rumoca fails; the message is rumoca's.
    """
    with TemporaryDirectory(prefix="gpmelica-rumoca-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        job = {"text": text, "model": model, "names": list(names), "stop": stop, "output_step": output_step}
        job |= {"tolerance": tolerance, "effort": effort, "limit": limit}
        (folder / _JOB).write_text(json.dumps(job), "utf-8")
        status = alone(__name__, folder, limit if _COUNTED else min(effort, limit))
        if status and not (_COUNTED and status == -signal.SIGXCPU):
            raise SolveError(f"{NAME}: the process ended with status {status}")
        return _result(folder, stop)


def _result(folder: Path, stop: float) -> Trajectory | None:
    if not (folder / _DONE).exists():
        return None
    done: Trajectory | GpmelicaError = pickle.loads((folder / _DONE).read_bytes())
    if isinstance(done, GpmelicaError):
        raise done
    note = "" if done.time[-1] >= stop * (1 - 1e-9) else "stopped by the time limit"
    return replace(done, note=note)


def main(folder: Path) -> None:
    """Run the job in a folder, and write its results there."""
    job = json.loads((folder / _JOB).read_text("utf-8"))
    if _COUNTED:
        _grant(job["effort"])
    try:
        compiled = CompiledModel(job["text"], job["model"])
        for horizon in dict.fromkeys((_part(job), job["stop"])):
            write_atomically(folder / _DONE, pickle.dumps(_run(compiled, job, horizon)))
    except (BuildError, SolveError) as error:
        write_atomically(folder / _DONE, pickle.dumps(error))


def _run(compiled: CompiledModel, job: dict[str, Any], horizon: float) -> Trajectory:
    """Simulate from 0 to `horizon`, s. After a failure, repeat the simulation with a tenth of the tolerance.

    A tighter tolerance changes the steps and may succeed: in a step from an event to the end of the
    run, rumoca may reject its own result because two values of a state differ by more than 1e-11.
    """
    run = partial(
        compiled.simulate, job["names"], stop=horizon, output_step=job["output_step"], budget=job["limit"]
    )
    try:
        return run(tolerance=job["tolerance"])
    except SolveError:
        return run(tolerance=0.1 * job["tolerance"])


def _grant(effort: float) -> None:
    """Limit the processor time of this process, s; the operating system ends it with SIGXCPU."""
    import resource  # noqa: PLC0415 - exists on Unix only

    seconds, most = math.ceil(effort), resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if most < 0 else min(seconds, most), most))


def _part(job: dict[str, Any]) -> float:
    """Return the length of the first part of the run, s, in whole output steps."""
    steps = max(round(_FIRST * job["stop"] / job["output_step"]), 1)
    return float(min(steps * job["output_step"], job["stop"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
