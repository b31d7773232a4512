"""The expression language: what it takes, its symbolic derivatives, switching times and start values."""

from __future__ import annotations

import math
import re

import pytest
from casadi import SX
from helpers_reference import manipulator
from helpers_stages import StagedModel
from helpers_trees import SMOOTH, WITH_KINKS, expressions, value
from hypothesis import given, settings
from hypothesis import strategies as st

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.fmu.code.casadi_eval import Evaluator
from gpmelica.generator.program.program import EquationSystem
from gpmelica.language import constants, ir
from gpmelica.language.differentiate import expand
from gpmelica.language.expressions import degree, level, names, parse, running_names
from gpmelica.language.ir import Expr, key
from gpmelica.reference.kinematics.expression import Instant, compile_tree
from gpmelica.reference.kinematics.jet import plain
from gpmelica.reference.kinematics.segment import Segment

PROFILE = settings(max_examples=150, deadline=None, derandomize=True, database=None)
PARAMETERS = {"k": 0.7}
moving = st.tuples(*[st.floats(-1.5, 1.5).map(lambda x: round(x, 3)) for _ in range(3)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3", 7.0),
        ("2^3^2", 512.0),
        ("2**3**2", 512.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("1 - 2 - 3", -4.0),
        ("8/4/2", 1.0),
        ("(1 + 2)*3", 9.0),
        ("+-+1", -1.0),
        (".5 + 1e-1 + 1_0", 10.6),
        ("1\n  + 2", 3.0),
        ("1 if 2 < 3 else 4", 1.0),
        ("1 if 3 <= 2 else 4 if 1 > 0 else 5", 4.0),
        ("1 if 1 < 2 < 3 else 0", 1.0),
        ("1 if 1 < 2 > 3 else 0", 0.0),
        ("1 if 1 < 2 and 3 < 2 else 0", 0.0),
        ("1 if 1 > 2 or 3 > 2 else 0", 1.0),
        ("1 if not 1 >= 2 else 0", 1.0),
        ("1 if not (1 < 2 and 2 < 1) or 5 < 4 else 0", 1.0),
        ("atan2(1, -1)", 0.75 * math.pi),
        ("min(2, max(1, 3))", 2.0),
        ("sign(-2) + abs(-2)", 1.0),
        ("cos(pi)", -1.0),
        ("quintic(2, 1, 3, -2, 6)", 2.0),
        ("quintic(0, 1, 3, -2, 6) + quintic(4, 1, 3, -2, 6)", 4.0),
    ],
)
def test_values(text: str, expected: float) -> None:
    """Operators bind as in mathematics, powers to the right; conditions may be chained, joined and negated."""
    by_reference = compile_tree(parse(text), {}, None).value(Instant({}, Segment(0.0)))
    for found in (value(expand(parse(text)), {}), plain(by_reference)):
        assert found == pytest.approx(expected, rel=1e-15)


def test_numbers_are_accepted_as_expressions() -> None:
    """A number is accepted in place of an expression and has its own value."""
    assert key(parse(2)) == key(parse(2.0)) == key(parse("2")) == ("constant", 2.0)


def test_names() -> None:
    """Names keep their order and repetitions; those inside of `start` do not run."""
    tree = parse("E.x + k*start(E.y + t) - E.x*link.angle_dot")
    assert list(names(tree)) == ["E.x", "k", "E.y", "t", "E.x", "link.angle_dot"]
    assert list(running_names(tree)) == ["E.x", "k", "E.x", "link.angle_dot"]
    assert [level(name) for name in ("E.vx", "a.psi_dot", "E.x", "a.psi", "k")] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("start(start(E.x))", "start(E.x)"),
        ("start(E.y + start(E.x)*2) + start(t)", "start(E.y + E.x*2) + start(t)"),
        ("start(1 if start(E.x) < 1 else -start(k))", "start(1 if E.x < 1 else -k)"),
    ],
)
def test_start_inside_of_start(text: str, same: str) -> None:
    """At the start, start(x) is x: nothing remains of an inner one."""
    assert key(parse(text)) == key(parse(same))


