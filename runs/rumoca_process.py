"""A run in rumoca, in a process of its own: rumoca can be deaf to Ctrl-C and to its own limit of time.

The process runs a first part and then all of the time; what it has finished when its time is over counts. That is
processor time, where the system counts it: what else the machine does is no matter of the verdict.
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
_FIRST = 1 / 16  # of the run's time
_COUNTED = hasattr(signal, "SIGXCPU")  # a process can have a limit of processor time
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
    """Trajectory of a Modelica text's class; over a part of [0, stop] if a limit ends it; None if at once.

    effort  processor time, s, at most; of the clock where it is not counted
    limit   time by the clock, s, at most

    Raises BuildError or SolveError with rumoca's message.
    """
    with TemporaryDirectory(prefix="gpmelica-rumoca-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        job = {"text": text, "model": model, "names": list(names), "stop": stop, "output_step": output_step}
        job |= {"tolerance": tolerance, "effort": effort, "limit": limit}
        (folder / _JOB).write_text(json.dumps(job), "utf-8")
        status = alone(__name__, folder, limit if _COUNTED else min(effort, limit))
        if status and not (_COUNTED and status == -signal.SIGXCPU):
            raise SolveError(f"{NAME}: its process died with status {status}")
        return _result(folder, stop)


def _result(folder: Path, stop: float) -> Trajectory | None:
    if not (folder / _DONE).exists():
        return None
    done: Trajectory | GpmelicaError = pickle.loads((folder / _DONE).read_bytes())
    if isinstance(done, GpmelicaError):
        raise done
    note = "" if done.time[-1] >= stop * (1 - 1e-9) else "stopped by its limit of time"
    return replace(done, note=note)


def main(folder: Path) -> None:
    """Run the job of a folder and write its results there."""
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
    """The run over [0, horizon], s.

    Where it fails it is tried again with a tenth of the tolerance, by other steps: of a step that goes from an
    event to the run's end rumoca may find that its own two values of a state there differ by more than 1e-11.
    """
    run = partial(
        compiled.simulate, job["names"], stop=horizon, output_step=job["output_step"], budget=job["limit"]
    )
    try:
        return run(tolerance=job["tolerance"])
    except SolveError:
        return run(tolerance=0.1 * job["tolerance"])


def _grant(effort: float) -> None:
    """Let this process end with SIGXCPU after so much processor time, s."""
    import resource  # noqa: PLC0415 - of Unix alone

    seconds, most = math.ceil(effort), resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if most < 0 else min(seconds, most), most))


def _part(job: dict[str, Any]) -> float:
    """A first part of the run, s, of whole output steps."""
    steps = max(round(_FIRST * job["stop"] / job["output_step"]), 1)
    return float(min(steps * job["output_step"], job["stop"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
