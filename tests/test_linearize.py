"""Linear models: against differences on the constraint manifold, closed forms, and a nonlinear run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Any

import control
import helpers_problem as solving
import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_backends import EXAMPLES, Array, Compile, Compiled, CompileData, CompileModel, example_model, run_of
from helpers_cli import Command, fails
from helpers_examples import changed
from helpers_linear import CORNER, GRAVITY, INERTIA, LUGRE, MASS, SLIDE, SUPPORT, Nearby, elastic, hanging, point
from helpers_parts import X, Y, Z, body, link
from helpers_parts import machine as described
from helpers_reference import BEAM
from PIL import Image
from scipy.io import loadmat
from scipy.linalg import block_diag, eigh
from test_derivatives import MODELS, differences
from test_friction import MECHANISMS

import gpmelica as gp
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data
from gpmelica.fmu.code.residuals import residual
from gpmelica.linear import OperatingPoint, StateSpace, linearized, trimmed
from gpmelica.linear.held import moving_tasks, notes_on_choice
from gpmelica.linear.modes import _ON_THE_WAY, Mode, modes
from gpmelica.linear.moving import in_words
from gpmelica.linear.point import Plant, operating_point
from gpmelica.linear.tables import mode_cells
from gpmelica.linear.tangent import tangent
from gpmelica.mechanism import signal_names
from gpmelica.options.linear import LinearizeOptions
from gpmelica.runs.fmpy_runs.inputs import InputTable
from gpmelica.runs.fmpy_runs.states import State

EXACT = 1e-6


def _eigenvalues(space: StateSpace) -> Array:
    return np.array([mode.eigenvalue for mode in space.modes()])


def _upper(roots: Sequence[complex] | Array) -> Array:
    """Return the eigenvalues with imaginary part ≥ 0, smallest first."""
    return np.array(sorted((r for r in roots if r.imag >= 0), key=lambda r: (abs(r), -r.real)))


# ---- Derivatives ------------------------------------------------------------------------------------------------


def _worst(space: StateSpace, found: Array, expected: Array) -> float:
    """Largest difference, relative to the largest entry of rows of a unit, or 1e-3 of the largest of all."""
    units = np.array([f"{space.units[s]}/s" for s in space.states] + [space.units[o] for o in space.outputs])
    largest = np.abs(expected).max(1)
    sizes = np.array([largest[units == unit].max() for unit in units])
    return float((np.abs(found - expected) / np.maximum(sizes, 1e-3 * largest.max())[:, None]).max())


def _off_the_start(compiled: Compiled, near: Nearby, t: float) -> OperatingPoint:
    """A state of the manifold in which everything moves."""
    rng, at_start = (
        np.random.default_rng(5),
        linearized(Plant(compiled.model, compiled.fmu), point(compiled.model)),
    )
    begin = near.completed(point(compiled.model, t), at_start.states)
    space = linearized(Plant(compiled.model, compiled.fmu), begin)
    z = np.concatenate([space.x + 1e-2 * rng.normal(size=len(space.x)), rng.normal(size=len(space.u))])
    return near.moved(begin, space, z)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "case", "t"),
    [
        ("crane", "rigid_boom", 0.3),  # rheonomic rows, a base on springs
        ("rsrrp", "cut_joint", 0.0),  # a closed loop
        ("mobile_robot", "minimum_norm", 0.4),  # knife edges, rows that depend on each other
        ("linkage", "", 0.0),  # friction by the joint load in a loop
    ],
)
def test_derivatives_on_the_manifold(
    compile_example: Compile, compile_data: CompileData, name: str, case: str, t: float
) -> None:
    """A, B, C and D are differences of the FMU's ẋ and outputs, the dependent coordinates following."""
    compiled = compile_example(name, case) if case else compile_data(MECHANISMS[name])
    with Nearby(compiled, t) as near:
        at = _off_the_start(compiled, near, t)
        space = linearized(Plant(compiled.model, compiled.fmu), at)
        z = np.concatenate([space.x, space.u])
        expected = differences(lambda moved: near.rates(near.moved(at, space, moved), space), z)
        assert np.concatenate([space.drift, space.y]) == pytest.approx(near.rates(at, space), rel=1e-9, abs=1e-9)
    assert _worst(space, np.block([[space.A, space.B], [space.C, space.D]]), expected) < EXACT
    n, rows = compiled.model.mechanism.n, compiled.model.solvability
    bristles = len(space.states) - len([s for s in space.states if not s.endswith("_z")])
    assert len(space.states) <= 2 * n - rows.rank + bristles


