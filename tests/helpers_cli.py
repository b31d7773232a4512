"""The command line as tests meet it: a small description, commands, and what they answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from helpers_parts import X, body, link, machine

_DOWN = [0.0, -1.0, 0.0]
ARM = machine(
    link("upper", "revolute", _DOWN, position=0.4, stiffness=20.0, damping=2.0)
    | body(2.0, [0.4, 0.0, 0.0], [0.01, 0.1, 0.1]),
    link("lower", "revolute", _DOWN, "upper", xyz=X, position=0.9, damping=1.0)
    | body(1.0, [0.4, 0.0, 0.0], [0.01, 0.05, 0.05]),
    name="Arm",
    description="Planar arm whose tip moves up and down",
    parameters={"push": 3.0},
    points={"E": {"link": "lower", "position": [0.8, 0.0, 0.0]}},
    programmed=[{"name": "height", "expression": "E.z - start(E.z) - 0.1*sin(3*t)^2"}],
    forces=[{"name": "drive", "joint": "upper", "effort": "push if t <= 0.1 else 0"}],
    simulation={"stop": 0.3},
    cases=[{"name": "light"}, {"name": "heavy", "set": {"links.upper.mass": 4.0}}],
)


@dataclass(frozen=True)
class Answer:
    """Output of a command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as strict JSON."""
        return json.loads(self.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))


Command = Callable[..., Answer]


def process(*arguments: object, **environment: str) -> Answer:
    """A command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "gpmelica", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=os.environ | environment,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def fails(answer: Answer, status: int, *parts: str) -> None:
    """The command ended with the status and a message on standard error that has all parts, and no traceback."""
    assert answer.status == status, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for part in parts:
        assert part in answer.err
