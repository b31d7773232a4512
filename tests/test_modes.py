"""Modes of the linearised equations, what the report says of the stiffest one, and how they are shown."""

from __future__ import annotations

import json
import math
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData, example_model
from helpers_linear import hanging, point
from helpers_parts import X, body, link, machine
from helpers_problem import modes, simulate, start_state
from helpers_reference import mechanism_of
from helpers_report import EXAMPLES, crane_report

from gpmelica import scene
from gpmelica.analysis import LinearisedMode, ReferenceModel
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.core.strict_json import strict_json
from gpmelica.description import load
from gpmelica.description.load import from_data
from gpmelica.linear import Modes, linearized
from gpmelica.linear.initial import initial_modes
from gpmelica.linear.point import Plant
from gpmelica.mechanism import Place, build
from gpmelica.options.model import RunOptions
from gpmelica.report.tables import closures, mode_text
from gpmelica.runs.compare.result import result
from gpmelica.tasks import run as verify
from gpmelica.tasks.reference_run import step_notes

MASS, STIFFNESS = 3.0, 1200.0


def _slide(damping: float, **changes: Any) -> dict[str, Any]:
    """A mass on a spring and a damper."""
    slide = link("slide", "prismatic", X, stiffness=STIFFNESS, damping=damping) | body(MASS)
    return machine(slide, simulation={"stop": 1.0}) | changes


@pytest.mark.parametrize("ratio", [0.0, 0.02, 0.5, 3.0])
def test_oscillator(ratio: float) -> None:
    """Roots of m s² + c s + k: a pair below critical damping, two real ones above, the stiffer one first.

    Without a damper there is no decay, whatever the differences leave.
    """
    damping = 2 * ratio * math.sqrt(STIFFNESS * MASS)
    roots = sorted(np.roots([MASS, damping, STIFFNESS]), key=abs, reverse=True)
    found = modes(mechanism_of(_slide(damping)))
    assert [mode.eigenvalue for mode in found] == pytest.approx([r for r in roots if r.imag >= 0], rel=1e-7)
    assert found[0].time_constant == pytest.approx(1 / abs(roots[0].real) if ratio else math.inf, rel=1e-7)
    assert (found[0].damped_frequency > 0) == (ratio < 1)
    assert found[0].frequency == pytest.approx(abs(roots[0]) / (2 * math.pi), rel=1e-7)
    assert (found[0].coordinate, found[0].violating) == ("slide.position", False)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-20, 1e-9, 1.0, 1e9])
def test_modes_do_not_depend_on_the_unit_of_mass(size: float) -> None:
    """A mirror with a PI controller: roots of J s³ + d s² + (k + gain) s + gain/T, for every size of J."""
    mirror = link("mirror", "revolute", X, stiffness=2e6 * size, damping=10.0 * size)
    mirror |= body(size, inertia=[size, size, size])
    torque = {"name": "torque", "joint": "mirror", "input": True}
    pi = {"name": "hold", "type": "pi", "measured": "mirror.angle", "setpoint": "0", "drives": "torque"}
    data = machine(mirror, forces=[torque], controllers=[pi | {"gain": 1e6 * size, "integral_time": 0.01}])
    model = assemble_system(from_data(data))
    found = [mode.eigenvalue for mode in modes(model.mechanism)]
    roots = sorted(np.roots([1.0, 10.0, 3e6, 1e8]), key=abs, reverse=True)
    assert found == pytest.approx([root for root in roots if root.imag >= 0], rel=1e-5)
    assert [mode.rigid_body for mode in modes(model.mechanism)] == [False, False]
    about_start = [mode.eigenvalue for mode in initial_modes(model).modes]
    assert about_start == pytest.approx(found[::-1], rel=1e-5)


def test_bristles_are_springs() -> None:
    """Presliding: LuGre adds σ0·f_n to the stiffness and σ1·f_n, σ2·f_n to the damping (linearised at rest)."""
    friction = {"model": "lugre", "sigma0": 1e4, "sigma1": 2.0, "sigma2": 0.4, "normal_force": 50.0}
    data = _slide(0.0)
    data["links"][0]["joint"]["friction"] = friction | {"mu_s": 0.2, "mu_k": 0.1, "v_s": 0.1}
    first, *_ = modes(mechanism_of(data))
    expected = np.roots([MASS, 50.0 * 2.4, STIFFNESS + 50.0 * 1e4])[0]
    assert first.eigenvalue == pytest.approx(complex(expected.real, abs(expected.imag)), rel=1e-6)


