"""Initial state in `check`: inputs, forces, accelerations and modes, against closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_cli import Command
from helpers_examples import EXAMPLES
from helpers_parts import Table, X, Y, Z, body, link, machine
from helpers_plausible import crane, hanging

import gpmelica as gp
from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.tasks.check import Summary


def initial(table: Table) -> dict[str, Any]:
    """Initial state in the JSON of `check`."""
    found: dict[str, Any] = Summary(assemble_system(from_data(table))).data()["initial_state"]
    return found


def test_forces_of_supports_are_those_of_a_lever() -> None:
    """100 kg at x = 3 m and 1,000 kg at 0, on supports at x = ±1 m: two and two carry alike."""
    found = initial(crane(100.0))["forces"]
    weight, moment = 1100.0 * 9.81, 100.0 * 9.81 * 3.0
    front, rear = (weight + moment) / 4, (weight - moment) / 4
    assert [entry["name"] for entry in found] == ["front_left", "front_right", "rear_left", "rear_right"]
    assert [entry["force"] for entry in found] == pytest.approx([front, front, rear, rear], rel=1e-3)
    assert {(entry["kind"], entry["unit"]) for entry in found} == {("support", "N")}
    assert found[0]["where"] == "base.supports[0] (front_left)"


def test_forces_of_ropes_cylinders_and_contacts() -> None:
    rope = hanging(1.999, simulation={"start": "statics"}, statics={"locked": []})
    cylinder = {"name": "cylinder", "a": {"link": "ground"}, "b": {"link": "load"}, "force": "-30"}
    deck = {"name": "deck", "link": "load", "plane": {"point": [0.0, 0.0, -1.9]}, "stiffness": 100.0}
    rope["lines"].append(cylinder)
    rope["contacts"] = [deck]
    forces = {entry["name"]: entry for entry in initial(rope)["forces"]}
    assert [forces[name]["kind"] for name in ("rope", "cylinder", "deck")] == ["rope", "line", "contact"]
    assert forces["cylinder"]["force"] == -30.0
    assert forces["deck"]["force"] == pytest.approx(10.0, abs=0.2)
    assert forces["rope"]["force"] + forces["deck"]["force"] == pytest.approx(98.1 + 30.0)


def test_accelerations_that_are_not_zero() -> None:
    """A load on its rope rests; without the rope it falls."""
    taut = hanging(2.0, simulation={"start": "statics"}, statics={"locked": []})
    assert initial(taut)["accelerations"] == []
    [falling] = initial(hanging(2.2))["accelerations"]
    assert (falling["coordinate"], falling["unit"]) == ("load.position", "m/s2")
    assert falling["value"] == pytest.approx(-9.81)


@pytest.mark.parametrize("damping", [0.0, 8.0])
def test_modes_have_both_frequencies(damping: float) -> None:
    """A mass of 2 kg on a spring of 800 N/m, with or without a damper; a slide beside it has no frequency."""
    sprung = link("sprung", "prismatic", Z, stiffness=800.0, damping=damping) | body(2.0)
    free = link("free", "prismatic", X) | body(1.0)
    found = initial(machine(sprung, free, gravity=[0.0, 0.0, 0.0]))
    omega, ratio = 20.0, damping / (2 * np.sqrt(800.0 * 2.0))
    [mode] = found["modes"]
    assert mode["coordinate"] == "sprung.position"
    assert mode["frequency"] == pytest.approx(omega / (2 * np.pi))
    assert mode["damped_frequency"] == pytest.approx(omega * np.sqrt(1 - ratio**2) / (2 * np.pi))
    assert mode["damping"] == pytest.approx(ratio, abs=1e-8)
    assert found["rigid_body_modes"] == ["free.position"]


def test_driven_bristles_are_not_rigid_bodies() -> None:
    """A motion drives the arm, so the pole of its bristle moves no coordinate; the pendulum swings with √(g/l)."""
    friction = {"model": "lugre", "sigma0": 200.0, "sigma1": 2.0, "mu_s": 0.15, "mu_k": 0.1, "v_s": 0.02}
    arm = link("arm", "revolute", Y, friction=friction | {"normal_force": 50.0, "diameter": 0.08}) | body(10.0)
    pendulum = link("pendulum", "revolute", Y, "arm", xyz=X) | body(5.0, [0.0, 0.0, -1.0], [0.0, 0.0, 0.0])
    drive = {"name": "drive", "joint": "arm", "position": "0.1*t**3"}
    found = initial(machine(arm, pendulum, motions=[drive], statics={"locked": ["arm"]}))
    assert found["rigid_body_modes"] == []
    assert [mode["coordinate"] for mode in found["modes"]] == ["pendulum.angle"]
    assert found["modes"][0]["frequency"] == pytest.approx(np.sqrt(9.81) / (2 * np.pi))


def test_modes_beside_redundant_constraints() -> None:
    """Two equations hold one joint; the mode of another joint is listed with its frequency."""
    held, mass = (
        link("held", "prismatic", X) | body(1.0),
        link("mass", "prismatic", Y, stiffness=800.0) | body(2.0),
    )
    rows = [{"name": name, "expression": f"{factor}*held.position"} for name, factor in (("one", 1), ("two", 2))]
    found = initial(machine(held, mass, programmed=rows, gravity=[0.0, 0.0, 0.0]))
    assert [(mode["coordinate"], mode["frequency"]) for mode in found["modes"]] == [
        ("mass.position", pytest.approx(20.0 / (2 * np.pi)))
    ]
    assert found["rigid_body_modes"] == []


def test_all_free_coordinates_are_named() -> None:
    """A rolling cart is free along its path and in its heading, which moves it sideways; so is its turret."""
    cart = link("cart", "planar", velocity=[0.8, 0.0, 0.0]) | body(40.0, inertia=[1.0, 2.0, 2.5])
    turret = link("turret", "revolute", Z, "cart") | body(6.0, inertia=[0.05, 0.05, 0.04])
    arm = link("arm", "prismatic", Z, "turret", stiffness=800.0) | body(2.0)
    edge = {"name": "axle", "link": "cart", "normal": Y}
    settings = {"gravity": [0.0, 0.0, 0.0], "simulation": {"stop": 1.0, "start": "description"}}
    found = initial(machine(cart, turret, arm, nonholonomic=[edge], **settings))
    assert found["rigid_body_modes"] == ["cart.x", "cart.y", "cart.angle", "turret.angle"]
    assert [(mode["coordinate"], mode["frequency"]) for mode in found["modes"]] == [
        ("arm.position", pytest.approx(20.0 / (2 * np.pi)))
    ]


def test_modes_of_constraints_are_not_shown() -> None:
    """Baumgarte's stabilisation oscillates in no mode of the mechanism."""
    row = {"name": "row", "expression": "rod.angle - start(rod.angle)"}
    table = machine(link("rod", "revolute", Y) | body(1.0, X), programmed=[row])
    assert initial(table | {"constraints": {"alpha": 1.0, "beta": 20.0}})["modes"] == []


