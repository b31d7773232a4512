"""Symbolic derivatives against the reference's automatic ones and difference quotients; switching times."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from helpers_reference import slope
from helpers_trees import NAMES, SMOOTH, WITH_KINKS, expressions, value
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpmelica.core.errors import SolveError
from gpmelica.language import differentiate, ir
from gpmelica.language.differentiate import derivative, expand
from gpmelica.language.expressions import FUNCTIONS, parse
from gpmelica.language.ir import Expr
from gpmelica.reference.kinematics.expression import Instant, compile_tree, evaluate, stops
from gpmelica.reference.kinematics.jet import Jet, Value, constant, hessian, plain, variables
from gpmelica.reference.kinematics.segment import Segment

PROFILE = settings(max_examples=150, deadline=None, derandomize=True, database=None)
PARAMETERS = {"k": 0.7}
Point = tuple[float, float, float]
moving = st.tuples(*[st.floats(-1.5, 1.5).map(lambda x: round(x, 3)) for _ in range(3)])
nonzero = st.floats(0.2, 3.0).flatmap(lambda x: st.sampled_from((round(x, 2), -round(x, 2))))


def _numbers(at: Point) -> dict[str, float]:
    return dict(zip(NAMES, at, strict=False)) | PARAMETERS


def _of_jets(text: str, at: Point) -> Callable[[list[Jet]], Value]:
    """The reference's expression of t, E.x and E.y."""
    node = compile_tree(parse(text), PARAMETERS, None)
    return lambda seeds: node.value(Instant(dict(zip(NAMES, seeds, strict=False)), Segment(at[0])))


def _jet(text: str, at: Point) -> Jet:
    """Return value and gradient."""
    return constant(_of_jets(text, at)(variables(at)), 3)


def _parts(tree: Expr) -> list[Expr]:
    return [tree, *(part for child in tree.args for part in _parts(child))]


def test_every_function_is_tried() -> None:
    """The random expressions use every function of the language."""
    untried = [f for f in FUNCTIONS if not any(f"{f}(" in pattern for pattern in SMOOTH + WITH_KINKS)]
    assert untried == ["start", "table"]  # see test_tables.py


@PROFILE
@given(expressions(SMOOTH + WITH_KINKS), moving)
def test_expansion_keeps_the_value(text: str, at: Point) -> None:
    """An expanded tree has the reference's value."""
    found = value(expand(parse(text)), _numbers(at))
    assert found == pytest.approx(_jet(text, at).value, rel=1e-12, abs=1e-12)


@PROFILE
@given(expressions(SMOOTH + WITH_KINKS), moving)
def test_derivatives_are_the_jets(text: str, at: Point) -> None:
    """First and second symbolic derivatives agree with the reference's automatic ones, kinks or not."""
    # beside kinks in time, on which the reference is already behind them
    _check_derivatives(text, (at[0] + 1e-9 * math.pi, *at[1:]))


# some operations are rare among random expressions, and their arguments often constants
@pytest.mark.parametrize("pattern", [*SMOOTH, *WITH_KINKS, "{0}/E.x - 2/({1})", "2^({0})", "({0})^3*(E.x/2)^2"])
def test_each_operation_of_moving_arguments(pattern: str) -> None:
    """Each operation by itself has the derivatives of finite differences."""
    text = pattern.format("sin(E.x*t) + E.y", "0.6 + E.x*t - 0.3*E.y", "t*E.y - E.x")
    _check_derivatives(text, (0.3, 0.7, -0.4))


def _check_derivatives(text: str, at: Point) -> None:
    tree, jet, numbers = expand(parse(text)), _jet(text, at), _numbers(at)
    curvatures = hessian(_of_jets(text, at), at)
    scale = max(1.0, float(np.abs(jet.gradient).max()), float(np.abs(curvatures).max()))
    for i, first in enumerate(NAMES[:3]):
        slope_tree = derivative(tree, first)
        assert value(slope_tree, numbers) == pytest.approx(jet.gradient[i], abs=1e-11 * scale)
        for j, second in enumerate(NAMES[:3]):
            curvature = value(derivative(slope_tree, second), numbers)
            assert curvature == pytest.approx(curvatures[i, j], abs=1e-10 * scale)
    rates, seconds = np.array([-1.0, -0.2, 0.5]), np.array([2.0, 0.4, -1.0])
    along = constant(_of_jets(text, at)(variables(at, rates.tolist(), seconds.tolist())), 3)
    assert along.rate == pytest.approx(jet.gradient @ rates, abs=1e-11 * scale)
    assert along.second == pytest.approx(rates @ curvatures @ rates + jet.gradient @ seconds, abs=1e-10 * scale)


