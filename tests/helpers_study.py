"""A small study for tests: a two-link arm on a base, whose end has to rise; and cases without a solver's run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from awkward_machines.judge import toml
from helpers_parts import Table, body, link, machine
from helpers_problem import programmed_target
from helpers_report import EXAMPLES, prescribed_run

from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.description import load
from gpmelica.mechanism import Mechanism, build
from gpmelica.runs.compare.outcome import CaseRun

_FEET = [[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.0, 0.5, 0.0]]
_SUPPORT = {"stiffness": [2e5] * 3, "damping": [2e3] * 3}
_DOWN = [0.0, -1.0, 0.0]
_SPRING = {"position": -0.5, "rest": -0.5, "stiffness": 50.0, "damping": 2.0}
LIFT = machine(
    link("arm", "revolute", _DOWN, "base", position=0.8) | body(4.0, [0.3, 0.0, 0.0], [0.01, 0.1, 0.1]),
    link("forearm", "revolute", _DOWN, "arm", xyz=[0.6, 0.0, 0.0], **_SPRING)
    | body(2.0, [0.2, 0.0, 0.0], [0.005, 0.03, 0.03]),
    name="Lift",
    description="Arm on a base whose end rises",
    base=body(50.0, [0.0, 0.0, 0.1], [2.0, 2.0, 3.0])
    | {"supports": [_SUPPORT | {"position": at} for at in _FEET]},
    points={"E": {"link": "forearm", "position": [0.5, 0.0, 0.0]}},
    programmed=[{"name": "height", "expression": "E.z - 0.56 - quintic(t, 0, 0.3, 0, 0.05)"}],
    constraints={"alpha": 100.0, "beta": 60.0},  # s² + 2αs + β² = 0 has the roots −20 and −180 1/s
    # off its task, to see how the violation dies
    simulation={"stop": 0.4, "starts_violated": ["height"], "output_step": 0.005, "tolerance": 1e-9},
    statics={"locked": ["arm", "forearm"]},
)
CASES = [{"name": "stiff"}, {"name": "soft", "set": {"base.supports.*.stiffness": [1e5, 1e5, 2e4]}}]


# The end's height does not depend on the base's sideways motion: |det C_d| = 0.
IMPOSSIBLE = {"name": "impossible", "set": {"constraints.dependent": ["base.y"]}}


def description(folder: Path, table: Table | None = None) -> Path:
    """The description, or another one, as a file."""
    file = folder / "lift.toml"
    file.write_text(toml(table or LIFT | {"cases": [*CASES, IMPOSSIBLE]}), encoding="utf-8")
    return file


def made_up_case(name: str, case: str = "rigid_boom", support: str = "flexible", **changes: Array) -> CaseRun:
    """Return a case of the crane with prescribed motion, some signals of which are replaced."""
    mechanism, run, targets = _moved_crane(case, support)
    signals: Mapping[str, Array] = {**run.signals, **changes}
    entry = {"name": "reference", "wall_s": 1.0, "max_rel_error": 0.0, "ok": True}
    result = {"case": name, "n": mechanism.n, "dof": mechanism.n - 2, "runs": [entry], "ok": True}
    result |= {"consistent": True, "agrees": True, "holds": True, "because": {}, "plausible": []}
    reference = Trajectory("reference", run.time, signals)
    return CaseRun(name, result, reference, mechanism, targets)


@cache
def _moved_crane(case: str, support: str) -> tuple[Mechanism, Trajectory, Mapping[str, Array]]:
    """Return the crane's mechanism, its prescribed motion, and the programmed positions of its points."""
    chain = load(EXAMPLES / "crane.toml", case)
    assert chain.base is not None
    mechanism = build(chain.model_copy(update={"base": chain.base.model_copy(update={"support": support})}))
    run = prescribed_run(mechanism)
    return mechanism, run, programmed_target(mechanism, run)


def decaying(time: Array, slow: float, fast: float, floor: float = 0.0) -> Array:
    """Return the decay of a stabilised constraint from 1e-2 at rest: two exponentials, and noise of the size of
    the rounding errors.
    """
    noise = np.random.default_rng(7).uniform(0.2, 1.0, len(time))
    free = (fast * np.exp(slow * time) - slow * np.exp(fast * time)) / (fast - slow)
    return np.asarray(1e-2 * free + floor * noise)
