"""Closures of the reference: levels against differences, wrenches, replacement joints, independence of the cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers_loops import CLOSURES, random_loop, spatial_linkage
from helpers_random import random_chain, random_closure
from helpers_reference import BASES, manipulator, mechanism_of, random_state, slope, unchecked
from numpy.typing import NDArray

from gpmelica.generator.description.tables.frame import roll_pitch_yaw
from gpmelica.generator.mechanism import Mechanism
from gpmelica.reference import Model, energy, evaluate, simulate, start_state
from gpmelica.reference.constraints.closures import Conditions, frame_pose
from gpmelica.reference.kinematics.kinematics import Posture

Array = NDArray[np.float64]
SPRINGS = {
    "type": "spherical",
    "model": "spring_damper",
    "stiffness": [300.0, 500.0, 400.0, 20.0, 30.0, 10.0],
    "damping": [3.0, 0.0, 4.0, 0.2, 0.3, 0.1],
}


def _closed(seed: int, kind: str, **changes: Any) -> tuple[Mechanism, np.random.Generator]:
    """A random tree with a closure of this type, open and anywhere, between two of its links."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, 4, BASES[seed % 3])
    first = ["link0", "ground", "link1"][seed % 3]
    closure = random_closure(rng, kind, (first, "link3") if seed % 2 else ("link3", first))
    return unchecked(data | {"closures": [closure | changes]}), rng


def _along(mechanism: Mechanism, rng: np.random.Generator) -> tuple[Callable[[float], Posture], Array, Array]:
    """Transforms along q + q̇ x + a x²/2, q̇ and a."""
    (q, qd), acceleration = random_state(mechanism, rng), rng.normal(size=mechanism.n)
    model = Model(mechanism)

    def at(x: float) -> Posture:
        return model.state(0.0, q + x * qd + x * x / 2 * acceleration, qd + x * acceleration).posture

    return at, qd, acceleration


def _check_levels(mechanism: Mechanism, rng: np.random.Generator) -> None:
    at, qd, acceleration = _along(mechanism, rng)
    conditions = Conditions(mechanism, mechanism.closures)
    now = conditions.rows(at(0.0))
    assert np.abs(now.C @ qd - now.Phi_dot).max() < 1e-12 * np.abs(now.Phi_dot).max()
    first = slope(lambda x: conditions.rows(at(x)).Phi)
    assert np.abs(now.Phi_dot - first).max() < 1e-8 * np.abs(first).max()
    second, found = now.C @ acceleration - now.gamma, slope(lambda x: conditions.rows(at(x)).Phi_dot)
    assert np.abs(second - found).max() < 1e-8 * np.abs(second).max()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", CLOSURES)
def test_levels(kind: str, seed: int) -> None:
    """Φ̇ = C q̇ and C q̈ − γ are the first and second derivatives of a closure's Φ along any motion."""
    _check_levels(*_closed(seed, kind))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("axes", ["local", "world"])
def test_levels_of_deformations(axes: str, seed: int) -> None:
    """The same for the deformations of a spring-damper, in either axes."""
    _check_levels(*_closed(seed, "spherical", **SPRINGS, axes=axes))


