"""Axes of points: direction cosines in expressions, and orientations along a path."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers_arm import arm
from helpers_backends import MODES, CompileData, follows, run_of
from helpers_levels import check_derivations, check_levels
from helpers_parts import body, link, machine
from helpers_problem import evaluate, simulate, unreachable
from helpers_reference import mechanism_of, random_state, unchecked
from helpers_stages import StagedModel
from numpy.typing import NDArray
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.start.absolute import pairs
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.fields.numbers import value_of
from gpmelica.description.load import from_data
from gpmelica.description.tables.task import Path
from gpmelica.generator.modelica import experiment
from gpmelica.reference.constraints.paths import Orientation
from gpmelica.reference.kinematics.extent import units_of_change
from gpmelica.reference.kinematics.kinematics import poses
from gpmelica.report.plots.schematic import pose
from gpmelica.runs import rumoca
from gpmelica.runs.compare.compare import compare
from gpmelica.scene import poses_of
from gpmelica.tasks.check import Summary, facts

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
    model = ReferenceModel(mechanism)
    state, own = model.state(0.0, q, qd), model.quantities.axes("T")
    link = poses(mechanism, q)[-1, :3, :3]
    roll, pitch, yaw = data["points"]["T"]["rpy"]
    expected = link @ Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()
    assert state.x[own] == pytest.approx(expected, abs=1e-14)
    assert state.x_dot[own] == pytest.approx(state.jacobian[own] @ qd, abs=1e-12)


@pytest.mark.parametrize("base", ["flexible", "rigid"])
def test_constraints_on_direction_cosines(base: str) -> None:
    """Constraints of each level are derivatives of the level below, and both derivations agree."""
    data, rng = arm(base, programmed=COSINES), np.random.default_rng(2)
    check_levels(mechanism_of(data), rng, 0.3)
    check_derivations(data, rng, np.array([0.0, 0.6]))


@pytest.mark.parametrize("order", [1, 2])
def test_angle_rates_are_valid_names(order: int) -> None:
    """A constraint of order 1 or 2 in angle rates is the time derivative of the constraint of
    order 0.
    """
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


def test_check_and_pictures_show_axes() -> None:
    """`check` says where the frame is, as a path's orientations would; pictures have three lines for it."""
    model = assemble_system(from_data(arm("flexible")))
    (frame,) = facts(model)["frames"]
    position, axes = _start(arm("flexible"))
    assert frame["position"] == pytest.approx(position, abs=1e-12)
    assert Rotation.from_euler("ZYX", frame["rpy"][::-1]).as_matrix() == pytest.approx(axes, abs=1e-12)
    assert re.search(r"frame T at the start, in the world: \[0\.867\d*, 0\.273", str(Summary(model)))
    drawn = []
    for points in (model.mechanism.frames, {}):
        figure = pose(poses_of(replace(model.mechanism, frames=points), model.start[0][None]))
        drawn.append(len(figure.axes[0].lines))
    assert drawn[0] == drawn[1] + 3


# ---- Orientations along a path ----------------------------------------------------------------------------------

WAYPOINTS = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.05], [0.1, 0.12, 0.0]]
LEGS = {
    "at rest": {"leg_time": [0.7, 0.5]},
    "blended": {"leg_time": [0.7, 0.5], "blend_time": 0.2},
    "trapezoidal": {"leg_time": 0.6, "blend_time": 0.15, "profile": "trapezoidal", "ramp": 0.3},
}


def _start(data: dict[str, Any]) -> tuple[Array, Array]:
    """Position, m, and axes of the tool at the description's start."""
    mechanism = mechanism_of(data)
    q = np.array([c.position for c in mechanism.coordinates])
    model = ReferenceModel(mechanism)
    state = model.state(0.0, q, 0.0 * q)
    return state.x[model.quantities.point("T")], state.x[model.quantities.axes("T")]


