"""Knife edges and programmed constraints of order 1 and 2 in the reference, in all formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_examples import FORMULATIONS
from helpers_parts import body, link, machine
from helpers_reference import manipulator, mechanism_of
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.errors import SolveError

Array = NDArray[np.float64]
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
    run = reference.simulate(mechanism_of(data))
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


def test_reduced_states_have_an_end() -> None:
    """Heading π/2 leaves no way to get ẏ from ẋ: the run stops there and says so, where the other forms go on."""
    with pytest.raises(SolveError, match=r"blade cannot be solved for sleigh.y at t = 0\.60?\d* s"):
        reference.simulate(mechanism_of(sleigh(formulation="gpme_reduced")))


def test_edge_as_the_joint_load_sees_it() -> None:
    """What a planar joint transmits and the edge together accelerate the sleigh: the load is across the plane."""
    data = sleigh() | {"gravity": [0.0, 0.0, -9.81]}
    mechanism = mechanism_of(data)
    start = reference.start_state(mechanism)
    q, qd = start[0], start[1] + [np.cos(0.7), np.sin(0.7), 0.0]
    load = reference.joint_loads(mechanism, 0.0, q, qd, start=start)["sleigh"]
    assert load[2] == pytest.approx(MASS * 9.81)
    assert load[[0, 1, 5]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    found = reference.evaluate(mechanism, 0.0, q, qd, start=start)
    assert abs(found.contacts[0]) > 0.5
    assert found.drive == pytest.approx(np.zeros(3), abs=1e-12)


def test_start_velocities_obey_edges() -> None:
    """From velocities across the edge the smallest change leads to those along it; locked joints cannot change."""
    data = sleigh()
    data["links"][0]["joint"]["velocity"] = [1.0, 0.4, 0.0]
    mechanism = mechanism_of(data)
    _, qd = reference.start_state(mechanism)
    along = np.array([np.cos(0.7), np.sin(0.7)])
    assert qd[:2] == pytest.approx(along * (along @ [1.0, 0.4]))
    locked = mechanism_of(data | {"statics": {"locked": ["sleigh"]}})
    with pytest.raises(SolveError, match=r"blade is violated by 0\.338 at the start; change .* unlock sleigh"):
        reference.start_state(locked)


def test_contradicting_edges_are_named() -> None:
    """Edges that hold a body at rest are fine; programmed motion against them is reported."""
    data = sleigh()
    data["nonholonomic"] += [
        {"name": "across", "link": "sleigh", "point": [0.5, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]},
    ]
    data["programmed"] = [{"name": "turn", "expression": "sleigh.angle - start(sleigh.angle) - t^3"}]
    data["links"][0]["joint"]["velocity"] = [0.0, 0.0, 0.0]
    mechanism = mechanism_of(data)
    (problem,) = reference.unreachable(mechanism, reference.start_state(mechanism)[0])
    assert "turn, blade, across depend on each other and contradict each other" in problem.message


@pytest.mark.parametrize("formulation", ["gpme", "lagrange"])
def test_constraint_on_accelerations(formulation: str) -> None:
    """Order 2 (P0 (7)): the tip's programmed acceleration comes out, and nothing stabilises it."""
    entry = {"name": "push", "expression": "E.ax + 0.1*E.vx - 0.5*cos(3*t)*(1 + E.z)", "order": 2}
    data = manipulator(programmed=[entry], constraints={"formulation": formulation})
    data["simulation"] = {"start": "description", "stop": 0.5, "tolerance": 1e-11, "output_step": 0.005}
    run = reference.simulate(mechanism_of(data))
    t, vx = run.time, run.signals["E_vx"]
    wanted = 0.5 * np.cos(3 * t) * (1 + run.signals["E_z"]) - 0.1 * vx
    assert np.gradient(vx, t, edge_order=2)[2:-2] == pytest.approx(wanted[2:-2], abs=1e-3)
    assert not run.signals["violation_velocity"].any()
    assert np.ptp(vx) > 0.05
