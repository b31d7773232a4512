"""Rows that are left out because others imply them: at the start they do, or the description is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_reference import manipulator, unchecked

from gpmelica.reference import solvability, start_state, unreachable

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
