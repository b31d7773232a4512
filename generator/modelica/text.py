"""Translation of array expressions into Modelica text, and division of the text into lines."""

from __future__ import annotations

import textwrap

import numpy as np

from ...language import differentiate, ir
from ...language.ir import Expr, Index, Shape

# Modelica operators have these precedences, from low to high: sums, products, powers, and names or calls.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4
_STRENGTH = {"+": _SUM, "-": _SUM, "neg": _SUM, "^": _POWER}
_STRENGTH |= {"*": _PRODUCT, "matmul": _PRODUCT, "/": _PRODUCT}
_WIDTH = 112
# These Modelica expressions replace function calls, so that the Modelica source need not define the functions.
_FORMS = {"sumOfSquares": "sum({0}.*{0})", "ones": "ones({shape[0]})"}


def text(expr: Expr) -> str:
    """Return the Modelica text of an expression."""
    match expr.op:
        case "constant":
            return constant(expr.data)
        case "symbol":
            return str(expr.data)
        case "index":
            return text(expr.args[0]) + subscript(expr.data, expr.args[0].shape)
        case "array":
            return _array(expr)
        case "call":
            return f"{expr.data}({_list(expr.args)})"
        case "function":
            return _FORMS.get(expr.data[0], "{name}({all})").format(
                *map(text, expr.args), name=expr.data[0], all=_list(expr.args), shape=expr.shape
            )
        case "cross":
            return f"cross({_list(expr.args)})"
        case "transpose":
            return f"transpose({text(expr.args[0])})"
        case "if":
            return _choice(expr)
        case "neg":
            return f"-{_inside(expr.args[0], _PRODUCT)}"
    left, right = expr.args
    strength = _STRENGTH[expr.op]
    sign = "*" if expr.op == "matmul" else f" {expr.op} " if strength == _SUM else expr.op
    if expr.op == "^" and right.op == "constant" and right.data == int(right.data) >= 0:
        return f"{_inside(left, _ATOM)}^{int(right.data)}"
    # In Modelica, a power whose base is a power needs parentheses, because `^` is not associative.
    stronger_left = strength + (expr.op == "^")
    return f"{_inside(left, stronger_left)}{sign}{_inside(right, strength + 1)}"


def _inside(expr: Expr, strength: int) -> str:
    own = _STRENGTH.get(expr.op, _ATOM)
    if expr.op == "constant" and not expr.shape and expr.data < 0:
        own = _SUM
    return f"({text(expr)})" if own < strength else text(expr)


def _list(exprs: tuple[Expr, ...]) -> str:
    return ", ".join(text(expr) for expr in exprs)


def _array(expr: Expr) -> str:
    if len(expr.shape) == 1 or any(row.op != "array" for row in expr.args):
        return f"{{{_list(expr.args)}}}"
    return "[" + "; ".join(_list(tuple(row)) for row in expr.args) + "]"


def _choice(expr: Expr) -> str:
    comparison, switched = expr.data
    left, right, then, otherwise, *slope = expr.args
    condition = f"{text(left)} {comparison} {text(right)}"
    if slope:
        condition = _by_switch(comparison, left - right, switched, *slope)
    chosen = f"if {condition} then {text(then)} else {text(otherwise)}"
    return f"noEvent({chosen})" if switched is None else f"({chosen})"


def _by_switch(comparison: str, difference: Expr, switched: str, slope: Expr) -> str:
    """Return Modelica source for a condition such as `difference > 0`, expressed by a switch variable.

    The switch variable is 0 before the event time and 1 from then on. With the condition in this form,
    no solver searches for the event.
    """
    if slope.op == "constant":
        holds_before = (comparison[0] == "<") == bool(slope.data > 0.0)
        return f"{switched} {'<' if holds_before else '>'} 0.5"
    sign = slope * (ir.symbol(switched) - 0.5)
    always = differentiate.substituted(difference, {"time": differentiate.ZERO})
    return f"(if abs({text(slope)}) > 0.0 then {text(sign)} else {text(always)}) {comparison} 0.0"


def constant(value: np.ndarray) -> str:
    """Return the Modelica literal of a number, vector or matrix."""
    if value.ndim == 0:
        return number(float(value))
    if value.ndim == 1 and not value.any():
        return f"zeros({value.shape[0]})"
    if value.ndim == 1:
        return "{" + ", ".join(number(x) for x in value) + "}"
    if value.ndim > 2:
        return "{" + ", ".join(map(constant, value)) + "}"
    if not value.any():
        return f"zeros({value.shape[0]}, {value.shape[1]})"
    return "[" + "; ".join(", ".join(number(x) for x in row) for row in value) + "]"


def number(value: float) -> str:
    """Return the shortest decimal text of a number from which exactly this number is read again."""
    return repr(float(value))


def subscript(index: Index, shape: Shape) -> str:
    """Return the Modelica subscript of a zero-based index, such as `[2,1:3]`."""
    return "[" + ",".join(_one(key, size) for key, size in zip(index, shape, strict=True)) + "]"


def _one(key: int | str | slice, size: int) -> str:
    if isinstance(key, int | str):
        return str(key + 1) if isinstance(key, int) else key
    if key.start == 0 and key.stop == size:
        return ":"
    begin = key.start + 1 if isinstance(key.start, int) else key.start
    return f"{begin}:{key.stop}"


def escaped(value: str) -> str:
    """Return a text with escape sequences for a Modelica string literal, without the enclosing quotes.

    The literal may extend over several lines.
    """
    return value.replace("\r", "").replace("\\", "\\\\").replace('"', '\\"')


def quoted(value: str) -> str:
    """Return a text as a Modelica string literal on one line."""
    return '"' + escaped(value).replace("\n", "\\n").replace("\t", "\\t") + '"'


def layout(code: str, indent: int, description: str = "") -> str:
    """Return one statement as indented lines.

    Lines are broken at spaces, but not within the description string.
    """
    margin = " " * indent
    statement = f"{margin}{code} {description};" if description else f"{margin}{code};"
    if len(statement) <= _WIDTH:
        return statement
    lines = textwrap.wrap(
        code if description else f"{code};",
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=margin + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([*lines, f"{margin}    {description};"] if description else lines)


TIE = "\u00a0"  # A non-breaking space prevents a line break in a comment of the Modelica source.


def comment(words: str, indent: int) -> str:
    """Return a text as a Modelica comment of one or more lines."""
    margin = " " * indent + "// "
    lines = textwrap.wrap(words, _WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
    return "\n".join(lines).replace(TIE, " ")