def test_inputs_and_their_values() -> None:
    table = hanging({"input": "hoist", "cutoff": 5.0})
    table["forces"] = [{"name": "push", "link": "load", "input": True}]
    assert initial(table)["inputs"] == [
        {"name": "hoist", "value": 2.0, "unit": "m"},
        *({"name": f"push_{axis}", "value": 0.0, "unit": "N"} for axis in "xyz"),
    ]


@pytest.mark.parametrize(("case", "violation"), [(None, 0.0), ("stabilisation", 0.28)])
def test_the_crane_of_the_examples_starts_on_its_ellipse(case: str | None, violation: float) -> None:
    """All constraints hold at the start without an exemption; the case `stabilisation` declares its violation."""
    model = gp.load(EXAMPLES / "crane.toml", case, simulation={"stop": 0.01})
    assert model.simulate()["violation_position"][0] == pytest.approx(violation, rel=0.01, abs=1e-12)


@pytest.mark.slow
def test_check_in_the_terminal(gpmelica: Command, tmp_path: Path) -> None:
    file = tmp_path / "crane.toml"
    table = crane(600.0)
    table["lines"] = [{"name": "luff", "a": {"link": "base"}, "b": {"link": "boom", "point": X}, "input": True}]
    file.write_text(toml(table), encoding="utf-8")
    answer = gpmelica("check", file)
    assert answer.status == 0
    for words in ("inputs at t = 0: luff = 0 N", "forces at t = 0", "first modes", "accelerations at t = 0: none"):
        assert words in answer.out, words
    assert "questionable: 3 values are unusual." in answer.out
    assert "look at base: static equilibrium rotates base by" in answer.out
    assert [entry["id"] for entry in gpmelica("check", file, "--json").json["plausible"]] == [
        "support_lifted",
        "support_lifted",
        "statics_far",
    ]
