"""Number of usable processor cores, worker processes, and the garbage collector."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpmelica.core import workers
from gpmelica.core.errors import BuildError
from gpmelica.core.uncollected import uncollected
from gpmelica.runs import rumoca
from gpmelica.runs.rumoca_process import NAME, SimulationJob, simulate


@pytest.mark.parametrize(
    ("quota", "most"), [("max 100000", None), ("100000 100000", 1), ("150000 100000", 2), ("x", None)]
)
def test_cores_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, most: int | None
) -> None:
    """The quota, rounded up; without one, the processors that the process may run on."""
    (tmp_path / "cpu.max").write_text(quota, encoding="ascii")
    monkeypatch.setattr(workers, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    assert workers.cores() == (most or 4)


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers of each worker and the workers together: no more than there are cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(workers, "_QUOTA", Path("no such file"))
    with workers.worker_processes(7) as pool:
        assert pool.submit(workers.cores).result(60) == 1
        assert pool._max_workers == 2  # type: ignore[attr-defined]


KILLED = """
import os, signal, tempfile, time
from gpmelica.core.workers import worker_processes
if __name__ == "__main__":
    with worker_processes(2) as pool:
        print(pool.submit(tempfile.gettempdir).result(), flush=True)
        pool.submit(time.sleep, 600)
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    """The output pipe closes when no process holds it, and temporary files are removed."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    killed = subprocess.run([sys.executable, script], check=False, capture_output=True, text=True, timeout=120)
    assert killed.returncode != 0
    assert Path(killed.stdout.strip()).is_absolute() and not Path(killed.stdout.strip()).exists()


CUT_OFF = """
import sys, time
from pathlib import Path
from helpers_sweeps import answers_at_length
from gpmelica.core.workers import worker_processes
if __name__ == "__main__":
    flag = Path(sys.argv[1])
    with worker_processes(1) as pool:
        pool.submit(answers_at_length, str(flag))
        while not flag.exists():
            time.sleep(0.001)
        time.sleep(float(sys.argv[2]))
        raise KeyboardInterrupt
"""


@pytest.mark.skipif(sys.platform == "win32", reason="ends by a signal")
@pytest.mark.parametrize("late", [0.05, 0.15, 0.25])
def test_an_interrupt_in_the_middle_of_an_answer(tmp_path: Path, late: float) -> None:
    """The worker is ended, and nobody waits for the rest of it."""
    script = tmp_path / "cut_off.py"
    script.write_text(CUT_OFF, encoding="utf-8")
    helpers = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    command = [sys.executable, script, tmp_path / "flag", str(late)]
    ended = subprocess.run(command, check=False, capture_output=True, env=helpers, timeout=60)
    assert ended.returncode == -signal.SIGINT


def test_job_beside_a_block_is_cancelled_at_its_end() -> None:
    """An exception in the block ends the job's process; a finished job returns its result."""
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), workers.beside(lambda meanwhile: _pause(60.0, meanwhile)):
        raise ZeroDivisionError
    assert time.monotonic() - began < 10.0
    with workers.beside(lambda meanwhile: _pause(0.1, meanwhile)) as result:
        assert result() == "done"


def test_environment_is_read_while_another_thread_changes_it() -> None:
    """FMU runs set and remove a variable while a thread starts rumoca."""

    def change(meanwhile: Callable[[], None]) -> None:
        while True:
            meanwhile()
            os.environ["GPMELICA_TEST"] = "1"
            del os.environ["GPMELICA_TEST"]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with workers.beside(change):
            assert all("PATH" in workers.environment_now() for _ in range(3000))
    finally:
        sys.setswitchinterval(before)


