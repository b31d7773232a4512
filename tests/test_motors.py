"""Linear motors with saturation: closed forms, independent derivations, FMUs, messages, and their three files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import MODES, CompileData, run_of
from helpers_cli import process
from helpers_energy import Balance
from helpers_oracle import Oracle
from helpers_parts import Table, X, Z, body, link, machine
from helpers_problem import evaluate, simulate
from helpers_reference import mechanism_of
from helpers_stages import StagedModel

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import System, assemble_system
from gpmelica.api.model import Model as DescribedModel
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data, schema
from gpmelica.plausibility.drives import constant_inputs
from gpmelica.reference.solve import requested
from gpmelica.runs.fmpy_runs.inputs import given_inputs

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("description/elements/motors.py", "laws/motors.py", "oracle/elements/motors.py")
CONSTANT, LIMIT, MASS = 10.0, 8.0, 2.0


def _motor(name: str = "drive", joint: str = "cart", **keys: Any) -> Table:
    return {"name": name, "joint": joint, "constant": CONSTANT, "limit": LIMIT} | keys


def _carriage(*motors: Table, **tables: Any) -> Table:
    """A mass on a rail without weight."""
    cart = link("cart", "prismatic", X) | body(MASS)
    simulation = {"start": "description", "stop": 0.8, "output_step": 0.1}
    parts = {"name": "Carriage", "gravity": [0.0, 0.0, 0.0], "motors": list(motors), "simulation": simulation}
    return machine(cart, **parts | tables)


def _robot() -> Table:
    """A carriage with an arm, a motor each; expressions read what the motors publish."""
    links = [
        link("cart", "prismatic", X, stiffness=40.0) | body(MASS),
        link("arm", "revolute", Z, "cart", position=0.4) | body(1.0, [0.3, 0.0, 0.0], [0.1, 0.1, 0.1]),
    ]
    drive = _motor(current="1.5*sin(4*t) - 0.5*arm.angle_dot")
    wrist = {"name": "wrist", "joint": "arm", "constant": "gain", "limit": 0.05}
    brake = {"name": "brake", "joint": "arm", "effort": "-0.01*drive_force*arm.angle_dot"}
    power = {"expression": "drive_force*cart.position_dot", "unit": "W"}
    outputs = {"energy": True, "loads": "all", "expressions": {"power": power}}
    parts = {"gravity": [0.0, -9.81, 0.0], "parameters": {"gain": 0.1}, "motors": [drive, wrist]}
    settings = {"start": "description", "stop": 1.5, "output_step": 0.02}
    return machine(*links, name="Robot", forces=[brake], outputs=outputs, simulation=settings, **parts)


# ---- The law ----------------------------------------------------------------------------------------------------


def _exact(time: Any) -> Any:
    """Place of the carriage where the effort is 20 N/s times the time until 0.4 s, and then 8 N."""
    until, rate = 0.4, 20.0 / MASS
    x, v, t = rate * until**3 / 6, rate * until**2 / 2, np.maximum(time - until, 0.0)
    return np.where(time < until, rate * time**3 / 6, x + v * t + LIMIT / MASS * t**2 / 2)


def test_a_ramp_of_the_current_saturates() -> None:
    """2 A/s: the effort grows until 0.4 s and stays, and the place is a cubic and then a parabola."""
    found = simulate(mechanism_of(_carriage(_motor(current="2*t"))), tolerance=1e-12)
    assert found.signals["cart_position"] == pytest.approx(_exact(found.time), abs=1e-12)
    assert found.signals["drive_force"] == pytest.approx(np.minimum(20.0 * found.time, LIMIT), abs=1e-12)


def test_an_input_saturates_at_an_event() -> None:
    """A ramp of the current as an input, up or down, has its event where the effort meets the limit."""
    table = given_inputs({"time": [0.0, 0.8], "drive_current": [0.0, -1.6]}, ["drive_current"], 0.8)
    mechanism = mechanism_of(_carriage(_motor()))
    found = simulate(mechanism, inputs=table.functions(), tolerance=1e-12)
    assert found.signals["cart_position"] == pytest.approx(-_exact(found.time), abs=1e-12)
    (event,) = found.events
    assert (event.label, event.t) == ("motor drive", pytest.approx(0.4, abs=1e-10))


def test_missing_input_is_zero() -> None:
    """Without an input, nothing moves."""
    found = simulate(mechanism_of(_carriage(_motor())))
    assert not found.signals["drive_force"].any()
    assert not found.signals["cart_position"].any()


@pytest.mark.slow
def test_energy_is_balanced() -> None:
    """Energy from the motor goes into spring, motion and weight, through saturation and back."""
    data = _robot()
    data["motors"] = data["motors"][:1]
    found = Balance(data, stop=1.2, tolerance=1e-10)
    assert len([event for event in found.events if event.label == "motor drive"]) >= 2
    assert abs(found.given) > 0.1  # J
    assert found.error < 1e-9


# ---- Derivations that share nothing, or the law alone -----------------------------------------------------------


def test_the_derivations_agree() -> None:
    """Generated equations and oracle have the reference's outputs, within the limits and beyond them."""
    model, rng, sides = assemble_system(from_data(_robot())), np.random.default_rng(3), set()
    staged, oracle = StagedModel(model), Oracle(model)
    for _ in range(30):
        t, (q, qd) = float(rng.uniform(0.0, 1.5)), rng.normal(size=(2, 2))
        inputs = {"wrist_current": float(rng.normal())}
        expected = _reference(model, t, q, qd, inputs)
        generated, second = staged(t, q, qd, inputs).outputs, oracle.outputs(t, q, qd, np.zeros(0), inputs)
        for name, value in expected.items():
            assert generated[name] == pytest.approx(value, abs=1e-9 * max(1.0, abs(value))), name
            assert second[name] == pytest.approx(value, abs=1e-9 * max(1.0, abs(value))), name
        sides |= {(name, float(np.trunc(expected[name] / limit))) for name, limit in _LIMITS.items()}
    assert sides == {(name, side) for name in _LIMITS for side in (-1.0, 0.0, 1.0)}


