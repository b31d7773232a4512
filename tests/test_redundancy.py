"""Redundant constraint rows: rank, groups, and that the motion does not depend on what is kept."""

from __future__ import annotations

import tomllib
from itertools import combinations
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import CompileModel
from helpers_examples import EXAMPLES, FORMULATIONS, changed
from helpers_parts import X, Y, Z, body, link, machine
from helpers_problem import evaluate, solvability, start_state, unreachable
from helpers_program import Numeric
from helpers_redundant import Array, polygon, repeated_task, started
from helpers_reference import manipulator, mechanism_of, slope, unchecked
from helpers_stages import StagedModel
from scipy.linalg import null_space
from test_reactions import door

from gpmelica import analysis
from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data
from gpmelica.generator.equations.solution.multipliers import _shared
from gpmelica.generator.program.program import EquationSystem
from gpmelica.language import expressions, ir
from gpmelica.reference.constraints.redundancy import (
    MinimumNorm,
    independent_rows,
    rank_of,
    redundant_groups,
    scaled,
)
from gpmelica.reference.kinematics.expression import Instant, compile_tree
from gpmelica.reference.kinematics.magnitude import magnitude
from gpmelica.reference.kinematics.segment import Segment
from gpmelica.runs.fmpy_runs import simulate

MAKERS = (polygon, repeated_task)


def _dependent_rows(rng: np.random.Generator) -> Array:
    """Eight rows of rank five: 5 = 0 + 1, 6 = −3·2, 7 = 0; 3 and 4 stand alone."""
    C = rng.normal(size=(5, 9)) * 10.0 ** rng.uniform(-3, 3, (5, 1))
    return np.vstack([C, C[0] / np.linalg.norm(C[0]) + C[1] / np.linalg.norm(C[1]), -3.0 * C[2], np.zeros(9)])


@pytest.mark.parametrize("seed", range(5))
def test_rank_and_groups(seed: int) -> None:
    """Rank and groups do not depend on units or order of the constraints, nor groups on the chosen independent
    constraints.
    """
    rng = np.random.default_rng(seed)
    C, order = _dependent_rows(rng), rng.permutation(8)
    shuffled = scaled(C[order])
    rank = rank_of(shuffled)
    assert rank.rank == 5
    assert rank.largest < 1e-10 < rank.tolerance < 1e-3 < rank.smallest
    groups = set()
    for preferred in (range(8), reversed(range(8))):
        kept = independent_rows(shuffled, [[k] for k in preferred])
        assert np.linalg.matrix_rank(shuffled[list(kept)], tol=1e-9) == len(kept) == 5
        found = redundant_groups(shuffled, kept)
        groups.add(frozenset(frozenset(order[list(group)].tolist()) for group in found))
    assert groups == {frozenset({frozenset({0, 1, 5}), frozenset({2, 6}), frozenset({7})})}


def test_groups_that_share_a_row_are_one() -> None:
    """Two sums of the same two rows belong together; a multiple of a third row does not."""
    C = scaled(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0], [0, 0, 1], [0, 0, 2]]))
    assert redundant_groups(C, (0, 1, 4)) == ((0, 1, 2, 3), (4, 5))


def test_preferred_rows_are_kept() -> None:
    """Rows of the first group are left out only if they depend on each other."""
    C = scaled(_dependent_rows(np.random.default_rng(0)))
    assert set(independent_rows(C, [[5, 6], [0, 1, 2, 3, 4, 7]])) >= {5, 6}
    assert set(independent_rows(C, [[0, 1, 5], [2, 3, 4, 6, 7]])) & {0, 1, 5} not in ({0, 1, 5}, set())


