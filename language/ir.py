"""Array expressions: common representation of description formulas and of the equations of motion.

An `Expr` is immutable and has a shape: () for a scalar, (n,) for a vector, (n, m) for a matrix.
Each code generator has to support all `OPERATIONS`, so their number is kept small. The functions of
this module simplify their results. The constructor of `Expr` does not simplify, so that a formula
remains as written.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Shape: TypeAlias = tuple[int, ...]
Index: TypeAlias = tuple[int | slice, ...]
Array: TypeAlias = NDArray[np.float64]
Operand: TypeAlias = "Expr | float | Array | Sequence[Operand]"

OPERATIONS = {
    "constant": "a number or an array of numbers",
    "symbol": "a named parameter, variable or definition",
    "array": "a vector of scalars or a matrix of rows",
    "index": "an element or a block",
    "+": "sum",
    "-": "difference",
    "neg": "negative",
    "*": "product of two scalars, or of a scalar and an array",
    "/": "quotient by a scalar",
    "^": "power of a scalar",
    "matmul": "matrix product, matrix times vector, or scalar product",
    "transpose": "transposed matrix",
    "cross": "vector product",
    "call": "function of scalars, by name",
    "function": "function of arrays, by name, see `function`",
    "if": "choice by a comparison, see `choose`",
    "table": "a table of the description, or a derivative of it, see `table`",
}


@dataclass(frozen=True, eq=False)
class Expr:
    """Node of an expression tree.

    Attributes
    ----------
    op : str
        Operation, one of OPERATIONS.
    shape : tuple of int
        (), (n,) or (n, m).
    args : tuple of Expr
        Operands.
    data : object
        Further data of the operation: value, name, index or comparison.
    """

    op: str
    shape: Shape
    args: tuple[Expr, ...] = ()
    data: Any = None

    # With this attribute, NumPy calls the operators of this class in expressions such as array * expr.
    __array_ufunc__ = None

    def __add__(self, other: Operand) -> Expr:
        return add(self, lift(other))

    def __radd__(self, other: Operand) -> Expr:
        return add(lift(other), self)

    def __sub__(self, other: Operand) -> Expr:
        return sub(self, lift(other))

    def __rsub__(self, other: Operand) -> Expr:
        return sub(lift(other), self)

    def __neg__(self) -> Expr:
        return neg(self)

    def __mul__(self, other: Operand) -> Expr:
        return mul(self, lift(other))

    def __rmul__(self, other: Operand) -> Expr:
        return mul(lift(other), self)

    def __truediv__(self, other: Operand) -> Expr:
        return div(self, lift(other))

    def __rtruediv__(self, other: Operand) -> Expr:
        return div(lift(other), self)

    def __matmul__(self, other: Operand) -> Expr:
        return matmul(self, lift(other))

    def __rmatmul__(self, other: Operand) -> Expr:
        return matmul(lift(other), self)

    def __getitem__(self, key: int | slice | tuple[int | slice, ...]) -> Expr:
        return index(self, key if isinstance(key, tuple) else (key,))

    def __iter__(self) -> Iterator[Expr]:
        return (self[i] for i in range(self.shape[0]))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def function(self) -> str:
        """Name of the called function; for all other nodes, name of the operation."""
        return str(self.data) if self.op == "call" else self.op

    @property
    def T(self) -> Expr:
        return transpose(self)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of all symbols in the expression."""
        found: set[str] = set()
        seen: set[int] = set()
        stack = [self]
        while stack:
            current = stack.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            if current.op == "symbol":
                found.add(current.data)
            stack.extend(current.args)
        return frozenset(found)


def constant(value: ArrayLike) -> Expr:
    """Return the expression of a number or of an array of numbers."""
    array = np.array(value, dtype=float)
    return Expr("constant", array.shape, data=array)


def symbol(name: str, shape: Shape = ()) -> Expr:
    """Return the expression of a named quantity."""
    return Expr("symbol", shape, data=name)


