"""How many cores there are: not more than machine, container or other workers leave; the collector."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpmelica import workers
from gpmelica.generator.uncollected import uncollected


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
from gpmelica.workers import worker_processes
if __name__ == "__main__":
    with worker_processes(2) as pool:
        print(pool.submit(tempfile.gettempdir).result(), flush=True)
        pool.submit(time.sleep, 600)
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


def test_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    """Its output is at an end when nobody holds it any more; temporary files are gone, too."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    killed = subprocess.run([sys.executable, script], check=False, capture_output=True, text=True, timeout=120)
    assert killed.returncode != 0
    assert Path(killed.stdout.strip()).is_absolute() and not Path(killed.stdout.strip()).exists()


CUT_OFF = """
import sys, time
from pathlib import Path
from helpers_sweeps import answers_at_length
from gpmelica.workers import worker_processes
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
