"""Constraints and the GPME of the reference: levels against differences, partition, Baumgarte."""

from __future__ import annotations

import tomllib
from itertools import combinations
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_examples import FORMULATIONS
from helpers_levels import along, check_levels
from helpers_parts import body, link, machine
from helpers_problem import evaluate, simulate, start_state
from helpers_random import random_chain
from helpers_reference import CRANE, crane, manipulator, mechanism_of, random_state, slope
from numpy.typing import NDArray

from gpmelica.analysis import Evaluation, ReferenceModel, choose_dependent, formulation
from gpmelica.analysis.start.statics import described_state
from gpmelica.core.errors import SolveError
from gpmelica.mechanism import Mechanism

Array = NDArray[np.float64]
PATH = {
    "name": "rectangle",
    "path": {
        "point": "E",
        "frame": {"xyz": [0.3, 0.2, -0.1], "rpy": [0.4, -0.7, 1.1]},
        "components": ["z", "x"],
        "waypoints": [[0.0, 0.1, 0.2], [0.3, -0.4, 0.5], [0.9, 0.4, -0.2]],
        "leg_time": 0.5,
    },
}
EXPRESSIONS = [
    "(E.x/2)^2 + E.y*E.z - start(E.x) - quintic(t, 0, 1, 0, 0.2)",
    "atan2(E.y, 3 + E.x)*sin(t) + exp(link0.{key}*t) - k",
    "sqrt(4 + E.x^2) - t^3 + (E.y^2 if t < 0.7 else E.z)",
]


def _constrained(seed: int, **changes: Any) -> tuple[Mechanism, np.random.Generator]:
    rng = np.random.default_rng(seed)
    data = random_chain(rng, 4, (None, "flexible", "rigid")[seed % 3], beams=False)
    data["links"][0]["joint"] = {"type": "universal"}
    data |= {"parameters": {"k": 0.3}, "simulation": {"start": "description"}}
    entries = [{"name": f"e{k}", "expression": text.format(key="psi")} for k, text in enumerate(EXPRESSIONS)]
    return mechanism_of(data | {"programmed": [entries[0], PATH, *entries[1:]]} | changes), rng


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("t", [0.2, 0.77, 1.4])
def test_levels(seed: int, t: float) -> None:
    """Φ̇ and C q̈ − γ are the first and second derivatives of Φ along any motion."""
    check_levels(*_constrained(seed), t)


@pytest.mark.parametrize("seed", range(6))
def test_velocity_constraint_levels(seed: int) -> None:
    """For order 1, Ψ is linear in q̇ with C = ∂Ψ/∂q̇, and Ψ̇ = C q̈ − γ along any motion."""
    entry = {"name": "speed", "expression": "E.x*E.vy + link0.psi_dot*E.z - sin(t)*E.vx - k*t", "order": 1}
    mechanism, rng = _constrained(seed, programmed=[entry])
    rows, acceleration = along(mechanism, rng, 0.3)
    now, count = rows(0.0), len(mechanism.programmed)
    assert not now.Phi[:count].any()
    Psi_dot = slope(lambda x: rows(x).Phi_dot[:count])
    assert (now.C @ acceleration - now.gamma)[:count] == pytest.approx(Psi_dot, rel=1e-8)
    model, (q, qd) = ReferenceModel(mechanism), random_state(mechanism, rng)
    change = rng.normal(size=mechanism.n)
    before, after = (model.constraints(model.state(0.3, q, v)) for v in (qd, qd + change))
    assert after.Phi_dot[:count] - before.Phi_dot[:count] == pytest.approx((before.C @ change)[:count], rel=1e-10)


def test_rows_and_their_names() -> None:
    """Programmed rows come in file order, a path with one per component, then the six of the fixed base."""
    mechanism, _ = _constrained(2)
    base = tuple(f"base_{key}" for key in ("x", "y", "z", "psi", "theta", "phi"))
    assert ReferenceModel(mechanism).constraints.names == ("e0", "rectangle_z", "rectangle_x", "e1", "e2", *base)


