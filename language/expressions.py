"""The expression language of descriptions: text → expression, by a whitelist, never evaluated by Python.

Names are `t`, `pi`, parameters, and `<owner>.<quantity>` such as `E.x` or `column.angle_dot`.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from . import ir
from .ir import Expr
from .suggest import alternatives

FUNCTIONS = {
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "atan2": 2,
    "sqrt": 1,
    "exp": 1,
    "log": 1,
    "abs": 1,
    "min": 2,
    "max": 2,
    "tanh": 1,
    "sign": 1,
    "quintic": 5,
    "start": 1,
    "noevent": 1,
    "table": 2,
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "^",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LONGEST = 10_000  # characters
_DEEPEST = 50  # levels: derivatives are three times as deep, and renderers recurse
_MOST_PARTS = 1000  # the size of derivatives grows with its cube


@dataclass(frozen=True)
class Dialect:
    """Functions and names of an expression language.

    Parameters
    ----------
    functions
        Name of each function and its admissible numbers of arguments.
    names
        Sentence part that lists the names, for messages.
    """

    functions: Mapping[str, tuple[int, ...]]
    names: str


DESCRIPTIONS = Dialect(
    {name: (count,) for name, count in FUNCTIONS.items()},
    "t, pi, parameters, names such as E.x and column.angle_dot",
)
_TOO_DEEP = f"expected at most {_DEEPEST} levels; a sum of n terms has n levels, and fewer with parentheses in it"


def parse(text: str | float, dialect: Dialect = DESCRIPTIONS) -> Expr:
    """The expression as it is written, nothing simplified; a number stands for itself.

    dialect  functions and names of the language; by default those of descriptions
    Raises ValueError with what was expected if the text is not in the language.
    """
    if not isinstance(text, str):
        return ir.constant(float(text))
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters, got {len(text)}")
    if "#" in text:
        raise ValueError("an expression has no comments ('#')")
    line = " ".join(text.split()).replace("^", "**")
    try:
        tree = _tree(ast.parse(line, mode="eval").body, dialect)
    except SyntaxError as error:
        raise ValueError(f"cannot read {_short(text)!r}: {error.msg}{_near(line, error)}") from None
    except (RecursionError, MemoryError):
        raise ValueError(_TOO_DEEP) from None
    _check_size(tree)
    return _with_plain_starts(tree)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _near(line: str, error: SyntaxError) -> str:
    """Return the place of a syntax error in the description's notation."""
    rest = line[error.offset - 1 :] if error.offset else ""
    return f" near {_short(rest.replace('**', '^'))!r}" if rest else " at its end"


def _check_size(tree: Expr) -> None:
    stack, parts = [(tree, 1)], 0
    while stack:
        node, level = stack.pop()
        parts += 1
        if level > _DEEPEST:
            raise ValueError(_TOO_DEEP)
        if parts > _MOST_PARTS:
            raise ValueError(f"expected at most {_MOST_PARTS} numbers, names and operations; simplify it")
        stack.extend((child, level + 1) for child in node.args)


def _with_plain_starts(tree: Expr, inside: bool = False) -> Expr:
    """The tree without `start` inside of `start`: at the start, start(x) is x."""
    if tree.function == "start" and inside:
        return _with_plain_starts(tree.args[0], inside)
    inside = inside or tree.function == "start"
    return replace(tree, args=tuple(_with_plain_starts(child, inside) for child in tree.args))


def renamed(tree: Expr, others: Mapping[str, str]) -> Expr:
    """The tree with other names in place of these."""
    if tree.op == "symbol":
        return ir.symbol(others.get(tree.data, tree.data))
    return replace(tree, args=tuple(renamed(child, others) for child in tree.args))


def names(tree: Expr) -> Iterator[str]:
    """All names in the tree, arguments of `start` included."""
    if tree.op == "symbol":
        yield tree.data
    for child in tree.args:
        yield from names(child)


def running_names(tree: Expr) -> Iterator[str]:
    """Names whose value at the present time matters: all but the arguments of `start`."""
    if tree.op == "symbol":
        yield tree.data
    if tree.function != "start":
        for child in tree.args:
            yield from running_names(child)


def started_names(tree: Expr) -> Iterator[str]:
    """Names whose value at the start matters: the arguments of `start`."""
    if tree.function == "start":
        yield from names(tree)
        return
    for child in tree.args:
        yield from started_names(child)