@pytest.mark.parametrize("maker", MAKERS)
def test_least_norm_is_the_pseudoinverse(maker: Any) -> None:
    """λ of least norm is (Cᵀ)⁺(M q̈ + h − Q), whatever the rows' units."""
    mechanism, start = started(maker(1, redundant="minimum_norm"))
    found = solving.evaluate(mechanism, 0.0, *start, start=start)
    assert found.effort == pytest.approx(found.multipliers @ found.C, abs=1e-9)
    expected = np.linalg.pinv(found.C.T, rcond=1e-9) @ found.effort
    assert np.abs(found.multipliers).max() > 0.1
    assert found.multipliers == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_least_norm_of_any_matrix() -> None:
    """E has orthonormal rows that span those λ which have an effect."""
    rng = np.random.default_rng(3)
    C = _dependent_rows(rng)
    E, force = MinimumNorm(5)(C), rng.normal(size=8) @ C
    assert pytest.approx(np.eye(5), abs=1e-12) == E @ E.T
    found = E.T @ np.linalg.lstsq((E @ C).T, force, rcond=None)[0]
    assert found @ C == pytest.approx(force, rel=1e-9)
    assert [found @ idle for idle in ([0, 0, -3, 0, 0, 0, -1, 0], np.eye(8)[7])] == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_generated_joint_loads_of_least_norm(seed: int | None) -> None:
    """All joints of redundant loops share a load, in generated equations and reference alike; None: the robot.

    Rows that a polygon has too many vanish; those of the mobile robot are combinations of others.
    """
    loaded = {"outputs": {"loads": "all"}}
    if seed is None:
        chain = changed("mobile_robot", "minimum_norm", outputs=loaded["outputs"])
    else:
        chain = from_data(polygon(seed, redundant="minimum_norm") | loaded)
    model = assemble_system(chain)
    q, numbers = model.start[0], analysis.ReferenceModel(model.mechanism, start=model.start)
    allowed = null_space(numbers.constraints(numbers.state(0.0, q, 0.0 * q)).C, rcond=1e-9)
    qd = allowed @ np.arange(1.0, allowed.shape[1] + 1.0)
    outputs = StagedModel(model)(0.0, q, qd).outputs
    loads = solving.joint_loads(model.mechanism, 0.0, q, qd, start=model.start, dependent=model.dependent)
    size = max(float(np.abs(load).max()) for load in loads.values())
    for link_name, expected in loads.items():
        found = [outputs[f"{link_name}_load_{part}"] for part in ("fx", "fy", "fz", "nx", "ny", "nz")]
        assert found == pytest.approx(expected, abs=1e-8 * size)
    assert size > 1.0


def test_generated_multipliers_of_least_norm() -> None:
    """Generated multipliers of all rows act as those of the independent ones, and are the pseudoinverse's."""
    rng = np.random.default_rng(5)
    independent, multipliers = rng.normal(size=(3, 6)), rng.normal(size=3)
    rows = np.vstack([independent, independent[0] + 2.0 * independent[1], -3.0 * independent[2]])
    program = EquationSystem("P", "")
    C = program.assemble("C", rows.shape, [((), ir.constant(rows))], None, "")
    Lambda = program.assemble("Lambda", (3,), [((), ir.constant(multipliers))], None, "")
    order, shared = _shared(program, C, [0, 1, 2], range(5), Lambda)
    found = Numeric(program, {}).values[shared.data]
    expected = np.linalg.pinv(rows.T) @ (independent.T @ multipliers)
    assert found == pytest.approx(expected[order], rel=1e-10)


def test_constraints_of_rounding_noise_carry_no_load() -> None:
    """Such constraints are recognised by the magnitudes of their terms, because their noise may be
    as large as a small constraint.
    """
    C = np.array([[3e-5, 1e-5], [1e-16, -8e-17]])
    E = MinimumNorm(1, np.array([[4e-5, 1e-5], [0.6, 0.8]]))(C)
    assert np.abs(E) == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("maker", MAKERS)
def test_accelerations_are_independent_of_removed_equations(maker: Any, seed: int) -> None:
    """q̈ is independent of the removed equations, of least-norm multipliers, of formulation and of drives.

    The same applies to the drive efforts (Wojtyra and Frączek 2013, section 2.2).
    """
    mechanism, start = started(maker(seed))
    truth = solving.evaluate(mechanism, 0.0, *start, start=start)
    size = max(1.0, float(np.abs(truth.qdd).max()))
    redundant = len(truth.rows) - len(truth.dependent)
    assert redundant == (3 if maker is polygon else 2)
    tried = 0
    for form in FORMULATIONS:
        for left_out in ("auto", "minimum_norm", *combinations(truth.rows, redundant)):
            other, _ = started(maker(seed, formulation=form, redundant=left_out))
            try:
                found = solving.evaluate(other, 0.0, *start, start=start)
            except SolveError as error:
                assert "the constraint equations have rank" in str(error)
                continue
            tried += 1
            assert found.qdd == pytest.approx(truth.qdd, abs=1e-10 * size)
            assert found.effort == pytest.approx(truth.effort, abs=1e-9 * size)
            assert found.multipliers @ found.C == pytest.approx(truth.effort, abs=1e-9 * size)
            if isinstance(left_out, tuple):
                gone = [truth.rows.index(name) for name in left_out]
                assert not found.multipliers[gone].any()
    assert tried >= 3 * len(FORMULATIONS)