@pytest.mark.parametrize(("name", "case"), [("crane", "rigid_boom"), ("rsrrp", "cut_joint")])
def test_tangent_keeps_the_constraints(name: str, case: str) -> None:
    """Along the tangent, and over time with independent signals held, constraints change at second order only."""
    model, t, rng = example_model(name, case), 0.3, np.random.default_rng(9)
    levels = ("position", "velocity")
    names = [signal for level in levels for signal in signal_names(model.mechanism.coordinates, level)]
    values = np.concatenate(model.start) + 1e-2 * rng.normal(size=len(names))
    at = dict(zip(names, values.tolist(), strict=True))
    position, velocity = (residual(model.native_program, level, model.start_values(), t, at) for level in levels)
    found = tangent(model, position, velocity, len(names))
    kept = [model.rows.index(row) for row in model.solvability.independent]
    for level in (position, velocity):
        rows = [i for i in kept if i in level.rows]
        slopes, size = level.slopes[rows], np.abs(level.slopes).max()
        assert slopes @ found.basis == pytest.approx(0.0, abs=1e-9 * size * np.abs(found.basis).max())
        assert slopes @ found.drift == pytest.approx(-level.in_time[rows], abs=1e-9 * size)
    assert np.any(found.drift != 0.0) == np.any(position.in_time != 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case"), [("crane", "rigid_boom"), ("mobile_robot", "minimum_norm")])
def test_both_versions_of_the_standard_say_the_same(compile_example: Compile, example: str, case: str) -> None:
    spaces = []
    for fmi in ("2.0", "3.0"):
        compiled = compile_example(example, case, fmi)
        spaces.append(linearized(Plant(compiled.model, compiled.fmu), point(compiled.model, 0.2)))
    two, three = (block_diag(s.A, s.B, s.C, s.D) for s in spaces)
    assert np.abs(two).max() > 1.0
    assert np.array_equal(two, three)


@pytest.mark.slow
def test_state_matrix_is_independent_of_the_formulation(compile_model: CompileModel) -> None:
    """On the constraint manifold, A is equal for all formulations and treatments of redundant
    constraints.
    """
    names = ("four_bar_3d, gpme_reduced", "four_bar_3d, lagrange")
    found = [compile_model(MODELS[name](), "3.0") for name in names]
    found.append(compile_model(example_model("four_bar_3d", "planar")))
    gpme_reduced, lagrange, gpme = (linearized(Plant(c.model, c.fmu), point(c.model)) for c in found)
    for other in (gpme_reduced, lagrange):
        assert other.states == gpme.states
        assert pytest.approx(gpme.A, rel=1e-9, abs=1e-9) == other.A
        assert other.drift == pytest.approx(gpme.drift, rel=1e-9)
    assert [len(linearized(Plant(c.model, c.fmu), point(c.model), full=True).A) for c in found] == [4, 6, 6]


# ---- Closed forms -----------------------------------------------------------------------------------------------


def _of_base() -> list[complex]:
    """Roots of m s² + d s + k for each coordinate of the base."""
    (kx, ky, kz), (dx, dy, dz) = (4 * np.array(SUPPORT[key]) for key in ("stiffness", "damping"))
    a, b = CORNER[0] ** 2, CORNER[1] ** 2
    stiffness = [kx, ky, kz, kz * b, kz * a, kx * b + ky * a]
    damping = [dx, dy, dz, dz * b, dz * a, dx * b + dy * a]
    inertia = [MASS, MASS, MASS, *INERTIA]
    return [root for row in zip(inertia, damping, stiffness, strict=True) for root in np.roots(row)]


def _of_cantilever(elements: int) -> list[complex]:
    """Rigid finite elements in two planes and in torsion: deflections of centres by absolute angles."""
    step = BEAM["length"] / (elements - 1)
    lengths = np.array([step / 2, *[step] * (elements - 2), step / 2])
    absolute = np.tril(np.ones((elements, elements)))[:, 1:]  # the first element does not move
    centres = (np.tril(np.ones((elements, elements)), -1) * lengths + np.diag(lengths / 2)) @ absolute
    mass = BEAM["density"] * BEAM["area"] * lengths
    found = []
    for I in (BEAM["Iy"], BEAM["Iz"]):
        turning = BEAM["density"] * I * lengths + mass * lengths**2 / 12
        M = centres.T @ (mass[:, None] * centres) + absolute.T @ (turning[:, None] * absolute)
        found += list(eigh(BEAM["E"] * I / step * np.eye(elements - 1), M, eigvals_only=True))
    polar = BEAM["density"] * (BEAM["Iy"] + BEAM["Iz"]) * lengths
    M = absolute.T @ (polar[:, None] * absolute)
    found += list(eigh(BEAM["G"] * BEAM["J"] / step * np.eye(elements - 1), M, eigvals_only=True))
    return [complex(0.0, omega) for omega in np.sqrt(found)]


@pytest.mark.slow
def test_base_on_supports_and_cantilever(compile_data: CompileData) -> None:
    """Six damped motions of the base; the beam's as of its rigid finite elements, undamped to the last digit."""
    compiled = compile_data(elastic())
    space = linearized(Plant(compiled.model, compiled.fmu), point(compiled.model))
    base, beam = _of_base(), _of_cantilever(4)
    found, expected = _eigenvalues(space), _upper([*base, *beam])
    assert found == pytest.approx(expected, rel=EXACT)
    assert space.notes == ()
    modes = space.modes()
    assert {mode.frequency for mode in modes if mode.damping == 0.0} == {
        abs(r) / (2 * np.pi) for r in found if r.real == 0.0
    }
    assert sum(mode.damping == 0.0 for mode in modes) == len(beam)


def _pendulum() -> tuple[Array, Array]:
    """M and K of the double pendulum at rest, by the angle of the upper rod and the one between them."""
    M, K = np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]]), GRAVITY * np.diag([1.5, 0.5])
    relative = np.array([[1.0, 0.0], [1.0, 1.0]])
    return relative.T @ M @ relative, relative.T @ K @ relative


