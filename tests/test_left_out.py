"""Rows that are left out because others imply them at the start are watched during the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileModel
from helpers_program import Numeric
from helpers_redundant import polygon

from gpmelica.errors import SolveError
from gpmelica.fmu.runs import simulate
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare


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