def followed(base: str | None, legs: dict[str, Any], turns: list[list[float]], **changes: Any) -> dict[str, Any]:
    """An arm whose tool follows a path from where it is; turns: rpy at later waypoints, in its first axes."""
    data = arm(base, **changes)
    position, axes = _start(data)
    frame = {"xyz": position.tolist(), "rpy": [0.2, -0.1, 0.4]}
    P = Rotation.from_euler("ZYX", frame["rpy"][::-1]).as_matrix()
    first = P.T @ axes
    at = [first, *(first @ Rotation.from_euler("ZYX", turn[::-1]).as_matrix() for turn in turns)]
    orientations = [Rotation.from_matrix(R).as_euler("ZYX")[::-1].tolist() for R in at]
    path = {"point": "T", "frame": frame, "waypoints": WAYPOINTS, "orientations": orientations} | legs
    return data | {"programmed": [{"name": "way", "path": path}]}


TURNS = [[0.3, -0.2, 0.5], [0.3, 0.4, -0.1]]


@pytest.mark.parametrize("legs", LEGS)
def test_orientation_rows(legs: str) -> None:
    """Orientation constraints of all levels are derivatives of each other, also far from the target, and both
    derivations agree.
    """
    base = "flexible" if legs == "blended" else None
    data, rng = followed(base, LEGS[legs], TURNS), np.random.default_rng(8)
    for t in (0.1, 0.35, 0.57, 0.83, 3.0):
        check_levels(mechanism_of(data), rng, t)
    check_derivations(data, rng, np.array([0.0, 0.35, 0.57, 0.83, 3.0]))


def test_rows_in_absolute_coordinates() -> None:
    """A row's factors of the bodies' velocities, times these per coordinate rate, are the row of C."""
    tasks = [*COSINES, *followed("flexible", LEGS["blended"], TURNS)["programmed"]]
    mechanism = mechanism_of(arm("flexible", programmed=tasks))
    q, qd = random_state(mechanism, np.random.default_rng(7))
    model = ReferenceModel(mechanism)
    state = model.state(0.2, q, qd)
    posture, extent = state.posture, units_of_change(mechanism, state.posture)[0]
    S = posture.S.reshape(-1, 4, 4)
    turning = np.einsum("ik,ib->kbi", S[:, [2, 0, 1], [1, 2, 0]], posture.moves[:, 0, :, 0])
    motions = np.concatenate([posture.T_q[:, :3, :, 3].transpose(1, 2, 0), extent * turning])[:, 1:]
    rows = [pair.rows for pair in pairs(model, state) if pair.kind == "programmed"]
    found = np.vstack(rows) @ motions.transpose(1, 0, 2).reshape(-1, mechanism.n)
    assert found == pytest.approx(model.constraints(state).C, abs=1e-12)


@pytest.mark.parametrize("angle", [1e-7, 0.4, 2.0, 3.1])
def test_error_is_the_angle(angle: float) -> None:
    """Rows are 2 sin(α/2) times the error's axis in the target's axes, and independent below 180°."""
    data = followed(None, LEGS["at rest"], TURNS)
    axis = np.array([0.6, -0.48, 0.64])
    own = Rotation.from_euler("ZYX", data["points"]["T"]["rpy"][::-1])
    turned = own * Rotation.from_rotvec(angle * axis)
    data["points"]["T"]["rpy"] = turned.as_euler("ZYX")[::-1].tolist()
    mechanism = unchecked(data)
    q = np.array([c.position for c in mechanism.coordinates])
    model = ReferenceModel(mechanism)
    state = model.state(0.0, q, 0.0 * q)
    rows = model.constraints(state)
    assert model.constraints.names == ("way_x", "way_y", "way_z", "way_rx", "way_ry", "way_rz")
    assert rows.Phi[3:] == pytest.approx(2 * np.sin(angle / 2) * axis, abs=1e-14 / np.cos(angle / 2) ** 2)
    assert np.linalg.svd(rows.C[3:], compute_uv=False).min() > 0.3 * np.cos(angle / 2)