@pytest.mark.slow
def test_pendulum_bristle_and_free_mass(compile_data: CompileData) -> None:
    """Two undamped modes with their shapes; presliding, which leaves one pole at zero; two of a free mass."""
    compiled = compile_data(hanging())
    space = linearized(Plant(compiled.model, compiled.fmu), point(compiled.model))
    M, K = _pendulum()
    squares, vectors = eigh(K, M)
    normal = 50.0
    damping = normal * (LUGRE["sigma1"] + LUGRE["sigma2"])
    rubbing = np.roots([SLIDE["mass"], damping, SLIDE["stiffness"] + normal * LUGRE["sigma0"]])
    expected = _upper([0.0j, 0.0j, 0.0j, *(1j * np.sqrt(squares)), *rubbing])
    modes = space.modes()
    assert _eigenvalues(space) == pytest.approx(expected, rel=EXACT, abs=1e-12)
    assert sum(mode.frequency == 0.0 for mode in modes) == 3
    for mode, vector in zip(modes[3:5], vectors.T, strict=True):
        shape = np.array([mode.shape["upper.angle"], mode.shape["lower.angle"]])
        assert shape == pytest.approx(vector / vector[np.abs(vector).argmax()], abs=EXACT)
        assert mode.damping == 0.0
    motor = space.B[[space.states.index(f"{rod}_angle_dot") for rod in ("upper", "lower")], 0]
    assert motor == pytest.approx(np.linalg.solve(M, [1.0, 0.0]), rel=1e-9)
    assert space.notes == ()


@pytest.mark.slow
def test_rows_have_no_poles_but_those_of_their_stabilisation(compile_example: Compile) -> None:
    """A robot that stands: all its poles are zero, more of positions than of rates; `full` adds Baumgarte's."""
    compiled = compile_example("mobile_robot", "minimum_norm")
    model = compiled.model
    state = State(10.0, model.start[0], 0.0 * model.start[1])
    at, n, rank = point(model, 10.0, state), model.mechanism.n, model.solvability.rank
    space = linearized(Plant(model, compiled.fmu), at)
    holonomic = 5  # two closures of two rows, and the steering
    assert len(space.states) == (n - holonomic) + (n - rank) == 5
    assert _eigenvalues(space) == pytest.approx(np.zeros(5))
    assert space.notes == ()
    alpha, beta = model.mechanism.alpha, model.mechanism.beta
    full = linearized(Plant(model, compiled.fmu), at, full=True)
    roots = [*np.roots([1.0, 2 * alpha, beta**2]).tolist()] * holonomic + [-2 * alpha] * (rank - holonomic)
    found = np.sort_complex(np.linalg.eigvals(full.A))
    expected = np.sort_complex(np.array([*np.zeros(5), *roots], dtype=complex))
    assert found == pytest.approx(expected, abs=1e-4 * alpha)  # of roots that coincide


