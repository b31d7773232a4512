"""Frames without mass: they change nothing but where things are, or the message says what has no mass to move."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from helpers_stages import StagedModel

from gpmelica import reference
from gpmelica.errors import DescriptionError
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare

BODY = {"mass": 1.5, "com": [0.3, 0.1, 0.0], "inertia": [0.02, 0.1, 0.11]}
WRIST = {"type": "universal", "position": [0.3, -0.4]}
ARM: dict[str, Any] = {
    "schema": 1,
    "name": "Arm",
    "links": [
        {"name": "arm", "parent": "ground", "joint": {"type": "revolute", "axis": [0.0, -1.0, 0.0]}} | BODY,
        {"name": "hand", "parent": "arm", "frame": {"xyz": [0.8, 0.0, 0.1], "rpy": [0.2, 0.1, 0.3]}}
        | BODY
        | {"joint": WRIST},
    ],
    "points": {"E": {"link": "hand", "position": [0.4, 0.1, 0.0]}},
    "outputs": {"loads": "all"},
    "simulation": {"stop": 0.1},
}


def arm(*links: dict[str, Any], **changes: dict[str, Any]) -> Prepared:
    """The arm with further links, and with changes of those that it has."""
    data = copy.deepcopy(ARM)
    data["links"] += links
    for link in data["links"]:
        link.update(changes.get(link["name"], {}))
    return prepare(from_data(data))


def frame(name: str, parent: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "parent": parent, "joint": {"type": "fixed"}} | more


def _random_states(seed: int) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-1.0, 1.0, 3), rng.normal(size=3)) for _ in range(5)]


def _same(model: Prepared, expected: Prepared) -> None:
    """M, h and q̈ by the reference, q̈ and the common outputs by the generated equations."""
    ours, theirs = StagedModel(model), StagedModel(expected)
    for q, qd in _random_states(3):
        found, truth = (reference.evaluate(m.mechanism, 0.0, q, qd) for m in (model, expected))
        np.testing.assert_allclose(found.M, truth.M, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.h, truth.h, rtol=0, atol=1e-12)
        mine, other = ours(0.0, q, qd), theirs(0.0, q, qd)
        np.testing.assert_allclose(mine.qdd, truth.qdd, rtol=1e-11, atol=1e-11)
        common = set(mine.outputs) & set(other.outputs)
        assert {"E_vx", "arm_load_fz"} <= common
        for name in common:
            assert mine.outputs[name] == pytest.approx(other.outputs[name], rel=1e-9, abs=1e-9), name


def test_fixed_frames() -> None:
    """Frames on frames, and a point on the last one: the machine is the one without them."""
    turn = {"xyz": [0.1, -0.2, 0.3], "rpy": [0.4, 0.5, 0.6]}
    model = arm(frame("flange", "hand", frame=turn), frame("tool0", "flange", frame=turn))
    _same(model, arm())
    loads = StagedModel(model)(0.0, *_random_states(1)[0]).outputs
    assert {loads[f"{name}_load_{part}"] for name in ("tool0", "flange") for part in ("fx", "nz")} == {0.0}


def test_frame_carries_a_link() -> None:
    """A link hung on a frame is where the product of both frames has it."""
    lifted = {"xyz": [0.8, 0.0, 0.1]}
    turned = {"rpy": [0.2, 0.1, 0.3]}
    _same(arm(frame("mount", "arm", frame=lifted), hand={"parent": "mount", "frame": turned}), arm())


def test_moving_frame() -> None:
    """A universal joint is a revolute one about z, a frame without mass, and a revolute one about y."""
    psi = {"type": "revolute", "axis": [0.0, 0.0, 1.0], "position": 0.3}
    theta = {"type": "revolute", "axis": [0.0, 1.0, 0.0], "position": -0.4}
    cross = frame("spider", "arm", frame=ARM["links"][1]["frame"]) | {"joint": psi}
    split = arm(cross, hand={"parent": "spider", "frame": {}, "joint": theta})
    assert [c.name for c in split.mechanism.coordinates] == ["arm.angle", "spider.angle", "hand.angle"]
    _same(split, arm())


def test_point_mass() -> None:
    """A body without extent, away from its axis: a mathematical pendulum."""
    joint = {"type": "revolute", "axis": [0.0, -1.0, 0.0]}
    bob = {"name": "bob", "parent": "ground", "joint": joint, "mass": 2.0, "com": [0.5, 0.0, 0.0]}
    data = {"schema": 1, "name": "Pendulum", "links": [bob | {"inertia": [0.0, 0.0, 0.0]}]}
    qdd = StagedModel(prepare(from_data(data)))(0.0, np.array([0.3]), np.array([1.0])).qdd
    assert qdd == pytest.approx([-9.81 / 0.5 * np.cos(0.3)], rel=1e-13)


ABOUT_X = {"type": "revolute", "axis": [1.0, 0.0, 0.0]}
ABOUT_Y = {"type": "revolute", "axis": [0.0, 1.0, 0.0]}
POINT = {"mass": 1.0, "inertia": [0.0, 0.0, 0.0]}
SINGULAR = {
    "a frame alone": ([frame("tip", "hand") | {"joint": ABOUT_X}], "links[2].mass (tip): tip.angle moves nothing"),
    "frames on a frame": (
        [frame("tip", "hand") | {"joint": ABOUT_X}, frame("tool0", "tip")],
        "links[2].mass (tip): tip.angle moves nothing",
    ),
    "a point about itself": (
        [frame("tip", "hand") | POINT | {"joint": ABOUT_X}],
        "links[2].inertia (tip): tip.angle moves nothing",
    ),
    "a rod about itself": (
        [frame("tip", "hand") | {"mass": 1.0, "com": [1, 0, 0], "inertia": [0, 1, 1], "joint": ABOUT_X}],
        "links[2].inertia (tip): tip.angle moves nothing",
    ),
    "two on one axis": (
        [
            frame("tip", "hand") | {"joint": ABOUT_Y},
            frame("tool", "tip", frame={"xyz": [0, 1, 0]}) | BODY | {"joint": ABOUT_Y},
        ],
        "links[2].mass (tip): tip.angle, tool.angle can move together so that nothing",
    ),
    "two fingers": (
        [frame(name, "hand") | {"joint": ABOUT_X} for name in ("left", "right")],
        "links[2].mass (left): left.angle moves nothing",
    ),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular(name: str) -> None:
    """What moves without mass is named, at the link that lacks it."""
    links, says = SINGULAR[name]
    with pytest.raises(DescriptionError) as caught:
        arm(*links)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"description: {says}")
    assert len(lines) == (2 if name == "two fingers" else 1)


def test_aligned_angles_are_not_massless() -> None:
    """At theta = ±π/2 the axes of psi and phi meet: nothing is wrong with the masses."""
    data = copy.deepcopy(ARM)
    data["links"][1]["joint"] = {"type": "spherical", "position": [0.1, np.pi / 2, 0.2]}
    mechanism = prepare(from_data(ARM)).mechanism
    assert reference.massless(mechanism, np.array([0.1, 0.2, np.pi / 2])) == []
    with pytest.raises(DescriptionError) as caught:
        prepare(from_data(data))
    assert "mass" not in str(caught.value).partition(":")[0]
    assert "moves nothing" not in str(caught.value)
