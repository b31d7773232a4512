"""Constraint equations whose gradient is a rounding error: production and oracle agree on the rank."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from helpers_parts import Z, body, link, machine

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from gpmelica.oracle.checks.start import check_start
from gpmelica.tasks.second_opinion import given

FAR = [1000.3, -2000.7, 50.1]  # m
CANCELLING = (
    "3*E.x - E.x - E.x - E.x",
    "0.1*E.x + 0.2*E.x - 0.3*E.x",
    "(E.x + E.y)^2 - E.x^2 - 2*E.x*E.y - E.y^2",
    "exp(log(E.x^2 + 1)) - E.x^2 - 1",
    "atan2(E.y, E.x) - atan(E.y/E.x)",
    "sin(arm.angle)^2 + cos(arm.angle)^2 - 1",
    "E.R11^2 + E.R21^2 + E.R31^2 - 1",
    "A.x - start(A.x)",  # A is on the axis of its joint
    "A.x^2 + A.y^2 - start(A.x^2 + A.y^2)",
)


def arms(*expressions: str, aside: float = 0.0, origin: list[float] | None = None, order: int = 0) -> System:
    """Two links with programmed constraints; A is at the given distance from the first joint's axis, m."""
    tilted = {"frame": {"xyz": origin or [0.0, 0.0, 0.0], "rpy": [0.3, 0.2, 0.1]}}
    arm = link("arm", "revolute", Z, position=0.3) | body(2.0, [0.3, 0.0, 0.0]) | tilted
    fore = link("fore", "revolute", Z, "arm", position=0.9) | body(1.0, [0.2, 0.0, 0.0])
    fore |= {"frame": {"xyz": [1.0, 0.0, 0.0], "rpy": [0.7, 0.0, 0.4]}}
    tip = {"link": "fore", "position": [0.7, 0.0, 0.0], "rpy": [0.1, 0.2, 0.3]}
    points = {"E": tip, "A": {"link": "arm", "position": [aside, 0.0, 0.37]}}
    rows = [{"name": f"p{k}", "expression": text, "order": order} for k, text in enumerate(expressions)]
    times: dict[str, Any] = {"start": "description", "stop": 0.1}
    return assemble_system(from_data(machine(arm, fore, points=points, programmed=rows, simulation=times)))


@pytest.mark.parametrize("origin", [None, FAR])
@pytest.mark.parametrize("expression", CANCELLING)
def test_terms_that_cancel_are_no_constraint(expression: str, origin: list[float] | None) -> None:
    """The rank is 0, near the world's origin and far from it, and the oracle has no objection."""
    data, claims = given(arms(expression, origin=origin))
    assert claims.rank == 0
    assert check_start(data, claims) == ()


def test_other_levels_and_other_rows() -> None:
    """A velocity that cancels has rank 0. An independent constraint beside it keeps its rank."""
    data, claims = given(arms("0.1*E.vx + 0.2*E.vx - 0.3*E.vx", order=1))
    assert (claims.rank, check_start(data, claims)) == (0, ())
    data, claims = given(arms("E.x - start(E.x)", "0.1*E.x + 0.2*E.x - 0.3*E.x"))
    assert (claims.kept, check_start(data, claims)) == (("p0",), ())


@pytest.mark.parametrize("expression", ["1e-9*(E.x - start(E.x))", "arm.angle^2 - start(arm.angle^2)"])
def test_short_rows_are_constraints(expression: str) -> None:
    """A small factor does not make a constraint negligible: the oracle rejects the claim of rank 0."""
    data, claims = given(arms(expression))
    assert (claims.rank, check_start(data, claims)) == (1, ())
    assert "rank 1, not 0" in check_start(data, replace(claims, rank=0, kept=()))[0]


@pytest.mark.parametrize(("aside", "rank"), [(1e-3, 1), (1e-6, 1), (1e-8, 0), (1e-11, 0)])
def test_a_point_close_to_its_axis(aside: float, rank: int) -> None:
    """A lever of a millionth of the machine counts, and a lever of a hundred-millionth does not."""
    data, claims = given(arms("A.x - start(A.x)", aside=aside))
    assert (claims.rank, check_start(data, claims)) == (rank, ())
    wrong = replace(claims, rank=1 - rank, kept=() if rank else ("p0",))
    is_sure = aside in (1e-3, 1e-6, 1e-11)
    assert bool(check_start(data, wrong)) is is_sure
