"""Parser of the expression language of descriptions: from text to an expression tree.

The parser accepts a fixed list of operations; Python never evaluates the text. Names are `t`, `pi`,
parameters, and `<owner>.<quantity>` such as `E.x` or `column.angle_dot`.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
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
_LONGEST = 10_000  # An expression in a description may have at most this number of characters.
# Expressions may be nested only to this depth, because code generators are recursive and derivatives are deeper.
_DEEPEST = 50
# An expression tree may have at most this number of nodes, because derivatives grow with the cube of this number.
_MOST_PARTS = 1000


@dataclass(frozen=True)
class Dialect:
    """Functions and names of an expression language.

    Parameters
    ----------
    functions
        Admissible numbers of arguments for each function name. If the value is a `range`, only the start
        of the range is used: as the minimum number of arguments, without a maximum.
    names
        Phrase that lists the admissible names in error messages.
    """

    functions: Mapping[str, Sequence[int]]
    names: str


DESCRIPTIONS = Dialect(
    {name: (count,) for name, count in FUNCTIONS.items()},
    "t, pi, parameters, names such as E.x and column.angle_dot",
)
_TOO_DEEP = f"expected at most {_DEEPEST} levels; a sum of n terms has n levels; group terms by parentheses"


def parse(text: str | float, dialect: Dialect = DESCRIPTIONS) -> Expr:
    """Return the expression tree of a text without simplification; a number yields a constant.

    Parameters
    ----------
    text : str or float
        Text of the expression.
    dialect : Dialect
        Functions and names of the language; by default those of descriptions.

    Raises
    ------
    ValueError
        If the text is not an expression of the language. The message says what was expected.
    """
    if not isinstance(text, str):
        return ir.constant(float(text))
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters, got {len(text)}")
    if "#" in text:
        raise ValueError("an expression cannot contain comments ('#')")
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
            raise ValueError(
                f"expected at most {_MOST_PARTS} numbers, names and operations; simplify the expression"
            )
        stack.extend((child, level + 1) for child in node.args)


def _with_plain_starts(tree: Expr, inside: bool = False) -> Expr:
    """Return an expression in which `start` inside the argument of another `start` is removed.

    The inner `start` has no effect, because the outer one is evaluated at the initial time.
    """
    if tree.function == "start" and inside:
        return _with_plain_starts(tree.args[0], inside)
    inside = inside or tree.function == "start"
    return replace(tree, args=tuple(_with_plain_starts(child, inside) for child in tree.args))


def renamed(tree: Expr, others: Mapping[str, str]) -> Expr:
    """Return an expression with names replaced by other names."""
    if tree.op == "symbol":
        return ir.symbol(others.get(tree.data, tree.data))
    return replace(tree, args=tuple(renamed(child, others) for child in tree.args))


def names(tree: Expr) -> Iterator[str]:
    """Yield all names in an expression, including names inside `start(x)`, the initial value of x."""
    if tree.op == "symbol":
        yield tree.data
    for child in tree.args:
        yield from names(child)


def running_names(tree: Expr) -> Iterator[str]:
    """Yield the names of quantities whose current values an expression uses.

    The arguments of `start` are excluded, because their initial values are used.
    """
    if tree.op == "symbol":
        yield tree.data
    if tree.function != "start":
        for child in tree.args:
            yield from running_names(child)


def started_names(tree: Expr) -> Iterator[str]:
    """Yield the names of quantities whose initial values an expression uses.

    These names are in the arguments of the function `start`.
    """
    if tree.function == "start":
        yield from names(tree)
        return
    for child in tree.args:
        yield from started_names(child)


def tables(tree: Expr) -> Iterator[Expr]:
    """Yield all lookups of tables in an expression."""
    if tree.op == "table":
        yield tree
    for child in tree.args:
        yield from tables(child)


def level(name: str) -> int:
    """Return 0 for the name of a position, 1 for a velocity, and 2 for an acceleration.

    Examples of positions are `E.x` and `column.angle`; of velocities, `E.vx`, `column.angle_dot` and
    `lift.rate`; of accelerations, `E.ax` and `column.angle_ddot`.
    """
    quantity = name.partition(".")[2]
    if quantity in ("ax", "ay", "az") or quantity.endswith("_ddot"):
        return 2
    return int(quantity in ("vx", "vy", "vz", "rate") or quantity.endswith("_dot"))


def rate_of(name: str) -> str:
    """Return the name of the velocity for the name of an acceleration.

    For example, the result is `E.vx` for `E.ax`, and `column.angle_dot` for `column.angle_ddot`.
    """
    owner, _, quantity = name.partition(".")
    return f"{owner}.v{quantity[-1]}" if quantity in ("ax", "ay", "az") else f"{name.removesuffix('_ddot')}_dot"


def degree(tree: Expr, variables: Container[str]) -> int:
    """Return the degree of an expression in the given variables: 0, 1, or 2 for all higher degrees.

    Degree 0 means that the expression does not contain the variables, and degree 1 that it is affine in
    the variables. The expression is not simplified before: the degree of (x − x) is 1.
    """
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
        f"{_short(ast.unparse(node))!r} is not part of the expression language: expected numbers,"
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
        raise ValueError(f"{function} takes {_counts(expected)}, got {len(arguments)}")
    if function == "table":
        name, argument = arguments
        return _table(name, _tree(argument, dialect))
    return ir.call(function, *(_tree(argument, dialect) for argument in arguments))


def _counts(expected: Sequence[int]) -> str:
    if isinstance(expected, range):
        return f"at least {expected[0]} argument{'s' * (expected[0] != 1)}"
    return f"{' or '.join(map(str, expected))} argument{'s' * (expected != (1,))}"


def _table(name: ast.expr, argument: Expr) -> Expr:
    if not isinstance(name, ast.Name):
        raise ValueError(
            "expected the name of a lookup table as first argument, as in table(slew, t),"
            f" got {_short(ast.unparse(name))!r}"
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