# ---- Use by others ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [-0.2, 0.0, 0.05, 0.6])
def test_damping_ratio_of_an_oscillator(ratio: float) -> None:
    """The mode of ẍ + 2ζω₀ẋ + ω₀²x = 0 has ζ, ω₀/2π and ω₀√(1 − ζ²)/2π; it grows where ζ < 0."""
    w = 3.0
    A = np.array([[0.0, 1.0], [-(w**2), -2.0 * ratio * w]])
    (mode,) = modes(A, np.array([[1.0, 0.0]]), ["x"], {"x": False, "v": True})
    assert mode.damping == pytest.approx(ratio, abs=1e-12)
    assert mode.frequency == pytest.approx(w / (2.0 * np.pi))
    assert mode.damped_frequency == pytest.approx(w * np.sqrt(1.0 - ratio**2) / (2.0 * np.pi))


def test_states_without_influence_have_no_shape() -> None:
    """A bristle and a filter that only follow a mass on a spring move no coordinate: neither is a rigid body."""
    A = np.array([[0.0, 1.0, 0, 0], [-9.0, 0.0, 0, 0], [0.0, 2.0, 0, 0], [5.0, 0.0, 0, -4.0]])
    states = {"x": False, "x_dot": True, "bristle": False, "filter": False}
    bristle, swing, lag = modes(A, np.eye(1, 4), ["x"], states)
    assert (bristle.eigenvalue, bristle.state, bristle.shape, bristle.rigid_body) == (
        0,
        "bristle",
        {"x": 0},
        False,
    )
    assert (swing.eigenvalue, swing.state, swing.shape) == (pytest.approx(3j), "", {"x": 1.0})
    assert (lag.eigenvalue, lag.state) == (pytest.approx(-4.0), "filter")


def test_filters_in_series_move_a_mass() -> None:
    """The first filter moves the mass through the second one, ẍ + 9x = z₂, so every mode has a shape."""
    A = np.array([[0.0, 1.0, 0, 0], [-9.0, 0.0, 0, 1.0], [0, 0, -2.0, 0], [0, 0, 1.0, -1.0]])
    states = {"x": False, "x_dot": True, "first": False, "second": False}
    found = modes(A, np.eye(1, 4), ["x"], states)
    assert [(mode.state, abs(mode.shape["x"])) for mode in found] == [("", pytest.approx(1.0))] * 3


@pytest.mark.parametrize(
    ("eigenvalue", "cells", "words"),
    [
        (5.0 + 0j, ("unstable", "", "", "0.2, grows"), "no oscillation, grows in 0.2 s"),
        (-5.0 + 0j, ("0.796", "0", "1", "0.2"), "no oscillation, decays in 0.2 s"),
        (0.5 + 5j, ("0.8", "0.796", "-0.0995", "2, grows"), "0.7997 Hz, damping −0.0995"),
    ],
)
def test_growth_is_not_shown_as_damping(eigenvalue: complex, cells: tuple[str, ...], words: str) -> None:
    mode = Mode(eigenvalue, {"x": 1.0})
    assert mode_cells(mode, lambda value, _: f"{value:.3g}") == cells
    assert in_words(mode) == words


def test_time_derivative_at_the_beginning_of_a_motion(compile_data: CompileData) -> None:
    """A quintic motion by 0.3 m begins at t = 0: its third derivative is 60·0.3 m/s³ after t = 0, and 0 before."""
    cart, mass = link("cart", "prismatic", X), link("mass", "prismatic", X, "cart", stiffness=8.0)
    motion = {"name": "drive", "joint": "cart", "position": "0.3*quintic(t, 0, 1, 0, 1)"}
    table = described(cart | body(1.0), mass | body(2.0), motions=[motion], gravity=[0.0, 0.0, 0.0])
    compiled = compile_data(table)
    space = linearized(Plant(compiled.model, compiled.fmu), point(compiled.model))
    assert any("∂ẋ/∂t is -18 m/s3 (mass_position_dot)" in note for note in space.notes), space.notes


def test_equilibrium_names_joints_that_nothing_holds(compile_data: CompileData) -> None:
    """A motion holds the column, and no force holds the arm; the search for the equilibrium locks both."""
    column, arm = link("column", "revolute", Z) | body(1.0), link("arm", "revolute", Y) | body(2.0, X)
    drive = {"name": "drive", "joint": "column", "position": "0.1"}
    model = compile_data(described(column, arm, motions=[drive], statics={"locked": ["column", "arm"]}))
    space = linearized(Plant(model.model, model.fmu), point(model.model))
    found = notes_on_choice(model.model, space, LinearizeOptions(equilibrium=True)).notes
    assert any("locked arm.angle; the linear model does not contain the forces" in note for note in found), found


