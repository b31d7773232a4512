"""Assembly of loops and statics with loops."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from helpers_levels import check_levels
from helpers_loops import CLOSURES, FOUR_BAR_ENDS, four_bar, random_loop, spatial_linkage
from helpers_parts import X, Y, Z, link, machine
from helpers_problem import closure_wrenches, equilibrium, evaluate, simulate, start_state, unreachable
from helpers_random import random_chain, random_closure
from helpers_reference import BASES, BEAM, mechanism_of, random_state, unchecked
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from gpmelica.analysis import InitialValueProblem, ReferenceModel, assemble, energy
from gpmelica.analysis.start.statics import described_state, free_coordinates
from gpmelica.analysis.start.velocities import allowed_velocities
from gpmelica.core.errors import SolveError
from gpmelica.mechanism import Mechanism
from gpmelica.reference.constraints.closures import Conditions, frame_pose
from gpmelica.reference.kinematics.extent import units_of_change

Array = NDArray[np.float64]


def _loops(mechanism: Mechanism, q: Array) -> tuple[Array, Array]:
    """Φ and C of the closures."""
    model = ReferenceModel(mechanism)
    rows = model.constraints.loops.rows(model.state(0.0, q, 0 * q).posture)
    return rows.Phi, rows.C


@pytest.mark.parametrize("crank", [-1.0, 0.0, 0.7, 2.5])
def test_four_bar_closes(crank: float) -> None:
    """With a locked crank, the assembled four-bar has the angles of elementary geometry, to 1e-12."""
    mechanism = mechanism_of(four_bar(crank, statics={"locked": ["crank"]}))
    q = assemble(mechanism, described_state(mechanism)[0])
    assert np.abs(_loops(mechanism, q)[0]).max() < 1e-12
    P, O = 0.4 * np.array([np.cos(crank), np.sin(crank)]), np.array([1.0, 0.0])
    way = O - P
    d = float(np.hypot(*way))
    coupler = np.arctan2(way[1], way[0]) + np.arccos((1.0 + d * d - 0.64) / (2 * d))
    pin = P + np.array([np.cos(coupler), np.sin(coupler)]) - O
    expected = [crank, coupler - crank, np.arctan2(pin[1], pin[0])]
    assert q[0] == crank
    assert np.angle(np.exp(1j * (q - expected))) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("kind", CLOSURES)
def test_only_joints_move_and_locked_ones_stay(kind: str) -> None:
    """Loops with flexible links on a flexible base close by their joints alone, without those that are locked."""
    closed = 0
    for seed in (1, 4, 7):
        mechanism, q, _, rng = random_loop(seed, kind, changes={"statics": {"locked": ["link0"]}}, links=5)
        given = q + 0.02 * rng.normal(size=mechanism.n)
        try:
            found = assemble(mechanism, given)
        except SolveError as error:
            assert "or unlock link0 in [statics]" in str(error)
            continue
        closed += 1
        assert np.abs(_loops(mechanism, found)[0]).max() < 1e-12
        stays = [c.role != "joint" or c.owner == "link0" for c in mechanism.coordinates]
        assert np.array_equal(found[stays], given[stays])
    assert closed


def test_change_is_the_smallest() -> None:
    """For small gaps the change is normal, in m, to all motions of the closed loop, to second order."""
    mechanism, rng = mechanism_of(spatial_linkage("universal") | {"statics": {}}), np.random.default_rng(0)
    q = assemble(mechanism, np.full(mechanism.n, 0.3))
    unit = units_of_change(mechanism, ReferenceModel(mechanism).state(0.0, q, 0 * q).posture)[1]
    direction, along = rng.normal(size=mechanism.n), []
    for size in (1e-2, 1e-3):
        given = q + size * direction
        change = (assemble(mechanism, given) - given) / unit
        C = _loops(mechanism, given)[1] * unit
        motions = np.linalg.svd(C)[2][len(C) :]
        along.append(np.linalg.norm(motions @ change) / np.linalg.norm(change))
    assert 1e-6 < along[0] < 0.2
    assert along[1] < 0.2 * along[0]


def test_closed_loops_are_not_moved() -> None:
    """Closed loops and chains without closures keep their coordinates."""
    mechanism, q, _, _ = random_loop(0, "revolute")
    assert assemble(mechanism, q) == pytest.approx(q, abs=1e-14)
    tree = mechanism_of(random_chain(np.random.default_rng(0)))
    assert np.array_equal(assemble(tree, np.ones(tree.n)), np.ones(tree.n))


def test_conditions_that_depend_on_each_other() -> None:
    """A planar loop closed by a spatial revolute joint has five rows of rank two; it closes all the same."""
    mechanism = unchecked(four_bar(closure="revolute"))
    Phi, C = _loops(mechanism, assemble(mechanism, described_state(mechanism)[0]))
    assert (len(Phi), np.linalg.matrix_rank(C)) == (5, 2)
    assert np.abs(Phi).max() < 1e-12


def test_unreachable_closure_is_reported() -> None:
    """Bars of 2.2 m in total cannot span 4 m: the message names the loop, the missing 1.8 m and
    the locked joints.
    """
    data = four_bar()
    data["links"][2]["frame"] = {"xyz": [4.0, 0.0, 0.0]}
    open_by = "closure pin cannot be closed: 1.8 m and 0 rad remain between its frames on coupler and rocker; ch"
    with pytest.raises(SolveError, match=re.escape(open_by)):
        start_state(mechanism_of(data))
    left = np.hypot(4.0 - 0.4 * np.cos(0.7), 0.4 * np.sin(0.7)) - 1.8
    data |= {"statics": {"locked": ["crank"]}, "simulation": {"start": "description"}}
    with pytest.raises(SolveError, match=rf"{left:.3g} m and 0 rad .* or unlock crank in \[statics\]"):
        start_state(mechanism_of(data))


def test_beams_do_not_close_loops() -> None:
    """An elastic crank stays straight: what joints cannot close is not closed by bending it, which is said."""
    data = four_bar()
    data["links"][2]["frame"] = {"xyz": [4.0, 0.0, 0.0]}
    crank = data["links"][0]
    data["links"][0] = {key: crank[key] for key in ("name", "parent", "joint")} | {
        "beam": BEAM | {"length": 0.4, "elements": 2}
    }
    with pytest.raises(SolveError, match=r"1.8 m and 0 rad .* a closed loop \(the search does not move beams\)"):
        start_state(mechanism_of(data))


def _sliders(kind: str, rpy: list[float]) -> Mechanism:
    """Three slides in a row, closed to the ground by a frame that is turned."""
    a, b, c = ("ground", "a"), ("a", "b"), ("b", "c")
    links = [
        link(n, "prismatic", axis, p, position=0.1) for (p, n), axis in zip((a, b, c), (X, Y, Z), strict=True)
    ]
    closure = {"name": "lid", "type": kind, "a": {"link": "ground"}, "b": {"link": "c", "rpy": rpy}}
    return unchecked(machine(*links, closures=[closure]))


def test_angles_that_cannot_close() -> None:
    """Sliding joints cannot close the angle, which is reported in rad; frames turned by 120° are open although
    all three cosines vanish.
    """
    with pytest.raises(SolveError, match=r"closure lid .*: \S+ m and 0\.3 rad remain between .* ground and c"):
        start_state(_sliders("revolute", [0.3, 0.0, 0.0]))
    with pytest.raises(SolveError, match=r"closure lid .*: \S+ m and 0\.4 rad remain"):
        start_state(_sliders("fixed", [0.0, 0.4, 0.0]))
    mechanism = _sliders("fixed", [np.pi / 2, np.pi / 2, 0.0])
    assert np.abs(_loops(mechanism, np.zeros(3))[0]).max() < 1e-15
    with pytest.raises(SolveError, match=r"closure lid .*: 0 m and 2\.09 rad remain"):
        assemble(mechanism, np.zeros(3))
    closed = assemble(_sliders("revolute", [0.0, 0.0, 1.0]), np.array([0.1, 0.2, 0.3]))
    assert closed == pytest.approx(np.zeros(3), abs=1e-12)


def test_velocities_keep_loops_closed() -> None:
    """Start velocities come to C q̇ = 0 by the smallest change, and those of locked joints stay."""
    mechanism = mechanism_of(spatial_linkage("universal", crank=0.4, speed=3.0))
    q, qd = start_state(mechanism)
    crank = mechanism.coordinate_index("crank.angle")
    assert qd[crank] == 3.0
    assert np.abs(_loops(mechanism, q)[1] @ qd).max() < 1e-12
    free, q, given, rng = random_loop(1, "spherical", base=None, beams=False)
    given = given + rng.normal(size=free.n)
    found, C = allowed_velocities(free, q, given), _loops(free, q)[1]
    unit = units_of_change(free, ReferenceModel(free).state(0.0, q, 0 * q).posture)[1]
    multipliers = np.linalg.lstsq((C * unit).T, (found - given) / unit)[0]
    assert np.abs(C @ found).max() < 1e-12
    assert (C * unit).T @ multipliers == pytest.approx((found - given) / unit, abs=1e-12)


def test_locked_velocities_that_open_a_loop() -> None:
    """A crank turning at 2 rad/s with locked bars opens the loop; the message says how fast."""
    data = four_bar(statics={"locked": ["crank"]})
    closed = start_state(mechanism_of(data))[0]
    for entry, angle in zip(data["links"], closed.tolist(), strict=True):
        entry["joint"] = entry["joint"] | {"position": angle}
    data["links"][0]["joint"]["velocity"] = 2.0
    data["statics"] = {"locked": ["crank", "coupler", "rocker"]}
    mechanism = mechanism_of(data)
    lever = np.hypot(1.0 + 0.8 * np.cos(closed[2]), 0.8 * np.sin(closed[2]))
    message = rf"closure pin opens at {2 * lever:.3g} m/s and 0 rad/s initially; .*, or unlock crank, coupler"
    with pytest.raises(SolveError, match=message):
        start_state(mechanism)


def test_number_of_held_joints_equals_the_degrees_of_freedom() -> None:
    """Without `locked`, a four-bar linkage holds one joint and moves two, with cut and replacement
    joints.
    """
    springs = {"type": "spherical", "model": "spring_damper", "stiffness": [1e6, 1e6, 1e6, 0.0, 0.0, 0.0]}
    for closure in ({"type": "point_on_line"}, {"type": "revolute"}, springs):
        mechanism = unchecked(four_bar(closures=[{"name": "pin"} | closure | FOUR_BAR_ENDS]))
        q = assemble(mechanism, start_state(mechanism_of(four_bar()))[0])
        assert len(free_coordinates(mechanism, q)) == 2
        held = ({0, 1, 2} - set(free_coordinates(mechanism, q))).pop()
        assert equilibrium(mechanism)[held] == assemble(mechanism, described_state(mechanism)[0])[held]


def test_joints_with_springs_settle() -> None:
    """A spring on one joint of a four-bar leaves no joint to be held: the linkage finds its balance."""
    data = four_bar()
    data["links"][2]["joint"] |= {"stiffness": 30.0, "rest": 1.0}
    mechanism = mechanism_of(data)
    assert len(free_coordinates(mechanism, assemble(mechanism, described_state(mechanism)[0]))) == 3
    q = equilibrium(mechanism)
    found = evaluate(mechanism, 0.0, q, 0 * q)
    assert np.abs(found.qdd).max() < 1e-8


def test_unlocked_four_bar_hangs_at_its_lowest() -> None:
    """With nothing locked, the linkage settles where its potential energy over the crank angle is smallest."""
    mechanism = mechanism_of(four_bar(statics={"locked": []}))
    locked = mechanism_of(four_bar(statics={"locked": ["crank"]}))
    q = equilibrium(mechanism)
    hanging = InitialValueProblem(mechanism, (q, 0 * q))

    def potential(angle: float) -> float:
        at = assemble(locked, np.array([angle, *q[1:]]))
        return energy(hanging, 0.0, at, 0 * at).potential

    found = minimize_scalar(potential, bounds=(q[0] - 0.5, q[0] + 0.5), method="bounded", options={"xatol": 1e-10})
    assert found.x == pytest.approx(q[0], abs=1e-6)
    assert energy(hanging, 0.0, q, 0 * q).potential <= found.fun + 1e-12
    assert np.abs(evaluate(mechanism, 0.0, q, 0 * q).qdd).max() < 1e-8


def _on_supports(**changes: Any) -> dict[str, Any]:
    """The four-bar on a base on four springs, with a flexible coupler."""
    data = four_bar(**changes)
    corner = [(x, z) for x in (-0.5, 1.5) for z in (-0.5, 0.5)]
    data["base"] = {
        "mass": 20.0,
        "com": [0.5, -0.1, 0.0],
        "inertia": [2.0, 4.0, 4.0],
        "support": "flexible",
        "supports": [{"position": [x, 0.0, z], "stiffness": [2e3, 5e3, 2e3]} for x, z in corner],
    }
    beam = {"length": 1.0, "area": 1e-4, "density": 2e4, "E": 2e9, "G": 8e8, "Iy": 2e-9, "Iz": 2e-9, "J": 4e-9}
    crank, coupler, rocker = data["links"]
    crank["parent"] = rocker["parent"] = "base"
    kept = {key: coupler[key] for key in ("name", "parent", "frame", "joint")}
    return data | {"links": [crank, kept | {"beam": beam | {"elements": 3}}, rocker]}


def _support_force(mechanism: Mechanism, q: Array) -> Array:
    base = ReferenceModel(mechanism).state(0.0, q, 0 * q).posture.world[:3, 1]
    return np.asarray(sum(s.stiffness * (s.position - base @ [*s.position, 1.0]) for s in mechanism.supports))


def test_supports_carry_the_weight_of_a_loop() -> None:
    """A loop on the base adds nothing but its weight; the loop stays closed and its coupler bends."""
    mechanism = mechanism_of(_on_supports(statics={"locked": ["crank"]}))
    q = equilibrium(mechanism)
    weight = 9.81 * sum(body.mass for body in mechanism.bodies)
    assert _support_force(mechanism, q) == pytest.approx([0.0, weight, 0.0], rel=1e-9, abs=1e-7)
    assert np.abs(_loops(mechanism, q)[0]).max() < 1e-12
    bent = [q[k] for k, c in enumerate(mechanism.coordinates) if c.role == "elastic"]
    assert np.abs(bent).max() > 1e-3


def test_supports_and_a_closure_to_the_ground_carry_the_weight() -> None:
    """If a loop contains the ground, support forces and closure force add up to the weight."""
    prop = {"a": {"link": "ground", "xyz": [1.0, -0.5, 0.0]}, "b": {"link": "coupler", "xyz": [0.6, 0.0, 0.0]}}
    closures = [{"name": "prop", "type": "distance", "length": 0.6} | prop]
    # Held where it is by a programmed equation, so that the closure's force in motion is the one at rest.
    hold = [{"name": "hold", "expression": "crank.angle - start(crank.angle)"}]
    rest = {"programmed": hold, "statics": {"locked": ["crank"]}}
    mechanism = mechanism_of(_on_supports(closures=closures, **rest))
    start = start_state(mechanism)
    q, qd = start
    assert np.abs(_loops(mechanism, q)[0]).max() < 1e-12
    found = evaluate(mechanism, 0.0, q, qd, start=start)
    rocker = mechanism.coordinate_index("rocker.angle")
    assert np.abs(found.qdd).max() < 1e-7
    assert rocker in free_coordinates(mechanism, q)
    force = closure_wrenches(mechanism, 0.0, q, qd, start=start)["prop"][:3]
    weight = 9.81 * sum(body.mass for body in mechanism.bodies)
    assert abs(force[1]) > 10.0
    assert _support_force(mechanism, q) + force == pytest.approx([0.0, weight, 0.0], rel=1e-7, abs=1e-6)


def test_waypoints_are_sought_with_closed_loops() -> None:
    """A waypoint that the rocker alone could reach, but not with the loop closed, is out of reach."""
    q = start_state(mechanism_of(four_bar()))[0]
    here, stretched = ([1 + 0.8 * np.cos(angle), 0.8 * np.sin(angle), 0.0] for angle in (q[2] + 0.1, 0.0))
    path = {"point": "E", "components": ["x", "y"], "leg_time": 1.0, "waypoints": [here, stretched]}
    task: dict[str, Any] = {
        "points": {"E": {"link": "rocker", "position": [0.8, 0.0, 0.0]}},
        "programmed": [{"name": "p", "path": path}],
    }
    free, closed = (unchecked(four_bar(**task | more)) for more in ({"closures": []}, {}))
    assert [p.where for p in unreachable(free, q) if "waypoints" in p.where] == []
    found = [p for p in unreachable(closed, q) if "waypoints" in p.where]
    assert [p.where for p in found] == ["programmed[0].path.waypoints[1]"]
    # The rocker turns down to where crank and coupler are stretched to 1.4 m.
    angle = np.pi - np.arccos((1.0 + 0.64 - 1.96) / 1.6)
    assert f"the closest configuration is {1.6 * np.sin(angle / 2):.3g} m away" in found[0].message


# ---- Closures of the reference ----------------------------------------------------------------------------------


SPRINGS = {
    "type": "spherical",
    "model": "spring_damper",
    "stiffness": [300.0, 500.0, 400.0, 20.0, 30.0, 10.0],
    "damping": [3.0, 0.0, 4.0, 0.2, 0.3, 0.1],
}


def _closed(seed: int, kind: str) -> tuple[Mechanism, np.random.Generator]:
    """A random tree with a closure of this type, open and anywhere, between two of its links."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, 4, BASES[seed % 3])
    first = ["link0", "ground", "link1"][seed % 3]
    closure = random_closure(rng, kind, (first, "link3") if seed % 2 else ("link3", first))
    return unchecked(data | {"closures": [closure]}), rng


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", CLOSURES)
def test_levels(kind: str, seed: int) -> None:
    """Φ̇ = C q̇ and C q̈ − γ are the first and second derivatives of a closure's Φ along any motion."""
    check_levels(*_closed(seed, kind), 0.3)