def test_the_softer_of_two_masses_has_the_slower_mode() -> None:
    """Two slides that do not touch: each mode is named by its own coordinate."""
    data = _slide(0.0)
    stiff = data["links"][0]["joint"] | {"stiffness": 100 * STIFFNESS, "axis": [0.0, 1.0, 0.0]}
    data["links"].append(data["links"][0] | {"name": "stiff", "joint": stiff})
    found = modes(mechanism_of(data))
    assert [mode.coordinate for mode in found] == ["stiff.position", "slide.position"]
    assert found[0].frequency == pytest.approx(10 * found[1].frequency, rel=1e-7)


def test_stabilisation_modes_are_identified() -> None:
    """The roots of s² + 2αs + β² belong to the constraint; the other slide keeps its oscillation."""
    data = _slide(0.0, points={"E": {"link": "free", "position": [0.0, 0.0, 0.0]}})
    loose = {"type": "prismatic", "axis": [0.0, 1.0, 0.0]}
    data["links"].append(data["links"][0] | {"name": "free", "joint": loose})
    data |= {
        "programmed": [{"name": "line", "expression": "E.y"}],
        "constraints": {"alpha": 500.0, "beta": 200.0, "dependent": ["free.position"]},
    }
    found = modes(mechanism_of(data))
    assert [mode.violating for mode in found] == [True, True, False]
    roots = sorted(np.roots([1.0, 1000.0, 4e4]).real)
    assert [mode.eigenvalue.real for mode in found[:2]] == pytest.approx(roots, rel=1e-6)
    assert found[2].coordinate == "slide.position"


def test_redundant_constraints_do_not_make_all_modes_violating() -> None:
    """Two equations hold one joint; the free spring of the other joint violates neither."""
    held, rows = link("held", "prismatic", [0.0, 1.0, 0.0]) | body(1.0), ("held.position", "2*held.position")
    tasks = [{"name": name, "expression": row} for name, row in zip("ab", rows, strict=True)]
    data = _slide(0.0, programmed=tasks)
    found = modes(mechanism_of(data | {"links": [held, *data["links"]]}))
    assert [mode.coordinate for mode in found if not mode.violating] == ["slide.position"]


@pytest.mark.parametrize("damping", [0.0, 50.0, 200.0, 5000.0])
def test_longest_step_is_stable(damping: float) -> None:
    """RK4 does not blow up with the step that the stiffest mode allows, and does with 1.3 times as long a one."""
    mechanism = mechanism_of(_slide(damping, gravity=[5.0, 0.0, 0.0]))
    first = modes(mechanism)[0]
    start, count = (np.array([0.1]), np.zeros(1)), 100

    def largest(step: float) -> float:
        stop = count * step
        run = simulate(mechanism, start=start, method="RK4", step=step, stop=stop, output_step=stop / 20)
        return float(np.abs(run.signals["slide_position"]).max())

    assert largest(first.longest_rk4_step) <= 0.1 + 1e-9
    with pytest.raises(SolveError, match=r"grows without bound.* reduce the step size of RK4"):
        largest(1.3 * first.longest_rk4_step)