_LIMITS = {"drive_force": LIMIT, "wrist_force": 0.05}


def _reference(model: System, t: float, q: Any, qd: Any, inputs: dict[str, float]) -> dict[str, float]:
    numbers = ReferenceModel(model.mechanism, inputs=inputs)
    state, found = numbers.state(t, q, qd), evaluate(model.mechanism, t, q, qd, inputs=inputs)
    names = [f"{c.symbol}_ddot" for c in model.mechanism.coordinates]
    accelerations = dict(zip(names, found.qdd.tolist(), strict=True))
    return numbers.forces.signals(state) | requested.values(numbers, state, found.qdd) | accelerations


def test_many_states_at_once() -> None:
    """Efforts and energies of a block of states are those of each."""
    model = ReferenceModel(mechanism_of(_robot()), inputs={"wrist_current": 0.2})
    rng = np.random.default_rng(8)
    t, (q, qd) = rng.uniform(0.0, 1.5, 20), rng.normal(size=(2, 20, 2))
    together = model.forces(model.state(t, q, qd, model.state(0.0, q[0], qd[0]).segment)).total
    apart = [model.forces(model.state(*one)).total for one in zip(t.tolist(), q, qd, strict=True)]
    assert together == pytest.approx(np.array(apart), abs=1e-12)


# ---- FMU and Modelica -------------------------------------------------------------------------------------------


def test_modelica_declares_units_and_meanings() -> None:
    """By the kind of the joint: N and N/A of a prismatic one, N.m and N.m/A of a revolute one."""
    text = DescribedModel(from_data(_robot())).modelica()
    assert 'parameter Real drive_constant(unit = "N/A") = 10.0 "effort of motor drive per unit current";' in text
    assert 'parameter SI.Force drive_limit = 8.0 "largest effort of motor drive";' in text
    assert 'output SI.Torque wrist_force "effort of motor wrist on the joint coordinate";' in text
    assert re.search(r'RealInput wrist_current\(start = 0\.0, unit = "A"\)\s+"current of motor wrist"', text)
    assert "drive_current" not in text  # an expression is in its place


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_fmus_saturate(compile_data: CompileData, fmi: str) -> None:
    """The input is one of the FMU, with unit and start; both kinds of run have the closed form."""
    compiled = compile_data(_carriage(_motor()), fmi)
    variables = {v.name: v for v in compiled.description.modelVariables}
    current, limit = variables["drive_current"], variables["drive_limit"]
    assert (current.causality, current.unit, float(current.start)) == ("input", "A", 0.0)
    assert (limit.causality, limit.unit, float(limit.min)) == ("parameter", "N", 0.0)
    table = given_inputs({"time": [0.0, 0.8], "drive_current": [0.0, 1.6]}, ["drive_current"], 0.8)
    for mode in MODES:
        found = run_of(compiled, mode, stop=0.8, output_step=0.1, inputs=table)
        assert found.signals["cart_position"] == pytest.approx(_exact(found.time), abs=1e-7)


