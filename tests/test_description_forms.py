"""Equal forms mean equal mechanisms: frames, inertia, joints, order of links, beams."""

from __future__ import annotations

import copy
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from helpers_reference import manipulator
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import AXES, beams, trees

from gpmelica import reference
from gpmelica.generator.description.load import from_data
from gpmelica.generator.description.tables.frame import Frame
from gpmelica.generator.description.tables.inertia import Inertial
from gpmelica.generator.mechanism import build, placement_order
from gpmelica.generator.types.joints import JOINT_TYPES

Array = NDArray[np.float64]
PROFILE = settings(max_examples=60, deadline=None, derandomize=True, database=None)
BODY = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}


def _rotation(axis: int, angle: float) -> Array:
    """Shape (4, 4): rotation about x, y or z."""
    T, (i, j) = np.eye(4), ((axis + 1) % 3, (axis + 2) % 3)
    T[i, i] = T[j, j] = np.cos(angle)
    T[j, i], T[i, j] = np.sin(angle), -np.sin(angle)
    return T


def test_right_angles_are_exact() -> None:
    """A frame turned by π/2 has zeros and ones, no 6e-17: the generated text shows its form."""
    for turns in product((0.0, np.pi / 2, -np.pi / 2, np.pi, 2 * np.pi), repeat=3):
        assert set(np.abs(Frame(rpy=turns).rotation).ravel()) == {0.0, 1.0}
        assert set(np.abs(Frame(dh=(0.3, turns[0], 1.0, turns[1])).rotation).ravel()) == {0.0, 1.0}


def test_flat_bodies_are_bodies() -> None:
    """A thin plate, whose largest moment is the sum of the others, is accepted in every form."""
    moments = [1.0, 2.0, 3.0]
    plates = [
        {"mass": 4.0, "inertia": moments},
        {"mass": 4.0, "inertia": np.diag(moments).tolist()},
        {"pseudo_inertia": np.diag([2.0, 1.0, 0.0, 4.0]).tolist()},
    ]
    for plate in plates:
        assert np.array_equal(Inertial(**plate).about_com()[2], np.diag(moments))
    for angle in np.linspace(0.1, 3.0, 9):
        R = (_rotation(0, angle) @ _rotation(1, 0.7 * angle))[:3, :3]
        inertia = R @ np.diag(moments) @ R.T
        tilted = Inertial(mass=4.0, inertia=((inertia + inertia.T) / 2).tolist())
        assert tilted.about_com()[2] == pytest.approx(inertia, rel=1e-15)


def test_com_is_zero_by_default() -> None:
    """A body without com has it at the origin of its frame."""
    assert np.array_equal(Inertial(**BODY).about_com()[1], np.zeros(3))


@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_joints(kind: str) -> None:
    """Every joint type loads with one value for all coordinates, with one per coordinate, and with none."""
    motions = JOINT_TYPES[kind]
    joint: dict[str, Any] = {"type": kind}
    if any(motion.axis is None for motion in motions):
        joint["axis"] = AXES[3]
    values = [0.1 * (i + 1) for i in range(len(motions))]
    variants = [{}] if not motions else [{}, {"position": 0.25}, {"position": values, "stiffness": values}]
    for keys in variants:
        links = [
            {"name": "a", "parent": "ground", "joint": joint | keys} | BODY,
            {"name": "b", "parent": "a", "joint": {"type": "prismatic", "axis": [1, 0, 0]}} | BODY,
        ]
        mechanism = build(from_data({"schema": 1, "name": "Joints", "links": links}))
        own = mechanism.coordinates[: len(motions)]
        assert [c.name for c in own] == [f"a.{motion.coordinate}" for motion in motions]
        assert [c.unit for c in own] == ["rad" if motion.kind == "rotation" else "m" for motion in motions]
        position = keys.get("position", 0.0)
        assert [c.position for c in own] == (position if isinstance(position, list) else [position] * len(own))
        assert [c.stiffness for c in own] == keys.get("stiffness", [None] * len(own))


