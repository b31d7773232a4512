"""Uniqueness of joint reactions: textbook cases, ranks in absolute and joint coordinates, warnings of the
commands.
"""

from __future__ import annotations

import json
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_parts import Z, body, link, machine
from helpers_redundant import Array, polygon, repeated_task, started
from helpers_reference import manipulator, mechanism_of
from scipy.linalg import null_space
from test_reference_constraints import sleigh

from gpmelica import analysis
from gpmelica.analysis import Reactions
from gpmelica.analysis.at_one_state.reactions import _idle_by_qr, _idle_by_svd, _stacked, _verdicts
from gpmelica.analysis.start.absolute import Pair, pairs
from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.options.model import MotionOptions
from gpmelica.reference.constraints.redundancy import rank_of, scaled
from gpmelica.tasks import reactions as solvability
from gpmelica.tasks.check import Summary
from gpmelica.tasks.loads import loads

LUGRE = {"model": "lugre", "sigma0": 1e3, "mu_s": 0.2, "mu_k": 0.1, "v_s": 0.1, "diameter": 0.05}


def door(lower: str, upper: str, **lower_joint: Any) -> dict[str, Any]:
    """A door on two hinges, one above the other."""
    leaf = link("lower", lower, Z if lower == "revolute" else None, **lower_joint)
    hinge = {"name": "upper", "type": upper, "a": {"link": "ground", "xyz": [0.0, 0.0, 1.4]}}
    return machine(
        leaf | body(20.0, [0.4, 0.0, 0.7], [4.0, 5.0, 1.5]),
        gravity=[0.0, 0.0, -9.81],
        closures=[hinge | {"b": {"link": "lower", "xyz": [0.0, 0.0, 1.4]}}],
        simulation={"start": "description", "stop": 0.2},
    )


def found_for(data: dict[str, Any]) -> Reactions:
    return solving.reactions(*started(data))


def lost(found: Reactions) -> dict[str, list[str]]:
    """Pair → components that are not unique."""
    return {v.name: [key for key, unique in v.components.items() if not unique] for v in found.verdicts}


def test_door_on_two_balls() -> None:
    """The distribution of the weight along the hinge line is not unique; the forces normal to the line are."""
    found = found_for(door("spherical", "spherical"))
    assert (found.rows, found.columns, found.rank.rank, found.redundancy) == (6, 6, 5, 1)
    assert lost(found) == {"lower": ["fz"], "upper": ["fz"]}
    assert found.redundant_rows == (("upper_z",),)


def test_door_on_a_ball_and_a_bush() -> None:
    """A bush that slides along the line bears none of the weight: everything is unique, nothing is redundant."""
    found = found_for(door("spherical", "point_on_line"))
    assert found.redundancy == 0
    assert not any(lost(found).values())
    assert found.redundant_rows == ()


def test_door_on_two_hinges() -> None:
    """Two spatial hinges share everything but the moment about the line, which neither of them bears."""
    found = found_for(door("revolute", "revolute"))
    assert (found.rows, found.rank.rank, found.redundancy) == (10, 5, 5)
    assert lost(found) == {name: ["fx", "fy", "fz", "nx", "ny"] for name in ("lower", "upper")}


def test_beam_between_two_springs_is_unique() -> None:
    """A replacement joint has no rows: with springs the loads are determined, which is what the paper advises."""
    data = door("spherical", "spherical")
    data["closures"][0] |= {"model": "spring_damper", "stiffness": [1e6, 1e6, 1e6, 0, 0, 0]}
    found = found_for(data)
    assert (found.rows, found.redundancy) == (3, 0)
    assert [verdict.name for verdict in found.verdicts] == ["lower"]


@pytest.mark.parametrize("seed", range(3))
def test_spatial_polygon(seed: int) -> None:
    """Spatial revolutes in a plane: p = 3, forces in the plane unique, those across and both moments not."""
    found = found_for(polygon(seed))
    assert not found.planar
    assert found.redundancy == 3
    assert not found.singular
    assert set(map(tuple, lost(found).values())) == {("fz", "nx", "ny")}