def test_modes_of_a_large_model_are_cheap() -> None:
    """n = 22 with closure, flexible link and friction: less than a second of processor time on any machine."""
    mechanism = build(load(EXAMPLES / "rpsup.toml", "S_fl_L_fl_J_f"))
    start = start_state(mechanism)
    begun = time.process_time()
    found = modes(mechanism, start=start)
    assert time.process_time() - begun < 1.0
    assert found[0].coordinate.startswith("coupler.")
    assert np.diff([abs(mode.eigenvalue) for mode in found]).max() <= 0


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (
            LinearisedMode(complex(-10.0, 62.8319), "boom.angle", False),
            "boom.angle: 10.1 Hz undamped, time constant 0.1 s",
        ),
        (
            LinearisedMode(complex(-1e4, 0.0), "boom.angle", False),
            "boom.angle: no oscillation, time constant 1.0e−04 s",
        ),
        (LinearisedMode(complex(0.0, 1e-7), "boom.angle", False, True), "boom.angle: rigid-body motion"),
        (LinearisedMode(complex(0.0, 6.28319), "boom.angle", False), "boom.angle: 1 Hz undamped, no damping"),
        (
            LinearisedMode(complex(-20.0, 0.0), "boom.angle", True),
            "stabilisation of the constraints: no oscillation, time constant 0.05 s",
        ),
    ],
)
def test_modes_as_people_read_them(mode: LinearisedMode, text: str) -> None:
    """Coordinate, frequency and time constant; the stabilisation is not blamed on a coordinate."""
    assert mode_text(mode).replace("5.0e−02", "0.05") == text


def test_result_names_the_stiffest_mode() -> None:
    """Strict JSON even of an undamped mode; without coordinates there is none."""
    report = crane_report()
    vars(report)["modes"] = (LinearisedMode(complex(0.0, 100.0), "jib.angle", False),)
    found = json.loads(strict_json(result(report)))["stiffest_mode"]
    assert found["coordinate"] == "jib.angle"
    assert found["time_constant_s"] is None
    assert found["frequency_Hz"] == pytest.approx(100 / (2 * math.pi))
    vars(report)["modes"] = ()
    assert result(report)["stiffest_mode"] is None


def _replacement(**simulation: Any) -> System:
    """RSRRP whose replacement joint has springs of 1e8 N/m."""
    changes = {"closures.S.stiffness": [1e8, 1e8, 1e8, 0.0, 0.0, 0.0]}
    data = tomllib.loads((EXAMPLES / "rsrrp.toml").read_text(encoding="utf-8"))
    case = next(case for case in data["cases"] if case["name"] == "spherical_replacement")
    case["set"] |= changes | {f"simulation.{key}": value for key, value in simulation.items()}
    return assemble_system(from_data(data, case="spherical_replacement"))


def test_a_step_that_is_too_long_is_noted() -> None:
    """RK4 beyond the stiffest mode's limit: the note says which step would do; other methods choose theirs."""
    model = _replacement(method="RK4", step=1e-3)
    found = modes(model.mechanism, start=model.start)
    (note,) = step_notes(model.chain.simulation, found)
    assert f"stable up to about {found[0].longest_rk4_step:.2g} s" in note
    assert found[0].coordinate in note
    assert step_notes(_replacement(method="RK4", step=1e-4).chain.simulation, found) == ()
    assert step_notes(_replacement(method="LSODA", step=1e-3).chain.simulation, found) == ()


def test_a_diverging_reference_says_which_step_would_do(tmp_path: Path) -> None:
    """`run` with RK4 and ten times the stable step ends with the time and the step."""
    model = _replacement(method="RK4", step=2e-3, stop=0.5)
    with pytest.raises(SolveError, match=r"t = .* is too long for RK4, .* up to about 0\.000\d+ s"):
        verify.run(model, RunOptions(tmp_path, compiler="native"))


def test_closures_have_a_table() -> None:
    """Name, type, what it joins and how: a cut joint without springs, a replacement joint with its numbers."""
    cases = ("cut_joint", "spherical_replacement")
    cut, springs = (closures(build(load(EXAMPLES / "rsrrp.toml", case))).rows for case in cases)
    assert cut == (("S", "spherical", "crank, coupler", "cut joint", "–", "–"),)
    assert springs[0][3:] == ("replacement joint", "1e+06, 1e+06, 1e+06, 0, 0, 0", "1000, 1000, 1000, 0, 0, 0")


# ---- A machine that swings in its modes -------------------------------------------------------------------------


SHAPE = np.array([0.1 - 0.05j, 0.2j, 0.02, 0.0])  # upper, lower, slide, free