def test_the_opposite_axes_have_no_way_back() -> None:
    """Turned by 180° the row has no value, and the message says why."""
    data = followed(None, LEGS["at rest"], TURNS)
    first = data["programmed"][0]["path"]["orientations"][0]
    data["programmed"][0]["path"]["orientations"] = [[first[0], first[1], first[2] + np.pi]] * 3
    mechanism = unchecked(data)
    q = np.array([c.position for c in mechanism.coordinates])
    with pytest.raises(SolveError, match=r"axes of T are rotated by 180° against .* path way at t = 0 s"):
        ReferenceModel(mechanism).constraints(ReferenceModel(mechanism).state(0.0, q, 0.0 * q))


@pytest.mark.parametrize("legs", LEGS)
def test_target_turns_about_one_axis_per_leg(legs: str) -> None:
    """The target has the orientations of the first and last waypoint at the ends, and each single leg rotates
    about one axis.
    """
    path = Path.model_validate(followed(None, LEGS[legs], TURNS)["programmed"][0]["path"])
    target, end = Orientation(path), path.legs(value_of)[-1][0] + path.legs(value_of)[-1][1]
    for t, given in ((0.0, path.orientations[0]), (end, path.orientations[-1])):
        expected = path.frame.rotation @ Rotation.from_euler("ZYX", given[::-1]).as_matrix()
        assert target.motion(t, t)[0] == pytest.approx(expected, abs=1e-14)
    first = [_angular_velocity(*target.motion(t, t)[:2]) for t in (0.02, 0.1, 0.3)]
    assert np.linalg.matrix_rank(np.array(first), tol=1e-12) == 1
    other = _angular_velocity(*target.motion(end - 0.1, end - 0.1)[:2])
    assert np.linalg.matrix_rank(np.array([*first, other]), tol=1e-6) == 2


def _angular_velocity(R: Array, R_dot: Array) -> Array:
    W = R_dot @ R.T
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


def test_orientations_may_follow_parameters() -> None:
    """The generated equations with other parameters are the reference's; without a turn, too."""
    angles = {"roll": 0.3, "yaw": 0.5, "tilt": 0.1}
    data = followed(None, LEGS["trapezoidal"], TURNS)
    path = data["programmed"][0]["path"]
    path["orientations"] = [[0.2, 0.1, "yaw"], [0.2, "roll - 0.2", "yaw"], ["roll", 0.1, -0.4]]
    path["frame"] = {"xyz": path["frame"]["xyz"], "rpy": ["tilt", 0.0, 0.2]}
    data["points"]["T"]["rpy"] = ["tilt", -0.2, 0.5]
    model = assemble_system(from_data(data | {"parameters": angles}))
    program = model.native_program
    q, qd = random_state(model.mechanism, np.random.default_rng(9))
    q = model.start[0] + 0.2 * q
    for other in ({"roll": 0.3, "yaw": 0.5, "tilt": 0.1}, {"roll": -0.8, "yaw": 0.2, "tilt": 0.4}):
        changed = [replace(p, value=np.array(other.get(p.name, p.value))) for p in program.parameters]
        staged = StagedModel(model, replace(program, parameters=changed))
        expected = assemble_system(from_data(data | {"parameters": other})).mechanism
        for t in (0.1, 0.3, 0.55, 0.8):
            assert staged(t, q, qd).qdd == pytest.approx(evaluate(expected, t, q, qd).qdd, rel=1e-9, abs=1e-9)


def test_orientations_out_of_reach() -> None:
    """Wrists that do not turn so far are found before anything runs."""
    data = followed(None, {"leg_time": 0.5, "waypoints": WAYPOINTS[:2]}, TURNS[:1])
    data["links"][4]["joint"] = {"type": "fixed"}
    mechanism = unchecked(data)
    q = np.array([c.position for c in mechanism.coordinates])
    found = [str(problem.message) for problem in unreachable(mechanism, q) if "waypoints[1]" in problem.where]
    assert len(found) == 1
    assert re.match(r"cannot be .* joints: the closest configuration is \d.* m and \d.* rad away", found[0])


# ---- A body that flies along a path -----------------------------------------------------------------------------