@pytest.mark.parametrize("seed", range(3))
def test_planar_polygon(seed: int) -> None:
    """With a bush in place of the last spatial joint such a chain counts as planar: 3 columns per body, p = 0."""
    data = polygon(seed)
    data["closures"][0]["type"] = "point_on_line"
    for side in data["links"]:
        side["frame"] = {key: value for key, value in side["frame"].items() if key == "xyz"}
    data["closures"][0]["a"] = {"link": "ground", "xyz": [0.6, 0.1, 0.0]}
    found = found_for(data)
    sides = len(data["links"])
    assert found.planar
    assert (found.rows, found.columns, found.redundancy) == (2 * sides + 2, 3 * sides, 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("maker", [polygon, repeated_task])
def test_degree_of_redundancy_is_that_of_joint_coordinates(maker: Any, seed: int) -> None:
    """p does not depend on the coordinates: rows beyond the rank are as many in absolute as in joint coordinates.

    And rows of absolute coordinates vanish for all velocities that joint coordinates can have (tree joints).
    """
    mechanism, start = started(maker(seed))
    found, here = solving.reactions(mechanism, start), solving.solvability(mechanism, start)
    model = analysis.ReferenceModel(mechanism, start=start)
    state = model.state(0.0, *start)
    assert found.redundancy == len(model.constraints.names) - here.rank
    every = pairs(model, state)
    tree = [pair for pair in every if pair.kind == "joint"]
    allowed = null_space(_stacked(tree))
    assert allowed.shape[1] == mechanism.n
    others = _stacked([pair for pair in every if pair.kind != "joint"])
    assert rank_of(scaled(others @ allowed)).rank == here.rank


@pytest.mark.parametrize("seed", range(6))
def test_any_basis_of_the_null_space_gives_the_verdict(seed: int) -> None:
    """QR, SVD and brute force (another solution λ + null vector) agree on random redundant pairs."""
    rng = np.random.default_rng(seed)
    found = [
        Pair(f"p{k}", "joint", 0, rng.normal(size=(3, 14)), np.eye(3, 6), ("fx", "fy", "fz", "nx", "ny", "nz"))
        for k in range(4)
    ]
    shared = rng.normal(size=14)
    for k in (0, 2):  # these two hold the same thing once more
        rows = np.vstack([found[k].rows[:2], shared + found[k].rows[:2].sum(axis=0)])
        found[k] = Pair(found[k].name, "joint", 0, rows, np.eye(3, 6), found[k].components)
    scaled = [pair.scaled() for pair in found]
    C, rank = _stacked(scaled), rank_of(_stacked(scaled))
    by_qr = _verdicts(scaled, _idle_by_qr(C, rank))
    assert by_qr == _verdicts(scaled, _idle_by_svd(C, rank))
    assert [verdict.unique for verdict in by_qr] == [_is_unique(scaled, k) for k in range(4)]
    assert [verdict.unique for verdict in by_qr] == [False, True, False, True]


def _is_unique(found: list[Pair], k: int) -> bool:
    """Return whether the constraint space of a pair intersects that of all others only in zero.

    Source: Wojtyra and Frączek 2013, section 3.2, direct sum.
    """
    own, others = found[k].rows, np.vstack([pair.rows for i, pair in enumerate(found) if i != k])
    together = np.linalg.matrix_rank(np.vstack([own, others]))
    return bool(together == np.linalg.matrix_rank(own) + np.linalg.matrix_rank(others))


def _loads_with(data: dict[str, Any], **constraints: Any) -> Array:
    mechanism, start = started(data | {"constraints": constraints})
    loads = solving.joint_loads(mechanism, 0.0, *start, start=start)
    closures = solving.closure_wrenches(mechanism, 0.0, *start, start=start)
    return np.array([*loads.values(), *closures.values()])


def test_unique_loads_are_independent_of_removed_equations() -> None:
    """Elimination and least-norm multipliers yield equal loads in all unique components."""
    data = door("spherical", "spherical", velocity=[1.0, 0.0, 0.0])
    found = lost(found_for(data))
    a, b = (_loads_with(data, redundant=choice) for choice in ("auto", "minimum_norm"))
    for row, name in enumerate(("lower", "upper")):
        unique = [c for c, key in enumerate(("fx", "fy", "fz", "nx", "ny", "nz")) if key not in found[name]]
        assert a[row, unique] == pytest.approx(b[row, unique], abs=1e-9)
    assert a[:, 2] == pytest.approx([20 * 9.81, 0.0], abs=1e-9)
    assert b[:, 2] == pytest.approx([20 * 9.81, 0.0], abs=1e-9)


def test_singular_start_is_noticed() -> None:
    """A parallelogram that lies flat: its rank is lower there than anywhere else."""
    data = manipulator(gravity=[0.0, 0.0, 0.0])
    other = link("other", "revolute", [0.0, -1.0, 0.0], xyz=[0.8, 0.0, 0.0])
    data["links"][0]["joint"] = data["links"][1]["joint"] = other["joint"]
    data["links"].append(other | body(1.0, [0.5, 0.0, 0.0], [0.1, 0.1, 0.1]))
    ends = {"a": {"link": "lower", "xyz": [0.8, 0.0, 0.0]}, "b": {"link": "other", "xyz": [1.0, 0.0, 0.0]}}
    turned = {"rpy": [np.pi / 2, 0.0, 0.0]}
    data["closures"] = [{"name": "pin", "type": "point_on_line", **{k: v | turned for k, v in ends.items()}}]
    data["simulation"] = {"start": "description"}
    mechanism, start = started(data)
    found = solving.reactions(mechanism, start)
    assert found.singular
    assert found.elsewhere == found.rank.rank + 1
    (warning,) = solvability.warnings(mechanism, found)
    assert warning.startswith("the initial state is singular: the constraint Jacobian has rank 7 there and 8")
    (problem,) = solving.unreachable(mechanism, start[0])
    assert problem.where == "simulation.start"
    assert "the 2 constraint equations have rank 1 there and 2 elsewhere" in problem.message


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            door("revolute", "revolute", friction=LUGRE),
            "(fx fy fz nx ny), and neither is the normal force; set friction.n",
        ),
        (polygon(0), "(fz nx ny), but the normal force, on which the friction depends, is unique"),
    ],
)
def test_friction_in_doubtful_joints(data: dict[str, Any], text: str) -> None:
    """Friction in a joint whose reaction is not unique is warned of; a given normal force is nobody's business."""
    data["links"][0]["joint"]["friction"] = LUGRE
    mechanism, start = started(data)
    (warning,) = solvability.warnings(mechanism, solving.reactions(mechanism, start))
    assert text in warning
    assert warning.startswith(f"friction in {data['links'][0]['name']}.angle: the joint's reaction is not unique")
    data["links"][0]["joint"]["friction"] = LUGRE | {"normal_force": 10.0}
    mechanism = mechanism_of(data)
    assert solvability.warnings(mechanism, solving.reactions(mechanism, start)) == []


