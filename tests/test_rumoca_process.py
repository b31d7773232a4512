"""rumoca in a process of its own: its limit of time, Ctrl-C, and its errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gpmelica.errors import BuildError
from gpmelica.fmu.backends import rumoca
from gpmelica.fmu.backends.rumoca_process import NAME, simulate

pytestmark = pytest.mark.skipif(not rumoca.available(), reason="rumoca is not installed")

DECAY = "model M Real x(start=1); equation der(x) = -x; end M;"
# a chain of this many oscillators, stiff enough that it takes minutes
SLOW = """model M Real x[N](each start=1); Real v[N]; equation der(x) = v;
for i in 1:N loop der(v[i]) = -1e6*i*sin(x[i])*(1 + 0.5*sin(1e3*time)); end for; end M;""".replace("N", "120")
SETTINGS = {"output_step": 0.1, "tolerance": 1e-9}


def test_a_run() -> None:
    """All of the time, at the output times."""
    run = simulate(DECAY, "M", ["x"], stop=1.0, limit=60.0, **SETTINGS)
    assert run is not None and (run.name, run.note) == (NAME, "")
    np.testing.assert_allclose(run.time, np.linspace(0.0, 1.0, 11))
    np.testing.assert_allclose(run.signals["x"], np.exp(-run.time), rtol=1e-7)


def test_what_it_refuses_is_said() -> None:
    """The compiler's message crosses between the processes."""
    with pytest.raises(BuildError, match="rumoca refuses the Modelica text of M"):
        simulate("model M Real x; equation x = y; end M;", "M", ["x"], stop=1.0, limit=60.0, **SETTINGS)


def test_its_limit_of_time_ends_it() -> None:
    """Nothing after a limit that is too short for anything."""
    begin = time.perf_counter()
    assert simulate(SLOW, "M", ["x[1]"], stop=1000.0, limit=4.0, **SETTINGS) is None
    assert time.perf_counter() - begin < 60.0  # the run itself would take minutes


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to another process")
def test_ctrl_c_ends_it_at_once() -> None:
    """A real SIGINT to the process that waits: it ends, and rumoca's process with it."""
    psutil = pytest.importorskip("psutil")
    script = (
        # a test run in a shell's background inherits that it is to ignore Ctrl-C
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gpmelica.fmu.backends.rumoca_process import simulate\n"
        f"simulate({SLOW!r}, 'M', ['x[1]'], stop=1000.0, output_step=0.1, tolerance=1e-9, limit=300.0)\n"
    )
    waiting = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, start_new_session=True)
    try:
        deadline = time.perf_counter() + 60.0
        while not (children := psutil.Process(waiting.pid).children()) and time.perf_counter() < deadline:
            time.sleep(0.1)
        assert children
        time.sleep(2.0)  # into rumoca's own code
        begin = time.perf_counter()
        waiting.send_signal(signal.SIGINT)
        _, said = waiting.communicate(timeout=30.0)
        assert time.perf_counter() - begin < 20.0
        assert waiting.returncode and b"KeyboardInterrupt" in said
        assert not any(child.is_running() for child in children)
    finally:
        waiting.kill()