def test_elimination_that_does_not_do_is_named() -> None:
    """Rows that are not redundant cannot be left out, and all that are redundant must be; groups are named."""
    cases = {
        ("pin_x", "pin_z", "pin_xz"): "without pin_x, pin_z, pin_xz .* have rank 1, expected 2",
        ("pin_z",): "4 constraint equations remain, but their rank is only 2",
    }
    for left_out, text in cases.items():
        mechanism, start = started(polygon(0, redundant=left_out))
        with pytest.raises(SolveError, match=f"{text}; list 3 redundant equations .*: pin_z; pin_xz; pin_yz"):
            solving.solvability(mechanism, start)
        (problem,) = solving.unreachable(mechanism, start[0])
        assert problem.where == "constraints.redundant"


def test_solvability_of_a_redundant_loop() -> None:
    """Rank, kept rows, groups, tolerance and the gap that it lies in."""
    found = solving.solvability(*started(polygon(0)))
    assert (found.rank, found.independent) == (2, ("pin_x", "pin_y"))
    assert len(found.dependent) == 2
    assert found.redundant == (("pin_z",), ("pin_xz",), ("pin_yz",))
    assert found.gap[1] < 1e-14 < found.tolerance < 1e-4 < found.gap[0]


def test_programmed_constraints_take_precedence_over_closures() -> None:
    """Two nearly parallel programmed constraints are kept, because their efforts are those of the
    drives.
    """
    table = machine(
        link("U", "prismatic", X),
        link("V", "prismatic", Y, "U"),
        programmed=[
            {"name": "p", "expression": "U.position + 0.1*V.position"},
            {"name": "m", "expression": "U.position - 0.1*V.position"},
        ],
        closures=[{"name": "pin", "type": "point_on_line", "a": {"link": "ground"}, "b": {"link": "V"}}],
    )
    found = assemble_system(from_data(table)).solvability
    assert (found.rank, found.independent) == (2, ("p", "m"))


def test_partition_changes_during_the_run() -> None:
    """A driven crank makes full turns with the partition `auto`; a fixed partition fails."""
    data = polygon(0, dependent=["side1.angle", "side2.angle", "side3.angle"], redundant="auto")
    data["programmed"] = [{"name": "turn", "expression": "side0.angle - start(side0.angle) - 0.1*t"}]
    mechanism, start = started(data)
    with pytest.raises(SolveError, match="turn, pin_x, pin_y cannot be solved for side1"):
        solving.evaluate(mechanism, 0.0, *start, start=start)
    found = solving.evaluate(mechanism, 0.0, *start, start=start, dependent="auto")
    assert "side0.angle" in found.dependent


# ---- Rows that others imply at the start ------------------------------------------------------------------------


def two_wheels(second: str) -> System:
    """Two wheels that turn alike, by two rows of which the second one is left out."""
    wheels = [link(name, "revolute", Z, velocity=1.0) | body(2.0) for name in ("a", "b")]
    rows = [{"name": "gear", "expression": "a.angle - b.angle"}, {"name": "belt", "expression": second}]
    parameters = {"p": 0.0}  # another value makes the rows contradict each other
    data = machine(*wheels, parameters=parameters, programmed=rows, simulation={"start": "description"})
    model = assemble_system(from_data(data))
    assert model.left_out == ("belt",)
    return model


def _excess(model: System, a: float, b: float) -> float:
    """Return the excess of a redundant constraint's violation over its limit."""
    (check,) = model.program.checks
    assert "belt" in check.message
    state = {"p": 10.0, "time": 0.1, "a_angle": a, "b_angle": b, "a_angle_dot": 1.0, "b_angle_dot": 1.0}
    return float(Numeric(model.program, state)(check.value)) - check.bound


@pytest.mark.parametrize(
    ("second", "a", "b", "opens"),
    [
        ("2*a.angle - 2*b.angle", 0.7, 0.7, False),
        ("2*a.angle - 2*b.angle", 0.7, 0.7 + 1e-3, False),  # as the first row: drift, or a start that decays
        ("a.angle - b.angle - p*t^3/1e5", 0.7, 0.7, False),
        ("a.angle - b.angle - p*t^3", 0.7, 0.7, True),
        ("a.angle - b.angle - p*t^3", 0.7, 0.7 + 1e-6, True),
    ],
)
def test_a_row_that_opens_while_the_other_one_holds(second: str, a: float, b: float, opens: bool) -> None:
    assert (_excess(two_wheels(second), a, b) > 0.0) is opens


def test_modelica_stops() -> None:
    text = two_wheels("a.angle - b.angle - p*t^3").modelica()
    assert "assert(Phi[2]*Phi[2] - 1000000.0*(Phi[1]*Phi[1]) < 1e-12," in text
    assert "constraint belt was redundant at the start" in text