def test_a_complex_shape_is_a_motion_with_phases() -> None:
    """q + Re(shape exp(iφ)), scaled: the lower rod's tip as of sines and cosines; a cycle ends where it began."""
    mechanism, pose = mechanism_of(hanging()), np.array([1.0, 0.2, 0.0, 0.0])
    found = scene.swinging(ReferenceModel(mechanism), pose, [scene.Swing("1", SHAPE)])
    swing, rest = found.motions
    assert found.cyclic and (found.time[0], found.time[-1]) == (0.0, 1.0)
    for scale, frames in zip(found.scales, swing.frames, strict=True):
        tip = scene.in_world(frames, mechanism.points["E"])
        for cycle, at in zip(found.time, tip, strict=True):
            q = pose + scale * (SHAPE * np.exp(2j * np.pi * cycle)).real
            upper, lower = q[0], q[0] + q[1]
            expected = [np.cos(upper) + np.cos(lower), 0.0, -np.sin(upper) - np.sin(lower)]
            assert at == pytest.approx(expected, abs=1e-12)
        assert frames[-1] == pytest.approx(frames[0], abs=1e-12)
    assert np.ptp(rest.frames, axis=(0, 1)).max() == 0.0
    assert not found.acting.any()


@pytest.mark.slow
def test_loops_stay_closed() -> None:
    """The four bar's pin, at every part of a large swing; a small one is the shape itself."""
    model = example_model("four_bar_3d", None)
    mechanism, pose = model.mechanism, model.start[0]
    numbers = ReferenceModel(mechanism)
    by_rows = np.linalg.svd(numbers.constraints(numbers.state(0.0, *model.start)).C)[2][-1]
    for amplitude, tolerance in ((0.3, None), (1e-4, 1e-6)):
        found = scene.swinging(
            ReferenceModel(mechanism), pose, [scene.Swing("1", amplitude * by_rows.astype(complex))]
        )
        (pin,), frames = mechanism.closures, found.motions[0].frames
        a, b = (scene.in_world(frames, frame.place) for frame in (pin.a, pin.b))
        assert np.abs(a - b).max() < 1e-9
        if tolerance:
            open_frames = scene.frames_of(mechanism, pose + amplitude * by_rows)
            for body in range(len(mechanism.bodies)):
                place = Place(body, np.array([1.0, 0.0, 0.0]))
                wanted = scene.in_world(open_frames, place)
                assert scene.in_world(frames[0, 0], place) == pytest.approx(wanted, abs=tolerance)


def test_swings_are_seen(compile_data: CompileData, tmp_path: Path) -> None:
    """By themselves 8 % of the machine or half a radian; else as asked for, of the coordinate that moves most."""
    compiled = compile_data(hanging())
    mechanism = compiled.model.mechanism
    modes = Modes(linearized(Plant(compiled.model, compiled.fmu), point(compiled.model)), compiled.model)
    size = scene.extent(mechanism, modes.linear.q)
    for mode in modes:
        shape = np.array(list(mode.shape.values()))
        factor = scene.seen_well(mechanism, modes.linear.q, shape)
        frames = (
            scene.swinging(ReferenceModel(mechanism), modes.linear.q, [scene.Swing("", factor * shape)])
            .motions[0]
            .frames[0]
        )
        ends = [Place(b, at) for b, own in enumerate(scene.held_at(mechanism)) for at in (np.zeros(3), *own)]
        paths = [scene.in_world(frames, end) for end in ends]
        # a real shape is in its pose after a quarter of the cycle
        moved = max(np.linalg.norm(path - path[len(path) // 4], axis=1).max() for path in paths)
        assert moved == pytest.approx(0.08 * size, rel=0.05)
    assert len(modes) == len(modes.linear.modes()) and modes[3:5] == modes.linear.modes()[3:5]
    for wrong, options, text in (
        ([9], {}, r"expected numbers from 1 to \d, got 10"),
        ([], {}, "expected a mode, got none"),
        (0, {"amplitude": np.inf}, "greater than 0 and at most 1e\\+06, got inf"),
    ):
        with pytest.raises(DescriptionError, match=text):
            modes.animate(tmp_path / "a.html", wrong, **options)
    with pytest.raises(DescriptionError, match="expected one mode for a film"):
        modes.animate(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []
