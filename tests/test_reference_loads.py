"""Joint loads and closure forces of the reference, against a model in absolute coordinates and plain statics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_absolute import AbsoluteModel, Result
from helpers_examples import EXAMPLES
from helpers_loops import CLOSURES, random_loop, spatial_linkage
from helpers_problem import closure_wrenches, course, evaluate, joint_loads, simulate, start_state
from helpers_random import random_chain, random_closure
from helpers_reference import BASES, manipulator, mechanism_of, random_state, slope
from numpy.typing import NDArray

from gpmelica.analysis import Evaluation, ReferenceModel, poses
from gpmelica.core.errors import SolveError
from gpmelica.description import load
from gpmelica.mechanism import Mechanism, Place, build
from gpmelica.reference.forces.element import ElementContext
from gpmelica.reference.forces.joint_springs import JointSprings

Array = NDArray[np.float64]
PUSHES = [
    {"name": "gust", "link": "link1", "point": [0.2, -0.1, 0.3], "force": [3.0, -7.0, 5.0]},
    {"name": "jet", "link": "link3", "point": [-0.3, 0.2, 0.1], "force": [4.0, 6.0, -2.0], "frame": "link"},
]


def _pushed(model: AbsoluteModel) -> AbsoluteModel:
    """The model with the mechanism's point forces acting."""
    for force, given in zip(model.mechanism.forces, model.mechanism.chain.forces, strict=True):
        assert force.place is not None and given.force is not None
        frame = model.frame(force.place.body)
        vector = np.array(given.force, dtype=float)
        at = frame.r + frame.R @ np.asarray(force.place.position)
        model.push(force.place.body, at, vector if force.in_world else frame.R @ vector)
    return model


def _in_link_axes(mechanism: Mechanism, model: AbsoluteModel, result: Result) -> dict[str, Array]:
    """Wrench on the first body of each link, in the link's axes."""
    found: dict[str, Array] = {}
    for b, body in enumerate(mechanism.bodies):
        R = model.frames[b].R
        if body.link not in found and body.link != "base":
            found[body.link] = np.concatenate([R.T @ result.joints[b, :3], R.T @ result.joints[b, 3:]])
    return found


def _largest_error(found: dict[str, Array], expected: dict[str, Array]) -> float:
    """Relative to the largest of all."""
    assert found.keys() == expected.keys()
    scale = max(np.abs(x).max() for x in expected.values())
    return float(max(np.abs(found[key] - x).max() for key, x in expected.items()) / scale)


def _check(mechanism: Mechanism, q: Array, qd: Array) -> Evaluation:
    """Accelerations, loads and closure forces are those of the absolute model."""
    found = evaluate(mechanism, 0.0, q, qd)
    model = _pushed(AbsoluteModel(mechanism, q, qd))
    # What holds a fixed base is a reaction of the absolute model, not an effort.
    held = [c.role == "base" and mechanism.base_fixed for c in mechanism.coordinates]
    result = model.solve(np.where(held, 0.0, found.drive))
    posture = ReferenceModel(mechanism).state(0.0, q, qd).posture
    T_ddot = np.tensordot(found.qdd, posture.T_q, (0, 0)) + posture.T_bias
    error = np.abs(T_ddot[:3, 1:, 3].T - result.acceleration[:, :3]).max()
    assert error < 1e-9 * np.abs(result.acceleration).max()
    assert _largest_error(joint_loads(mechanism, 0.0, q, qd), _in_link_axes(mechanism, model, result)) < 1e-9
    if mechanism.closures:
        assert _largest_error(closure_wrenches(mechanism, 0.0, q, qd), result.closures) < 1e-9
    return found


@pytest.mark.parametrize("seed", range(12))
def test_loads_of_trees(seed: int) -> None:
    """Loads of random trees with springs, dampers, beams and point forces are those of the absolute model."""
    rng = np.random.default_rng(seed)
    _check_somewhere(random_chain(rng, 5, BASES[seed % 3]) | {"forces": PUSHES}, rng)


def _check_somewhere(data: dict[str, Any], rng: np.random.Generator) -> None:
    if "base" in data:
        data["base"]["linearized"] = False
    mechanism = mechanism_of(data)
    q, qd = random_state(mechanism, rng)
    if mechanism.base_fixed:
        q[:6] = qd[:6] = 0.0
    _check(mechanism, q, qd)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSURES)
def test_loads_of_loops(kind: str, seed: int) -> None:
    """Loads and closure forces of random loops, on every kind of base, are those of the absolute model."""
    mechanism, q, qd, _ = random_loop(seed, kind, changes={"forces": PUSHES})
    _check(mechanism, q, qd)