def test_path_passes_its_waypoints() -> None:
    """At t = k·leg_time, Φ is the position relative to waypoint k, in the axes of the path.

    After the last waypoint, the target remains constant (Jarzębowska et al. 2023, (28) and (29)).
    """
    entry = {"name": "p", "path": PATH["path"] | {"components": ["x", "y", "z"]}}
    mechanism, rng = _constrained(0, programmed=[entry])
    model, (q, qd) = ReferenceModel(mechanism), random_state(mechanism, rng)
    frame = mechanism.programmed[0].path.frame
    for t, waypoint in ((0.0, 0), (0.5, 1), (1.0, 2), (7.0, 2)):
        state = model.state(t, q, qd)
        target = frame.offset + frame.rotation @ PATH["path"]["waypoints"][waypoint]
        expected = frame.rotation.T @ (state.x[:3] - target)
        assert model.constraints(state).Phi == pytest.approx(expected, abs=1e-14)


def _multipliers(mechanism: Mechanism, found: Evaluation) -> Array:
    """q̈ of [M Cᵀ; C 0][q̈; λ] = [Q − h; γ − 2αΦ̇ − β²Φ]."""
    m = len(found.Phi)
    A = np.block([[found.M, found.C.T], [found.C, np.zeros((m, m))]])
    wanted = found.gamma - 2 * mechanism.alpha * found.Phi_dot - mechanism.beta**2 * found.Phi
    return np.linalg.solve(A, np.concatenate([found.Q - found.h, wanted]))[: mechanism.n]


@pytest.mark.parametrize("seed", range(9))
def test_gpme_is_the_multiplier_solution(seed: int) -> None:
    """The multiplier-free q̈ is that of the multiplier equations, and the effort lies in the span of Cᵀ."""
    mechanism, rng = _constrained(seed, programmed=[PATH])
    q, qd = random_state(mechanism, rng)
    found = evaluate(mechanism, 0.3, q, qd)
    expected = _multipliers(mechanism, found)
    assert np.abs(found.qdd - expected).max() < 1e-8 * np.abs(expected).max()
    multipliers = np.linalg.lstsq(found.C.T, found.effort)[0]
    assert np.abs(found.C.T @ multipliers - found.effort).max() < 1e-8 * np.abs(found.effort).max()


@pytest.mark.slow
def test_partition_does_not_matter() -> None:
    """q̈ is the same for all regular choices of dependent coordinates (Wojtyra and Frączek 2013, (14))."""
    mechanism, rng = crane(), np.random.default_rng(0)
    q, qd = start_state(mechanism)
    q, qd = q + 0.05 * rng.normal(size=mechanism.n), 0.3 * rng.normal(size=mechanism.n)
    model = ReferenceModel(mechanism, start=(q, qd))
    state, tried = model.state(0.4, q, qd), 0
    reference = model.evaluate(state, formulation(model, state))
    for pair in combinations(range(mechanism.n), 2):
        if np.linalg.cond(reference.C[:, pair]) < 100:
            names = [mechanism.coordinates[k].name for k in pair]
            qdd = model.rates(state, formulation(model, state, names)).qdd
            assert np.abs(qdd - reference.qdd).max() < 1e-10 * np.abs(reference.qdd).max()
            tried += 1
    assert tried > 50


def test_automatic_partition_prefers_joints() -> None:
    """`auto` takes joints, with a fixed base all six base coordinates, and others only if joints do not do."""
    mechanism = crane()
    found = evaluate(mechanism, 0.0, *start_state(mechanism), dependent="auto")
    assert found.dependent == ("boom.angle", "jib.angle")
    fixed, rng = _constrained(2, programmed=[PATH])
    names = evaluate(fixed, 0.0, *random_state(fixed, rng)).dependent
    assert len(names) == 8
    assert {f"base.{key}" for key in ("x", "y", "z", "psi", "theta", "phi")} < set(names)
    C = np.zeros((2, mechanism.n))
    C[0, mechanism.coordinate_index("jib.angle")] = C[1, mechanism.coordinate_index("jib.angle")] = 1.0
    C[1, mechanism.coordinate_index("boom.r2_theta")] = 1e-3
    chosen = [mechanism.coordinates[k].name for k in choose_dependent(mechanism, C)]
    assert chosen == ["boom.r2_theta", "jib.angle"]


def test_elastic_coordinates_stay_independent_on_a_fixed_base() -> None:
    """Not even a larger lever makes an elastic coordinate dependent while a joint will do."""
    data = tomllib.loads(CRANE.read_text())
    data["base"]["support"], data["constraints"]["dependent"] = "rigid", "auto"
    mechanism = mechanism_of(data)
    C = np.eye(mechanism.n)[:7]
    C[6] = 0.0
    C[6, mechanism.coordinate_index("boom.r2_psi")] = 5.0
    C[6, mechanism.coordinate_index("jib.angle")] = 1.0
    assert mechanism.coordinates[choose_dependent(mechanism, C)[-1]].name == "jib.angle"