FOREIGN = """
__import__('os').system('x') | ().__class__.__bases__ | E.x.real | lambda: 1 | [x for x in E] | f'{E.x}'
'text' | E[0] | {1: 2} | (1, 2) | 0,5 | True | 1j | ... | 1 < 2 | 1 and 2 | 5 % 2 | 5 // 2 | ~1 | sin(x=1)
sin(*E) | (sin)(1)(2) | await E | (x := 1)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "is not part of the expression language") for text in re.split(r" \| |\n", FOREIGN.strip())),
        ("eval(1)", "unknown function 'eval'; known are: sin, cos"),
        ("sin(1, 2)", "sin takes 1 argument, got 2"),
        ("atan2(1)", "atan2 takes 2 arguments, got 1"),
        ("start()", "start takes 1 argument, got 0"),
        ("1 if 1 == 1 else 2", "'1 == 1' is not a condition: expected a comparison by < <= > >="),
        ("1 if E.x else 2", "'E.x' is not a condition"),
        ("1 if 1 < 2 and E.x else 2", "'E.x' is not a condition"),
        ("1 +", "cannot read '1 \\+': invalid syntax at its end"),
        ("", "cannot read ''"),
        ("a b^2 c", "cannot read 'a b\\^2 c': invalid syntax near 'b\\^2 c'"),
        ("x = 1", "cannot read 'x = 1': invalid syntax near '= 1'"),
        ("1; 2", "cannot read '1; 2'"),
        ("1 # half", "an expression cannot contain comments"),
        ("1\x00", "cannot read"),
        ("1e400", "expected a number below 1e300, got inf"),
        ("1" + "0" * 400, "expected a number below 1e300, got 1000000000"),
        ("1" * 5000, "cannot read '1111"),
        ("(" * 300 + "1" + ")" * 300, "cannot read '\\(\\(\\("),
        ("(" * 10_000 + "1" + ")" * 10_000, "expected at most 10000 characters, got 20001"),
        ("1+" * 50_000 + "1", "expected at most 10000 characters, got 100001"),
        ("-" * 4000 + "1", "expected at most 50 levels"),
        ("+".join(["E.x"] * 51), "expected at most 50 levels; a sum of n terms has n levels"),
        ("1 if " + " and ".join(["(t < 1 or t > 2)"] * 12) + " else 2", "expected at most 1000 numbers, names"),
    ],
)
def test_unsupported_syntax_is_rejected(text: str, message: str) -> None:
    """Unsupported syntax is rejected with a reason before anything is evaluated."""
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_messages_stay_short() -> None:
    """A reason quotes the part that is wrong, not thousands of characters."""
    for text in ("$" * 9000, "[" + "1," * 4000 + "]", "x" * 9000 + "(1)"):
        with pytest.raises(ValueError, match=r"^.{1,400}$"):
            parse(text)


def test_sums_in_parentheses_may_be_long() -> None:
    """A sum of 160 terms in groups is accepted, as the message on nesting depth advises."""
    group = "(" + " + ".join(["0.1*cos(t)"] * 40) + ")"
    assert value(parse(" + ".join([group] * 4)), {"t": 0.0}) == pytest.approx(16.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("E.x + 1/0", "1 / 0 divides by zero"),
        ("E.x/(2 - 2)", "… / 0 divides by zero"),
        ("t/(k - 0.7)", "… / 0 divides by zero"),
        ("9**9**9", r"9 \^ 3.8742e\+08 has no finite value: it is undefined or too large"),
        ("exp(1000)*E.x", r"exp\(1000\) has no finite value: it is undefined or too large"),
        ("1e200*1e200", r"1e\+200 \* 1e\+200 has no finite value: it is undefined or too large"),
        ("sqrt(-k)", r"sqrt\(-0.7\) has no finite value: it is undefined or too large"),
        ("log(0)", r"log\(0\) has no finite value: it is undefined or too large"),
        ("(-1)^0.5", r"\(-1\) \^ 0.5 has no finite value: it is undefined or too large"),
        ("0^-1", r"0 \^ \(-1\) has no finite value: it is undefined or too large"),
        ("asin(2) if t < 1 else 0", r"asin\(2\) has no finite value: it is undefined or too large"),
        ("1/(0 if k < 1 else 1)", "1 / 0 divides by zero"),
        ("start(1/0)", "1 / 0 divides by zero"),
        ("quintic(t, 1, 1, 0, 2)", r"quintic\(…, 1, 1, 0, 2\) has no duration: t0 and t1 must differ"),
    ],
)
def test_constants_without_a_value(text: str, message: str) -> None:
    """Operations on constants that have no finite value are found before a run, parameters included."""
    with pytest.raises(ValueError, match=f"^{message}$"):
        constants.check(parse(text), PARAMETERS)


@pytest.mark.slow
@PROFILE
@given(expressions(SMOOTH + WITH_KINKS))
def test_constants_with_a_value(text: str) -> None:
    """Expressions that have a value everywhere are let through, also where all their names are constants."""
    constants.check(parse(text), PARAMETERS)
    constants.check(parse(text), PARAMETERS | {"t": 0.3, "E.x": -0.4, "E.y": 0.9})


DEGREES = (
    "3*t*E.x + k; start(E.vx)",
    "E.vx; -(E.x*E.vx - t)/2 + start(E.vx)*E.vy; E.vx if E.x < 1 else 2*E.vy",
    "E.vx*E.vy; E.vx^2; 1/E.vx; sin(E.vx); sign(E.vx); abs(E.vx); max(E.vx, 0); 1 if E.vx < 0 else 2; 2^E.vx",
)


@pytest.mark.parametrize("expected", range(3))
def test_degree(expected: int) -> None:
    """The degree in the velocities, as far as the form shows it."""
    for text in DEGREES[expected].split("; "):
        assert degree(parse(text), {"E.vx", "E.vy"}) == expected, text


def test_start_values_stay() -> None:
    """start(x) is x at the start state, whatever the state and time it is asked for in."""
    text = "E.z - start(E.z) + 0*start(start(E.x)*lower.angle + t)"
    rows = [{"name": "height", "expression": text}]
    model = assemble_system(from_data(manipulator(programmed=rows, simulation={"start": "description"})))
    staged = StagedModel(model)
    start = staged(0.0, *model.start)
    assert start.outputs["violation_position"] == 0.0
    later = [staged(t, model.start[0] + t, model.start[1] - t) for t in (0.3, 1.0)]
    assert all(values.start_values == start.start_values for values in later)
    assert start.start_values == pytest.approx(model.start_values(), rel=1e-14)
    q = model.start[0]
    expected = math.sin(q[0]) + 0.8 * math.sin(q.sum())
    assert start.outputs["E_z"] == pytest.approx(expected, rel=1e-14)
    assert expected in [pytest.approx(found, rel=1e-14) for found in start.start_values.values()]


def test_names_are_trees() -> None:
    """t, pi and parameters are names like any other until they are expanded."""
    pi, t, k = map(ir.symbol, ("pi", "t", "k"))
    assert key(parse("pi*t*k")) == key(pi * t * k)
    assert float(expand(parse("pi")).data) == math.pi


def test_sums_of_many_terms() -> None:
    """The joint reactions of long chains are sums over all bodies, deeper than Python's recursion limit."""
    program, x = EquationSystem("Sum", ""), ir.symbol("x")
    total = x
    for k in range(2000):
        total = total + float(k) * x
    total = program.define("total", total, None, "")
    evaluate = Evaluator(program, {"x": SX(2.0)}, None)
    evaluate.prepare(["total"])
    assert float(evaluate(total)) == 2.0 + 2000 * 1999


def test_nothing_is_simplified() -> None:
    """Expressions keep the user's operations, which messages show."""
    zero, one, t = ir.constant(0.0), ir.constant(1.0), ir.symbol("t")
    written = Expr("+", (), (Expr("neg", (), (Expr("neg", (), (one,)),)), Expr("*", (), (zero, t))))
    assert key(parse("-(-1) + 0*t")) == key(written)
    assert key(expand(written)) == key(one)
