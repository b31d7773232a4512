"""Rows that others imply at the start: they are left out or refused, and watched during the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileModel
from helpers_program import Numeric
from helpers_redundant import polygon
from helpers_reference import manipulator, unchecked

from gpmelica.errors import SolveError
from gpmelica.fmu.runs import simulate
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare
from gpmelica.reference import solvability, start_state, unreachable


def two_wheels(second: str) -> Prepared:
    """Two wheels that turn alike, by two rows of which the second one is left out."""
    links = [
        {"name": name, "parent": "ground", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}
        | {"joint": {"type": "revolute", "axis": [0.0, 0.0, 1.0], "velocity": 1.0}}
        for name in ("a", "b")
    ]
    rows = [{"name": "gear", "expression": "a.angle - b.angle"}, {"name": "belt", "expression": second}]
    data: dict[str, Any] = {"schema": 1, "name": "Wheels", "links": links, "programmed": rows}
    data["parameters"] = {"p": 0.0}  # another value makes the rows contradict each other
    model = prepare(from_data(data | {"simulation": {"start": "description"}}))
    assert model.left_out == ("belt",)
    return model


def _excess(model: Prepared, a: float, b: float) -> float:
    """How far the check of the left-out row is beyond its bound."""
    (check,) = model.program.checks
    assert "belt" in check.message
    state = {"p": 10.0, "time": 0.1, "a_angle": a, "b_angle": b, "a_angle_dot": 1.0, "b_angle_dot": 1.0}
    return float(Numeric(model.program, state)(check.value)) - check.bound


@pytest.mark.parametrize(
    ("second", "a", "b", "opens"),
    [
        ("2*a.angle - 2*b.angle", 0.7, 0.7, False),
        ("2*a.angle - 2*b.angle", 0.7, 0.7 + 1e-3, False),  # as the first row: drift, or a start that decays
        ("a.angle - b.angle - p*t^3/1e5", 0.7, 0.7, False),
        ("a.angle - b.angle - p*t^3", 0.7, 0.7, True),
        ("a.angle - b.angle - p*t^3", 0.7, 0.7 + 1e-6, True),
    ],
)
def test_a_row_that_opens_while_the_other_one_holds(second: str, a: float, b: float, opens: bool) -> None:
    assert (_excess(two_wheels(second), a, b) > 0.0) is opens


def test_modelica_stops() -> None:
    text = two_wheels("a.angle - b.angle - p*t^3").modelica()
    assert "assert(Phi[2]*Phi[2] - 1000000.0*(Phi[1]*Phi[1]) < 1e-12," in text
    assert "constraint row belt was left out" in text


@pytest.mark.parametrize(("fmi", "mode"), [("2.0", "me"), ("2.0", "cs"), ("3.0", "me"), ("3.0", "cs")])
def test_an_fmu_stops(compile_model: CompileModel, fmi: str, mode: simulate.Mode) -> None:
    """The native one, with the row's name and the time."""
    fmu = compile_model(two_wheels("a.angle - b.angle - p*t^3"), fmi).fmu
    with pytest.raises(SolveError, match=r"constraint row belt was left out .* time in s: 0\.0\d"):
        settings = {"stop": 0.1, "output_step": 0.01, "tolerance": 1e-8, "parameters": {"p": 10.0}}
        simulate.simulate(fmu, mode, ["a_angle"], name="run", **settings)


def test_a_redundant_loop_is_quiet() -> None:
    """Three rows of a planar chain are redundant: none is beyond its bound at states that close the loop."""
    model = prepare(from_data(polygon(3)))
    assert len(model.program.checks) == 3
    symbols = [c.symbol for c in model.mechanism.coordinates]
    state = {"time": 0.0} | dict(zip(symbols, model.start[0], strict=True))
    values = Numeric(model.program, state | dict.fromkeys((f"{s}_dot" for s in symbols), 0.0))
    assert all(float(values(check.value)) < check.bound for check in model.program.checks)
    assert np.isfinite(float(values.values["violation_position"]))


# ---- Rows that are left out because others imply them -----------------------------------------------------------


