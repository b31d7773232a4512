"""The expression language of descriptions: text → tree, against a whitelist, never evaluated by Python."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
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
_LONGEST = 10_000  # characters
_DEEPEST = 50  # levels: derivatives are three times as deep, and renderers recurse
_MOST_PARTS = 1000  # the size of derivatives grows with its cube
_TOO_DEEP = f"expected at most {_DEEPEST} levels; a sum of n terms has n levels, and fewer with parentheses in it"


@dataclass(frozen=True)
class Number:
    """A constant."""

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
    if not isinstance(text, str):
        return Number(float(text))
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters, got {len(text)}")
    if "#" in text:
        raise ValueError("an expression has no comments ('#')")
    line = " ".join(text.split()).replace("^", "**")
    try:
        tree = _tree(ast.parse(line, mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"cannot read {_short(text)!r}: {error.msg}{_near(line, error)}") from None
    except (RecursionError, MemoryError):
        raise ValueError(_TOO_DEEP) from None
    _check_size(tree)
    return _with_plain_starts(tree)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _near(line: str, error: SyntaxError) -> str:
    """Where a syntax error is, in the description's notation."""
    rest = line[error.offset - 1 :] if error.offset else ""
    return f" near {_short(rest.replace('**', '^'))!r}" if rest else " at its end"


def _check_size(tree: Tree) -> None:
    stack, parts = [(tree, 1)], 0
    while stack:
        node, level = stack.pop()
        parts += 1
        if level > _DEEPEST:
            raise ValueError(_TOO_DEEP)
        if parts > _MOST_PARTS:
            raise ValueError(f"expected at most {_MOST_PARTS} numbers, names and operations; simplify it")
        stack.extend((child, level + 1) for child in children(node))


def _with_plain_starts(tree: Tree, inside: bool = False) -> Tree:
    """The tree without `start` inside of `start`: at the start, start(x) is x."""
    match tree:
        case Apply("start", (argument,)):
            value = _with_plain_starts(argument, inside=True)
            return value if inside else Apply("start", (value,))
        case Apply(function, arguments):
            return Apply(function, tuple(_with_plain_starts(argument, inside) for argument in arguments))
        case Conditional(comparison):
            return Conditional(comparison, *(_with_plain_starts(child, inside) for child in children(tree)))
    return tree


def names(tree: Tree) -> Iterator[str]:
    """All names in the tree, arguments of `start` included."""
    if isinstance(tree, Name):
        yield tree.text
    for child in children(tree):
        yield from names(child)


def children(tree: Tree) -> tuple[Tree, ...]:
    """Operands of the tree's root; of a conditional left, right, then, otherwise."""
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


def level(name: str) -> int:
    """0 for positions (`E.x`), 1 for velocities (`E.vx`, `column.angle_dot`), 2 for accelerations (`E.ax`)."""
    quantity = name.partition(".")[2]
    if quantity in ("ax", "ay", "az") or quantity.endswith("_ddot"):
        return 2
    return int(quantity in ("vx", "vy", "vz") or quantity.endswith("_dot"))


def started_names(tree: Tree) -> Iterator[str]:
    """Names whose value at the start matters: the arguments of `start`."""
    if isinstance(tree, Apply) and tree.function == "start":
        yield from names(tree)
        return
    for child in children(tree):
        yield from started_names(child)


def degree(tree: Tree, variables: Container[str]) -> int:
    """0 if the tree does not depend on the variables, 1 if it is affine in them by its form, else 2."""
    match tree:
        case Number() | Apply("start", _):
            return 0
        case Name(text):
            return int(text in variables)
        case Conditional(_, left, right, then, otherwise):
            if degree(left, variables) or degree(right, variables):
                return 2
            return max(degree(then, variables), degree(otherwise, variables))
        case Apply(function, arguments):
            return _degree_of(function, [degree(argument, variables) for argument in arguments])


def _degree_of(function: str, degrees: list[int]) -> int:
    if function in ("+", "-", "neg"):
        return max(degrees)
    if function == "*":
        return min(sum(degrees), 2)
    if function == "/" and not degrees[1]:
        return degrees[0]
    return 2 if any(degrees) else 0


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
        f"{_short(ast.unparse(node))!r} is not part of the expression language: numbers, t, pi, parameters, names"
        f" such as E.x and column.angle_dot, + - * / ^, 'a if x < y else b', {', '.join(FUNCTIONS)}"
    )


def _number(value: float) -> Number:
    if not abs(value) < 1e300:
        raise ValueError(f"expected a number below 1e300, got {value!s:.20}")
    return Number(float(value))


def _call(function: str, arguments: list[ast.expr]) -> Tree:
    if function not in FUNCTIONS:
        raise ValueError(f"unknown function {_short(function)!r}; known are: {', '.join(FUNCTIONS)}")
    expected = FUNCTIONS[function]
    if len(arguments) != expected:
        raise ValueError(f"{function} takes {expected} argument{'s' * (expected > 1)}, got {len(arguments)}")
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
    raise ValueError(f"{_short(ast.unparse(test))!r} is not a condition: expected a comparison by < <= > >=")