def tables(tree: Expr) -> Iterator[Expr]:
    """All uses of tables in the tree."""
    if tree.op == "table":
        yield tree
    for child in tree.args:
        yield from tables(child)


def level(name: str) -> int:
    """0 for positions (`E.x`), 1 for velocities (`E.vx`, `column.angle_dot`, `lift.rate`), 2 for accelerations."""
    quantity = name.partition(".")[2]
    if quantity in ("ax", "ay", "az") or quantity.endswith("_ddot"):
        return 2
    return int(quantity in ("vx", "vy", "vz", "rate") or quantity.endswith("_dot"))


def rate_of(name: str) -> str:
    """The velocity whose rate an acceleration is: `E.vx` of `E.ax`, `column.angle_dot` of `column.angle_ddot`."""
    owner, _, quantity = name.partition(".")
    return f"{owner}.v{quantity[-1]}" if quantity in ("ax", "ay", "az") else f"{name.removesuffix('_ddot')}_dot"


def degree(tree: Expr, variables: Container[str]) -> int:
    """0 if the tree does not depend on the variables, 1 if it is affine in them by its form, else 2."""
    if tree.op == "symbol":
        return int(tree.data in variables)
    degrees = [degree(child, variables) for child in tree.args]
    if tree.function == "start" or not any(degrees):
        return 0
    if tree.function == "noevent":
        return degrees[0]
    match tree.op:
        case "+" | "-" | "neg":
            return max(degrees)
        case "*":
            return min(sum(degrees), 2)
        case "/" if not degrees[1]:
            return degrees[0]
        case "if" if not any(degrees[:2]):
            return max(degrees[2:])
    return 2


def _tree(node: ast.expr, dialect: Dialect) -> Expr:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _number(value)
        case ast.Name(id=name):
            return ir.symbol(name)
        case ast.Attribute(value=ast.Name(id=owner), attr=quantity):
            return ir.symbol(f"{owner}.{quantity}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Expr("neg", (), (_tree(operand, dialect),))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _tree(operand, dialect)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return Expr(_OPERATORS[type(op)], (), (_tree(left, dialect), _tree(right, dialect)))
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
            return _call(function, arguments, dialect)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _condition(test, _tree(body, dialect), _tree(orelse, dialect), dialect)
    raise ValueError(
        f"{_short(ast.unparse(node))!r} is not part of the expression language: numbers,"
        f" {dialect.names}, + - * / ^, 'a if x < y else b', {', '.join(dialect.functions)}"
    )


def _number(value: float) -> Expr:
    if not abs(value) < 1e300:
        raise ValueError(f"expected a number below 1e300, got {value!s:.20}")
    return ir.constant(value)


def _call(function: str, arguments: list[ast.expr], dialect: Dialect) -> Expr:
    known = dialect.functions
    if function not in known:
        raise ValueError(f"unknown function {_short(function)!r}; {alternatives(function, known)}")
    expected = known[function]
    if len(arguments) not in expected:
        counts = " or ".join(map(str, expected))
        raise ValueError(f"{function} takes {counts} argument{'s' * (expected != (1,))}, got {len(arguments)}")
    if function == "table":
        name, argument = arguments
        return _table(name, _tree(argument, dialect))
    return ir.call(function, *(_tree(argument, dialect) for argument in arguments))


def _table(name: ast.expr, argument: Expr) -> Expr:
    if not isinstance(name, ast.Name):
        raise ValueError(
            f"expected the name of a table first, as in table(slew, t), got {_short(ast.unparse(name))!r}"
        )
    return ir.table(name.id, argument)


def _condition(test: ast.expr, then: Expr, otherwise: Expr, dialect: Dialect) -> Expr:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in reversed(values):
                then = _condition(value, then, otherwise, dialect)
            return then
        case ast.BoolOp(op=ast.Or(), values=values):
            for value in reversed(values):
                otherwise = _condition(value, then, otherwise, dialect)
            return otherwise
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _condition(operand, otherwise, then, dialect)
        case ast.Compare(left=first, ops=ops, comparators=rights) if all(type(op) in _COMPARISONS for op in ops):
            lefts = [first, *rights]
            for a, op, b in reversed(list(zip(lefts, ops, rights, strict=False))):
                left, right = _tree(a, dialect), _tree(b, dialect)
                then = ir.choose(_COMPARISONS[type(op)], left, right, then, otherwise)
            return then
    raise ValueError(f"{_short(ast.unparse(test))!r} is not a condition: expected a comparison by < <= > >=")
