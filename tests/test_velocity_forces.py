"""`velocity_forces = "as_printed"`: ΔQ_i = Σ_k q̇_k ∂Q_k/∂q̇_i of P0 (26) and P2 (20), against differences of Q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_random import random_chain
from helpers_reference import mechanism_of, random_state, slope
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.generator.mechanism import Mechanism

Array = NDArray[np.float64]
LUGRE = {"model": "lugre", "sigma0": 2e2, "sigma1": 8.0, "sigma2": 0.7, "mu_s": 0.3, "mu_k": 0.2, "v_s": 0.6}


def _printed(data: dict[str, Any]) -> Mechanism:
    return mechanism_of(data | {"constraints": data.get("constraints", {}) | {"velocity_forces": "as_printed"}})


def _by_differences(force: Any, qd: Array) -> Array:
    """Σ_k q̇_k ∂Q_k/∂q̇_i of force(q̇), shape (n,)."""
    return np.array([slope(lambda x, e=e: force(qd + x * e)) @ qd for e in np.eye(len(qd))])


@pytest.mark.parametrize("base", [None, "flexible", "rigid"])
def test_dampers_and_forces(base: str | None) -> None:
    """All forces of a random chain: joint dampers, supports, beams, and expressions of velocities in any axes."""
    rng = np.random.default_rng(4)
    data = random_chain(rng, links=4, base=base)
    names = [link["name"] for link in data["links"]]
    data["points"] = data.get("points", {}) | {"P": {"link": names[-1], "position": [0.2, 0.1, -0.3]}}
    data["forces"] = [
        {
            "name": "drag",
            "link": names[-1],
            "point": [0.1, 0.0, 0.2],
            "force": ["-P.vx^3", "-2*P.vx", "sin(P.vz)"],
        },
        {"name": "jet", "link": names[1], "force": ["P.vy*P.x", "0", "-P.vz"], "frame": "link"},
    ]
    plain, printed = mechanism_of(data), _printed(data)
    q, qd = random_state(plain, rng)
    model, changed = (reference.Model(m, start=(q, qd)) for m in (plain, printed))

    def force(rates: Array) -> Array:
        return model.forces(model.state(0.2, q, rates)).total

    state = changed.state(0.2, q, qd)
    expected = _by_differences(force, qd)
    assert np.abs(expected).max() > 0.1
    assert changed.forces(state).total - force(qd) == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())


def test_supports_and_replacement_joints() -> None:
    """Dampers of linearised and exact supports and of spring-damper closures come a second time."""
    base = {"mass": 50.0, "com": [0.0, 0.0, 0.2], "inertia": [3.0, 3.0, 4.0], "support": "flexible"}
    corners = [[x, y, 0.0] for x, y in ((0.5, 0.4), (-0.5, 0.4), (0.0, -0.6))]
    base["supports"] = [
        {"position": at, "stiffness": [1e4, 1e4, 2e4], "damping": [3e2, 2e2, 4e2]} for at in corners
    ]
    arm = {"name": "arm", "parent": "base", "mass": 5.0, "com": [0.4, 0.0, 0.0], "inertia": [0.1, 0.3, 0.3]}
    arm["joint"] = {"type": "revolute", "axis": [0.0, 1.0, 0.0], "damping": 2.0}
    pin = {"name": "pin", "type": "spherical", "model": "spring_damper"}
    pin |= {"stiffness": [1e3, 1e3, 1e3, 0, 0, 0], "damping": [30.0, 20.0, 10.0, 0, 0, 0]}
    pin |= {"a": {"link": "ground", "xyz": [0.8, 0.0, 0.0]}, "b": {"link": "arm", "xyz": [0.8, 0.0, 0.0]}}
    data = {"schema": 1, "name": "Held", "links": [arm], "closures": [pin]}
    rng = np.random.default_rng(0)
    q, qd = 0.1 * rng.normal(size=7), rng.normal(size=7)
    for linearized in (False, True):
        mechanism = _printed(data | {"base": base | {"linearized": linearized}})
        model = reference.Model(mechanism)
        loads = model.forces(model.state(0.0, q, qd))
        assert loads.printed == pytest.approx(loads.dissipative, rel=1e-12)
        assert np.abs(loads.dissipative).min() > 1e-3


@pytest.mark.parametrize("friction", [LUGRE, {"model": "dahl", "sigma0": 2e2, "mu_s": 0.3, "gamma": 1.5}])
def test_friction(friction: dict[str, Any]) -> None:
    """Bristle and normal force held, LuGre's coefficient contributes its slope; Dahl's has none."""
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "friction": friction | {"normal_force": 40.0}}
    link = {"name": "slide", "parent": "ground", "mass": 2.0, "inertia": [0.1, 0.1, 0.1], "joint": joint}
    data = {"schema": 1, "name": "Slide", "links": [link]}

    def effort(mechanism: Mechanism, rate: float) -> float:
        return float(reference.evaluate(mechanism, 0.0, [0.0], [rate], [5e-4]).friction[0])

    for rate in (0.3, -1.1):
        extra = effort(_printed(data), rate) - effort(mechanism_of(data), rate)
        expected = rate * float(slope(lambda x, at=rate: effort(mechanism_of(data), at + x)))
        assert extra == pytest.approx(expected, abs=1e-7)
        assert (abs(extra) > 1.0) == (friction is LUGRE)


def test_mass_on_a_damper() -> None:
    """Why `physical` is the default: m ẍ = −d ẋ decays with d/m; with ΔQ it decays twice as fast."""
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "velocity": 1.0, "damping": 3.0}
    link = {"name": "m", "parent": "ground", "mass": 2.0, "inertia": [0.1, 0.1, 0.1], "joint": joint}
    data = {"schema": 1, "name": "Damped", "links": [link], "simulation": {"stop": 1.0, "tolerance": 1e-10}}
    for mechanism, rate in ((mechanism_of(data), 1.5), (_printed(data), 3.0)):
        run = reference.simulate(mechanism)
        assert run.signals["m_position_dot"] == pytest.approx(np.exp(-rate * run.time), abs=1e-8)