@pytest.mark.slow
@pytest.mark.parametrize(("fmi", "mode"), [("2.0", "me"), ("2.0", "cs"), ("3.0", "me"), ("3.0", "cs")])
def test_an_fmu_stops(compile_model: CompileModel, fmi: str, mode: simulate.Mode) -> None:
    """The native one, with the row's name and the time."""
    fmu = compile_model(two_wheels("a.angle - b.angle - p*t^3"), fmi).fmu
    with pytest.raises(SolveError, match=r"constraint belt was redundant at the start .* time in s: 0\.0\d"):
        settings = {"stop": 0.1, "output_step": 0.01, "tolerance": 1e-8, "parameters": {"p": 10.0}}
        simulate.simulate(fmu, mode, ["a_angle"], name="run", **settings)


def test_a_redundant_loop_is_quiet() -> None:
    """Three rows of a planar chain are redundant: none is beyond its bound at states that close the loop."""
    model = assemble_system(from_data(polygon(3)))
    assert len(model.program.checks) == 3
    symbols = [c.symbol for c in model.mechanism.coordinates]
    state = {"time": 0.0} | dict(zip(symbols, model.start[0], strict=True))
    values = Numeric(model.program, state | dict.fromkeys((f"{s}_dot" for s in symbols), 0.0))
    assert all(float(values(check.value)) < check.bound for check in model.program.checks)
    assert np.isfinite(float(values.values["violation_position"]))


# ---- Rows that are left out because others imply them -----------------------------------------------------------


# rows that are implied, or hold for ever, and how many are left out
SOUND: dict[str, tuple[dict[str, str], int]] = {
    "plane": ({"x": "E.x - start(E.x)", "y": "E.y"}, 1),
    "twice": ({"x": "E.x - start(E.x)", "same": "2*E.x - 2*start(E.x)"}, 1),
    "starts off": ({"x": "E.x - start(E.x) - 0.1", "same": "2*E.x - 2*start(E.x) - 0.2"}, 1),
    "rounding": ({"x": "E.x/2 + E.x/3 - E.x*5/6", "z": "E.z - start(E.z)"}, 1),
    "identity": ({"x": "tan(upper.angle) - sin(upper.angle)/cos(upper.angle)"}, 1),
    "independent": ({"x": "E.x - start(E.x)", "z": "E.z - start(E.z) - 0.01*t"}, 0),
}


def _arm(rows: dict[str, str], angles: tuple[float, float] = (0.4, 0.9)) -> dict[str, Any]:
    data = manipulator(programmed=[{"name": name, "expression": text} for name, text in rows.items()])
    for entry, angle in zip(data["links"], angles, strict=True):
        entry["joint"] = entry["joint"] | {"position": angle}
    return data | {"simulation": {"start": "description", "stop": 1.0}}


@pytest.mark.parametrize("name", SOUND)
def test_rows_that_are_implied_are_fine(name: str) -> None:
    """No problem; as many are left out as are implied."""
    rows, left_out = SOUND[name]
    mechanism = unchecked(_arm(rows))
    start = start_state(mechanism)
    assert unreachable(mechanism, start[0]) == []
    assert len(rows) - solvability(mechanism, start).rank == left_out


# ---- The rank of C is absolute ----------------------------------------------------------------------------------


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
    flier = link("body", "free") | body(2.0, [0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    arm = link("arm", "revolute", Y, "body", xyz=[0.5, 0.0, 0.0]) | body(1.0, [0.3, 0.0, 0.0], [0.01, 0.1, 0.1])
    mechanism = mechanism_of(machine(flier, arm))
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


def test_constraint_magnitudes_ignore_cancellation() -> None:
    """The door's constraint Jacobian consists of rounding errors, but the magnitudes of its terms
    are large.
    """
    mechanism, start = started(door("revolute", "revolute"))
    model = ReferenceModel(mechanism, start=start)
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
def test_closure_without_remaining_equations(redundant: str, formulation: str, actuated: str | list[str]) -> None:
    """The joint of a door on two hinges, and of a blade that moves with it, keeps all constraint
    equations.
    """
    settings = {"redundant": redundant, "formulation": formulation, "actuated": actuated}
    model = assemble_system(from_data(DOOR | {"constraints": settings}))
    assert model.solvability.rank == 0
    values = Numeric(model.program, {"time": 0.0, "door_angle": 0.3, "door_angle_dot": 1.0}).values
    expected = -2.0 * 9.81 * 0.5 * np.cos(0.3) / (0.1 + 2.0 * 0.5**2)
    assert values["door_angle_ddot"] == pytest.approx(expected, rel=1e-12)
    assert values["blade_force"] == 0.0
    assert values["violation_position"] == pytest.approx(0.0, abs=1e-12)
