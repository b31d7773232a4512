"""The rank of C is absolute: neither size nor place nor how a machine is turned matters; it may be zero."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest
from helpers_examples import EXAMPLES
from helpers_parts import Z, body, link, machine
from helpers_program import Numeric
from helpers_redundant import started
from helpers_reference import mechanism_of, slope
from numpy.typing import NDArray
from test_reactions import door

from gpmelica.generator.description.load import from_data
from gpmelica.generator.language import expressions
from gpmelica.prepared import prepare
from gpmelica.reference import Model, evaluate
from gpmelica.reference.kinematics.expression import Instant, compile_tree
from gpmelica.reference.kinematics.magnitude import magnitude
from gpmelica.reference.kinematics.segment import Segment

Array = NDArray[np.float64]


def _four_bar(size: float, place: tuple[float, float, float]) -> dict[str, Any]:
    """The spatial four-bar linkage of the examples, larger by a factor and elsewhere."""
    data = tomllib.loads((EXAMPLES / "four_bar_3d.toml").read_text(encoding="utf-8"))
    for bar in data["links"]:
        frame = bar["frame"]
        frame["xyz"] = [size * x for x in frame.get("xyz", [0.0, 0.0, 0.0])]
        bar["com"], bar["inertia"] = ([factor * x for x in bar[key]] for factor, key in _grown(size))
        if bar["parent"] == "ground":
            frame["xyz"] = [x + y for x, y in zip(frame["xyz"], place, strict=True)]
    for side in "ab":
        data["closures"][0][side]["xyz"] = [size * x for x in data["closures"][0][side]["xyz"]]
    return {key: value for key, value in data.items() if key not in ("cases", "points", "forces")}


def _grown(size: float) -> tuple[tuple[float, str], tuple[float, str]]:
    return (size, "com"), (size**2, "inertia")


@pytest.mark.parametrize("place", [(1e4, 0.0, 0.0), (1e6, -1e6, 1e6)])
def test_accelerations_far_away(place: tuple[float, float, float]) -> None:
    """q̈ of a tree is that at the world's origin to 1e-12: what is moved is the datum, and nothing else."""
    near, far = ({**_four_bar(1.0, at), "closures": [], "statics": {}} for at in ((0.0, 0.0, 0.0), place))
    q, qd = np.array([0.3, -1.1, 0.8]), np.array([3.0, -2.0, 1.0])
    expected, found = (evaluate(mechanism_of(data), 0.0, q, qd).qdd for data in (near, far))
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_body_that_flies_far_away() -> None:
    """A free body's own translation moves the datum with it."""
    body = {"name": "body", "parent": "ground", "mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.4, 0.5, 0.6]}
    arm = {"name": "arm", "parent": "body", "mass": 1.0, "com": [0.3, 0.0, 0.0], "inertia": [0.01, 0.1, 0.1]}
    body["joint"], arm["joint"] = {"type": "free"}, {"type": "revolute", "axis": [0.0, 1.0, 0.0]}
    links = [body, arm | {"frame": {"xyz": [0.5, 0.0, 0.0]}}]
    mechanism = mechanism_of({"schema": 1, "name": "Flier", "links": links})
    q, qd = np.array([0.0, 0.0, 0.0, 0.4, 0.3, 0.2, 0.7]), np.arange(1.0, 8.0)
    expected = evaluate(mechanism, 0.0, q, qd).qdd
    assert evaluate(mechanism, 0.0, q + np.array([1e6, -1e6, 1e6, 0, 0, 0, 0]), qd).qdd == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_magnitudes_bound_values_and_gradients(seed: int) -> None:
    """Sizes are no less than what they belong to, and gradients are those of differences."""
    text = "(a*b - 2)^2/(1 + exp(-c)) + quintic(t, 0, 1, a, b)*atan2(b, 2 + c) - (a if b > c else c)"
    rng, names = np.random.default_rng(seed), ["t", "a", "b", "c"]
    node, at = compile_tree(expressions.parse(text), {}, None), rng.uniform(0.2, 0.8, 4)

    def value(k: int, change: float) -> float:
        shifted = at + change * np.eye(4)[k]
        return float(node.value(Instant(dict(zip(names, shifted.tolist(), strict=True)), Segment(0.0))))  # type: ignore[arg-type]

    found = magnitude(node, Instant(dict(zip(names, at.tolist(), strict=True)), Segment(0.0)), names)
    assert found.gradient == pytest.approx([slope(lambda h, k=k: value(k, h)) for k in range(4)], abs=1e-9)
    assert found.value == pytest.approx(value(0, 0.0), rel=1e-14)
    assert found.size >= abs(found.value)
    assert (found.gradient_size >= np.abs(found.gradient)).all()


def test_sizes_do_not_depend_on_what_cancels() -> None:
    """Rows of rounding errors alone are made of something: of the door's rows none has a size near to theirs."""
    mechanism, start = started(door("revolute", "revolute"))
    model = Model(mechanism, start=start)
    state = model.state(0.0, *start)
    rows, sizes = model.constraints(state), model.constraints.sizes(state)
    assert np.abs(rows.C).max() < 1e-14
    assert np.linalg.norm(sizes.C, axis=1).min() > 0.5


# ---- Constraints of which the joints alone keep every row -------------------------------------------------------


DOOR = machine(
    link("door", "revolute", Z, velocity=1.0) | body(2.0, [0.5, 0.0, 0.0], [0.1, 0.1, 0.1]),
    gravity=[0.0, -9.81, 0.0],
    closures=[{"name": "hinge", "type": "revolute", "a": {"link": "ground"}, "b": {"link": "door"}}],
    nonholonomic=[{"name": "blade", "link": "door", "point": [0.5, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}],
    outputs={"loads": "all"},
)


@pytest.mark.parametrize("redundant", ["auto", "minimum_norm"])
@pytest.mark.parametrize("formulation", ["gpme", "gpme_reduced", "lagrange"])
@pytest.mark.parametrize("actuated", ["all", ["door"]])
def test_no_row_is_left(redundant: str, formulation: str, actuated: str | list[str]) -> None:
    """A door on two hinges, and a blade that it carries along: the joint alone keeps all rows."""
    settings = {"redundant": redundant, "formulation": formulation, "actuated": actuated}
    model = prepare(from_data(DOOR | {"constraints": settings}))
    assert model.solvability.rank == 0
    values = Numeric(model.program, {"time": 0.0, "door_angle": 0.3, "door_angle_dot": 1.0}).values
    expected = -2.0 * 9.81 * 0.5 * np.cos(0.3) / (0.1 + 2.0 * 0.5**2)
    assert values["door_angle_ddot"] == pytest.approx(expected, rel=1e-12)
    assert values["blade_force"] == 0.0
    assert values["violation_position"] == pytest.approx(0.0, abs=1e-12)
