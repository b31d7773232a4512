"""Descriptions with lengths of zero or beyond all measure: a message with the place, and no traceback."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_parts import Table, X, Y, body, link, machine

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data

_ROPE = {"name": "rope", "stiffness": 1e4, "rest": 0.5}
_CONTACT = {"name": "foot", "link": "lower", "stiffness": 1e4}
_ANCHOR = [1.0, 0.0, 1.0]


def arms(**tables: Any) -> Table:
    """Two rods of 1 m, one hanging on the other, in the x–z plane."""
    upper = link("upper", "revolute", Y, position=0.3) | body(1.0, [0.5, 0.0, 0.0])
    lower = link("lower", "revolute", Y, "upper", xyz=X, position=0.3) | body(1.0, [0.5, 0.0, 0.0])
    return machine(upper, lower, **tables)


def _line(a: Table, b: Table, **keys: Any) -> list[Table]:
    return [_ROPE | {"a": a, "b": b} | keys]


@pytest.mark.parametrize(
    "tables",
    [
        {"lines": _line({"link": "upper", "point": X}, {"link": "lower"})},
        {"lines": _line({"link": "ground"}, {"link": "upper"})},
        {"lines": _line({"link": "lower", "point": X}, {"link": "lower", "point": X})},
        {"lines": _line({"link": "upper", "point": X}, {"link": "lower"}), "simulation": {"start": "description"}},
    ],
)
def test_both_ends_of_a_line_on_one_point(tables: Table) -> None:
    with pytest.raises(DescriptionError, match=r"line rope has a length of 0 m .* has no direction.* move one"):
        assemble_system(from_data(arms(**tables)))


@pytest.mark.parametrize("kind", ["fixed", "spherical", "revolute"])
def test_a_closure_between_the_ends_of_a_rope(kind: str) -> None:
    """The loop is closed first, and then the rope has no length."""
    closure = {"name": "lock", "type": kind, "a": {"link": "ground", "xyz": _ANCHOR}, "b": {"link": "lower"}}
    closure["b"] = {"link": "lower", "xyz": X}
    rope = _line({"link": "ground", "point": _ANCHOR}, {"link": "lower", "point": X}, tension_only=True)
    with pytest.raises(DescriptionError, match=r"line rope has a length of"):
        assemble_system(from_data(arms(lines=rope, closures=[closure])))


@pytest.mark.parametrize(
    ("key", "tables"),
    [
        ("links[0].frame", {}),
        ("points.E", {"points": {"E": {"link": "upper", "position": [0.0, 1e13, 0.0]}}}),
        ("lines[0].b", {"lines": _line({"link": "ground"}, {"link": "upper", "point": [0.0, 0.0, -1e30]})}),
        ("links[0].com", {}),
        ("contacts[0].plane.point", {"contacts": [_CONTACT | {"plane": {"point": [0.0, 0.0, -1e30]}}]}),
    ],
)
def test_places_beyond_all_measure(key: str, tables: Table) -> None:
    table = arms(**tables)
    if key == "links[0].frame":
        table["links"][0]["frame"] = {"xyz": [-1e30, 0.0, 0.0]}
    elif key == "links[0].com":
        table["links"][0]["com"] = [1e30, 0.0, 0.0]
    with pytest.raises(DescriptionError) as found:
        assemble_system(from_data(table))
    problem = found.value.problems[0]
    assert problem.where.startswith(key)
    assert "m from the world's origin; expected at most 1e+12 m" in str(problem)