@PROFILE
@given(expressions(), moving)
def test_derivatives_are_difference_quotients(text: str, at: Point) -> None:
    """Derivatives of smooth expressions agree with central differences, parameters included."""
    tree, numbers = expand(parse(text)), _numbers(at)
    # the third derivative of quintic jumps at its ends, within the reach of the differences too
    assume(all(abs(value(tau, numbers) - end) > 0.1 for tau in _taus(tree) for end in (0.0, 1.0)))
    for name in NAMES:
        quotient = slope(lambda h, name=name: value(tree, numbers | {name: numbers[name] + h}), 1e-3)
        found = value(derivative(tree, name), numbers)
        assert found == pytest.approx(float(quotient), rel=1e-6, abs=1e-6)


def _taus(tree: Expr) -> list[Expr]:
    return [part.args[0] for part in _parts(tree) if part.function.startswith("quintic")]


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("E.x^0", 0.0, 0.0),
        ("E.x^1", 1.0, 0.0),
        ("E.x^2", 0.0, 2.0),
        ("E.x^3", 0.0, 0.0),
        ("E.x*E.y", 3.0, 0.0),
        ("abs(E.x)", 0.0, 0.0),
        ("min(E.x, 0)", 1.0, 0.0),
        ("max(E.x, 0)", 1.0, 0.0),
    ],
)
def test_derivatives_at_zero(text: str, first: float, second: float) -> None:
    """At E.x = 0, powers have the derivatives of polynomials, and kinks those of the reference: first argument."""
    numbers, slope_tree = {"E.x": 0.0, "E.y": 3.0, "t": 0.0}, derivative(expand(parse(text)), "E.x")
    assert (value(slope_tree, numbers), value(derivative(slope_tree, "E.x"), numbers)) == (first, second)
    seeds = dict(zip(numbers, variables(list(numbers.values()), [1.0, 0.0, 0.0]), strict=True))
    jet = constant(compile_tree(parse(text), {}, None).value(Instant(seeds, Segment(0.0))), 3)
    assert (jet.gradient[0], jet.second) == (first, second)


def test_derivative_of_start() -> None:
    """start(x) is a constant: it has no derivative by anything."""
    tree = expand(parse("start(E.x*t)*E.x + start(sin(E.x))"))
    assert ir.is_zero(derivative(tree, "t"))
    assert ir.key(derivative(tree, "E.x")) == ir.key(parse("start(E.x*t)"))


def test_third_derivative_of_quintic() -> None:
    """quintic is differentiated twice and no more: its third derivative jumps."""
    tree = expand(parse("quintic(t, 0, 1, 0, 1)"))
    second = derivative(derivative(tree, "t"), "t")
    with pytest.raises(ValueError, match="quintic can be differentiated at most twice"):
        derivative(second, "t")


@PROFILE
@given(expressions(), st.sampled_from(("E.x", "t")))
def test_constants_are_folded(text: str, name: str) -> None:
    """No operation of arithmetic on numbers alone is left over, in trees or their derivatives."""
    for tree in (expand(parse(text)), derivative(expand(parse(text)), name)):
        for part in _parts(tree):
            if part.op in ("+", "-", "*", "neg"):
                assert not all(argument.op == "constant" for argument in part.args)


@PROFILE
@given(nonzero, nonzero, st.floats(-2, 2).map(lambda x: round(x, 2)), st.sampled_from(("<", "<=", ">", ">=")))
def test_switching_times(a: float, b: float, c: float, comparison: str) -> None:
    """A comparison affine in t switches where both sides meet, as in the reference; the slope gives its sign."""
    text = f"1 if {a}*(t - k) + {b} {comparison} {c} - t/7 else 2"
    tree = expand(parse(text))
    assert tree.op == "if"
    time = differentiate.switching_time(tree, PARAMETERS.__contains__)
    assert time is not None
    (expected,) = stops(compile_tree(parse(text), PARAMETERS, None))
    t = value(time, PARAMETERS)
    assert t == pytest.approx(expected, rel=1e-12)
    rate = value(differentiate.slope(tree), PARAMETERS)
    for side in (-1.0, 1.0):
        numbers = PARAMETERS | {"t": t + side}
        difference = value(tree.args[0], numbers) - value(tree.args[1], numbers)
        assert difference == pytest.approx(side * rate, rel=1e-9)