@pytest.mark.parametrize("kind", CLOSURES)
def test_values(kind: str) -> None:
    """Φ says where frame b is in frame a: components of its origin, cosines between axes, and the distance."""
    mechanism, rng = _closed(1, kind)
    posture = _along(mechanism, rng)[0](0.0)
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [*CLOSURES, "local", "world"])
def test_wrenches_do_the_conditions_work(kind: str, seed: int) -> None:
    """A condition's wrenches have the power Φ̇ in any motion, and are opposite on the two bodies.

    Along a world axis they act at two points, the origins of a and b (P3 (7)); the ground, to which the axis is
    fixed, bears the couple.
    """
    springs = kind in ("local", "world")
    mechanism, rng = _closed(seed, kind) if not springs else _closed(seed, "spherical", **SPRINGS, axes=kind)
    conditions, posture = Conditions(mechanism, mechanism.closures), _along(mechanism, rng)[0](0.0)
    wrenches = conditions.wrenches(posture)
    S = posture.S.reshape(-1, 4, 4)
    twists = np.concatenate([S[:, :3, 3], S[:, [2, 0, 1], [1, 2, 0]]], axis=1)
    C = np.einsum("kbx,ib,ix->ki", wrenches, posture.moves[:, 0, :, 0], twists)
    found = conditions.rows(posture).C
    assert np.abs(C - found).max() < 1e-12 * np.abs(found).max()
    assert np.abs(wrenches.sum(axis=1)).max() < 1e-12
    bearing = {frame.place.body + 1 for frame in (mechanism.closures[0].a, mechanism.closures[0].b)}
    assert set(np.flatnonzero(np.abs(wrenches).max(axis=(0, 2)))) == bearing | ({0} if kind == "world" else set())


