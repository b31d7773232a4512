"""Remarks on descriptions and runs: each kind where it is true, and right mechanisms that have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from awkward_machines import MACHINES
from awkward_machines.judge import toml
from helpers_cli import Command
from helpers_examples import EXAMPLES
from helpers_parts import Table, X, Y, Z, body, link, machine
from helpers_plausible import crane, hanging, ids, pendulum, remarks, remarks_of_run

from gpmelica import plausibility
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description import load
from gpmelica.description.load import from_data

SPACE = [0.0, 0.0, 0.0]

# ---- Static start ----------------------------------------------------------------------------------------------


def test_a_crane_that_its_outriggers_cannot_hold() -> None:
    """The equilibrium hangs below the outriggers: 600 kg on a lever of 2 m against 1,000 kg on 1 m."""
    found = remarks(crane(600.0))
    assert ids(found) == ["support_lifted", "support_lifted", "statics_far"]
    lifted, _, far = found
    assert lifted.where == "base.supports[2] (rear_left)"
    assert lifted.value == pytest.approx(1.1, abs=0.1) and (lifted.unit, lifted.limit) == ("m", 0.0)
    assert (far.where, far.unit, far.limit) == ("base", "rad", 0.2)
    assert far.value is not None and far.value > np.pi / 2
    assert "can the supports hold" in far.hint


def test_a_crane_that_its_outriggers_hold() -> None:
    assert remarks_of_run(crane(499.0)) == []


def test_com_in_millimetres() -> None:
    table = crane()
    table["links"][0]["com"] = [3000.0, 0.0, 500.0]
    found = remarks(table)
    assert {"statics_far", "length_unlikely"} <= set(ids(found))
    assert next(r for r in found if r.id == "length_unlikely").where == "links[0] (boom), com"


STEP, STAIRS = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 2.0, 3.0]
SMOOTH = np.sin(np.linspace(-0.5 * np.pi, 2.5 * np.pi, 31)).tolist()


@pytest.mark.parametrize(
    ("values", "interpolation", "overshoot"),
    [(STEP, "cubic", 0.106), (STAIRS, "cubic", 0.030), (STEP, "pchip", 0.0), (SMOOTH, "cubic", 0.0)],
)
def test_a_spline_that_overshoots_its_points(
    tmp_path: Path, values: list[float], interpolation: str, overshoot: float
) -> None:
    """Beyond all points, or between two points of monotone data; neither `pchip` nor a smooth curve does."""
    (tmp_path / "push.csv").write_text("time,x\n" + "".join(f"{k},{x}\n" for k, x in enumerate(values)))
    tables = {"push": {"file": str(tmp_path / "push.csv"), "value": "x", "interpolation": interpolation}}
    forces = [{"name": "f", "joint": "rod", "effort": "table(push, t)"}]
    table = machine(link("rod", "revolute", Z) | body(10.0), tables=tables, forces=forces)
    found = remarks(table)
    assert ids(found) == ["table_overshoots"] * (overshoot > 0.0)
    if found:
        assert (found[0].where, found[0].limit) == ("tables.push", 0.01)
        assert found[0].value == pytest.approx(overshoot, abs=2e-3)


@pytest.mark.parametrize(("stiffness", "far"), [(3000.0, False), (100.0, True)])
def test_equilibrium_of_a_sprung_joint(stiffness: float, far: bool) -> None:
    """A moment of 49 N·m turns a spring of 3,000 N·m/rad by 0.016 rad, and one of 100 N·m/rad by 0.45 rad."""
    table = machine(link("rod", "revolute", Y, stiffness=stiffness) | body(10.0, [0.5, 0.0, 0.0]))
    found = remarks(table)
    assert ids(found) == ["statics_far"] * far
    assert not far or found[0].value == pytest.approx(0.447, abs=0.01)


def test_equilibrium_that_moves_a_body() -> None:
    """A weight of 98 N on a vertical spring of 50 N/m sinks by 1.96 m; the mechanism is 1 m tall."""
    slide = link("slide", "prismatic", Z, stiffness=50.0) | body(10.0, [0.0, 0.0, 1.0], [0.1, 0.1, 0.1])
    [found] = remarks(machine(slide))
    assert (found.id, found.unit) == ("statics_far", "m")
    assert found.value == pytest.approx(1.962)
    assert found.limit == pytest.approx(0.1)


def test_closing_loops_is_no_matter_of_statics() -> None:
    """Joints that follow through a loop may be described roughly: the example's rocker is 1.49 rad away."""
    assert remarks_of_example("four_bar_3d.toml") == []


def released(**tables: Any) -> Table:
    """A level rod that statics holds and that nothing drives."""
    return machine(link("rod", "revolute", Y) | body(10.0, [0.5, 0.0, 0.0], [0.1, 1.0, 1.0])) | tables


def test_a_static_start_that_accelerates() -> None:
    """The rod falls with m g l/(I + m l²) = 14 rad/s²."""
    [found] = remarks(released(simulation={"start": "statics"}))
    assert (found.id, found.where, found.unit) == ("start_accelerates", "simulation.start", "rad/s2")
    assert found.value == pytest.approx(10.0 * 9.81 * 0.5 / 3.5)
    assert found.limit == pytest.approx(9.80665e-3 / 0.5)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"simulation": {"start": "description"}},
        {"simulation": {"start": "statics"}, "gravity": SPACE},
        {"simulation": {"start": "statics"}, "motions": [{"name": "m", "joint": "rod", "position": "0.1*t^2"}]},
    ],
    ids=["nobody asked", "description", "space", "commanded"],
)
def test_starts_that_may_accelerate(tables: Table) -> None:
    assert remarks(released(**tables)) == []


def test_a_static_start_that_accelerates_beside_a_commanded_motion() -> None:
    """A motion of one joint explains its own acceleration, and not the fall of a rod elsewhere."""
    table = released(simulation={"start": "statics"})
    table["links"].append(link("slide", "prismatic", X) | body(1.0))
    table["motions"] = [{"name": "push", "joint": "slide", "position": "5*t^2"}]
    [found] = remarks(table)
    assert (found.id, found.unit) == ("start_accelerates", "rad/s2") and "rod.angle" in found.found
    assert found.value == pytest.approx(10.0 * 9.81 * 0.5 / 3.5)


def test_motions_of_others_that_follow_from_a_commanded_one() -> None:
    """A pendulum that hangs from a slide at rest is pulled along by the slide's motion."""
    slide = link("slide", "prismatic", X) | body(5.0)
    bob = link("bob", "revolute", Y, parent="slide") | body(1.0, [0.0, 0.0, -1.0], [0.1, 0.1, 0.1])
    motion = {"name": "push", "joint": "slide", "position": "5*t^2"}
    assert remarks(machine(slide, bob, motions=[motion], simulation={"start": "statics"})) == []


@pytest.mark.parametrize("driven", [True, False], ids=["by the task", "by nothing"])
def test_a_task_that_drives_a_held_joint_is_a_reason_to_accelerate(driven: bool) -> None:
    """A task keeps the height of the second rod's end; statics held both joints, and one of them is free then."""
    second = link("second", "revolute", Y, "rod", xyz=X) | body(1.0, [0.5, 0.0, 0.0], [0.01, 0.1, 0.1])
    table = released(simulation={"start": "statics"}, points={"E": {"link": "second", "position": X}})
    table["links"].append(second)
    if driven:
        table["programmed"] = [{"name": "height", "expression": "E.z - start(E.z)"}]
    assert ids(remarks(table)) == ([] if driven else ["start_accelerates"])


@pytest.mark.parametrize("task", ["S.x - 5*t^2", "E.z - start(E.z)"], ids=["of a slide", "of the rod"])
def test_a_task_is_no_reason_for_others_to_accelerate(task: str) -> None:
    """A rod beside the mechanism that a task drives falls, and nothing holds it."""
    table = released(simulation={"start": "statics"})
    table["links"] += [link("slide", "prismatic", X) | body(1.0)]
    table["links"] += [link("second", "revolute", Y, "rod", xyz=X) | body(1.0, [0.5, 0.0, 0.0], [0.01, 0.1, 0.1])]
    table["links"] += [
        link("beside", "revolute", Y, xyz=[0.0, 1.0, 0.0]) | body(1.0, [0.5, 0.0, 0.0], [0.01, 0.1, 0.1])
    ]
    table["points"] = {"S": {"link": "slide"}, "E": {"link": "second", "position": X}}
    table["programmed"] = [{"name": "task", "expression": task}]
    assert ids(remarks(table)) == ["start_accelerates"]


def test_a_velocity_is_a_reason_to_accelerate() -> None:
    table = released(simulation={"start": "statics"})
    table["links"][0]["joint"]["velocity"] = 1.0
    assert remarks(table) == []


# ---- Unilateral elements ---------------------------------------------------------------------------------------


def test_a_crane_that_tips() -> None:
    """400 kg hold, with 4 kN more it tips: both rear outriggers lift, at the times of their events."""
    found = remarks_of_run(crane(400.0, stop=0.6, effort="4000*quintic(t, 0.1, 0.5, 0, 1)"))
    tips = [remark for remark in found if remark.id == "tips"]
    assert {remark.where for remark in tips} == {"base.supports[2] (rear_left)", "base.supports[3] (rear_right)"}
    for remark in tips:
        assert remark.time == pytest.approx(0.27, abs=0.03)
        assert remark.value is not None and remark.value > 0.01 and (remark.unit, remark.limit) == ("m", 0.0)
        assert f"lifts at t = {remark.time:.4g} s" in remark.found


def test_a_crane_that_is_loaded_and_does_not_tip() -> None:
    assert remarks_of_run(crane(400.0, stop=0.6, effort="800*quintic(t, 0.1, 0.5, 0, 1)")) == []


def test_a_rope_that_is_slack_at_the_start() -> None:
    [found] = remarks(hanging(2.2))
    assert (found.id, found.where, found.unit, found.limit) == ("rope_slack", "lines[0] (rope)", "m", 0.0)
    assert found.value == pytest.approx(-0.2)


def test_a_rope_that_becomes_slack() -> None:
    [found] = remarks_of_run(hanging("2.0 + 6*quintic(t, 0.02, 0.1, 0, 1)"))
    assert (found.id, found.where) == ("rope_slack", "lines[0] (rope)")
    assert found.time == pytest.approx(0.022, abs=2e-3)


@pytest.mark.parametrize(
    "table",
    [
        hanging(2.0),
        hanging(2.0, simulation={"stop": 0.1, "start": "statics"}, statics={"locked": []}),
        hanging(2.0, gravity=SPACE),
    ],
    ids=["just at rest length", "taut", "space"],
)
def test_ropes_that_carry_their_load(table: Table) -> None:
    assert remarks_of_run(table) == []


def test_a_rope_whose_tension_is_an_input_is_not_slack() -> None:
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "load"}, "input": True, "tension_only": True}
    table = hanging() | {"lines": [rope]}
    assert ids(remarks_of_run(table)) == ["input_constant"]
    assert remarks_of_run(table, inputs={"rope": lambda t: 98.1 + 50.0 * t}) == []


# ---- Forces, masses and lengths --------------------------------------------------------------------------------


def pressed(length: float, rest: float, stiffness: float, **tables: Any) -> Table:
    """A slide of 10 kg between two equal springs of some length at rest, each one as long."""
    slide = link("slide", "prismatic", Z) | body(10.0, SPACE, SPACE)
    springs = [
        {
            "name": name,
            "a": {"link": "ground", "point": [0.0, 0.0, sign * length]},
            "b": {"link": "slide"},
            "stiffness": stiffness,
            "damping": 10.0,
            "rest": rest,
        }
        for name, sign in (("upper", 1.0), ("lower", -1.0))
    ]
    points = {"E": {"link": "slide", "position": [length, 0.0, 0.0]}}
    return machine(slide, lines=springs, points=points, simulation={"stop": 0.05}) | tables


def test_a_spring_whose_length_at_rest_is_in_millimetres() -> None:
    found = remarks(pressed(1.0, 900.0, 1e4))
    assert ids(found) == ["force_far_above_weight"] * 2
    assert found[0].where == "lines[0] (upper)"
    assert found[0].value == pytest.approx(1e4 * 899.0)
    assert found[0].limit == pytest.approx(100 * 98.1)


def test_a_sustained_force_during_a_run() -> None:
    """The force is initially zero, so the check of the initial state reports nothing."""
    table = pressed(1.0, 1.0, 1e4)
    table["forces"] = [{"name": "push", "link": "slide", "force": ["0", "4e4*t/0.05", "0"]}]
    assert remarks(table) == []
    [found] = remarks_of_run(table)
    assert (found.id, found.where) == ("force_far_above_weight", "forces[0] (push)")
    assert found.value == pytest.approx(2e4, rel=0.02)


@pytest.mark.parametrize(
    "table",
    [
        pressed(1.0, 0.8, 1e4),
        pressed(1.0, 900.0, 1e4, gravity=SPACE),
        pressed(0.05, 0.04, 5e6),
    ],
    ids=["prestress of 20 times the weight", "space", "valve spring: 510 times the weight"],
)
def test_large_forces_that_are_right(table: Table) -> None:
    assert remarks_of_run(table) == []


@pytest.mark.slow
def test_the_peak_of_an_impact_is_right() -> None:
    """A ball falls on a hard floor: 4,000 times its weight for an instant, its weight in the mean."""
    deck = {"name": "deck", "link": "ball", "plane": {"point": SPACE}, "stiffness": 1e8, "damping": 10.0}
    ball = link("ball", "prismatic", Z, position=0.5) | body(1.0, SPACE, SPACE)
    table = machine(ball, contacts=[deck], simulation={"stop": 1.0, "start": "description", "output_step": 1e-4})
    model = assemble_system(from_data(table))
    run = solving.simulate(model.mechanism, start=model.start)
    assert run.signals["deck_force"].max() > 2000 * 9.81
    assert plausibility.of_run(model, run) == ()


@pytest.mark.parametrize(
    ("changes", "limit", "cause"),
    [
        ({"inertia": (1e5, 1e6, 1e6)}, 5.0, "kg·mm²"),
        ({"inertia": (1e-6, 1e-6, 1e-6)}, 5e-4, "point mass"),
    ],
)
def test_unlikely_inertia(changes: dict[str, Any], limit: float, cause: str) -> None:
    [found] = remarks(pendulum(**changes))
    assert (found.id, found.where) == ("inertia_unlikely", "links[0] (rod), inertia")
    assert found.limit == pytest.approx(limit)
    assert cause in found.hint


@pytest.mark.parametrize(
    "table",
    [
        pendulum(),
        pendulum(inertia=(0.0, 0.0, 0.0)),
        pendulum(1e-9, (5e-4, 0.0, 0.0), (1e-16, 1e-16, 1e-16), points={}),
        machine(link("wheel", "revolute", Z) | body(10.0, SPACE, [1.0, 1.0, 2.0])),
        machine(link("cart", "planar") | body(10.0, SPACE, [1.0, 1.0, 2.0])),
        machine(link("bob", "spherical") | body(28.0, [0.0, 0.0, -67.0], [0.01, 0.01, 0.01])),
    ],
    ids=["rod", "point mass", "tiny", "one body at its joint", "planar", "long pendulum"],
)
def test_right_bodies(table: Table) -> None:
    assert ids(remarks(table)) == []