def test_axes_are_normalised() -> None:
    """An axis that is a unit vector but for rounding becomes one."""
    link = {
        "name": "a",
        "parent": "ground",
        "joint": {"type": "revolute", "axis": [0.7071068, 0, 0.7071068]},
    } | BODY
    axis = from_data({"schema": 1, "name": "Axis", "links": [link]}).links[0].joint.axis
    assert axis == pytest.approx((0.5**0.5, 0.0, 0.5**0.5), rel=1e-7)
    assert np.linalg.norm(np.array(axis)) == pytest.approx(1.0, rel=1e-15)


def _order(links: list[dict[str, Any]]) -> list[str]:
    """Design section 3: again and again the first link of the file whose parent is already placed."""
    placed: list[str] = []
    while len(placed) < len(links):
        possible = [x["name"] for x in links if x["parent"] in ("ground", "base", *placed)]
        placed.append(next(name for name in possible if name not in placed))
    return placed


TREE = (("a", "ground"), ("b", "a"), ("c", "a"), ("d", "c"), ("e", "ground"))


@pytest.mark.parametrize("order", list(permutations(TREE))[::5])
def test_links_in_any_order(order: tuple[tuple[str, str], ...]) -> None:
    """Coordinates are placed parents first, else in the file's order; the mechanism stays the same."""

    def chain(pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        joint = {"type": "revolute", "axis": [0.0, 1.0, 0.0]}
        frame = {"xyz": [0.5, 0.1, 0.2], "rpy": [0.3, 0.0, 0.2]}
        links = [{"name": n, "parent": p, "joint": joint, "frame": frame} | BODY for n, p in pairs]
        return {"schema": 1, "name": "Order", "links": links}

    data = chain(order)
    mechanism, sorted_one = build(from_data(data)), build(from_data(chain(TREE)))
    expected = _order(data["links"])
    assert [body.name for body in mechanism.bodies] == expected
    assert [c.name for c in mechanism.coordinates] == [f"{name}.angle" for name in expected]
    assert [link.name for link in placement_order(mechanism.chain.links)] == expected
    q = np.linspace(-1.0, 1.0, len(TREE))
    place = [expected.index(name) for name, _ in TREE]
    q_moved = np.empty_like(q)
    q_moved[place] = q
    qdd = reference.evaluate(mechanism, 0.0, q_moved, q_moved).qdd
    assert qdd[place] == pytest.approx(reference.evaluate(sorted_one, 0.0, q, q).qdd, rel=1e-10)


@PROFILE
@given(trees())
def test_random_trees_are_placed_in_order(data: dict[str, Any]) -> None:
    """The order of bodies is the design's, also with a base and with beams; every parent comes first."""
    mechanism = build(from_data(data))
    owners = list(dict.fromkeys(body.link for body in mechanism.bodies))
    assert owners == [*(["base"] if "base" in data else []), *_order(data["links"])]
    assert all(body.parent < index for index, body in enumerate(mechanism.bodies))


@PROFILE
@given(beams(), st.integers(1, 4))
def test_elements_alone_make_a_beam_flexible(beam: dict[str, Any], elements: int) -> None:
    """With another number of elements the rest of the mechanism is the same: joints, springs, points, mass."""
    data = manipulator()
    for key in ("mass", "com", "inertia"):
        data["links"][0] = {k: v for k, v in data["links"][0].items() if k != key}
    data["links"][0]["beam"] = beam | {"flexible": True, "elements": elements}
    one = copy.deepcopy(data)
    one["links"][0]["beam"]["elements"] = 1
    changed, rigid = build(from_data(data)), build(from_data(one))
    assert [c for c in changed.coordinates if c.role == "joint"] == list(rigid.coordinates)
    assert sum(b.mass for b in changed.bodies) == pytest.approx(sum(b.mass for b in rigid.bodies), rel=1e-14)
    assert len(changed.coordinates) - len(rigid.coordinates) == 3 * (elements - 1)