LATER = "E.x - start(E.x) - "
# rows on a planar arm of 1 m and 0.8 m, start angles → what the refusal says
REFUSED: dict[str, tuple[dict[str, str], tuple[float, float], str]] = {
    "two pairs": (
        {"x1": "E.x - 1.2", "x2": "E.x - 1.3", "z1": "E.z - 0.5", "z2": "E.z - 0.6"},
        (0.4, 0.9),
        "x1, x2, z1, z2 depend on each other and contradict each other in their positions at t = 0 s, by 0.1;",
    ),
    "no joint moves it": (
        {"x": "E.x - 1.2", "y": "E.y - 0.3"},
        (0.4, 0.9),
        "no joint can change y, whose positions are open at t = 0 s, by 0.3;",
    ),
    "stretched": (
        {"x": "E.x - 1.8"},
        (0.0, 0.0),
        "the start is a singular position: the 1 constraint rows have rank 0",
    ),
    "nearly stretched": ({"x": "E.x - 1.8"}, (1e-5, 0.0), "the start is a singular position"),
    "stretched askew": ({"x": "(E.x + E.z)/sqrt(2) - 1.8"}, (np.pi / 4, 0.0), "the start is a singular position"),
    "square": ({"x": "(upper.angle - 0.3)^2"}, (0.3, 0.9), "x would be left out and open by"),
    "square, a little off": ({"x": "(upper.angle - 0.3)^2"}, (0.2, 0.9), "without a square that vanishes there"),
    "part later": (
        {"still": "E.x - start(E.x)", "moving": f"{LATER}quintic(t, 0.5, 0.7, 0, 0.1)"},
        (0.4, 0.9),
        "still, moving depend on each other and contradict each other in their positions at t = 0.5",
    ),
    "for 10 ms": (
        {"still": "E.x - start(E.x)", "pulse": f"{LATER}(0.1 if t > 0.515 else 0)*(1 if t < 0.525 else 0)"},
        (0.4, 0.9),
        "still, pulse depend on each other and contradict each other in their positions at t = 0.52 s, by 0.1;",
    ),
}
# rows that are implied, or hold for ever, and how many are left out
SOUND: dict[str, tuple[dict[str, str], int]] = {
    "plane": ({"x": "E.x - start(E.x)", "y": "E.y"}, 1),
    "twice": ({"x": "E.x - start(E.x)", "same": "2*E.x - 2*start(E.x)"}, 1),
    "starts off": ({"x": "E.x - start(E.x) - 0.1", "same": "2*E.x - 2*start(E.x) - 0.2"}, 1),
    "rounding": ({"x": "E.x/2 + E.x/3 - E.x*5/6", "z": "E.z - start(E.z)"}, 1),
    "identity": ({"x": "tan(upper.angle) - sin(upper.angle)/cos(upper.angle)"}, 1),
    "independent": ({"x": "E.x - start(E.x)", "z": "E.z - start(E.z) - 0.01*t"}, 0),
}


def _arm(rows: dict[str, str], angles: tuple[float, float] = (0.4, 0.9)) -> dict[str, Any]:
    data = manipulator(programmed=[{"name": name, "expression": text} for name, text in rows.items()])
    for link, angle in zip(data["links"], angles, strict=True):
        link["joint"] = link["joint"] | {"position": angle}
    return data | {"simulation": {"start": "description", "stop": 1.0}}


@pytest.mark.parametrize("name", REFUSED)
def test_rows_that_are_not_implied_are_refused(name: str) -> None:
    """One problem that names rows, what is open, when and by how much."""
    rows, angles, words = REFUSED[name]
    mechanism = unchecked(_arm(rows, angles))
    (problem,) = unreachable(mechanism, start_state(mechanism)[0])
    assert words in problem.message


@pytest.mark.parametrize("name", SOUND)
def test_rows_that_are_implied_are_fine(name: str) -> None:
    """No problem; as many are left out as are implied."""
    rows, left_out = SOUND[name]
    mechanism = unchecked(_arm(rows))
    start = start_state(mechanism)
    assert unreachable(mechanism, start[0]) == []
    assert len(rows) - solvability(mechanism, start).rank == left_out