@pytest.mark.parametrize("axes", ["local", "world"])
@pytest.mark.parametrize("seed", range(3))
def test_loads_with_replacement_joints(seed: int, axes: str) -> None:
    """Loads of a mechanism whose loops are closed by spring-dampers."""
    rng = np.random.default_rng(seed)
    closure = random_closure(rng, "spherical", ("link0" if seed else "ground", "link3")) | {
        "model": "spring_damper",
        "axes": axes,
        "stiffness": [300.0, 500.0, 0.0, 20.0, 30.0, 10.0],
        "damping": [3.0, 0.0, 4.0, 0.2, 0.3, 0.1],
    }
    data = random_chain(rng, 4, BASES[seed], beams=seed == 2) | {"forces": PUSHES, "closures": [closure]}
    _check_somewhere(data, rng)


def test_drives_bring_about_programmed_motion() -> None:
    """Driven by the `drive` efforts, the absolute model has the programmed motion, and the same loads."""
    data = spatial_linkage("universal", crank=0.4, speed=2.0)
    data["programmed"] = [{"name": "spin", "expression": "crank.angle - 0.4 - 2*t - 3*t^2"}]
    mechanism = mechanism_of(data)
    q, qd = start_state(mechanism)
    found = _check(mechanism, q, qd)
    crank = mechanism.coordinate_index("crank.angle")
    assert found.qdd[crank] == pytest.approx(6.0, rel=1e-12)
    assert np.flatnonzero(found.drive).tolist() == [crank] or np.abs(np.delete(found.drive, crank)).max() < 1e-12
    assert abs(found.drive[crank]) > 0.1
    # The joint transmits the drive's moment about its axis, and no other.
    load = joint_loads(mechanism, 0.0, q, qd)
    assert load["crank"][5] == pytest.approx(found.drive[crank], rel=1e-10)
    assert load["slider"][2] == pytest.approx(0.0, abs=1e-10)


def test_programmed_motion_on_a_flexible_base() -> None:
    """There the GPME's reaction acts on the base, too: with this effort, which no drive has, the loads agree.

    Programmed constraints are ideal, as if a guide led the point, and the base feels what the guide does.
    """
    feet = [{"position": [x, y, 0.0], "stiffness": [4e3, 4e3, 8e3]} for x in (-0.3, 0.3) for y in (-0.3, 0.3)]
    base = {"mass": 30.0, "inertia": [2.0, 2.0, 2.0], "support": "flexible", "supports": feet}
    height = {"name": "height", "expression": "E.z - start(E.z) - quintic(t, 0, 0.2, 0, 0.3)"}
    data = manipulator(base=base, programmed=[height])
    data["links"][0]["parent"] = "base"
    mechanism = mechanism_of(data)
    q, qd = start_state(mechanism)
    found = _check(mechanism, q, qd)
    assert np.abs(found.drive[:6]).max() > 1.0
    guide = found.multipliers[0] * np.array([0.0, 0.0, 1.0])
    assert found.drive[:3] == pytest.approx(guide, rel=1e-9, abs=1e-9)


def test_joint_springs_and_drives_are_transmitted() -> None:
    """Springs, dampers and applied efforts of a joint are part of what it transmits about its axis."""
    force = {"name": "motor", "joint": "upper", "effort": 7.0}
    data = manipulator(forces=[force])
    data["links"][0]["joint"] |= {"stiffness": 30.0, "rest": 0.1, "damping": 2.0}
    mechanism = mechanism_of(data)
    load = joint_loads(mechanism, 0.0, [0.4, 0.9], [1.5, -0.5])
    assert -load["upper"][4] == pytest.approx(7.0 - 30.0 * 0.3 - 2.0 * 1.5, rel=1e-12)
    assert load["lower"][4] == pytest.approx(0.0, abs=1e-12)


def test_signals() -> None:
    """Loads are signals when asked for, by the caller or the description; single-axis joints have two more."""
    data = spatial_linkage("universal", crank=0.4, speed=2.0) | {"simulation": {"stop": 0.02}}
    parts = ("fx", "fy", "fz", "nx", "ny", "nz")
    wanted = {f"{link}_load_{part}" for link in ("crank", "coupler", "slider") for part in parts}
    wanted |= {f"{link}_load_{part}" for link in ("crank", "slider") for part in ("axial", "normal")}
    plain, described = mechanism_of(data), mechanism_of(data | {"outputs": {"loads": "all"}})
    without, with_all = simulate(plain), simulate(described)
    assert set(with_all.signals) - set(without.signals) == wanted
    one = simulate(described, loads=["slider"])
    assert {name for name in one.signals if "_load_" in name} == {n for n in wanted if n.startswith("slider")}
    q, qd = (np.array([with_all.signals[c.symbol + part][-1] for c in plain.coordinates]) for part in ("", "_dot"))
    load = joint_loads(plain, 0.02, q, qd, links=["crank"])["crank"]
    last = {name: with_all.signals[f"crank_load_{name}"][-1] for name in (*parts, "axial", "normal")}
    assert [last[part] for part in parts] == pytest.approx(load, rel=1e-9, abs=1e-12)
    assert (last["axial"], last["normal"]) == pytest.approx((load[2], np.hypot(*load[:2])), rel=1e-12)


