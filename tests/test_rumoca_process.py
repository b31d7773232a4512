"""rumoca in a process of its own: its limit of time, Ctrl-C, and its errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from gpmelica.errors import BuildError
from gpmelica.fmu.backends import rumoca
from gpmelica.fmu.backends.rumoca_process import NAME, simulate

pytestmark = pytest.mark.skipif(not rumoca.available(), reason="rumoca is not installed")

DECAY = "model M Real x(start=1); equation der(x) = -x; end M;"
# so many pendulums, for so long that it takes hours
SLOW = """model M Real x[N](each start=1); Real v[N]; equation der(x) = v;
for i in 1:N loop der(v[i]) = -100*i*sin(x[i]); end for; end M;""".replace("N", "40")
_GUARD = 600.0  # s: only that a test which fails does not hang
SETTINGS = {"output_step": 0.1, "tolerance": 1e-9}


def test_a_run() -> None:
    """All of the time, at the output times."""
    run = simulate(DECAY, "M", ["x"], stop=1.0, effort=60.0, limit=600.0, **SETTINGS)
    assert run is not None and (run.name, run.note) == (NAME, "")
    np.testing.assert_allclose(run.time, np.linspace(0.0, 1.0, 11))
    np.testing.assert_allclose(run.signals["x"], np.exp(-run.time), rtol=1e-7)


def test_what_it_refuses_is_said() -> None:
    """The compiler's message crosses between the processes."""
    with pytest.raises(BuildError, match="rumoca refuses the Modelica text of M"):
        simulate(
            "model M Real x; equation x = y; end M;", "M", ["x"], stop=1.0, effort=60.0, limit=600.0, **SETTINGS
        )


def _script(effort: float, limit: float) -> str:
    """What a process of its own does: a run that would take hours."""
    return (
        # a test run in a shell's background inherits that it is to ignore Ctrl-C
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gpmelica.fmu.backends.rumoca_process import simulate\n"
        f"settings = dict(stop=1e5, output_step=0.1, tolerance=1e-9, effort={effort}, limit={limit})\n"
        f"print(simulate({SLOW!r}, 'M', ['x[1]'], **settings))\n"
    )


@pytest.mark.parametrize("limits", [(2.0, 1e6), (1e5, 4.0)], ids=["of the processor", "by the clock"])
def test_its_limit_of_time_ends_it(limits: tuple[float, float]) -> None:
    """Nothing after a limit that is too short for anything."""
    answer = subprocess.run(
        [sys.executable, "-c", _script(*limits)], capture_output=True, text=True, timeout=_GUARD, check=True
    )
    assert answer.stdout.strip() == "None"


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to another process")
def test_ctrl_c_ends_it_at_once() -> None:
    """A real SIGINT to the process that waits: it ends, and rumoca's process with it."""
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