def test_a_length_in_millimetres() -> None:
    tip = link("tip", "revolute", Y, parent="rod", xyz=[800.0, 0.0, 0.0]) | body(1.0, [0.4, 0.0, 0.0])
    table = pendulum()
    table["links"].append(tip)
    [found] = [remark for remark in remarks(table) if remark.id == "length_unlikely"]
    assert (found.where, found.value, found.limit) == ("links[1] (tip), frame", 800.0, 200.0)


def test_a_mechanism_far_from_the_origin_has_no_unlikely_length() -> None:
    for name in ("four_bar_a_hundred_kilometres_away", "pendulum_a_thousand_kilometres_away", "turning_earth"):
        assert remarks(MACHINES[name].make()) == [], name


# ---- Names, inputs and drives ----------------------------------------------------------------------------------


def test_unused_names(tmp_path: Path) -> None:
    (tmp_path / "push.csv").write_text("t,value\n0,0\n1,1\n2,0\n", encoding="utf-8")
    table = {"file": str(tmp_path / "push.csv"), "time": "t", "value": "value"}
    found = remarks(pendulum(parameters={"load": 3.0}, tables={"push": table}))
    assert [(remark.id, remark.where) for remark in found] == [
        ("unused_name", "parameters.load"),
        ("unused_name", "tables.push"),
    ]


def test_a_name_that_a_case_uses_is_not_unused() -> None:
    case = {"name": "heavy", "set": {"links.rod.mass": "load"}}
    table = pendulum(parameters={"load": 3.0}, cases=[case])
    assert remarks(table) == remarks(table, "heavy") == []


def driven() -> Table:
    """A level joint in space with two torques, one of them an input; it moves from 0."""
    forces = [{"name": "torque", "joint": "rod", "input": True}, {"name": "other", "joint": "rod", "effort": "1"}]
    return pendulum(gravity=SPACE, forces=forces, simulation={"stop": 0.1, "start": "description"})


@pytest.mark.parametrize("inputs", [None, {}, {"torque": 0.0}, {"torque": lambda t: 0.0 * t}])
def test_an_input_that_keeps_its_start_value(inputs: Any) -> None:
    [found] = remarks_of_run(driven(), inputs)
    assert (found.id, found.where) == ("input_constant", "forces[0] (torque)")
    assert (found.value, found.unit) == (0.0, "N.m")


@pytest.mark.parametrize("inputs", [{"torque": 5.0}, {"torque": lambda t: 5.0 * t}])
def test_an_input_with_values(inputs: Any) -> None:
    assert remarks_of_run(driven(), inputs) == []


def test_the_start_value_of_a_filtered_input_is_where_the_joint_starts() -> None:
    table = pendulum(motions=[{"name": "swing", "joint": "rod", "input": True, "cutoff": 5.0}])
    table["links"][0]["joint"]["position"] = 0.3
    [found] = remarks_of_run(table, {"swing": 0.3})
    assert (found.id, found.where, found.value) == ("input_constant", "motions[0] (swing)", 0.3)
    assert remarks_of_run(table, {"swing": 0.31}) == []


@pytest.mark.parametrize(
    ("position", "idle"),
    [
        ("0.1*quintic(t, 5, 6, 0, 1)", True),
        ("1e-14*t", True),
        ("0.1*quintic(t, 0.02, 0.08, 0, 1)", False),
        ("0", False),
        ("0*t", False),
    ],
    ids=["begins after the run", "tiny", "moves", "holds", "no amplitude"],
)
def test_drives_without_motion(position: str, idle: bool) -> None:
    motion = {"name": "swing", "joint": "rod", "position": position}
    found = remarks_of_run(pendulum(motions=[motion]))
    assert ids(found) == ["drive_without_motion"] * idle
    assert not idle or (found[0].where, found[0].unit) == ("motions[0] (swing)", "rad")