ORIENTATIONS = [[0.0, 0.0, 0.0], [0.4, -0.3, 1.2], [-0.5, 0.6, 0.3]]
MASS, GRAVITY, STOP = 3.0, 9.81, 0.5
SHORT = {"leg_time": [0.3, 0.2], "blend_time": 0.06}
QUICK = {"leg_time": 0.24, "blend_time": 0.07, "profile": "trapezoidal", "ramp": 0.25}


def _flight(**legs: Any) -> dict[str, Any]:
    """A body with all six coordinates, which are its place and the angles of its orientation, on a path."""
    path = {"point": "T", "waypoints": WAYPOINTS, "orientations": ORIENTATIONS} | legs
    return machine(
        link("body", "free") | body(MASS, [0.02, -0.01, 0.03], [0.1, 0.2, 0.25]),
        name="Flight",
        points={"T": {"link": "body", "rpy": [0.0, 0.0, 0.0]}},
        programmed=[{"name": "way", "path": path}],
        simulation={"stop": STOP, "output_step": 0.01, "tolerance": 1e-10},
    )


def _check_end(run: Trajectory) -> None:
    names = [f"body_{name}" for name in ("x", "y", "z", "phi", "theta", "psi")]
    end = [run.signals[name][-1] for name in names]
    assert end == pytest.approx([*WAYPOINTS[-1], *ORIENTATIONS[-1]], abs=1e-8)


def test_drive_work_equals_energy_gain() -> None:
    """The work of the six efforts equals the potential energy at the end, where the body is at
    rest.
    """
    data = _flight(**SHORT)
    data["simulation"]["output_step"] = 0.002
    run = simulate(mechanism_of(data))
    _check_end(run)
    keys = ("x", "y", "z", "psi", "theta", "phi")
    power = sum(run.signals[f"body_{key}_effort"] * run.signals[f"body_{key}_dot"] for key in keys)
    heights = [0.0, WAYPOINTS[-1][2]]
    for k, rpy in ((0, ORIENTATIONS[0]), (1, ORIENTATIONS[-1])):
        turned = Rotation.from_euler("ZYX", rpy[::-1]).apply(data["links"][0]["com"])
        heights[k] += turned[2]
    gained = MASS * GRAVITY * (heights[1] - heights[0])
    assert simpson(power, x=run.time) == pytest.approx(gained, abs=1e-5)


@pytest.fixture(scope="module")
def quick_flight() -> Trajectory:
    """The reference's run with a trapezoidal speed."""
    return simulate(mechanism_of(_flight(**QUICK)))


@pytest.mark.slow
def test_fmu_follows_the_path(compile_data: CompileData, quick_flight: Trajectory) -> None:
    """Model exchange and co-simulation, over jumps of acceleration, to 1e-7 of ranges, and to the end."""
    compiled = compile_data(_flight(**QUICK), "3.0")
    follows(compiled, quick_flight, 1e-7)
    for mode in MODES:
        _check_end(run_of(compiled, mode, stop=STOP))


@pytest.mark.slow
@pytest.mark.skipif(not rumoca.available(), reason="rumoca is not installed")
def test_modelica_text_follows_the_path(quick_flight: Trajectory) -> None:
    """The second Modelica compiler follows the path with orientations that depend on parameters."""
    data = _flight(**QUICK) | {"parameters": {"yaw": ORIENTATIONS[-1][2]}}
    path = data["programmed"][0]["path"]
    path["orientations"] = [*ORIENTATIONS[:2], [*ORIENTATIONS[2][:2], "yaw"]]
    model = assemble_system(from_data(data))
    text = model.modelica(start_values=model.start_values())
    run = rumoca.CompiledModel(text, experiment(model.name)).simulate(
        list(model.units), stop=STOP, output_step=0.01, tolerance=1e-10, budget=1e4
    )
    outcome = compare(quick_flight, run, model.units, 1e-6, horizon=STOP)
    assert outcome.ok, f"{outcome.worst_signal}: {outcome.max_rel_error}"
    _check_end(run)
