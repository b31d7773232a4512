"""A small study for tests: a two-link arm on a base, whose end has to rise; and cases without a solver's run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from helpers_report import EXAMPLES, prescribed_run

from gpmelica.fmu.report.cases.outcome import CaseRun
from gpmelica.generator.description import load
from gpmelica.generator.mechanism import build
from gpmelica.trajectory import Array, Trajectory

# s² + 2αs + β² = 0 has the roots −20 and −180 1/s.
DESCRIPTION = """
schema = 1
name = "Lift"
description = "Arm on a base whose end rises"
[base]
mass = 50.0
com = [0.0, 0.0, 0.1]
inertia = [2.0, 2.0, 3.0]
support = "flexible"
[[base.supports]]
position = [-0.5, -0.5, 0.0]
stiffness = [2e5, 2e5, 2e5]
damping = [2e3, 2e3, 2e3]
[[base.supports]]
position = [0.5, -0.5, 0.0]
stiffness = [2e5, 2e5, 2e5]
damping = [2e3, 2e3, 2e3]
[[base.supports]]
position = [0.0, 0.5, 0.0]
stiffness = [2e5, 2e5, 2e5]
damping = [2e3, 2e3, 2e3]
[[links]]
name = "arm"
parent = "base"
mass = 4.0
com = [0.3, 0.0, 0.0]
inertia = [0.01, 0.1, 0.1]
joint = { type = "revolute", axis = [0.0, -1.0, 0.0], position = 0.8 }
[[links]]
name = "forearm"
parent = "arm"
frame = { xyz = [0.6, 0.0, 0.0] }
mass = 2.0
com = [0.2, 0.0, 0.0]
inertia = [0.005, 0.03, 0.03]
[links.joint]
type = "revolute"
axis = [0.0, -1.0, 0.0]
position = -0.5
rest = -0.5
stiffness = 50.0
damping = 2.0
[points]
E = { link = "forearm", position = [0.5, 0.0, 0.0] }
[[programmed]]
name = "height"
expression = "E.z - 0.56 - quintic(t, 0, 0.3, 0, 0.05)"
[constraints]
alpha = 100.0
beta = 60.0
[simulation]
stop = 0.4
starts_violated = ["height"]  # off its task, to see how the violation dies
output_step = 0.005
tolerance = 1e-9
[statics]
locked = ["arm", "forearm"]
[[cases]]
name = "stiff"
[[cases]]
name = "soft"
set = { "base.supports.*.stiffness" = [1e5, 1e5, 2e4] }
"""

# The end's height does not depend on the base's sideways motion: |det C_d| = 0.
IMPOSSIBLE = """
[[cases]]
name = "impossible"
set = { "constraints.dependent" = ["base.y"] }
"""


def description(folder: Path, text: str = DESCRIPTION + IMPOSSIBLE) -> Path:
    """The description as a file."""
    file = folder / "lift.toml"
    file.write_text(text, encoding="utf-8")
    return file


def made_up_case(name: str, case: str = "rigid_boom", support: str = "flexible", **changes: Array) -> CaseRun:
    """A case of the crane with prescribed motion, some signals of which are replaced."""
    chain = load(EXAMPLES / "crane.toml", case)
    assert chain.base is not None
    mechanism = build(chain.model_copy(update={"base": chain.base.model_copy(update={"support": support})}))
    run = prescribed_run(mechanism)
    signals: Mapping[str, Array] = {**run.signals, **changes}
    entry = {"name": "reference", "wall_s": 1.0, "max_rel_error": 0.0, "ok": True}
    result = {"case": name, "n": mechanism.n, "dof": mechanism.n - 2, "runs": [entry], "ok": True}
    result |= {"consistent": True, "agrees": True, "holds": True, "because": {}}
    return CaseRun(name, result, Trajectory("reference", run.time, signals), mechanism)


def decaying(time: Array, slow: float, fast: float, floor: float = 0.0) -> Array:
    """What a stabilised constraint does from rest at 1e-2: two exponentials, and noise of the floor's size."""
    noise = np.random.default_rng(7).uniform(0.2, 1.0, len(time))
    free = (fast * np.exp(slow * time) - slow * np.exp(fast * time)) / (fast - slow)
    return np.asarray(1e-2 * free + floor * noise)
