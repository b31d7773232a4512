"""Expressions of the reference: automatic derivatives against differences, switches on time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpmelica.errors import SolveError
from gpmelica.generator.language.expressions import parse
from gpmelica.reference.kinematics.expression import Instant, compile_tree, evaluate, stops
from gpmelica.reference.kinematics.jet import constant, plain, variables
from gpmelica.reference.kinematics.segment import Segment

PARAMETERS = {"k": 1.7}


def test_powers_at_zero() -> None:
    """x, x² and x³ have derivatives at 0, though 1/x has not."""
    (x,) = variables([0.0], [1.0])
    for text, expected in (("E.x^1", (1.0, 0.0)), ("E.x^2", (0.0, 2.0)), ("E.x^3", (0.0, 0.0)), ("E.x^0", (0, 0))):
        jet = constant(compile_tree(parse(text), {}, None).value(Instant({"E.x": x}, Segment(0.0))), 1)
        assert (jet.gradient[0], jet.second) == expected


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("sqrt(E.x)", r"sqrt\(-1\), or a derivative of it, is not defined"),
        ("log(E.x)", r"log\(-1\)"),
        ("1 + 1/(E.x + 1)", r"/\(1, 0\)"),
        ("asin(2*E.x)", r"asin\(-2\)"),
        ("E.x^0.5", r"\^\(-1, 0.5\)"),
        ("exp(-900*E.x)", r"exp\(900\), or a derivative of it, is too large"),
    ],
)
def test_outside_of_the_domain(text: str, what: str) -> None:
    """Where a function is not defined, the error names the expression, the time, the function and its argument."""
    node = compile_tree(parse(text), {}, None)
    with pytest.raises(SolveError, match=rf"force f has no value at t = 0\.25 s: {what}"):
        evaluate(node, Instant({"t": 0.25, "E.x": -1.0}, Segment(0.25)), "force f")


def test_sign_of_any_number() -> None:
    """Of NumPy's numbers too: their comparisons cannot be subtracted."""
    node = compile_tree(parse("sign(E.x)"), {}, None)
    values = [-2.0, 0.0, 3.0]
    assert [node.value(Instant({"E.x": np.float64(x)}, Segment(0.0))) for x in values] == [-1.0, 0.0, 1.0]


def test_start_values() -> None:
    """start(x) is a constant where the start is known, and x itself where the present state is the start."""
    tree = parse("E.x - start(E.x + k)")
    known = compile_tree(tree, PARAMETERS, lambda node: plain(node.value(Instant({"E.x": 5.0}, Segment(0.0)))))
    unknown = compile_tree(tree, PARAMETERS, None)
    now = Instant({"E.x": 8.0}, Segment(0.0))
    assert known.value(now) == pytest.approx(8.0 - (5.0 + 1.7))
    assert unknown.value(now) == pytest.approx(-1.7)


@pytest.mark.parametrize(
    ("condition", "time", "before"),
    [
        ("t <= 0.1", 0.1, 1),
        ("t < 0.1", 0.1, 1),
        ("t > 0.1", 0.1, 2),
        ("0.1 >= t", 0.1, 1),
        ("2*(t - k) >= -t/2 - 1", (2 * 1.7 - 1) / 2.5, 2),
        ("-t < -pi", math.pi, 2),
    ],
)
def test_switches(condition: str, time: float, before: int) -> None:
    """A comparison affine in t keeps its truth of before t* until the segment that begins at t*."""
    node = compile_tree(parse(f"1 if {condition} else 2"), PARAMETERS, None)
    (found,) = stops(node)
    assert found == pytest.approx(time, rel=1e-15)
    after = 3 - before
    # Only the begin of the segment counts, not the time: an integrator's stages may reach beyond the switch.
    for since, expected in ((0.0, before), (found - 1e-9, before), (found, after), (found + 1, after)):
        for t in (found - 1.0, found, found + 1.0):
            assert node.value(Instant({"t": t}, Segment(since))) == expected


def test_what_is_no_switch() -> None:
    """Conditions on the state are evaluated as they are, constant ones are decided once."""
    free = compile_tree(parse("1 if t*E.x < 1 else 2"), {}, None)
    assert not list(stops(free))
    assert [free.value(Instant({"t": 2.0, "E.x": x}, Segment(0.0))) for x in (0.4, 0.6)] == [1, 2]
    fixed = compile_tree(parse("1 if 2*k > t - t else 2"), PARAMETERS, None)
    assert (fixed.value(Instant({}, Segment(0.0))), list(stops(fixed))) == (1, [])


def test_stops() -> None:
    """Integrators stop at switches, breakpoints and kinks in time, wherever they hide in the expression."""
    text = "E.x*quintic(t, k, 2*k, 0, 1) + (abs(t - 1) if t > 4 and t < 5 else min(t, E.y)) + max(2*t, 5)"
    assert sorted(stops(compile_tree(parse(text), PARAMETERS, None))) == pytest.approx([1, 1.7, 2.5, 3.4, 4, 5])