def test_an_effort_on_a_joint_that_is_held() -> None:
    force = {"name": "torque", "joint": "rod", "effort": "50*sin(t)"}
    hold = {"name": "hold", "joint": "rod", "position": "0"}
    [found] = remarks_of_run(pendulum(forces=[force], motions=[hold]))
    assert (found.id, found.where) == ("drive_without_motion", "forces[0] (torque)")


# ---- Right mechanisms ------------------------------------------------------------------------------------------


def remarks_of_example(path: str, case: str | None = None) -> list[plausibility.Remark]:
    """Remarks on an example's description."""
    return list(plausibility.of_description(assemble_system(load(EXAMPLES / path, case))))


def _cases() -> list[tuple[str, str | None]]:
    paths = sorted(EXAMPLES.rglob("*.toml"))
    return [
        (str(path.relative_to(EXAMPLES)), case)
        for path in paths
        for case in (None, *(entry.name for entry in load(path).cases))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "case"), _cases())
def test_descriptions_of_examples_have_no_remarks(path: str, case: str | None) -> None:
    assert remarks_of_example(path, case) == []


# what is true: outriggers that lift, a rope that is set down, and inputs that a run without data leaves alone
TRUE = {
    ("lorry_crane.toml", None): ["input_constant"],
    ("lorry_crane.toml", "tips"): ["tips", "tips", "input_constant"],
    ("lorry_crane.toml", "sets_down"): ["rope_slack", "input_constant"],
    ("excavator_arm.toml", None): [],
    ("excavator_arm.toml", "digs"): [],
    ("stewart.toml", None): [],
    ("stewart.toml", "heavy"): [],
    ("four_bar_3d.toml", None): [],
    ("slewing/slewing.toml", None): ["input_constant"],
    ("tower_crane/tower_crane.toml", None): ["input_constant"],
    ("arms/seven_axis.toml", None): ["input_constant"],
}


@pytest.mark.slow
@pytest.mark.parametrize(("path", "case"), TRUE)
def test_runs_of_examples_have_true_remarks_alone(path: str, case: str | None) -> None:
    model = assemble_system(load(EXAMPLES / path, case))
    run = solving.simulate(model.mechanism, start=model.start)
    assert ids(list(plausibility.of_run(model, run))) == TRUE[path, case]


@pytest.mark.parametrize("name", [name for name, entry in MACHINES.items() if entry.verdict == "ok"])
def test_awkward_machines_that_are_right_have_no_remarks(name: str) -> None:
    try:
        found = remarks(MACHINES[name].make())
    except DescriptionError:
        pytest.fail("is refused")
    assert ids(found) == (["rope_slack"] if name == "slack_rope_that_is_pulled" else [])


# ---- Where remarks are shown -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_crane_that_tips_is_amber_on_the_first_screen(gpmelica: Command, tmp_path: Path) -> None:
    """The run agrees, and yet the page's head, the terminal and result.json name time and outrigger."""
    file, out = tmp_path / "crane.toml", tmp_path / "out"
    file.write_text(toml(crane(400.0, stop=0.4, effort="4000*quintic(t, 0.1, 0.3, 0, 1)")), encoding="utf-8")
    answer = gpmelica("run", file, "--out", out, "--compiler", "native", "--no-rumoca", "--strict")
    assert answer.status == 5, answer.err
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["ok"] is True
    tips = [entry for entry in result["plausible"] if entry["id"] == "tips"]
    assert [entry["where"] for entry in tips] == ["base.supports[2] (rear_left)", "base.supports[3] (rear_right)"]
    said = f"rear_left lifts at t = {tips[0]['time']:.4g} s"
    assert f"base.supports[2] (rear_left): {said}" in answer.out
    head = (out / "report.html").read_text(encoding="utf-8").partition("<nav")[0]
    assert said in head and "questionable" in head
