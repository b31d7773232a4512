"""Rigid finite elements of a beam: what is exact, and what converges (design 4.10)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpmelica.generator.description.load import from_data
from gpmelica.generator.mechanism import Mechanism, build
from gpmelica.generator.mechanism.rfem import (
    BeamData,
    Element,
    element_at,
    element_lengths,
    element_starts,
    elements,
    stiffnesses,
)
from gpmelica.reference import evaluate, poses

BEAM = BeamData(length=3.0, area=0.008, density=7850.0, E=2.1e11, G=8.0e10, Iy=2.0e-5, Iz=3.0e-5, J=4.0e-5)
COUNTS = (1, 2, 3, 4, 7, 16)
PROFILE = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def _about_start(parts: list[Element]) -> np.ndarray[Any, Any]:
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
    body = {"mass": 2.0, "inertia": [0.1, 0.2, 0.2], "joint": {"type": "revolute", "axis": [0, 1, 0]}}
    links = [
        {"name": "beam", "parent": "ground", "frame": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.3, 0.2, 0.1]}}
        | {"joint": {"type": "revolute", "axis": [0.0, 0.0, 1.0]}, "beam": TABLE | {"elements": count} | beam},
        *(
            {"name": f"body{i}", "parent": "beam", "frame": {"xyz": [x, 0.0, 0.1]}} | body
            for i, x in enumerate(PLACES)
        ),
    ]
    points = {f"P{i}": {"link": "beam", "position": [x, 0.1, 0.0]} for i, x in enumerate(PLACES)}
    return build(from_data({"schema": 1, "name": "Arm", "links": links, "points": points}))


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