def _pause(seconds: float, meanwhile: Callable[[], None]) -> str:
    """Return after a time, s, or when the callback raises an exception."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        meanwhile()
        time.sleep(0.02)
    return "done"


# ---- The garbage collector is left as it was found --------------------------------------------------------------


@pytest.mark.parametrize("on", [True, False])
def test_collector_is_as_before(on: bool) -> None:
    """After work within work, and after an error; between it is off."""
    was_on = gc.isenabled()
    try:
        gc.enable() if on else gc.disable()
        with pytest.raises(ZeroDivisionError), uncollected():
            with uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() == on
    finally:
        gc.enable() if was_on else gc.disable()


# ---- rumoca in a process of its own -----------------------------------------------------------------------------


needs_rumoca = pytest.mark.skipif(not rumoca.available(), reason="rumoca is not installed")

DECAY = "model M Real x(start=1); equation der(x) = -x; end M;"
# so many pendulums, for so long that it takes hours
INVALID = "model M Real x; equation x = y; end M;"
SLOW = """model M Real x[N](each start=1); Real v[N]; equation der(x) = v;
for i in 1:N loop der(v[i]) = -100*i*sin(x[i]); end for; end M;""".replace("N", "40")
_GUARD = 600.0  # s: only that a test which fails does not hang
SETTINGS = {"output_step": 0.1, "tolerance": 1e-9}


@needs_rumoca
def test_a_run() -> None:
    """All of the time, at the output times."""
    run = simulate(SimulationJob(DECAY, "M", ["x"], stop=1.0, effort=60.0, limit=600.0, **SETTINGS))
    assert run is not None and (run.name, run.note) == (NAME, "")
    np.testing.assert_allclose(run.time, np.linspace(0.0, 1.0, 11))
    np.testing.assert_allclose(run.signals["x"], np.exp(-run.time), rtol=1e-7)


@needs_rumoca
def test_rejection_by_the_compiler_is_reported() -> None:
    """The compiler's message is passed from the worker process to the parent."""
    with pytest.raises(BuildError, match="rumoca rejects the Modelica source of M"):
        simulate(SimulationJob(INVALID, "M", ["x"], stop=1.0, effort=60.0, limit=600.0, **SETTINGS))


def _script(effort: float, limit: float) -> str:
    """Return a script with a run that would take hours."""
    return (
        # a test run in a shell's background inherits that it is to ignore Ctrl-C
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gpmelica.runs.rumoca_process import SimulationJob, simulate\n"
        f"settings = dict(stop=1e5, output_step=0.1, tolerance=1e-9, effort={effort}, limit={limit})\n"
        f"print(simulate(SimulationJob({SLOW!r}, 'M', ['x[1]'], **settings)))\n"
    )


@pytest.mark.slow
@needs_rumoca
@pytest.mark.parametrize("limits", [(2.0, 1e6), (1e5, 4.0)], ids=["of the processor", "by the clock"])
def test_time_limit_terminates_the_worker(limits: tuple[float, float]) -> None:
    """A very short time limit yields no result."""
    answer = subprocess.run(
        [sys.executable, "-c", _script(*limits)], capture_output=True, text=True, timeout=_GUARD, check=True
    )
    assert answer.stdout.strip() == "None"


@pytest.mark.slow
@needs_rumoca
@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to another process")
def test_ctrl_c_terminates_the_worker() -> None:
    """A SIGINT to the waiting process terminates it and rumoca's process."""
    psutil = pytest.importorskip("psutil")
    command = [sys.executable, "-c", _script(effort=1e5, limit=1e6)]
    waiting = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    try:
        while not (children := list(filter(_has_loaded_rumoca, psutil.Process(waiting.pid).children()))):
            assert waiting.poll() is None
            time.sleep(0.1)
        waiting.send_signal(signal.SIGINT)
        _, said = waiting.communicate(timeout=_GUARD)
        assert waiting.returncode and b"KeyboardInterrupt" in said
        assert not any(child.is_running() for child in children)
    finally:
        waiting.kill()


def _has_loaded_rumoca(process: Any) -> bool:
    """Whether its library is in the process, where the system says so."""
    return not hasattr(process, "memory_maps") or any("rumoca" in m.path for m in process.memory_maps())
