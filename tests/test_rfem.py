"""Rigid finite elements of a beam: exact properties, and convergence to the beam's theory."""

from __future__ import annotations

from typing import Any

import helpers_parts as parts
import numpy as np
import pytest
from helpers_problem import equilibrium, evaluate, start_state
from helpers_reference import cantilever, crane, manipulator, mechanism_of, slope
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from gpmelica.analysis import ReferenceModel, poses
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data
from gpmelica.mechanism import Mechanism, build
from gpmelica.mechanism.rfem import (
    BeamData,
    RigidElement,
    element_at,
    element_lengths,
    element_starts,
    elements,
    stiffnesses,
)

BEAM = BeamData(length=3.0, area=0.008, density=7850.0, E=2.1e11, G=8.0e10, Iy=2.0e-5, Iz=3.0e-5, J=4.0e-5)
COUNTS = (1, 2, 3, 4, 7, 16)
PROFILE = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def _about_start(parts: list[RigidElement]) -> np.ndarray[Any, Any]:
    """Moments of inertia of all elements about the axes at the beam's start, shape (3,), kg·m²."""
    lever = [np.array([0.0, 1.0, 1.0]) * (part.start + part.length / 2) ** 2 for part in parts]
    return sum(np.array(part.moments) + part.mass * square for part, square in zip(parts, lever, strict=True))


@pytest.mark.parametrize("count", COUNTS)
def test_elements_fill_the_beam(count: int) -> None:
    """Elements follow each other from start to end; the inner ones are twice as long as the outer ones."""
    parts = elements(BEAM, count)
    ends = [part.start + part.length for part in parts]
    assert len(parts) == count
    assert parts[0].start == 0.0
    assert ends[-1] == pytest.approx(BEAM.length, rel=1e-14)
    assert [part.start for part in parts[1:]] == pytest.approx(ends[:-1], rel=1e-14)
    assert element_lengths(3.0, 4) == pytest.approx([0.5, 1.0, 1.0, 0.5], rel=1e-15)


@pytest.mark.parametrize("count", COUNTS)
def test_mass_and_inertia_are_exact(count: int) -> None:
    """Mass, static moment and inertia about the beam's start are the whole beam's: ρAL, ρAL²/2, ρAL³/3."""
    parts = elements(BEAM, count)
    L, line = BEAM.length, BEAM.density * BEAM.area
    assert sum(part.mass for part in parts) == pytest.approx(line * L, rel=1e-14)
    moment = sum(part.mass * (part.start + part.length / 2) for part in parts)
    assert moment == pytest.approx(line * L**2 / 2, rel=1e-14)
    rotary = BEAM.density * L * np.array([BEAM.Iy + BEAM.Iz, BEAM.Iy, BEAM.Iz])
    expected = rotary + line * L**3 / 3 * np.array([0.0, 1.0, 1.0])
    assert _about_start(parts) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("count", COUNTS[1:])
def test_springs(count: int) -> None:
    """Springs s = EI/Δ and GJ/Δ, in the order of psi, theta, phi; in a row they twist as T·L/(GJ), exactly."""
    section = BEAM.length / (count - 1)
    s_psi, s_theta, s_phi = stiffnesses(BEAM, count)
    assert (s_psi, s_theta) == pytest.approx((BEAM.E * BEAM.Iz / section, BEAM.E * BEAM.Iy / section), rel=1e-14)
    assert (count - 1) / s_phi == pytest.approx(BEAM.length / (BEAM.G * BEAM.J), rel=1e-14)


@PROFILE
@given(st.floats(0.01, 100.0), st.integers(2, 64), st.floats(-0.5, 1.5))
def test_element_at(length: float, count: int, part: float) -> None:
    """The element found is the one with start ≤ x < end; those at the ends reach beyond the beam."""
    x = part * length
    r = element_at(x, length, count)
    starts = element_starts(length, count)
    assert r == 0 or starts[r] <= x
    assert r == count - 1 or x < starts[r + 1]