@pytest.mark.parametrize("cutoff", [0.25, 1.5, 3.0])
def test_double_poles_are_not_zero(cutoff: float) -> None:
    """A filter is critically damped: both its poles are −2π·cutoff, beside a free motion whose poles are zero."""
    w, fast, free = 2 * np.pi * cutoff, 100.0, [[0.0, 1.0], [0.0, 0.0]]
    A = block_diag([[0.0, 1.0], [-(w**2), -2 * w]], free, [[0.0, 1.0], [-(fast**2), 0.0]])
    found = [
        mode.eigenvalue
        for mode in modes(A, np.eye(6), [*"abcdef"], dict(zip("abcdef", [False, True] * 3, strict=True)))
    ]
    assert found == pytest.approx([0.0, 0.0, -w, -w, 1j * fast], rel=1e-6)


@pytest.mark.parametrize("share", [Fraction(p, q) for q in range(1, 7) for p in range(1, q) if gcd(p, q) == 1])
def test_double_poles_beside_a_commensurable_one(share: Fraction) -> None:
    """A pole at a simple part of the way from a double pole to zero does not make that pole zero."""
    between = float(share) - 1.0
    A = block_diag([[-1.0, 1.0], [0.0, -1.0]], [[between]])
    found = [mode.eigenvalue for mode in modes(A, np.eye(3), [*"abc"], dict.fromkeys("abc", False))]
    assert found == pytest.approx([between, -1.0, -1.0], rel=1e-6)


def test_search_point_is_badly_approximable() -> None:
    """The search point satisfies |x − p/q| q² > 0.38 for all p/q; the limit of the golden section
    is 0.447.
    """
    place = _ON_THE_WAY
    assert 0.0 < place < 1.0
    assert min(abs(place * q - round(place * q)) * q for q in range(1, 40)) > 0.38


def test_response_to_a_small_step(compile_data: CompileData) -> None:
    """python-control's response to a step of the motor is that of the FMU's nonlinear run."""
    compiled, torque = compile_data(hanging()), 1e-2
    space = linearized(Plant(compiled.model, compiled.fmu), point(compiled.model))
    chosen = space.select(inputs=["motor"], outputs=["upper_angle", "lower_angle_dot", "E_z"])
    inputs = InputTable(np.array([0.0, 2.0]), {"motor": np.full(2, torque)})
    run = run_of(compiled, "cs", chosen.outputs, stop=2.0, output_step=0.02, tolerance=1e-11, inputs=inputs)
    system = chosen.to_control()
    response = control.forced_response(system, run.time, np.full((1, len(run.time)), torque)).outputs
    for name, linear, at_rest in zip(chosen.outputs[:2], response, chosen.y, strict=False):
        moved = run.signals[name] - at_rest
        assert np.abs(linear - moved).max() < 1e-4 * np.ptp(moved)
    assert (system.input_labels, system.output_labels) == (["motor"], list(chosen.outputs))
    assert system.state_labels == list(space.states)
    assert pytest.approx(chosen.D) == chosen.to_scipy().D


def test_trim_finds_the_holding_torque(compile_data: CompileData) -> None:
    """A motor holds the upper rod and the lower rod hangs; the torque is that of the weights."""
    compiled = compile_data(hanging())
    held = hanging() | {"statics": {"locked": ["upper"]}}
    model = assemble_system(from_data(held | {"simulation": {"start": "description", "stop": 2.0}}))
    at = trimmed(
        Plant(model, compiled.fmu), State(0.0, solving.equilibrium(model.mechanism), np.zeros(4), np.zeros(1))
    )
    assert at.signals["upper_angle"] == 1.0
    assert at.signals["lower_angle"] == pytest.approx(np.pi / 2 - 1.0, abs=1e-9)
    assert at.inputs["motor"] == pytest.approx(-1.5 * GRAVITY * np.cos(1.0), rel=1e-9)
    assert linearized(Plant(model, compiled.fmu), at).notes == ()


@pytest.mark.slow
def test_trim_leaves_filters_at_rest() -> None:
    """The command of a rope's length is the length that it begins with, where its filter rests."""
    rope = {"name": "rope", "a": {"link": "ground", "point": [0.0, 0.0, 3.0]}, "b": {"link": "load"}}
    rope |= {"stiffness": 1e4, "damping": 10.0, "rest": {"input": "hoist", "cutoff": 1.0, "start": 2.0}}
    crane = [link("jib", "revolute", Z, damping=1.0), link("load", "prismatic", Z) | body(5.0)]
    motor = {"name": "motor", "joint": "jib", "input": True}
    data = described(*crane, forces=[motor], lines=[rope], statics={"locked": ["jib"]})
    space = gp.Model(from_data(data)).linearize(trim=True)
    assert dict(zip(space.inputs, space.u, strict=True)) == {"motor": 0.0, "hoist": 2.0}
    assert np.abs(space.drift).max() < 1e-9
    assert space.notes == ()