def lift(value: Operand) -> Expr:
    """Return an expression unchanged; convert a number, an array or a nested sequence to an expression."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, np.ndarray | float | int):
        return constant(value)
    return array(value)


def array(items: Sequence[Operand]) -> Expr:
    """Return a vector of scalar expressions, or a matrix whose rows are the given vectors.

    The argument can be a nested sequence.
    """
    nodes = tuple(lift(item) for item in items)
    if all(node.op == "constant" for node in nodes):
        return constant([node.data for node in nodes])
    if nodes[0].shape:
        nodes = tuple(_as_array(node) for node in nodes)
    return Expr("array", (len(nodes), *nodes[0].shape), nodes)


def _as_array(node: Expr) -> Expr:
    """Return a vector as a literal array of scalars.

    Code generators require this form for the rows of a matrix.
    """
    if node.op == "array":
        return node
    return Expr("array", node.shape, tuple(node[i] for i in range(node.shape[0])))


def zeros(*shape: int) -> Expr:
    return constant(np.zeros(shape))


def index(node: Expr, key: Index) -> Expr:
    """Return an element or a block of an array; indices are zero-based, and slices have no step."""
    full = tuple(k if isinstance(k, int) else slice(*k.indices(node.shape[i])) for i, k in enumerate(key))
    full += tuple(slice(0, size) for size in node.shape[len(full) :])
    if node.op == "constant":
        return constant(node.data[full])
    if node.op == "array" and isinstance(full[0], int):
        return index(node.args[full[0]], full[1:]) if full[1:] else node.args[full[0]]
    shape = tuple(k.stop - k.start for k in full if isinstance(k, slice))
    if shape == node.shape:
        return node
    if node.op == "function":
        return index(node.data[1], full)
    if node.op == "index":
        return index(node.args[0], _compose(node.data, full))
    return Expr("index", shape, (node,), full)


def _compose(outer: Index, inner: Index) -> Index:
    """Return one array index that is equivalent to two successive indices.

    The index `outer` selects from the array, and `inner` selects from the result.
    """
    rest = iter(inner)
    combined: list[int | slice] = []
    for key in outer:
        if isinstance(key, int):
            combined.append(key)
            continue
        chosen = next(rest)
        if isinstance(chosen, int):
            combined.append(key.start + chosen)
        else:
            combined.append(slice(key.start + chosen.start, key.start + chosen.stop))
    return tuple(combined)


def is_zero(node: Expr) -> bool:
    """Whether an expression is a constant whose elements are all zero."""
    return node.op == "constant" and not (node.data.any() if node.shape else node.data)


def is_one(node: Expr) -> bool:
    """Whether an expression is the scalar constant 1."""
    return node.op == "constant" and node.shape == () and node.data == 1.0


def is_identity(node: Expr) -> bool:
    """Whether an expression is a constant identity matrix."""
    return node.op == "constant" and len(node.shape) == 2 and np.array_equal(node.data, np.eye(*node.shape))


def add(a: Expr, b: Expr) -> Expr:
    """Return the sum of two expressions of equal shape."""
    if a.op == b.op == "constant":
        return constant(a.data + b.data)
    if is_zero(a):
        return b
    if is_zero(b):
        return a
    if b.op == "neg":
        return sub(a, b.args[0])
    return Expr("+", a.shape, (a, b))


def sub(a: Expr, b: Expr) -> Expr:
    """Return the difference of two expressions of equal shape."""
    if a.op == b.op == "constant":
        return constant(a.data - b.data)
    if is_zero(b):
        return a
    if is_zero(a):
        return neg(b)
    if b.op == "neg":
        return add(a, b.args[0])
    return Expr("-", a.shape, (a, b))


def neg(a: Expr) -> Expr:
    if a.op == "constant":
        return constant(-a.data)
    return a.args[0] if a.op == "neg" else Expr("neg", a.shape, (a,))


def mul(a: Expr, b: Expr) -> Expr:
    """Return the product of two expressions, at least one of them a scalar."""
    if a.op == b.op == "constant":
        return constant(a.data * b.data)
    shape = a.shape or b.shape
    if is_zero(a) or is_zero(b):
        return constant(np.zeros(shape))
    if is_one(a):
        return b
    if is_one(b):
        return a
    for x, y in ((a, b), (b, a)):
        if x.op == "constant" and not x.shape and x.data == -1.0:
            return neg(y)
    if a.op == "neg":
        return neg(mul(a.args[0], b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    return Expr("*", shape, (a, b))


def div(a: Expr, b: Expr) -> Expr:
    """Return the quotient of an expression and a scalar."""
    if a.op == b.op == "constant" and b.data:
        return constant(a.data / b.data)
    if is_zero(a) or is_one(b):
        return a
    return Expr("/", a.shape, (a, b))


def power(a: Expr, b: Expr) -> Expr:
    """Return the power of two scalars."""
    if a.op == b.op == "constant":
        return constant(a.data**b.data)
    if is_one(b):
        return a
    if is_zero(b):
        return constant(1.0)
    return Expr("^", (), (a, b))


def matmul(a: Expr, b: Expr) -> Expr:
    """Return the matrix product, in which the last axis of a is summed with the first axis of b."""
    shape = a.shape[:-1] + b.shape[1:]
    if a.op == b.op == "constant":
        return constant(a.data @ b.data)
    if is_zero(a) or is_zero(b):
        return constant(np.zeros(shape))
    if is_identity(a):
        return b
    if is_identity(b):
        return a
    return Expr("matmul", shape, (a, b))


def transpose(a: Expr) -> Expr:
    if a.op == "constant":
        return constant(a.data.T)
    return Expr("transpose", a.shape[::-1], (a,))


def cross(a: Expr, b: Expr) -> Expr:
    """Return the cross product of two vectors of shape (3,)."""
    if a.op == b.op == "constant":
        return constant(np.cross(a.data, b.data))
    if is_zero(a) or is_zero(b):
        return zeros(3)
    return Expr("cross", (3,), (a, b))


def call(name: str, *arguments: Expr) -> Expr:
    """Return a call of the scalar function with the given Modelica name."""
    return Expr("call", (), arguments, name)


def function(name: str, value: Expr, *arguments: Expr) -> Expr:
    """Return an expression that represents a call of a named function with array arguments.

    The argument `value` is an expression of the function's value. A generator without support for
    functions writes this expression instead of the call. A constant value is returned as a
    constant.
    """
    if value.op == "constant":
        return value
    return Expr("function", value.shape, arguments, (name, value))


def is_norm(node: Expr) -> bool:
    """Whether an expression is the root of the scalar product of a vector with itself (Euclidean norm)."""
    if node.function != "sqrt":
        return False
    square = node.args[0]
    return square.op == "matmul" and square.args[0] is square.args[1]


def table(name: str, argument: Expr, order: int = 0, *, inside: bool = False) -> Expr:
    """Return an expression for the value, or for a derivative, of a lookup table.

    Parameters
    ----------
    name : str
        Name of the lookup table in the description.
    argument : Expr
        Argument at which the table is evaluated.
    order : int
        Order of the derivative; 0 for the value itself.
    inside : bool
        Whether the argument is known to remain within the range of the table.
    """
    return Expr("table", (), (argument,), (name, order, inside))


def choose(comparison: str, left: Expr, right: Expr, then: Expr, otherwise: Expr) -> Expr:
    """Return an if-expression whose condition triggers no events and may change at any time."""
    return Expr("if", (), (left, right, then, otherwise), (comparison, None))


def switch(
    comparison: str, left: Expr, right: Expr, then: Expr, otherwise: Expr, switched: str, slope: Expr
) -> Expr:
    """Return an if-expression whose condition changes only at a time event of the program.

    The condition compares `left` with `right`, and keeps its truth value between events. The argument
    `switched` is the name of the switch variable of the time event. The argument `slope` is the time
    derivative of `left − right`.
    """
    return Expr("if", (), (left, right, then, otherwise, slope), (comparison, switched))


def relation(comparison: str, left: Expr, right: Expr, then: Expr, otherwise: Expr, name: str) -> Expr:
    """Return an if-expression with the switching condition `name` of the program.

    The condition depends on the motion. Between events it keeps its truth value; see
    `SwitchingCondition` in `generator.program`.
    """
    return Expr("if", (), (left, right, then, otherwise), (comparison, name))


_SIMPLIFYING: dict[str, Callable[..., Expr]] = {"+": add, "-": sub, "*": mul, "/": div, "^": power, "neg": neg}


def rebuilt(node: Expr, args: Sequence[Expr]) -> Expr:
    """Return a scalar expression node with new operands, in simplified form."""
    return _SIMPLIFYING[node.op](*args) if node.op in _SIMPLIFYING else replace(node, args=tuple(args))


class Replacement:
    """Replacement of symbols by values in expressions.

    If expressions share a node, the expressions after the replacement also share a node.

    Parameters
    ----------
    values : mapping of str to Expr
        Value of each symbol, with the shape of the symbol.
    """

    def __init__(self, values: Mapping[str, Expr]) -> None:
        self._values = values
        self._known: dict[int, tuple[Expr, Expr]] = {}

    def __call__(self, node: Expr) -> Expr:
        """Return the expression with each known symbol replaced by its value."""
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._replaced(node))
        return self._known[id(node)][1]

    def _replaced(self, node: Expr) -> Expr:
        if node.op == "symbol":
            return self._values.get(node.data, node)
        args = tuple(map(self, node.args))
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        if node.op == "index":
            return index(args[0], node.data)
        if node.op == "function":
            name, value = node.data
            return function(name, self(value), *args)
        return replace(node, args=args)


def key(node: Expr) -> Hashable:
    """Return a hashable key that is equal for scalar expressions with equal expression trees."""
    return (node.op, _identity(node), *map(key, node.args))


def _identity(node: Expr) -> Hashable:
    if node.op == "function":
        return str(node.data[0])
    if node.op == "constant":
        return float(node.data)
    # Older Python versions cannot hash slices, so each slice is converted to text.
    return tuple(map(str, node.data)) if node.op == "index" else node.data