@PROFILE
@given(st.floats(0.01, 100.0), st.integers(1, 64))
def test_element_at_boundaries(length: float, count: int) -> None:
    """An element begins with its start and ends just before the next one, to the last bit."""
    starts = element_starts(length, count)
    assert [element_at(x, length, count) for x in starts] == list(range(count))
    before = [element_at(float(np.nextafter(x, -np.inf)), length, count) for x in starts]
    assert before == [0, *range(count - 1)]
    assert element_at(length, length, count) == count - 1


TABLE = {key: getattr(BEAM, key) for key in ("length", "area", "density", "E", "G", "Iy", "Iz", "J")}


def _arm(count: int, **beam: Any) -> Mechanism:
    """A beam on a revolute joint, with a body, a point and a force where its elements meet, and at its end."""
    mount = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.3, 0.2, 0.1]}
    first = parts.beam("beam", TABLE | {"elements": count} | beam, "revolute", parts.Z, **mount)
    inertia = parts.body(2.0, inertia=[0.1, 0.2, 0.2])
    others = [
        parts.link(f"body{i}", "revolute", parts.Y, "beam", xyz=[x, 0.0, 0.1]) | inertia
        for i, x in enumerate(PLACES)
    ]
    points = {f"P{i}": {"link": "beam", "position": [x, 0.1, 0.0]} for i, x in enumerate(PLACES)}
    return build(from_data(parts.machine(first, *others, points=points)))


PLACES = (-0.2, 0.0, 0.5, 1.0, 1.5, 3.0, 3.5)


@pytest.mark.parametrize("count", COUNTS)
def test_undeformed_beam_is_the_rigid_one(count: int) -> None:
    """Straight, a beam of any number of elements has its bodies and points at the same places, and the same M."""
    rigid, arm = _arm(1), _arm(count)
    own = [k for k, c in enumerate(arm.coordinates) if c.role == "joint"]
    q_rigid = np.linspace(-0.7, 0.9, rigid.n)
    q = np.zeros(arm.n)
    q[own] = q_rigid
    assert arm.n == rigid.n + 3 * (count - 1)
    last = len(PLACES)
    assert poses(arm, q)[-last:] == pytest.approx(poses(rigid, q_rigid)[-last:], abs=1e-14)
    for name, place in arm.points.items():
        assert _world(arm, q, place) == pytest.approx(_world(rigid, q_rigid, rigid.points[name]), abs=1e-14)
    M, M_rigid = evaluate(arm, 0.0, q, 0 * q).M, evaluate(rigid, 0.0, q_rigid, 0 * q_rigid).M
    assert M[np.ix_(own, own)] == pytest.approx(M_rigid, rel=1e-12, abs=1e-9)


def _world(mechanism: Mechanism, q: np.ndarray[Any, Any], place: Any) -> np.ndarray[Any, Any]:
    pose = poses(mechanism, q)[place.body]
    return pose[:3, :3] @ place.position + pose[:3, 3]


def test_flexible_switches_the_elements_off() -> None:
    """`flexible = false` makes the mechanism that `elements = 1` makes."""
    off, one = _arm(4, flexible=False), _arm(1)
    assert [body.name for body in off.bodies] == [body.name for body in one.bodies]
    assert [c.name for c in off.coordinates] == [c.name for c in one.coordinates]
    q = np.linspace(0.1, 0.5, off.n)
    assert np.array_equal(evaluate(off, 0.0, q, q).qdd, evaluate(one, 0.0, q, q).qdd)


def test_beam_is_damped_by_kelvin_and_voigt() -> None:
    """Material of stress E (strain + τ strain rate) yields moments −K (q + τ q̇)."""
    model = ReferenceModel(_arm(4, damping_time=0.03))
    elastic = [k for k, c in enumerate(model.mechanism.coordinates) if c.role == "elastic"]
    bent = np.zeros(model.mechanism.n)
    bent[elastic] = np.linspace(0.01, 0.05, len(elastic))
    rest = np.zeros(model.mechanism.n)
    moments = model.forces(model.state(0.0, bent, rest)).elastic
    found = model.forces(model.state(0.0, rest, bent)).dissipative
    assert np.abs(moments[elastic]).min() > 1.0
    assert found == pytest.approx(0.03 * moments, rel=1e-12)