@pytest.mark.slow
def test_trim_holds_motions(gpmelica: Command, tmp_path: Path) -> None:
    """A motion that begins with a velocity is held; the run with the trim inputs stays where nothing else moves.

    The jib turns and accelerates from the first instant, so that no steady state exists while it does. The motor
    of the boom, which hangs out by 1 m from an axis on the jib, holds the boom's weight.
    """
    swing = {"name": "slewing", "joint": "jib", "position": "0.3 + 0.2*t + 0.4*t^2"}
    boom = link("boom", "revolute", Y, parent="jib") | body(10.0, [1.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    data = described(
        link("jib", "revolute", Z, position=0.3, velocity=0.2) | body(5.0, [0.0] * 3, [1.0, 1.0, 1.0]),
        boom,
        forces=[{"name": "motor", "joint": "boom", "input": True}],
        motions=[swing],
        statics={"locked": ["boom"]},
        simulation={"stop": 0.5, "start": "description"},
    )
    file = tmp_path / "crane.toml"
    file.write_text(toml(data), encoding="utf-8")
    space = gp.load(file).linearize(trim=True)
    assert space.inputs == ("motor",) and space.u == pytest.approx([-10.0 * GRAVITY], rel=1e-9)
    assert np.abs(space.drift).max() < 1e-9
    assert any("motions are held at their values at t = 0: slewing = 0.3" in note for note in space.notes)
    answer = gpmelica("linearize", file, "--trim", "--out", tmp_path)
    assert answer.status == 0 and "motor" in answer.out and f"{-10.0 * GRAVITY:.6g}" in answer.out
    held = gp.load(file, motions=[swing | {"position": "0.3"}], **{"links.jib.joint.velocity": 0.0})
    run = held.simulate(inputs=tmp_path / "trim.csv")
    assert np.abs(run["boom_angle"]).max() < 1e-9


def test_trim_names_programmed_constraints_that_depend_on_time() -> None:
    """The crane's ellipse is a constant condition, its height follows the time; a path always does."""
    assert moving_tasks(changed("crane")) == ["height"]
    assert moving_tasks(changed("manipulator")) == ["rectangle"]


@pytest.mark.slow
def test_trim_on_a_task(compile_model: CompileModel) -> None:
    """The crane starts off its ellipse; boom and jib, which the task drives, follow it, and base and beam rest."""
    compiled = compile_model(assemble_system(changed("slewing/slewing", "plant", links__boom__beam__elements=2)))
    model = compiled.model
    at = trimmed(Plant(model, compiled.fmu), State(0.0, *model.start))
    space = linearized(Plant(model, compiled.fmu), at)
    # turning does not bend the boom in its own plane: what is left there is rounding
    turned, raised = space.select(["slewing"], ["column_angle", "boom_angle"]).frequency_response([0.1, 5.0])
    assert np.abs(turned).min() > 1e-9
    assert not raised.any()
    assert at.signals["column_angle"] == model.start[0][model.mechanism.coordinate_index("column.angle")]
    assert np.abs(space.drift).max() < 1e-6
    assert not any("equilibrium" in note or "violates" in note for note in space.notes)


def test_frequency_response_and_its_figure(compile_data: CompileData) -> None:
    """The response is python-control's; the figure has a line per pair in both panels, with its units."""
    compiled = compile_data(hanging())
    space = linearized(Plant(compiled.model, compiled.fmu), point(compiled.model))
    chosen = space.select(outputs=["E_x", "upper_angle", "upper_angle_ddot", "E_y"])
    frequencies = np.array([0.1, 0.7, 30.0])
    expected = chosen.to_control()(2j * np.pi * frequencies)
    assert chosen.frequency_response(frequencies) == pytest.approx(expected, rel=1e-9)
    figure = chosen.bode()
    assert [len(axes.lines) for axes in figure.axes] == [4, 4]
    (legend,) = figure.legends
    assert legend.get_texts()[2].get_text() == "upper_angle_ddot per motor, rad/s2/(N.m)"


# ---- Notes ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_warnings_about_drift_time_and_violations(compile_example: Compile) -> None:
    """For a crane that starts off its ellipse, falls, and has a constraint on time, warnings
    contain numbers.
    """
    compiled = compile_example("crane", "stabilisation")
    space = linearized(Plant(compiled.model, compiled.fmu), point(compiled.model, 0.2))
    violated, drift, time = space.notes
    assert "the state violates constraints, ellipse by 0.2" in violated
    assert drift.startswith("not an equilibrium: the states change by ")
    assert f"{np.abs(space.drift).max():.3g}" in drift
    assert "the equations depend on time explicitly" in time
    assert time.endswith("valid at t = 0.2 s only")


def _parallelogram(angle: float) -> dict[str, Any]:
    """A four bar whose opposite bars are equally long: at angle 0 all lie on a line, and it can go on two ways."""

    def bar(name: str, parent: str, x: float, length: float, position: float) -> dict[str, Any]:
        own = link(name, "revolute", Z, parent, xyz=[x, 0.0, 0.0], position=position)
        return own | body(1.0, [length / 2, 0.0, 0.0], [0.01, 0.02, 0.02])

    bars = [bar("crank", "ground", 0.0, 1.0, angle), bar("coupler", "crank", 1.0, 2.0, -angle)]
    bars.append(bar("rocker", "ground", 2.0, 1.0, angle))
    ends = {"a": {"link": "coupler", "xyz": [2.0, 0.0, 0.0]}, "b": {"link": "rocker", "xyz": [1.0, 0.0, 0.0]}}
    pin = {"name": "pin", "type": "point_on_line", **ends}
    return described(*bars, gravity=[0.0, 0.0, -9.81], closures=[pin], simulation={"start": "description"})


def test_no_model_where_rows_are_lost() -> None:
    """On the line there is a row less than at the start beside it: no matrices, but both ranks."""
    model = assemble_system(from_data(_parallelogram(0.5)))
    flat = point(model, 0.0, State(0.0, np.zeros(3), np.zeros(3)))
    with pytest.raises(SolveError, match=r"no linear model at t = 0 s: .* have rank 1 there and 2 initially"):
        linearized(Plant(model, Path("no.fmu")), flat)


# ---- Command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The file of `hanging`."""
    path = tmp_path / "hanging.toml"
    path.write_text(toml(hanging()), encoding="utf-8")
    return path


@pytest.mark.slow
def test_files_agree_with_the_output(gpmelica: Command, machine: Path, tmp_path: Path) -> None:
    """JSON, npz and .mat files contain the same numbers and names."""
    drawn = ("--bode", "--output", "E_z", "--output", "upper_angle")
    answer = gpmelica("linearize", machine, "--json", "--out", tmp_path / "out", *drawn)
    assert (answer.status, answer.err) == (0, "")
    said = answer.json
    written = json.loads((tmp_path / "out" / "linear.json").read_text(encoding="utf-8"))
    arrays, mat = np.load(tmp_path / "out" / "linear.npz"), loadmat(tmp_path / "out" / "linear.mat")
    assert written == said
    assert (said["inputs"], said["time"], said["notes"]) == (["motor"], 0.0, [])
    for key in ("A", "B", "C", "D"):
        assert np.array_equal(arrays[key], said[key])
        assert np.array_equal(mat[key], said[key])
    for key in ("states", "inputs", "outputs"):
        assert arrays[key].tolist() == [str(cell[0]) for cell in mat[key].ravel()] == said[key]
    assert np.shape(said["C"]) == (2, len(said["states"]))
    assert said["outputs"] == ["E_z", "upper_angle"]
    assert "E_z per motor, m/(N.m)" in (tmp_path / "out" / "bode.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_modes_for_people_and_scripts(gpmelica: Command, machine: Path, tmp_path: Path) -> None:
    """Printed and JSON output have the same frequencies; shapes are complex numbers as pairs; one film per mode,
    one page for all.
    """
    answer = gpmelica("modes", machine, "--json", "--html", "--out", tmp_path / "page")
    shown = gpmelica("modes", machine, "--gif", "--mode", 4, "--out", tmp_path / "film")
    assert (answer.status, shown.status) == (0, 0)
    modes = answer.json["modes"]
    assert set(modes[0]) > {"frequency", "damping", "shape"}
    assert modes[3]["frequency"] == pytest.approx(0.42655339, rel=1e-6)
    assert modes[3]["shape"]["upper.angle"] == pytest.approx([1.0, 0.0])
    for mode in modes:
        assert f"{mode['frequency']:.6g}" in shown.out
    assert "lower.angle 1, upper.angle −0.3" in shown.out
    assert answer.json["files"] == [str(tmp_path / "page" / "modes.html")]
    page = (tmp_path / "page" / "modes.html").read_text(encoding="utf-8")
    assert ">4: 0.4266 Hz, undamped</option>" in page and ">1: rigid-body motion</option>" in page
    with Image.open(tmp_path / "film" / "modes.gif") as film:
        assert film.n_frames == 41
    for wrong, said in ((("--gif",), "expected one mode for a film, got all"), (("--amplitude", 0), "got 0")):
        fails(gpmelica("modes", machine, *wrong), 2, said)


@pytest.mark.slow
def test_state_of_the_run(gpmelica: Command, arm: Path) -> None:
    """At a time, its state is the one that the reference solver comes to; with its rates and the rest."""
    answer = gpmelica("linearize", arm, "--time", 0.2, "--json")
    run, said = gp.load(arm).simulate(), answer.json
    (row,) = np.flatnonzero(np.isclose(run.time, 0.2))
    assert said["time"] == 0.2
    assert len(said["states"]) == 2
    for names, values in (("states", "x"), ("outputs", "y")):
        known = [name in run for name in said[names]]
        expected = [run[name][row] for name in said[names] if name in run]
        assert all(known)
        assert np.array(said[values]) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    shown = gpmelica("linearize", arm, "--time", 0.2)
    assert "2 states, " in shown.out
    assert "not an equilibrium" in shown.out


# ---- Wrong use --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["linearize", "modes"])
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--time", "-1"), ["time: expected a time of the run, 0 to 0.3 s", "got -1"]),
        (("--time", "nan"), ["got nan"]),
        (("--time", "0.31"), ["simulation.stop", "got 0.31"]),
        (("--time", "soon"), ["--time", "valid number"]),
        (
            ("--time", "0.1", "--equilibrium"),
            ["expected at most one of time, state, equilibrium, trim", "got time and equilibrium"],
        ),
        (("--state", "{folder}/none.json"), ["none.json", "cannot be read"]),
        (("--state", "{folder}/short.json"), ["short.json", "q: expected a list of 2 finite number(s)"]),
        (("--trim",), ["trim: expected a model with FMU inputs"]),
        (("--input", "{folder}/short.json"), ["the model has no FMU inputs; run it without inputs"]),
        (("--case", "lite"), ["lite", "light"]),
    ],
)
def test_wrong_use_gives_a_message(
    gpmelica: Command, arm: Path, command: str, options: tuple[str, ...], parts: list[str]
) -> None:
    """Status 2 and what is wrong, before anything is compiled."""
    (arm.parent / "short.json").write_text('{"q": [0.0], "qd": [0.0, 0.0]}', encoding="utf-8")
    begun = [option.format(folder=arm.parent) for option in options]
    fails(gpmelica(command, arm, *begun), 2, *parts)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--bode",), ["bode: expected a folder for bode.svg, got none"]),
        (("--bode", "--out", "{folder}"), ["bode: expected at most 8 curves, got 19; choose at most 8 outputs"]),
        (("--output", "E_zz"), ["outputs: there is no output 'E_zz'; did you mean 'E_z'?"]),
    ],
)
def test_wrong_outputs_give_a_message(
    gpmelica: Command, machine: Path, options: tuple[str, ...], parts: list[str]
) -> None:
    given = [option.format(folder=machine.parent) for option in options]
    fails(gpmelica("linearize", machine, *given), 2, *parts)


