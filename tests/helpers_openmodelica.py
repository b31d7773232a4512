"""A stand-in for omc, told what to do (see data/fake_omc.py), and a model to build with it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from helpers_parts import X, Y, body, link

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica.deadline import Deadline

PENDULUM: dict[str, Any] = {
    "schema": 1,
    "name": "Pendulum",
    "description": "Two links whose end stays on a line",
    "links": [
        link(name, "revolute", Y, parent, xyz=[length, 0.0, 0.0], position=angle)
        | body(2.0, [0.5, 0.0, 0.0], [0.1, 0.2, 0.2])
        for name, parent, length, angle in (("upper", "ground", 0.0, 0.4), ("lower", "upper", 1.0, -0.8))
    ],
    "points": {"E": {"link": "lower", "position": [1.0, 0.0, 0.0]}},
    "programmed": [{"name": "level", "expression": "E.z - start(E.z)"}],
    "forces": [{"name": "push", "link": "lower", "force": ["5*sin(t)", "3*t", "2*t"]}],
    "simulation": {"stop": 1.0, "start": "description"},
}

_DYING = 2.0  # s that a killed process may take to be gone


def pendulum(**changes: Any) -> System:
    """A small model with a constraint and an applied force; changes replace keys of its description."""
    return assemble_system(from_data(PENDULUM | changes))


# On time alone: both sides, before the start, rounded, of parameters, with a rate that may be zero.
CONDITIONS = (
    *("t < 0.3", "t <= 0.3", "t > 0.1 + 0.2", "-t > -0.3", "2 - t >= 1.7", "0.3 >= t"),
    *("t < 0", "t > 0", "t <= -1", "t > -1", "t < off + 0.1", "t >= off and t < 0.35"),
    *("w*t < 1", "w*t >= 1", "w*t > 0", "t/off <= w", "(w - 2)*t < 0", "(w - 2)*t <= 0"),
)


def slider() -> System:
    """A mass of 1 kg on a rail, its acceleration `mass_position_ddot`: a bit for each condition that holds."""
    effort = " + ".join(f"({2.0**-i} if {condition} else 0)" for i, condition in enumerate(CONDITIONS))
    return pendulum(
        links=[link("mass", "prismatic", X)],
        points={},
        programmed=[],
        parameters={"off": 0.25, "w": 2.0},
        forces=[{"name": "push", "joint": "mass", "effort": effort}],
    )


def holding(acceleration: float) -> list[str]:
    """The conditions that an acceleration of the slider, m/s², stands for."""
    bits = round(acceleration * 2.0 ** len(CONDITIONS))
    return [c for i, c in enumerate(CONDITIONS) if bits >> (len(CONDITIONS) - i) & 1]


def holding_from(t: float, w: float) -> list[str]:
    """Return the conditions that hold from a time on, s; w: 1/s."""
    names = {"t": t + 1e-9, "w": w, "off": 0.25}
    return [condition for condition in CONDITIONS if eval(condition, names)]


# What makes a text of the crane or of this model wrong.
Break = Callable[[str], str]


def unknown(text: str) -> str:
    """With a variable that is not declared."""
    return text.replace("    Phi[1] = ", "    Phi[1] = nowhere + ", 1)


def opened(text: str) -> str:
    """With an equation too few."""
    return re.sub(r"^    Phi\[1\] = .*?;\n", "", text, count=1, flags=re.DOTALL | re.MULTILINE)


def torn(text: str) -> str:
    """With a line that is no Modelica."""
    return text.replace("    v_E = ", "    v_E == = ", 1)


@dataclass
class StandIn:
    """The stand-in's executable and what it has left behind.

    trace      file with everything that it was asked
    temporary  where all temporary files are
    """

    program: Path
    trace: Path
    temporary: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def omc(self) -> openmodelica.Omc:
        """Return omc as the backend finds the compiler."""
        return openmodelica.Omc(str(self.program))

    def does(self, *how: str, **variables: object) -> None:
        """Behave in this way from now on."""
        self.monkeypatch.setenv("FAKE_OMC", ",".join(how))
        for name, value in variables.items():
            self.monkeypatch.setenv(f"FAKE_OMC_{name.upper()}", str(value))

    def out_of_time_once(self, text: str) -> None:
        """Let deadlines pass when the trace has this text, however long a busy machine takes until then."""
        passed = property(lambda deadline: text in self._traced())
        self.monkeypatch.setattr(Deadline, "passed", passed)

    def _traced(self) -> str:
        return self.trace.read_text("utf-8") if self.trace.exists() else ""

    def statements(self) -> list[str]:
        """Return the questions that omc was asked, each once and without those for messages."""
        lines = self._traced().splitlines()
        return list(dict.fromkeys(x for x in lines if not x.startswith(("getErrorString", "getMessages", "pid "))))

    def survivors(self) -> list[int]:
        """Processes that it has started, itself included, and that still run."""
        pids = [int(line.split()[1]) for line in self._traced().splitlines() if line.startswith("pid ")]
        assert pids, "the stand-in has not got so far"
        begin = time.monotonic()
        while (running := list(filter(_runs, pids))) and time.monotonic() - begin < _DYING:
            time.sleep(0.02)
        return running

    def leftovers(self) -> list[str]:
        """Temporary files that are still there."""
        return sorted(path.name for path in self.temporary.iterdir())


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