# ---- Statics of the reference, and elastic beams against Euler–Bernoulli theory ---------------------------------


def test_supports_carry_the_weight() -> None:
    """In the crane's equilibrium the supports' springs together push up with its weight, and nothing sideways."""
    mechanism = crane()
    model, q = ReferenceModel(mechanism), equilibrium(mechanism)
    posture = model.state(0.0, q, 0 * q).posture
    force = sum(
        support.stiffness * (support.position - posture.world[:3, 1] @ [*support.position, 1.0])
        for support in mechanism.supports
    )
    weight = 9.81 * sum(body.mass for body in mechanism.bodies)
    assert force == pytest.approx([0.0, 0.0, weight], rel=1e-9, abs=1e-6)


def test_locked_joints_stay_and_the_others_rest() -> None:
    """Locked joints keep their start values; on all other coordinates the forces are in balance."""
    mechanism = crane()
    q = equilibrium(mechanism)
    found = evaluate(mechanism, 0.0, q, 0 * q)
    for k, c in enumerate(mechanism.coordinates):
        if c.role == "joint":
            assert q[k] == c.position
        else:
            assert abs(found.Q[k] - found.h[k]) < 1e-6


def test_springs_decide_what_is_free() -> None:
    """Without `locked`, joints with a spring settle, joints without keep their start value."""
    data = manipulator(gravity=[0.0, 0.0, -9.81])
    data["links"][1]["joint"] = data["links"][1]["joint"] | {"stiffness": 30.0, "rest": 0.2}
    q = equilibrium(mechanism_of(data))
    assert q[0] == 0.4
    moment = 2.0 * 9.81 * 0.4 * np.cos(q[0] + q[1])
    assert 30.0 * (q[1] - 0.2) == pytest.approx(-moment, rel=1e-9)


@pytest.mark.parametrize("start", [(0.4, 0.9), (1.5, 0.1), (0.0, 0.0), (-2.0, 3.0), (2.5, 2.5)])
def test_unlocked_arm_hangs(start: tuple[float, float]) -> None:
    """Joints that are not locked settle where the arm hangs straight down, not where it stands upright."""
    data = manipulator(statics={"locked": []})
    for link, angle in zip(data["links"], start, strict=True):
        link["joint"] = link["joint"] | {"position": angle}
    q = equilibrium(mechanism_of(data))
    assert [np.sin(q[0]), np.sin(q[0] + q[1])] == pytest.approx([-1.0, -1.0], abs=1e-12)
    assert np.abs(q).max() < 2 * np.pi


def test_large_deflections_settle() -> None:
    """A soft cantilever bent far beyond small angles by a follower force: its free end takes F times the lever."""
    force = {"name": "f", "link": "beam", "point": [2.0, 0.0, 0.0], "force": [0.0, 0.0, 150.0], "frame": "link"}
    mechanism = mechanism_of(cantilever(8, forces=[force]))
    model, q = ReferenceModel(mechanism), equilibrium(mechanism)
    state = model.state(0.0, q, 0 * q)
    assert abs(np.sum(q)) > 1.0
    first = mechanism.bodies[1]
    lever = np.linalg.inv(np.vstack([state.posture.world[:3, 2], [0, 0, 0, 1]])) @ [*state.x[:3], 1.0]
    R = state.posture.T[:3, 2, :3].T @ state.posture.T[:3, 8, :3]
    moment = np.cross(lever[:3], R @ [0.0, 0.0, 150.0])
    theta = first.coordinates[1]
    assert mechanism.coordinates[theta].stiffness * q[theta] == pytest.approx(moment[1], rel=1e-9)