@pytest.mark.slow
def test_loads_are_marked() -> None:
    """Table, CSV's names and JSON of `loads` say which parts are not unique."""
    summary = loads(assemble_system(from_data(polygon(0))), MotionOptions())
    assert summary.data()["not_unique"]["side1"] == ["fz", "nx", "ny", "axial"]
    assert summary.data()["not_unique"]["pin"] == ["fz", "nx", "ny"]
    marked = summary.marked_run().signals
    assert "side1_load_fz (not unique)" in marked
    assert "side1_load_fx" in marked
    assert "side1_load_normal" in marked
    rows = list(zip(*(column.cells for column in summary.table().columns), strict=True))
    assert [[cell.endswith(" *") for cell in row] for row in rows] == [[False, True, False, True, True]] * len(
        rows
    )
    assert summary.notes()[0].startswith("* side0: fz nx ny axial are not unique in a model of rigid bodies")


def test_knife_edges_are_marked() -> None:
    """Two edges under one point share their force as they like; a third one, elsewhere, does not."""
    data = sleigh()
    data["links"][0]["joint"]["velocity"] = [np.cos(0.7), np.sin(0.7), 0.0]
    data["nonholonomic"] += [
        {"name": "again", "link": "sleigh", "normal": [0.0, 1.0, 0.0]},
        {"name": "front", "link": "sleigh", "point": [0.4, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]},
    ]
    data["forces"] = [{"name": "gust", "link": "sleigh", "point": [0.2, 0.0, 0.0], "force": ["0", "5*t", "0"]}]
    data["simulation"]["stop"] = 0.2
    summary = loads(assemble_system(from_data(data)), MotionOptions())
    assert summary.data()["not_unique"] == {"blade": ["force"], "again": ["force"]}
    assert {"blade_force (not unique)", "front_force"} <= summary.marked_run().signals.keys()
    assert summary.data()["knife_edges"]["front"]["max"] > 0.1
    cells = {row[0]: row[3] for row in zip(*(c.cells for c in summary.table().columns), strict=True)}
    assert [cells[name].endswith(" *") for name in ("blade", "again", "front")] == [True, True, False]


def test_json_contract() -> None:
    """The keys of design section 6, in a form that JSON can hold."""
    found = json.loads(json.dumps(solvability.data(found_for(door("spherical", "spherical")))))
    assert {key: found[key] for key in ("rows", "columns", "rank", "redundancy", "ranks")} == {
        "rows": 6,
        "columns": 6,
        "rank": 5,
        "redundancy": 1,
        "ranks": {"holonomic": 5, "nonholonomic": 0},
    }
    assert found["unique"] == {"lower": False, "upper": False}
    assert found["redundant_rows"] == [["upper_z"]]
    assert found["components"]["upper"] == {"fx": True, "fy": True, "fz": False}


def test_check_reports_removed_equations() -> None:
    """The report contains redundant constraints, unused ones, the margin of the rank and the
    formulation.
    """
    data = door("spherical", "spherical")
    for redundant, left in (("auto", "upper_z"), ("minimum_norm", "none, because reactions have the least norm")):
        model = assemble_system(from_data(data | {"constraints": {"redundant": redundant}}))
        lines = [line for line in Summary(model).tables() if isinstance(line, str)]
        assert any(line.startswith("singular values up to") for line in lines)
        assert f"redundant constraint equations left out: {left}" in lines
        assert "equations: GPME, 2n = 6 states, Baumgarte stabilisation" in lines
        assert solvability.redundancy_of(model)["redundant constraint equations left out"] == left


def test_links_and_closures_of_one_name() -> None:
    """A link and a closure of equal name have separate rows in the tables."""
    data = door("spherical", "spherical")
    data["closures"][0]["name"] = "lower"
    assert lost(found_for(data)).keys() == {"lower (joint)", "lower (closure)"}


def test_free_bodies_have_no_reactions() -> None:
    """Nothing to tell: no rows, rank zero, nothing that is not unique."""
    found = found_for(machine(link("stone", "free")))
    assert (found.rows, found.columns, found.rank.rank, found.verdicts) == (0, 6, 0, ())