def test_contradictory_rows_have_no_partition() -> None:
    """Two equal rows leave no regular choice; the error says so."""
    C = np.ones((2, crane().n))
    with pytest.raises(SolveError, match="2 constraint equations have rank 1"):
        choose_dependent(crane(), C)


def test_singular_partition_is_named() -> None:
    """If C_d is singular, the error names time, constraint and coordinate."""
    mechanism = mechanism_of(manipulator(programmed=[{"name": "reach", "expression": "E.x - 1"}]))
    with pytest.raises(SolveError, match=r"reach cannot be solved for lower\.angle at t = 0\.5 s"):
        evaluate(mechanism, 0.5, [0.4, -0.4], [0.0, 0.0], dependent=["lower.angle"])


def test_wrong_dependent_names() -> None:
    """Unknown names and a wrong count are refused."""
    mechanism = mechanism_of(manipulator(programmed=[{"name": "reach", "expression": "E.x - 1"}]))
    with pytest.raises(SolveError, match=r"no coordinate is called elbow; known are: upper\.angle"):
        evaluate(mechanism, 0.0, [0.4, 0.9], [0.0, 0.0], dependent=["elbow"])
    with pytest.raises(SolveError, match="expected 1 dependent coordinates"):
        evaluate(mechanism, 0.0, [0.4, 0.9], [0.0, 0.0], dependent=["upper.angle", "lower.angle"])


def test_velocity_constraint_in_motion() -> None:
    """A point that is to move at a programmed speed does so at once; a speed missed decays with 2α."""
    entry = {"name": "speed", "expression": "E.vx + 0.2*(1 + t)", "order": 1}
    data = manipulator(programmed=[entry], constraints={"alpha": 10.0, "beta": 0.0})
    data["simulation"] = {"start": "description", "stop": 0.3, "tolerance": 1e-10}
    mechanism = mechanism_of(data)
    on_time = simulate(mechanism)
    assert on_time.signals["E_vx"] == pytest.approx(-0.2 * (1 + on_time.time), abs=1e-8)
    run = simulate(mechanism, start=described_state(mechanism))
    expected = 0.2 * np.exp(-20 * run.time)
    assert not run.signals["violation_position"].any()
    assert np.abs(run.signals["violation_velocity"] - expected).max() < 1e-8
    assert run.signals["E_vx"] + 0.2 * (1 + run.time) == pytest.approx(expected, abs=1e-8)


# ---- Knife edges and programmed constraints of order 1 and 2 in the reference, in all formulations --------------


MASS, INERTIA, LEVER = 3.0, 0.4, 0.25  # kg, kg·m², m