def test_applied_forces_take_part() -> None:
    """Forces act in statics with their value at t = 0, where start(x) is x."""
    force = {"name": "f", "link": "beam", "point": [2.0, 0, 0], "force": ["0", "0", "2 + t + E.z - start(E.z)"]}
    mechanism = mechanism_of(cantilever(8, forces=[force]))
    q = equilibrium(mechanism)
    tip = ReferenceModel(mechanism).state(0.0, q, 0 * q).x[2]
    assert tip == pytest.approx(2.0 * 2.0**3 / (3 * 2.1e11 * 1e-9), rel=0.02)


def test_cantilever_deflection_converges() -> None:
    """The tip deflection under a small load converges to F L³/(3 E I) with second order in the
    section's length.
    """
    load, exact = 1e-3, 1e-3 * 2.0**3 / (3 * 2.1e11 * 1e-9)
    force = {"name": "f", "link": "beam", "point": [2.0, 0.0, 0.0], "force": [0.0, 0.0, load]}
    errors = []
    for count in (2, 4, 8, 16):
        mechanism = mechanism_of(cantilever(count, forces=[force]))
        q = equilibrium(mechanism)
        errors.append(abs(ReferenceModel(mechanism).state(0.0, q, 0 * q).x[2] / exact - 1))
    sections = np.array([1, 3, 7, 15])
    orders = np.diff(np.log(errors)) / np.diff(np.log(1 / sections))
    assert orders == pytest.approx([2.0, 2.0, 2.0], abs=0.02)
    # The midpoint rule in the springs' places: a relative error of (Δ/L)²/4.
    assert errors == pytest.approx(0.25 / sections**2, rel=1e-3)


def test_cantilever_frequency_converges() -> None:
    """The first bending frequency approaches 1.8751² √(EI/(ρAL⁴)) with second order."""
    exact = 1.8751040687**2 * np.sqrt(2.1e11 * 1e-9 / (7800.0 * 1e-4 * 2.0**4))
    errors = []
    for count in (4, 8, 16, 32):
        model = ReferenceModel(mechanism_of(cantilever(count)))
        zero = np.zeros(model.mechanism.n)

        def elastic(q: np.ndarray, model: ReferenceModel = model, zero: np.ndarray = zero) -> np.ndarray:
            return model.forces(model.state(0.0, q, zero)).elastic

        K = -np.array([slope(lambda x, e=e: elastic(x * e)) for e in np.eye(len(zero))])
        M, _ = model.mass(model.state(0.0, zero, zero).posture)
        errors.append(abs(np.sqrt(eigh(K, M, eigvals_only=True)[0]) / exact - 1))
    orders = np.diff(np.log(errors)) / np.diff(np.log(1 / np.array([3, 7, 15, 31])))
    assert errors[-1] < 1e-3
    assert orders == pytest.approx([2.0, 2.0, 2.0], abs=0.15)


def test_start_state() -> None:
    """`start = "description"` takes the values of the file, "statics" only their velocities."""
    data = cantilever(3, gravity=[0.0, 0.0, -9.81])
    data["links"][0]["joint"] = {"type": "revolute", "axis": [0, 0, 1], "position": 0.3, "velocity": 0.2}
    for start, settled in (("description", False), ("statics", True)):
        q, qd = start_state(mechanism_of(data | {"simulation": {"start": start}}))
        assert (q[0], qd[0]) == (0.3, 0.2)
        assert bool(np.abs(q[1:]).max() > 1e-6) is settled
        assert not qd[1:].any()


def test_no_equilibrium_is_reported() -> None:
    """A coordinate without any support ends in an error that names it and what is left, once that is clear."""
    data = manipulator(statics={"locked": ["lower"]})
    data["links"][0]["joint"] = {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}
    left = (
        r"in 21 steps.*: the unbalanced force on upper\.position is 39\.2 N;"
        r" upper\.position has the least stiffness: give"
    )
    with pytest.raises(SolveError, match=left):
        equilibrium(mechanism_of(data))
