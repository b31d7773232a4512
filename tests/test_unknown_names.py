"""Unknown parameters: every way to change a description, and every run of an FMU, names the closest one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from awkward_machines.judge import toml
from helpers_backends import MODES, Compiled
from helpers_cli import Command, fails
from helpers_parts import X, Y, body, link, machine

import gpmelica as gp
from gpmelica.core.errors import UnknownNameError
from gpmelica.description.fields.numbers import values_of
from gpmelica.description.load import from_data
from gpmelica.description.uses import unused
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.instance import Instance

MEANT = "there is no parameter 'paylod'; did you mean 'payload'?"
SWING = machine(
    link("rod", "revolute", Y, position=1.2) | body("payload", [0.5, 0.0, 0.0], [0.01, 0.09, 0.09]),
    name="Swing",
    parameters={"payload": 1.0},
    points={"E": {"link": "rod", "position": X}},
    simulation={"stop": 0.1, "start": "description"},
)

LEG = {"name": "leg", "a": {"link": "ground"}, "b": {"link": "rod", "point": X}}


@pytest.fixture
def swing(tmp_path: Path) -> Path:
    """Description file of a pendulum with a parameter."""
    file = tmp_path / "swing.toml"
    file.write_text(toml(SWING), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "changes",
    [{"parameters": {"paylod": 800}}, {"parameters.paylod": 800}, {"parameters": {"paylod": {"value": 800}}}],
)
def test_changes_from_python(swing: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(gp.DescriptionError) as caught:
        gp.load(swing, **changes)
    assert [str(problem) for problem in caught.value.problems] == [f'changes."parameters.paylod": {MEANT}']
    assert gp.load(swing, parameters={"payload": 800}).description.parameter_values == {"payload": 800}


def test_cases(gpmelica: Command, swing: Path) -> None:
    """A faulty case is refused; without the case, `check` reports the fault after its summary."""
    case = {"name": "heavy", "set": {"parameters.paylod": 800}}
    swing.write_text(toml(SWING | {"cases": [case]}), encoding="utf-8")
    problem = f'cases[0].set."parameters.paylod": {MEANT}'
    fails(gpmelica("check", swing, "--case", "heavy"), 2, problem)
    answer = gpmelica("check", swing)
    assert answer.status == 2 and problem in answer.err
    study = gpmelica("study", swing, "--cases", "--json")
    assert study.status == 1 and MEANT in study.json["cases"]["heavy"]["error"]


@pytest.mark.parametrize("values", ["1,2", "uniform(1,2)", "normal(1,0.1)", "1:2:3"])
def test_sweeps(gpmelica: Command, swing: Path, values: str) -> None:
    options = ["--objective", "peak(E_z)", *(["--samples", "4"] if "(" in values else [])]
    fails(gpmelica("sweep", swing, "--set", f"parameters.paylod={values}", *options), 2, MEANT)


def test_optimisation_and_modes(gpmelica: Command, swing: Path) -> None:
    setting = "parameters.paylod=uniform(1,2)"
    fails(gpmelica("optimize", swing, "--set", setting, "--objective", "peak(E_z)"), 2, MEANT)
    fails(gpmelica("modes", swing, "--along", "parameters.paylod=1:2:3"), 2, MEANT)


def test_a_new_parameter_that_a_change_uses_is_no_mistake() -> None:
    case = {"name": "long", "set": {"parameters.reach": 0.7, "links.rod.com": ["reach", 0.0, 0.0]}}
    chain = from_data(SWING | {"cases": [case]}, "long")
    assert values_of(chain.links[0].com) == (0.7, 0.0, 0.0)


def test_a_new_table_that_nothing_uses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "push.csv").write_text("t,value\n0,0\n1,1\n2,0\n", encoding="utf-8")
    table = {"file": str(tmp_path / "push.csv"), "time": "t", "value": "value"}
    with pytest.raises(gp.DescriptionError, match="there is no table 'pusch'"):
        from_data(SWING, changes={"tables": {"pusch": table}})
    effort = [{"name": "drive", "joint": "rod", "effort": "table(push, t)"}]
    assert from_data(SWING, changes={"tables": {"push": table}, "forces": effort}).tables


@pytest.mark.parametrize("mode", MODES)
def test_runs_of_an_fmu(hanging: Compiled, mode: runs.Mode) -> None:
    settings: dict[str, Any] = {"stop": 0.1, "output_step": 0.05, "tolerance": 1e-6}
    with pytest.raises(UnknownNameError, match="'momemt'; did you mean 'moment'"):
        runs.simulate(hanging.fmu, mode, ["rod_angle"], name=mode, parameters={"momemt": 2.0}, **settings)
    with pytest.raises(UnknownNameError, match="did you mean 'moment'"):
        Instance(hanging.fmu, {"momemt": 2.0})


# ---- Names without a use ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        {"gravity": [0.0, 0.0, "-9.81*p"]},
        {"forces": [{"name": "push", "joint": "rod", "effort": "p*t"}]},
        {"forces": [{"name": "push", "link": "rod", "force": ["0", "p", "0"]}]},
        {"programmed": [{"name": "row", "expression": "E.z - start(E.z) - p*t^2"}]},
        {"motions": [{"name": "row", "joint": "rod", "position": "1.2 + p*t"}]},
        {"lines": [LEG | {"force": "p*length"}]},
        {"lines": [LEG | {"stiffness": "p"}]},
        {"outputs": {"expressions": {"double": "2*p*E.z"}}},
        {"cases": [{"name": "other", "set": {"gravity": [0.0, 0.0, "-9.81*p"]}}]},
    ],
)
def test_parameters_used_in_cases(use: dict[str, Any]) -> None:
    """A parameter counts as used if any entry refers to it, including entries of a case."""
    known = SWING | {"parameters": {"payload": 1.0, "p": 1.0}}
    assert unused(from_data(known))["parameters"] == ("p",)
    assert unused(from_data(known | use))["parameters"] == ()