def test_missing_equilibrium_is_reported(gpmelica: Command, tmp_path: Path) -> None:
    """For a falling body, the message names the coordinate and the remaining force."""
    falling = described(link("stone", "prismatic", Z), statics={"locked": []}, simulation={"start": "description"})
    (tmp_path / "falling.toml").write_text(toml(falling), encoding="utf-8")
    answer = gpmelica("modes", tmp_path / "falling.toml", "--equilibrium")
    fails(answer, 2, "equilibrium: no static equilibrium found", "stone.position")


def test_wrong_use_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gp.load(EXAMPLES / "four_bar_3d.toml")
    with pytest.raises(gp.DescriptionError, match=r"state: qd: expected a list of 3 finite number\(s\), got None"):
        model.linearize(state={"q": np.zeros(3)})
    vector, matrix = np.zeros(0), np.zeros((0, 0))
    empty = gp.StateSpace(*[matrix] * 4, *[()] * 3, 0.0, *[vector] * 4, (), vector, matrix, {})
    assert empty.modes() == ()
    with pytest.raises(gp.UnknownNameError, match=r"there is no input 'motor'"):
        empty.select(inputs="motor")
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(gp.MissingToolError, match="pip install control"):
        empty.to_control()


@pytest.mark.slow
def test_run_to_a_time_has_the_communication_steps_of_a_simulation(compile_data: CompileData) -> None:
    """A limit of 50 internal steps per communication step suffices for 1.205 s, in steps of 0.01 s."""
    built = compile_data(hanging())
    whole, limited = (Plant(built.model, built.fmu, given) for given in ({}, {"solver_max_steps": 50}))
    expected, found = (operating_point(plant, 1.205, None).signals for plant in (whole, limited))
    assert [*found.values()] == pytest.approx([*expected.values()], rel=1e-6, abs=1e-9)
