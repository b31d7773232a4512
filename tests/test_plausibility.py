"""Remarks: what is green, and yet probably not meant."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest
from awkward_machines.judge import toml
from helpers_cli import Command
from helpers_parts import Table, body, link, machine

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.plausibility import KINDS, Remark, of_description

_DOWN = [0.0, 1.0, 0.0]
_STOPS = {"lower": -0.2, "upper": 1.35, "stiffness": 1e5, "damping": 1e3}


def boom(**joint: Any) -> Table:
    """One link of 10 kg, 1 m long, on a revolute joint."""
    return machine(link("boom", "revolute", _DOWN, **joint) | body(10.0, [0.5, 0.0, 0.0], [0.1, 1.0, 1.0]))


def remarks(table: Table) -> list[Remark]:
    """Remarks on a description."""
    return list(of_description(assemble_system(from_data(table))))


def test_kinds_are_unique() -> None:
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize(
    ("position", "limit", "cause"),
    [(28.6, 1.35, "degrees instead of radians?"), (-0.5, -0.2, "joint.limits"), (1.5, 1.35, "joint.limits")],
)
def test_start_beyond_stop(position: float, limit: float, cause: str) -> None:
    [found] = remarks(boom(position=position, limits=_STOPS))
    assert (found.id, found.where, found.value) == ("start_beyond_stop", "links[0] (boom)", position)
    assert (found.unit, found.limit) == ("rad", limit)
    assert cause in found.hint


def test_angle_above_turn() -> None:
    [found] = remarks(boom(position=45.0))
    assert (found.id, found.value) == ("angle_above_turn", 45.0)
    assert "degrees" in found.text


@pytest.mark.parametrize("position", [-0.2, 0.0, 1.35, 1.36])
def test_start_within_stops(position: float) -> None:
    assert remarks(boom(position=position, limits=_STOPS)) == []


def test_a_sprung_joint_may_rest_on_its_stop() -> None:
    """Static equilibrium is beyond the stop by what carries the weight: that is no mistake."""
    soft = {"upper": 0.2, "stiffness": 200.0, "damping": 1.0}
    table = boom(stiffness=1.0, damping=1.0, limits=soft)
    model = assemble_system(from_data(table | {"simulation": {"stop": 0.1, "start": "statics"}}))
    assert model.start[0][0] > 0.22
    assert "start_beyond_stop" not in {remark.id for remark in of_description(model)}


@pytest.mark.slow
def test_the_fourth_line(gpmelica: Command, tmp_path: Path) -> None:
    """Amber in terminal, page and JSON; the exit status is 5 with --strict alone."""
    file, out = tmp_path / "boom.toml", tmp_path / "out"
    table = boom(position=28.6, limits=_STOPS) | {"simulation": {"stop": 0.02}}
    file.write_text(toml(table), encoding="utf-8")
    answer = gpmelica("run", file, "--out", out, "--compiler", "native", "--no-rumoca", "--strict")
    assert answer.status == 5, answer.err
    assert "questionable: One value is unusual." in answer.out
    assert "links[0] (boom): boom.angle starts at 28.6 rad, beyond its upper stop at 1.35 rad" in answer.out
    page = html.unescape((out / "report.html").read_text(encoding="utf-8"))
    assert '<span class="badge questionable">questionable</span>' in page
    assert "boom.angle starts at 28.6 rad" in page.partition("<nav")[0]
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["ok"] is True
    [entry] = result["plausible"]
    assert (entry["id"], entry["value"], entry["limit"]) == ("start_beyond_stop", 28.6, 1.35)
    checked = gpmelica("check", file, "--json")
    assert (checked.status, checked.json["plausible"]) == (0, [entry])
    assert "questionable: One value" in gpmelica("check", file).out


@pytest.mark.campaign
def test_study_has_the_fourth_line(gpmelica: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "boom.toml", tmp_path / "study"
    cases = [{"name": "right"}, {"name": "degrees", "set": {"links.boom.joint.position": 28.6}}]
    table = boom(limits=_STOPS) | {"simulation": {"stop": 0.02}, "cases": cases}
    file.write_text(toml(table), encoding="utf-8")
    options = ["study", file, "--cases", "--no-rumoca", "--out", out]
    answer = gpmelica(*options, "--strict")
    assert answer.status == 5, answer.err
    assert "questionable" in answer.out
    found = json.loads((out / "cases.json").read_text(encoding="utf-8"))["cases"]
    assert [len(found[name]["plausible"]) for name in ("right", "degrees")] == [0, 1]
    page = html.unescape((out / "cases.html").read_text(encoding="utf-8"))
    assert "degrees: links[0] (boom): boom.angle starts at 28.6 rad" in page


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "count"), [(1e3, 0), pytest.param(1e7, 1, marks=pytest.mark.campaign)])
def test_an_expression_too_fast_to_be_resolved(rate: float, count: int) -> None:
    """An oscillation of 1.6 MHz in a run of 2 s cannot be searched; one of 160 Hz can."""
    table = boom(position=0.5) | {"forces": [{"name": "hum", "joint": "boom", "effort": f"sin({rate}*t)"}]}
    found = [remark.id for remark in remarks(table)]
    assert found == ["function_unresolved"] * count


@pytest.mark.slow
@pytest.mark.parametrize(("time", "count"), [("boom.angle", 1), ("0.7", 0)])
def test_a_pulse_that_follows_the_motion(time: str, count: int) -> None:
    """A pulse at a time that depends on a state cannot be bounded; one at a known time is resolved."""
    blow = f"exp(-((t - {time})/0.001)^2 - boom.angle_dot^2)"
    table = boom(position=0.5) | {"forces": [{"name": "blow", "joint": "boom", "effort": blow}]}
    found = remarks(table)
    assert [(remark.id, remark.where) for remark in found] == [("function_unresolved", "force blow")] * count


@pytest.mark.slow
def test_switches_at_unknown_times_are_resolved() -> None:
    """Jumps of a square wave are events, which a search by samples need not resolve."""
    table = boom(position=0.5) | {"forces": [{"name": "beat", "joint": "boom", "effort": "sign(sin(200*t))"}]}
    assert remarks(table) == []