def test_small_deformations() -> None:
    """Frames turned by small angles φ, θ, ψ are deformed by these, to second order (P3 (8)–(12))."""
    joints = [{"type": "free"}, {"type": "fixed"}]
    body = {"parent": "ground", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    links = [{"name": f"link{i}", "joint": joint} | body for i, joint in enumerate(joints)]
    closure = {"name": "soft"} | SPRINGS | {"a": {"link": "link1"}, "b": {"link": "link0"}}
    mechanism = mechanism_of({"schema": 1, "name": "Soft", "links": links, "closures": [closure]})
    model, conditions = Model(mechanism), Conditions(mechanism, mechanism.closures)
    small = np.array([0.3, -0.2, 0.5, 0.7, -0.4, 0.6])  # x y z φ θ ψ
    errors = []
    for size in (1e-2, 1e-3):
        q = size * small[[0, 1, 2, 5, 4, 3]]
        values = conditions.rows(model.state(0.0, q, 0 * q).posture).Phi
        assert values[:3] == pytest.approx(size * small[:3], rel=1e-12)
        errors.append(np.abs(values - size * small).max())
    assert errors[0] < 1e-4
    assert errors[1] == pytest.approx(errors[0] / 100, rel=0.05)


def test_axes_of_a_replacement_joint() -> None:
    """Local deformations are along frame a's axes, world ones along the world's; the angles do not care."""
    turn = {"rpy": [0.4, -0.3, 0.8]}
    ends = {"a": {"link": "upper", "xyz": [0.5, 0.0, 0.0]} | turn, "b": {"link": "ground"}}
    q, found = np.array([0.4, 0.9]), {}
    for axes in ("local", "world"):
        mechanism = mechanism_of(manipulator(closures=[{"name": "soft", "axes": axes} | SPRINGS | ends]))
        posture = Model(mechanism).state(0.0, q, 0 * q).posture
        found[axes] = Conditions(mechanism, mechanism.closures).rows(posture).Phi
    way = -0.5 * np.array([np.cos(0.4), 0.0, np.sin(0.4)])
    upper = np.array([[np.cos(0.4), 0, -np.sin(0.4)], [0, 1, 0], [np.sin(0.4), 0, np.cos(0.4)]])
    assert found["world"][:3] == pytest.approx(way, abs=1e-15)
    assert found["local"][:3] == pytest.approx((upper @ roll_pitch_yaw(*turn["rpy"])).T @ way, abs=1e-15)
    assert found["local"][3:] == pytest.approx(found["world"][3:], abs=1e-15)


@pytest.mark.parametrize("axes", ["local", "world"])
@pytest.mark.parametrize("seed", range(3))
def test_replacement_joints_forces_are_the_energys_derivatives(seed: int, axes: str) -> None:
    """Q = −∂E/∂q − ∂R/∂q̇ with E = ½ dᵀC d and R = ½ ḋᵀB ḋ (P3 (13), (14))."""
    with_joint, rng = _closed(seed, "spherical", **SPRINGS, axes=axes)
    without = mechanism_of(with_joint.chain.model_dump(by_alias=True, exclude_none=True) | {"closures": []})
    q, qd = random_state(with_joint, rng)
    models = [Model(mechanism) for mechanism in (with_joint, without)]
    states = [model.forces(model.state(0.0, q, qd)) for model in models]

    def energy_at(x: Array) -> float:
        first, second = (model.potential(model.state(0.0, x, qd)) for model in models)
        return first - second

    gradient = np.array([slope(lambda x, e=e: energy_at(q + x * e)) for e in np.eye(with_joint.n)])
    assert np.abs(states[0].elastic - states[1].elastic + gradient).max() < 1e-8 * np.abs(gradient).max()
    damper = states[0].dissipative - states[1].dissipative
    rows = Conditions(with_joint, with_joint.closures).rows(models[0].state(0.0, q, qd).posture)
    assert damper == pytest.approx(-rows.C.T @ (np.array(SPRINGS["damping"]) * (rows.C @ qd)), rel=1e-10)


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


def _displacements(mechanism: Mechanism, part: str, q: Array, qd: Array) -> Array:
    """What takes the links from zero coordinates to where they are, or its rate; shape (links, 4, 4), by name."""
    model = Model(mechanism)
    here, zero = (model.state(0.0, x, qd).posture for x in (q, 0 * q))
    order = np.argsort([body.link for body in mechanism.bodies]) + 1
    now, first = (getattr(here, part)[:, order].transpose(1, 0, 2), zero.world[:, order].transpose(1, 0, 2))
    return now @ np.linalg.inv(first)


def _fitted(mechanism: Mechanism, D: Array, D_dot: Array) -> tuple[Array, Array]:
    """q and q̇, shape (n,), of these displacements."""
    model, q = Model(mechanism), np.zeros(mechanism.n)
    order = np.argsort([body.link for body in mechanism.bodies]) + 1
    first = model.state(0.0, q, q).posture.world[:, order].transpose(1, 0, 2)
    for _ in range(30):
        posture = model.state(0.0, q, 0 * q).posture
        J = posture.T_q[:, :, order].transpose(0, 2, 1, 3).reshape(mechanism.n, -1)
        missing = D @ first - posture.world[:, order].transpose(1, 0, 2)
        q = q + np.linalg.lstsq(J.T, missing.ravel())[0]
    return q, np.linalg.lstsq(J.T, (D_dot @ first).ravel())[0]


def test_motion_does_not_depend_on_the_cut() -> None:
    """The same spatial linkage, cut at each of its four joints, has the same accelerations in the same state."""
    mechanism = mechanism_of(spatial_linkage("spherical", crank=0.5, speed=2.0))
    state = start_state(mechanism)
    assert state[0][mechanism.coordinate_index("crank.angle")] == 0.5
    D, D_dot = (_displacements(mechanism, part, *state) for part in ("world", "T_dot"))
    found = []
    for cut in ("spherical", "universal", "revolute", "prismatic"):
        other = mechanism_of(spatial_linkage(cut))
        q, qd = _fitted(other, D, D_dot)
        evaluation = evaluate(other, 0.0, q, qd)
        assert len(evaluation.rows) == other.n - 1
        assert np.abs(evaluation.Phi).max() < 1e-12
        posture = Model(other).state(0.0, q, qd).posture
        T_ddot = (np.tensordot(evaluation.qdd, posture.T_q, (0, 0)) + posture.T_bias).transpose(1, 0, 2)
        order = np.argsort([body.link for body in other.bodies]) + 1
        first = Model(other).state(0.0, 0 * q, qd).posture.world[:, order].transpose(1, 0, 2)
        found.append(T_ddot[order] @ np.linalg.inv(first))
    scale = np.abs(found[0]).max()
    assert scale > 1.0
    assert max(np.abs(other - found[0]).max() for other in found[1:]) < 1e-9 * scale
