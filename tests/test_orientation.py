"""Axes of points: direction cosines in expressions, and orientations along a path."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_arm import arm
from helpers_levels import check_derivations, check_levels
from helpers_reference import mechanism_of, random_state
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from gpmelica.reference import Model, evaluate
from gpmelica.reference.analysis.absolute import pairs
from gpmelica.reference.kinematics.extent import units_of_change
from gpmelica.reference.kinematics.kinematics import poses

Array = NDArray[np.float64]
COSINES = [
    {"name": "tilt", "expression": "T.R13 + 0.3*T.R21*T.R32 - start(T.R13) - 0.05*sin(t)"},
    {"name": "yaw", "expression": "atan2(T.R21, T.R11) - 0.2*t^2 + T.x*T.R33"},
]


# ---- Direction cosines ------------------------------------------------------------------------------------------


def test_direction_cosines_are_the_axes_in_the_world() -> None:
    """`T.R13` is component x of axis z, whatever bodies lie between; on a beam, of the element that it is on."""
    data = arm("flexible")
    mechanism, rng = mechanism_of(data), np.random.default_rng(1)
    q, qd = random_state(mechanism, rng)
    model = Model(mechanism)
    state, own = model.state(0.0, q, qd), model.quantities.axes("T")
    link = poses(mechanism, q)[-1, :3, :3]
    roll, pitch, yaw = data["points"]["T"]["rpy"]
    expected = link @ Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()
    assert state.x[own] == pytest.approx(expected, abs=1e-14)
    assert state.x_dot[own] == pytest.approx(state.jacobian[own] @ qd, abs=1e-12)


@pytest.mark.parametrize("base", ["flexible", "rigid"])
def test_constraints_on_direction_cosines(base: str) -> None:
    """Their levels are derivatives of each other, and both derivations agree."""
    data, rng = arm(base, programmed=COSINES), np.random.default_rng(2)
    check_levels(mechanism_of(data), rng, 0.3)
    check_derivations(data, rng, np.array([0.0, 0.6]))


@pytest.mark.parametrize("order", [1, 2])
def test_their_rates_are_names_too(order: int) -> None:
    """A row of order 1 or 2 in them is the derivative of the row of order 0."""
    suffix = "_dot" if order == 1 else "_ddot"
    rows = [{"name": "tilt", "expression": "T.R13 - sin(t)"}]
    rates = ["T.R13_dot - cos(t)", "T.R13_ddot + sin(t)"]
    named = [{"name": "tilt", "expression": rates[order - 1], "order": order}]
    assert suffix in named[0]["expression"]
    mechanism, other = mechanism_of(arm(programmed=rows)), mechanism_of(arm(programmed=named))
    q, qd = random_state(mechanism, np.random.default_rng(3))
    expected, found = (evaluate(m, 0.4, q, qd) for m in (mechanism, other))
    assert np.abs(found.C - expected.C).max() < 1e-14
    assert found.gamma == pytest.approx(expected.gamma, abs=1e-13)
    check_derivations(arm(programmed=named), np.random.default_rng(4), np.array([0.5]))


def test_a_force_may_follow_an_axis() -> None:
    """A thrust along the tool's axis z, by direction cosines, is one in the axes of its link."""
    thrust = [f"-50*T.R{i}3" for i in (1, 2, 3)]
    place = {"name": "thrust", "link": "wrist3", "point": [0.05, 0.0, 0.12]}
    axis = Rotation.from_euler("ZYX", [0.5, -0.2, 0.3]).as_matrix()[:, 2]
    world = arm(forces=[place | {"force": thrust}])
    local = arm(forces=[place | {"force": (-50.0 * axis).tolist(), "frame": "link"}])
    q, qd = random_state(mechanism_of(world), np.random.default_rng(5))
    found, expected = (evaluate(mechanism_of(data), 0.0, q, qd).qdd for data in (world, local))
    assert found == pytest.approx(expected, rel=1e-12)
    check_derivations(world, np.random.default_rng(6), np.array([0.0]))


def test_their_rows_in_absolute_coordinates() -> None:
    """A row's factors of the bodies' velocities, times these per coordinate rate, are the row of C."""
    mechanism = mechanism_of(arm("flexible", programmed=COSINES))
    q, qd = random_state(mechanism, np.random.default_rng(7))
    model = Model(mechanism)
    state = model.state(0.2, q, qd)
    posture, extent = state.posture, units_of_change(mechanism, state.posture)[0]
    S = posture.S.reshape(-1, 4, 4)
    turning = np.einsum("ik,ib->kbi", S[:, [2, 0, 1], [1, 2, 0]], posture.moves[:, 0, :, 0])
    motions = np.concatenate([posture.T_q[:, :3, :, 3].transpose(1, 2, 0), extent * turning])[:, 1:]
    rows = [pair.rows for pair in pairs(model, state) if pair.kind == "programmed"]
    found = np.vstack(rows) @ motions.transpose(1, 0, 2).reshape(-1, mechanism.n)
    assert found == pytest.approx(model.constraints(state).C, abs=1e-12)
