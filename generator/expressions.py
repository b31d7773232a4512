"""The expression language of descriptions: text → tree, against a whitelist, never evaluated by Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

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
}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "^",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LONGEST = 10_000


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Name:
    """`t`, `pi`, a parameter, or `<owner>.<quantity>` such as `E.x` or `column.angle_dot`."""

    text: str


@dataclass(frozen=True)
class Apply:
    """Operator or function applied to its arguments."""

    function: str
    arguments: tuple[Tree, ...]


@dataclass(frozen=True)
class Conditional:
    """`then if left <comparison> right else otherwise`."""

    comparison: str
    left: Tree
    right: Tree
    then: Tree
    otherwise: Tree


Tree: TypeAlias = Number | Name | Apply | Conditional


def parse(text: str | float) -> Tree:
    """Tree of an expression; a number stands for itself.

    Raises ValueError with what was expected if the text is not in the language.
    """
    if isinstance(text, int | float):
        return Number(float(text))
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters, got {len(text)}")
    try:
        return _tree(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"cannot read {text!r}: {error.msg} near character {error.offset}") from None
    except (RecursionError, MemoryError):
        raise ValueError("the expression is nested too deeply") from None


def names(tree: Tree) -> Iterator[str]:
    """All names in the tree, arguments of `start` included."""
    if isinstance(tree, Name):
        yield tree.text
    for child in children(tree):
        yield from names(child)


def children(tree: Tree) -> tuple[Tree, ...]:
    if isinstance(tree, Apply):
        return tree.arguments
    if isinstance(tree, Conditional):
        return tree.left, tree.right, tree.then, tree.otherwise
    return ()


def running_names(tree: Tree) -> Iterator[str]:
    """Names whose value at the present time matters: all but the arguments of `start`."""
    if isinstance(tree, Apply) and tree.function == "start":
        return
    if isinstance(tree, Name):
        yield tree.text
    for child in children(tree):
        yield from running_names(child)


def _tree(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _number(value)
        case ast.Name(id=name):
            return Name(name)
        case ast.Attribute(value=ast.Name(id=owner), attr=quantity):
            return Name(f"{owner}.{quantity}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Apply("neg", (_tree(operand),))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _tree(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return Apply(_OPERATORS[type(op)], (_tree(left), _tree(right)))
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
            return _call(function, arguments)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _condition(test, _tree(body), _tree(orelse))
    raise ValueError(
        f"{ast.unparse(node)!r} is not part of the expression language; it has numbers, t, pi, + - * / ^,"
        f" 'a if x < y else b', names such as E.x or column.angle_dot, and {', '.join(FUNCTIONS)}"
    )


def _number(value: float) -> Number:
    if not abs(value) < 1e300:
        raise ValueError(f"expected a number below 1e300, got {value!s:.20}")
    return Number(float(value))


def _call(function: str, arguments: list[ast.expr]) -> Tree:
    if function not in FUNCTIONS:
        raise ValueError(f"unknown function {function!r}; known are {', '.join(FUNCTIONS)}")
    expected = FUNCTIONS[function]
    if len(arguments) != expected:
        raise ValueError(f"{function} takes {expected} argument(s), got {len(arguments)}")
    return Apply(function, tuple(_tree(argument) for argument in arguments))


def _condition(test: ast.expr, then: Tree, otherwise: Tree) -> Tree:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in reversed(values):
                then = _condition(value, then, otherwise)
            return then
        case ast.BoolOp(op=ast.Or(), values=values):
            for value in reversed(values):
                otherwise = _condition(value, then, otherwise)
            return otherwise
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _condition(operand, otherwise, then)
        case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(op) in _COMPARISONS for op in ops):
            lefts = [left, *rights]
            for a, op, b in reversed(list(zip(lefts, ops, rights, strict=False))):
                then = Conditional(_COMPARISONS[type(op)], _tree(a), _tree(b), then, otherwise)
            return then
    raise ValueError(f"{ast.unparse(test)!r} is not a condition; expected a comparison with <, <=, > or >=")
