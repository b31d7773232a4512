"""Closures of the reference: levels against differences, values, names, loops that stay closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_levels import check_levels
from helpers_loops import CLOSURES, random_loop
from helpers_random import random_chain, random_closure
from helpers_reference import BASES, mechanism_of, random_state, unchecked
from numpy.typing import NDArray

from gpmelica.generator.mechanism import Mechanism
from gpmelica.reference import Model, energy, simulate
from gpmelica.reference.constraints.closures import Conditions, frame_pose

Array = NDArray[np.float64]
SPRINGS = {
    "type": "spherical",
    "model": "spring_damper",
    "stiffness": [300.0, 500.0, 400.0, 20.0, 30.0, 10.0],
    "damping": [3.0, 0.0, 4.0, 0.2, 0.3, 0.1],
}


def _closed(seed: int, kind: str) -> tuple[Mechanism, np.random.Generator]:
    """A random tree with a closure of this type, open and anywhere, between two of its links."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, 4, BASES[seed % 3])
    first = ["link0", "ground", "link1"][seed % 3]
    closure = random_closure(rng, kind, (first, "link3") if seed % 2 else ("link3", first))
    return unchecked(data | {"closures": [closure]}), rng


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", CLOSURES)
def test_levels(kind: str, seed: int) -> None:
    """Φ̇ = C q̇ and C q̈ − γ are the first and second derivatives of a closure's Φ along any motion."""
    check_levels(*_closed(seed, kind), 0.3)


@pytest.mark.parametrize("kind", CLOSURES)
def test_values(kind: str) -> None:
    """Φ says where frame b is in frame a: components of its origin, cosines between axes, and the distance."""
    mechanism, rng = _closed(1, kind)
    posture = Model(mechanism).state(0.0, *random_state(mechanism, rng)).posture
    (closure,) = mechanism.closures
    relative = np.linalg.inv(frame_pose(posture, closure.a)) @ frame_pose(posture, closure.b)
    R, r = relative[:3, :3], relative[:3, 3]
    length = closure.length or 1.0
    expected = {
        "revolute": [*r, R[0, 2], R[1, 2]],
        "spherical": [*r],
        "universal": [*r, R[2, 2]],
        "prismatic": [*r[:2], R[2, 1], R[0, 2], R[1, 0]],
        "fixed": [*r, R[2, 1], R[0, 2], R[1, 0]],
        "distance": [(r @ r - length**2) / (2 * length)],
        "point_on_line": [*r[:2]],
    }[kind]
    assert Conditions(mechanism, [closure]).rows(posture).Phi == pytest.approx(expected, abs=1e-12)


def test_rows_and_their_names() -> None:
    """Closures come after the programmed rows and before the fixed base, one row per condition, in file order."""
    data = random_chain(np.random.default_rng(2), 3, "rigid", beams=False)
    ends = {"a": {"link": "base"}, "b": {"link": "link2"}}
    data["closures"] = [
        {"name": "far", "type": "distance", "length": 1.0} | ends,
        {"name": "soft"} | SPRINGS | ends,
        {"name": "pin", "type": "universal"} | ends,
    ]
    data["programmed"] = [{"name": "rise", "expression": "E.z - 1"}]
    names = Model(mechanism_of(data)).constraints.names
    base = tuple(f"base_{key}" for key in ("x", "y", "z", "psi", "theta", "phi"))
    assert names == ("rise", "far_distance", "pin_x", "pin_y", "pin_z", "pin_zz", *base)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", CLOSURES)
def test_closed_loop_stays_closed(kind: str, seed: int) -> None:
    """Over a short motion Φ of a closed loop stays at zero, and the closures do no work: energy is conserved."""
    options: dict[str, Any] = {"dampers": False, "links": 3, "base": None}
    mechanism, q, qd, _ = random_loop(seed, kind, **options)
    run = simulate(mechanism, start=(q, qd), stop=0.2, output_step=0.05, method="DOP853", tolerance=1e-11)
    assert run.signals["violation_position"].max() < 1e-9
    assert run.signals["violation_velocity"].max() < 1e-8
    model = Model(mechanism)
    ends = [
        np.array([[run.signals[c.symbol + part][k] for c in mechanism.coordinates] for part in ("", "_dot")])
        for k in (0, -1)
    ]
    first, last = (energy(model, 0.0, *end) for end in ends)
    assert last.total - first.total == pytest.approx(0.0, abs=1e-8 * max(first.kinetic, 1.0))