@pytest.mark.parametrize("kind", CLOSURES)
def test_values(kind: str) -> None:
    """Φ says where frame b is in frame a: components of its origin, cosines between axes, and the distance."""
    mechanism, rng = _closed(1, kind)
    posture = ReferenceModel(mechanism).state(0.0, *random_state(mechanism, rng)).posture
    (closure,) = mechanism.closures
    relative = np.linalg.inv(frame_pose(posture, closure.a)) @ frame_pose(posture, closure.b)
    R, r = relative[:3, :3], relative[:3, 3]
    length = closure.length or 1.0
    expected = {
        "revolute": [*r, R[0, 2], R[1, 2]],
        "spherical": [*r],
        "universal": [*r, R[2, 2]],
        "prismatic": [*r[:2], R[2, 1], R[0, 2], R[1, 0]],
        "fixed": [*r, R[2, 1], R[0, 2], R[1, 0]],
        "distance": [(r @ r - length**2) / (2 * length)],
        "point_on_line": [*r[:2]],
    }[kind]
    assert Conditions(mechanism, [closure]).rows(posture).Phi == pytest.approx(expected, abs=1e-12)


def test_rows_and_their_names() -> None:
    """Closures come after the programmed rows and before the fixed base, one row per condition, in file order."""
    data = random_chain(np.random.default_rng(2), 3, "rigid", beams=False)
    ends = {"a": {"link": "base"}, "b": {"link": "link2"}}
    data["closures"] = [
        {"name": "far", "type": "distance", "length": 1.0} | ends,
        {"name": "soft"} | SPRINGS | ends,
        {"name": "pin", "type": "universal"} | ends,
    ]
    data["programmed"] = [{"name": "rise", "expression": "E.z - 1"}]
    names = ReferenceModel(mechanism_of(data)).constraints.names
    base = tuple(f"base_{key}" for key in ("x", "y", "z", "psi", "theta", "phi"))
    assert names == ("rise", "far_distance", "pin_x", "pin_y", "pin_z", "pin_zz", *base)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", CLOSURES)
def test_closed_loop_stays_closed(kind: str, seed: int) -> None:
    """Over a short motion Φ of a closed loop stays at zero, and the closures do no work: energy is conserved."""
    options: dict[str, Any] = {"dampers": False, "links": 3, "base": None}
    mechanism, q, qd, _ = random_loop(seed, kind, **options)
    run = simulate(mechanism, start=(q, qd), stop=0.2, output_step=0.05, method="DOP853", tolerance=1e-11)
    assert run.signals["violation_position"].max() < 1e-9
    assert run.signals["violation_velocity"].max() < 1e-8
    ends = [
        np.array([[run.signals[c.symbol + part][k] for c in mechanism.coordinates] for part in ("", "_dot")])
        for k in (0, -1)
    ]
    first, last = (energy(InitialValueProblem(mechanism, (q, qd)), 0.0, *end) for end in ends)
    assert last.total - first.total == pytest.approx(0.0, abs=1e-8 * max(first.kinetic, 1.0))