def sleigh(**constraints: Any) -> dict[str, Any]:
    """Chaplygin's sleigh: a rigid body on a plane and on one edge, its centre of mass LEVER before the edge."""
    joint = {"position": [0.3, -0.2, 0.7], "velocity": [0.0, 0.0, 1.5]}
    return machine(
        link("sleigh", "planar", **joint) | body(MASS, [LEVER, 0.0, 0.0], [0.3, 0.3, INERTIA]),
        name="Sleigh",
        nonholonomic=[{"name": "blade", "link": "sleigh", "normal": [0.0, 2.0, 0.0]}],
        simulation={"start": "description", "stop": 2.0, "output_step": 0.05, "tolerance": 1e-11},
        constraints=constraints,
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_chaplygin_sleigh(formulation: str) -> None:
    """v = V tanh(a V t/k²), ω = (V/k)/cosh(a V t/k²) with k² = I/m + a²; the edge bears m v ω I/(I + m a²)."""
    data = sleigh(formulation=formulation)
    if formulation == "gpme_reduced":  # whose states stay the same: from heading −1 to 1.1 they can
        data["constraints"]["dependent"] = ["sleigh.y"]
        data["links"][0]["joint"]["position"] = [0.3, -0.2, -1.0]
    run = solving.simulate(mechanism_of(data))
    signals, k = run.signals, np.sqrt(INERTIA / MASS + LEVER**2)
    V = 1.5 * k
    phase = LEVER * V * run.time / k**2
    v, omega = V * np.tanh(phase), V / k / np.cosh(phase)
    heading = signals["sleigh_angle"]
    forward = signals["sleigh_x_dot"] * np.cos(heading) + signals["sleigh_y_dot"] * np.sin(heading)
    assert forward == pytest.approx(v, abs=1e-8)
    assert signals["sleigh_angle_dot"] == pytest.approx(omega, abs=1e-8)
    force = MASS * v * omega * INERTIA / (INERTIA + MASS * LEVER**2)
    assert signals["blade_force"] == pytest.approx(force, abs=1e-7)
    assert signals["violation_velocity"].max() < (1e-12 if formulation == "gpme_reduced" else 1e-9)


@pytest.mark.slow
def test_reduced_states_have_an_end() -> None:
    """Heading π/2 leaves no way to get ẏ from ẋ: the run stops there and says so, where the other forms go on."""
    with pytest.raises(SolveError, match=r"blade cannot be solved for sleigh.y at t = 0\.60?\d* s"):
        solving.simulate(mechanism_of(sleigh(formulation="gpme_reduced")))


def test_edge_as_the_joint_load_sees_it() -> None:
    """Reactions of planar joint and knife edge together accelerate the sleigh; the joint reaction is normal to
    the plane.
    """
    data = sleigh() | {"gravity": [0.0, 0.0, -9.81]}
    mechanism = mechanism_of(data)
    start = solving.start_state(mechanism)
    q, qd = start[0], start[1] + [np.cos(0.7), np.sin(0.7), 0.0]
    load = solving.joint_loads(mechanism, 0.0, q, qd, start=start)["sleigh"]
    assert load[2] == pytest.approx(MASS * 9.81)
    assert load[[0, 1, 5]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    found = solving.evaluate(mechanism, 0.0, q, qd, start=start)
    assert abs(found.contacts[0]) > 0.5
    assert found.drive == pytest.approx(np.zeros(3), abs=1e-12)


def test_start_velocities_obey_edges() -> None:
    """From velocities across the edge the smallest change leads to those along it; locked joints cannot change."""
    data = sleigh()
    data["links"][0]["joint"]["velocity"] = [1.0, 0.4, 0.0]
    mechanism = mechanism_of(data)
    _, qd = solving.start_state(mechanism)
    along = np.array([np.cos(0.7), np.sin(0.7)])
    assert qd[:2] == pytest.approx(along * (along @ [1.0, 0.4]))
    locked = mechanism_of(data | {"statics": {"locked": ["sleigh"]}})
    with pytest.raises(SolveError, match=r"blade is violated by 0\.338 initially; change .* unlock sleigh"):
        solving.start_state(locked)


def test_contradicting_edges_are_named() -> None:
    """Edges that hold a body at rest are fine; programmed motion against them is reported."""
    data = sleigh()
    data["nonholonomic"] += [
        {"name": "across", "link": "sleigh", "point": [0.5, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}
    ]
    data["programmed"] = [{"name": "turn", "expression": "sleigh.angle - start(sleigh.angle) - t^3"}]
    data["links"][0]["joint"]["velocity"] = [0.0, 0.0, 0.0]
    mechanism = mechanism_of(data)
    (problem,) = solving.unreachable(mechanism, solving.start_state(mechanism)[0])
    assert "turn, blade, across are linearly dependent and contradict each other" in problem.message


@pytest.mark.parametrize("formulation", ["gpme", "lagrange"])
def test_constraint_on_accelerations(formulation: str) -> None:
    """A constraint of order 2 yields the programmed acceleration of the tip, without stabilisation.

    Source: Jarzębowska et al. 2023, (7).
    """
    entry = {"name": "push", "expression": "E.ax + 0.1*E.vx - 0.5*cos(3*t)*(1 + E.z)", "order": 2}
    data = manipulator(programmed=[entry], constraints={"formulation": formulation})
    data["simulation"] = {"start": "description", "stop": 0.5, "tolerance": 1e-11, "output_step": 0.005}
    run = solving.simulate(mechanism_of(data))
    t, vx = run.time, run.signals["E_vx"]
    wanted = 0.5 * np.cos(3 * t) * (1 + run.signals["E_z"]) - 0.1 * vx
    assert np.gradient(vx, t, edge_order=2)[2:-2] == pytest.approx(wanted[2:-2], abs=1e-3)
    assert not run.signals["violation_velocity"].any()
    assert np.ptp(vx) > 0.05