@pytest.mark.slow
def test_a_run_agrees_in_all_backends(tmp_path: Path) -> None:
    """Native FMU, Modelica in rumoca and the oracle; the report has a table of motors."""
    pytest.importorskip("rumoca")
    data = _robot()
    data["motors"][1]["current"] = "sin(7*t)"
    report = DescribedModel(from_data(data)).run(tmp_path, compiler="native")
    assert report.ok
    assert {"fmu-native-me", "fmu-native-cs", "modelica-rumoca", "oracle"} <= {c.name for c in report.comparisons}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h3>Motors</h3>" in page
    assert "0.05 N·m" in page


@pytest.mark.slow
def test_inputs_are_linearised() -> None:
    """The state matrix's input column is the constant over the mass."""
    space = DescribedModel(from_data(_carriage(_motor()))).linearize()
    assert space.inputs == ("drive_current",)
    assert space.B[list(space.states).index("cart_position_dot"), 0] == pytest.approx(CONSTANT / MASS)


# ---- Messages ---------------------------------------------------------------------------------------------------


def test_all_problems_at_once() -> None:
    """An unknown joint, a joint of several coordinates, a limit below zero, a key and two names that are none."""
    data = _carriage(
        _motor(joint="cat"),
        _motor("second", "ball", limit=-1.0),
        _motor("third", constnt=1.0),
        _motor(current="2*tt"),
    )
    data["links"].append(link("ball", "spherical"))
    with pytest.raises(DescriptionError) as caught:
        from_data(data)
    text = str(caught.value)
    for part in (
        "motors[0].joint: there is no link 'cat'; did you mean 'cart'?",
        "motors[1].joint: expected one coordinate of the joint (ball.psi, ball.theta, ball.phi), got 'ball'",
        "motors[1].limit: expected a number above 0, got -1.0",
        "motors[2].constnt: unknown key; did you mean 'constant'?",
        "motors[3].current: unknown name 'tt'",
        "motors[3].name: the name 'drive' is taken by motors[0]",
    ):
        assert part in re.sub(r" \(\w+\):", ":", text), text


def test_forces_of_motors_are_no_motion() -> None:
    """Motor forces follow from the motion, so they cannot be programmed or used in start(…)."""
    row = {"name": "row", "expression": "drive_force - 1"}
    with pytest.raises(DescriptionError, match="'drive_force' is a force"):
        from_data(_carriage(_motor(), programmed=[row]))
    with pytest.raises(DescriptionError, match=r"start\(drive_force\)"):
        from_data(_carriage(_motor(current="start(drive_force)")))


def test_a_constant_input_is_remarked_by_its_key() -> None:
    """A run in which nobody gives a current says so at the motor."""
    model = assemble_system(from_data(_carriage(_motor())))
    (remark,) = constant_inputs(model, simulate(model.mechanism))
    assert (remark.where, remark.unit) == ("motors[0] (drive)", "A")


# ---- The places that an element takes ---------------------------------------------------------------------------


@pytest.mark.slow
def test_three_files_are_all_of_the_motor(tmp_path: Path) -> None:
    """No other file of the package names it, and without the three the package runs and knows no motors."""
    ignored = ".* tests docs benchmarks examples build site __pycache__ *.egg-info"
    shutil.copytree(ROOT, tmp_path / "gpmelica", ignore=shutil.ignore_patterns(*ignored.split()))
    for part in PARTS:
        (tmp_path / "gpmelica" / part).unlink()
    rest = [*(tmp_path / "gpmelica").rglob("*.py")]
    assert len(rest) > 400
    assert [path for path in rest if re.search(r"\b(motors|Motor)\b", path.read_text(encoding="utf-8"))] == []
    answer = process("schema", PYTHONPATH=str(tmp_path))
    assert answer.status == 0, answer.err
    assert "motors" not in answer.json["properties"]
    assert "motors" in schema()["properties"]