@pytest.mark.parametrize(
    "condition",
    ["E.x < 1", "t*E.x < 1", "t^2 < 1", "1 < k", "(1 - 1)*t < 1", "t - t < 1", "sin(t) < 0", "E.x < t"],
)
def test_no_switching_time(condition: str) -> None:
    """Conditions on the state, on functions of time, or on nothing that changes have no switching time."""
    tree = expand(parse(f"1 if {condition} else 2"))
    assert tree.op == "if"
    assert differentiate.switching_time(tree, PARAMETERS.__contains__) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quintic(t, 0.2, k, 0, 1)", {0.2, 0.7}),
        ("quintic(2*t - 1, 0, 1, 0, E.x)*E.y", {0.5, 1.0}),
        ("quintic(t, 3, 1, 0, 1) + sin(quintic(-t, -2, 0, 0, 1))", {1.0, 3.0, 2.0, 0.0}),
        ("quintic(E.x, 0, 1, 0, 1)", set()),
    ],
)
def test_breakpoints(text: str, expected: set[float]) -> None:
    """A quintic in time breaks at its two ends, wherever it is in the expression."""
    found = {round(value(time, PARAMETERS), 12) for time in differentiate.breakpoints(expand(parse(text)))}
    assert found == expected


# ---- Expressions of the reference -------------------------------------------------------------------------------


NUMBERS = {"k": 1.7}


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
    """For an argument outside of a function's domain, the error names expression, time, function and argument."""
    node = compile_tree(parse(text), {}, None)
    with pytest.raises(SolveError, match=rf"force f has no value at t = 0\.25 s: {what}"):
        evaluate(node, Instant({"t": 0.25, "E.x": -1.0}, Segment(0.25)), "force f")


def test_sign_of_any_number() -> None:
    """The sign is defined for NumPy's numbers, whose comparisons cannot be subtracted."""
    node = compile_tree(parse("sign(E.x)"), {}, None)
    values = [-2.0, 0.0, 3.0]
    assert [node.value(Instant({"E.x": np.float64(x)}, Segment(0.0))) for x in values] == [-1.0, 0.0, 1.0]


def test_start_values() -> None:
    """start(x) is a constant where the start is known, and x itself where the present state is the start."""
    tree = parse("E.x - start(E.x + k)")
    known = compile_tree(tree, NUMBERS, lambda node: plain(node.value(Instant({"E.x": 5.0}, Segment(0.0)))))
    unknown = compile_tree(tree, NUMBERS, None)
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
    node = compile_tree(parse(f"1 if {condition} else 2"), NUMBERS, None)
    (found,) = stops(node)
    assert found == pytest.approx(time, rel=1e-15)
    after = 3 - before
    # Only the begin of the segment counts, not the time: an integrator's stages may reach beyond the switch.
    for since, expected in ((0.0, before), (found - 1e-9, before), (found, after), (found + 1, after)):
        for t in (found - 1.0, found, found + 1.0):
            assert node.value(Instant({"t": t}, Segment(since))) == expected


def test_conditions_without_event() -> None:
    """Conditions on the state are evaluated directly; constant conditions are decided once."""
    free = compile_tree(parse("1 if t*E.x < 1 else 2"), {}, None)
    assert not list(stops(free))
    assert [free.value(Instant({"t": 2.0, "E.x": x}, Segment(0.0))) for x in (0.4, 0.6)] == [1, 2]
    fixed = compile_tree(parse("1 if 2*k > t - t else 2"), NUMBERS, None)
    assert (fixed.value(Instant({}, Segment(0.0))), list(stops(fixed))) == (1, [])


def test_stops() -> None:
    """Integrators stop at switches, breakpoints and kinks in time, wherever they hide in the expression."""
    text = "E.x*quintic(t, k, 2*k, 0, 1) + (abs(t - 1) if t > 4 and t < 5 else min(t, E.y)) + max(2*t, 5)"
    assert sorted({*stops(compile_tree(parse(text), NUMBERS, None))}) == pytest.approx([1, 1.7, 2.5, 3.4, 4, 5])