def test_unknown_link() -> None:
    """A link that does not exist is refused by name."""
    with pytest.raises(SolveError, match="joint reactions: no link is called 'elbow'; known are: upper, lower"):
        joint_loads(mechanism_of(manipulator()), 0.0, [0.0, 0.0], [0.0, 0.0], links=["elbow"])


# ---- What pictures show ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_forces_of_pictures_do_the_work_of_the_elements(seed: int) -> None:
    """Σ F·∂r/∂q over the marks is all that supports and applied forces do: of bodies, world frame and efforts."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, links=4, base="flexible")
    data["forces"] = [*PUSHES, {"name": "motor", "joint": "link2", "effort": 11.0}]
    for link in data["links"]:
        if link["name"] == "link2":
            link["joint"] = {"type": "revolute", "axis": [0.6, 0.0, 0.8]}
    data["base"]["linearized"] = False
    mechanism = mechanism_of(data)
    model = ReferenceModel(mechanism)
    q, qd = random_state(mechanism, rng)
    state = model.state(0.0, q, qd)
    forces, acting, done = model.forces(state), model.forces.acting(state), np.zeros(mechanism.n)
    for mark, force in zip(model.forces.marks, acting, strict=True):
        if mark.kind == "moment":
            done += force @ _turning(mechanism, mark.a.body, q)
        else:
            done += force @ _moving(mechanism, mark.a, q)
    assert [mark.kind for mark in model.forces.marks].count("support") == len(mechanism.supports) > 0
    springs = JointSprings(ElementContext(mechanism, model.reader, 0)).reaction(state)
    expected = forces.elastic + forces.dissipative + forces.applied - springs.elastic - springs.dissipative
    assert done == pytest.approx(expected, rel=1e-6, abs=1e-6)


def _moving(mechanism: Mechanism, place: Place, q: Array) -> Array:
    """∂r/∂q of a place, shape (3, n)."""

    def at(row: Array) -> Array:
        frame = poses(mechanism, row)[place.body]
        return np.asarray(frame[:3, :3] @ place.position + frame[:3, 3])

    return np.column_stack([slope(lambda h, k=k: at(q + h * np.eye(len(q))[k])) for k in range(len(q))])


def _turning(mechanism: Mechanism, body: int, q: Array) -> Array:
    """∂ω/∂q̇ of a body against its parent, shape (3, n)."""
    R, own = poses(mechanism, q)[body, :3, :3], mechanism.bodies[body].coordinates
    columns = np.zeros((3, len(q)))
    for k in own:
        W = slope(lambda h, k=k: poses(mechanism, q + h * np.eye(len(q))[k])[body, :3, :3]) @ R.T
        columns[:, k] = W[[2, 0, 1], [1, 2, 0]]
    return columns


def test_course_of_a_run() -> None:
    """Energy of a free pendulum stays; instants are spread over the run and at most as many as asked for."""
    mechanism = mechanism_of(manipulator())
    run = simulate(mechanism, stop=0.2, output_step=0.01)
    found = course(mechanism, run, most=7)
    assert (len(found.time), found.time[-1], found.acting.shape) == (7, run.time[-1], (7, 0, 3))
    total = found.kinetic + found.potential
    assert np.ptp(found.kinetic) > 0.1
    assert total == pytest.approx(np.full(7, total[0]), abs=1e-6)


def test_forces_of_pictures_are_those_of_replacement_joints() -> None:
    """On bodies of frames b, as their wrenches have it."""
    mechanism = build(load(EXAMPLES / "rsrrp.toml", "revolute_replacement"))
    start = start_state(mechanism)
    q, qd = start[0] + 1e-3, start[1] + 0.1
    model = ReferenceModel(mechanism, start=start)
    acting = dict(
        zip([mark.name for mark in model.forces.marks], model.forces.acting(model.state(0.0, q, qd)), strict=True)
    )
    wrenches = closure_wrenches(mechanism, 0.0, q, qd, start=start)
    for name, wrench in wrenches.items():
        assert np.linalg.norm(acting[name]) > 1.0
        assert acting[name] == pytest.approx(wrench[:3], rel=1e-9)
