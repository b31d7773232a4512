"""Replacement of equations of equal form by `for` equations.

Equations that differ only in array subscripts, in parameters or in constants become one equation in
a loop. A subscript in the loop is the iterator, the iterator plus a constant, or an element of a
constant table that describes the topology of the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ....description.types.origin import Origin
from ....language import ir
from ....language.ir import Expr
from .gather import Arrangement, Statement
from .tables import Tables, declared, tables_for


@dataclass(frozen=True)
class Hole:
    """Placeholder for an index, symbol or constant that differs between equations of the same form.

    Attributes
    ----------
    kind
        Replaced part of the equation: position of an array element, begin or end of an array block,
        first or last index of a loop, symbol, or constant.
    value
        Index counted from 1, name of the symbol, or array of numbers.
    space
        Name of the set to which an index refers, such as `bodies`; empty for other indices.
    shape
        Shape of a symbol or constant.
    """

    kind: str
    value: object
    space: str = ""
    shape: ir.Shape = ()


@dataclass(frozen=True)
class Loop:
    """Loop `for iterator in first:step:last loop body end for` with equations as body.

    Attributes
    ----------
    last
        Last value of the iterator: a number, or the name of an outer iterator. Array indices start at
        1.
    """

    iterator: str
    first: int | str
    step: int
    last: int | str
    body: tuple[Equation, ...]
    origin: Origin
    title: str
    row: int | None = None

    @property
    def range(self) -> str:
        """Return the Modelica range of the iterator, such as `1:9` or `1:2:9`."""
        return f"{self.first}:{self.last}" if self.step == 1 else f"{self.first}:{self.step}:{self.last}"


Equation: TypeAlias = Statement | Loop
Fill: TypeAlias = Callable[[Hole], object]


class Walk:
    """Function that returns an equation in which each placeholder is replaced.

    A placeholder is an index, symbol or constant that can differ between equations of the same form.
    The function `fill` returns the replacement of a placeholder. It is called for the placeholders in
    the order of their occurrence. This order is the same in all equations of the same form.
    """

    def __init__(self, fill: Fill, tables: Tables) -> None:
        self._fill, self._tables = fill, tables

    def __call__(self, equation: Equation) -> Equation:
        if isinstance(equation, Statement):
            return replace(equation, left=self._expr(equation.left), right=self._expr(equation.right))
        first, last = self._bound("first", equation.first), self._bound("last", equation.last)
        return replace(equation, first=first, last=last, body=tuple(map(self, equation.body)))

    def _bound(self, kind: str, value: int | str) -> int | str:
        return value if isinstance(value, str) else self._fill(Hole(kind, value))  # type: ignore[return-value]

    def _expr(self, expr: Expr) -> Expr:
        if expr.op == "symbol":
            if not self._tables.is_parameter(expr.data):
                return expr
            return self._fill(Hole("symbol", expr.data, shape=expr.shape))  # type: ignore[return-value]
        if expr.op == "constant":
            return self._fill(Hole("constant", expr.data, shape=expr.shape))  # type: ignore[return-value]
        if expr.op == "index" and expr.args[0].op == "symbol":
            return self._element(expr)
        args = tuple(map(self._expr, expr.args))
        return replace(expr, args=args)

    def _element(self, expr: Expr) -> Expr:
        """Return an array element or an array block, with new subscripts in place of the placeholders.

        An array that is a parameter can be an element of a table of parameters. The result is then an
        element or a block of this table.
        """
        key, array = self._index(expr), self._expr(expr.args[0])
        if array.op != "index":
            return replace(expr, args=(array,), data=key)
        rest = iter(key)
        whole = tuple(outer if isinstance(outer, str) else next(rest) for outer in array.data)
        return replace(expr, args=array.args, data=whole)

    def _index(self, expr: Expr) -> tuple[object, ...]:
        array = expr.args[0]
        spaces = self._tables.spaces.get(array.data, ())
        found: list[object] = []
        for i, (key, size) in enumerate(zip(expr.data, array.shape, strict=True)):
            space = spaces[i] if i < len(spaces) else ""
            if isinstance(key, int):
                found.append(_counted_from_0(self._fill(Hole("position", key + 1, space))))
            elif _is_settled(key, size):
                found.append(key)
            else:
                begin = _counted_from_0(self._fill(Hole("begin", key.start + 1, space)))
                end = self._fill(Hole("end", key.stop, space))
                found.append(slice(begin, end))
        return tuple(found)


def _is_settled(key: str | slice, size: int) -> bool:
    """Whether a subscript of an array is equal in all equations of a loop, so that it needs no placeholder.

    No placeholder is needed for a subscript that selects a whole axis, or for the iterator of an inner
    loop.
    """
    if isinstance(key, str) or isinstance(key.start, str) or isinstance(key.stop, str):
        return True
    return key.indices(size) == (0, size, 1)


def _counted_from_0(position: object) -> object:
    return position - 1 if isinstance(position, int) else position


def with_loops(arrangement: Arrangement) -> tuple[Arrangement, list[Equation]]:
    """Return the variables and equations, with loops in place of equations of the same form.

    The constant tables that the loops need are added to the variables.
    """
    program = arrangement.program
    tables = tables_for(arrangement)
    iterators = [program.fresh(name) for name in ("i", "k", "m")]
    groups: dict[str, list[Equation]] = {}
    for statement in arrangement.statements:
        groups.setdefault(f"{statement.title} {statement.row}", []).append(statement)
    equations = [equation for group in groups.values() for equation in rolled(group, tables, iterators)]
    variables = (*declared(tables, program), *arrangement.variables)
    return replace(arrangement, variables=variables), equations


def expressions(arrangement: Arrangement, equations: Iterable[Equation]) -> Iterator[Expr]:
    """Yield all expressions of a Modelica source: values of parameters, and both sides of equations."""
    yield from (variable.value for variable in arrangement.variables if variable.value is not None)
    yield from _sides(equations)


def _sides(equations: Iterable[Equation]) -> Iterator[Expr]:
    for equation in equations:
        if isinstance(equation, Loop):
            yield from _sides(equation.body)
        else:
            yield from (equation.left, equation.right)


def rolled(equations: Iterable[Equation], tables: Tables, iterators: Sequence[str]) -> list[Equation]:
    """Return the equations below one heading of the source; loops replace equations of equal form."""
    roller = _Roller(tables, iterators)
    return _merged(roller.roll(roller.roll(list(equations))))


class _Roller:
    """Search for equations of the same form, and their replacement by loops."""

    def __init__(self, tables: Tables, iterators: Sequence[str]) -> None:
        self._tables, self._iterators = tables, iterators

    def roll(self, equations: list[Equation]) -> list[Equation]:
        """Return the equations with loops in place of equations of the same form.

        A loop is placed where the first of its equations was.
        """
        forms: dict[Hashable, list[tuple[int, Equation, list[Hole]]]] = {}
        for place, equation in enumerate(equations):
            form, holes = self._form(equation)
            forms.setdefault(form, []).append((place, equation, holes))
        found: list[tuple[int, Equation]] = []
        for alike in forms.values():
            apart = len(alike) == 1 or self._adds_coordinates(alike[0][1])
            found += [(place, equation) for place, equation, _ in alike] if apart else self._loops(alike)
        return [equation for _, equation in sorted(found, key=lambda pair: pair[0])]

    def _adds_coordinates(self, equation: Equation) -> bool:
        """Whether a summand on the right-hand side of an equation is an element of an array with mixed units.

        The elements of such an array are, for example, lengths and angles; see the module `mixed`.
        """
        return isinstance(equation, Statement) and any(
            term.op == "index" and term.args[0].data in self._tables.mixed and not term.shape
            for total in _sums(equation.right)
            for term in total.args
        )

    def _form(self, equation: Equation) -> tuple[Hashable, list[Hole]]:
        holes: list[Hole] = []

        def fill(hole: Hole) -> object:
            holes.append(hole)
            return (
                Expr("symbol", hole.shape, data=f"#{hole.kind}{hole.shape}")
                if hole.kind in ("symbol", "constant")
                else "#"
            )

        return _key(Walk(fill, self._tables)(equation)), holes

    def _loops(self, alike: list[tuple[int, Equation, list[Hole]]]) -> list[tuple[int, Equation]]:
        """Replace equations of the same form by loops.

        Each element of the result is a pair: a position in the source, and the equation or loop at this
        position. The position of a loop is that of the first equation that it replaces.
        """
        leading = self._leading(alike)
        if leading is None:
            return [(place, equation) for place, equation, _ in alike]
        groups: dict[tuple[object, ...], list[tuple[int, Equation, list[Hole]]]] = {}
        for entry in alike:
            given = [i for i in self._left_holes(entry[1]) if entry[2][i].kind == "position" and i != leading]
            fixed = tuple(entry[2][i].value for i in given)
            groups.setdefault(fixed, []).append(entry)
        found: list[tuple[int, Equation]] = []
        for group in groups.values():
            found += self._of_group(sorted(group, key=lambda entry: entry[2][leading].value), leading)  # type: ignore[arg-type, return-value]
        return found

    def _left_holes(self, equation: Equation) -> range:
        """Return the indices of those placeholders that occur on the left-hand side of an equation."""
        count = 0

        def fill(hole: Hole) -> object:
            nonlocal count
            count += 1
            return "#"

        if isinstance(equation, Loop) or equation.left.op not in ("index", "symbol"):
            return range(0)
        Walk(fill, self._tables)(Statement(equation.left, ir.constant(0.0), equation.origin, equation.title))
        return range(count - 1)

    def _leading(self, alike: list[tuple[int, Equation, list[Hole]]]) -> int | None:
        """Return the index of the first placeholder that stands for a varying array subscript.

        The equations have the same form, i.e. they differ only in the contents of their placeholders.
        The result is None if all array subscripts agree in all equations.
        """
        for i in range(len(alike[0][2])):
            if alike[0][2][i].kind == "position" and len({entry[2][i].value for entry in alike}) > 1:
                return i
        return None

    def _of_group(self, group: list[tuple[int, Equation, list[Hole]]], leading: int) -> list[tuple[int, Equation]]:
        found: list[tuple[int, Equation]] = []
        begin = 0
        while begin < len(group):
            end = self._end_of_run(group, begin, leading)
            while end - begin > 1:
                loop = self._loop(group[begin:end], leading)
                if loop is not None:
                    found.append((min(place for place, _, _ in group[begin:end]), loop))
                    break
                end -= 1
            if end - begin == 1:
                found.append((group[begin][0], group[begin][1]))
            begin = end
        return found

    def _end_of_run(self, group: list[tuple[int, Equation, list[Hole]]], begin: int, leading: int) -> int:
        values = [entry[2][leading].value for entry in group]
        end = begin + 1
        while end < len(values) and values[end] - values[end - 1] == values[begin + 1] - values[begin] > 0:  # type: ignore[operator]
            end += 1
        if end - begin == 2 and values[begin + 1] - values[begin] != 1:  # type: ignore[operator]
            return begin + 1
        return end

    def _loop(self, run: list[tuple[int, Equation, list[Hole]]], leading: int) -> Loop | None:
        values = [int(entry[2][leading].value) for entry in run]  # type: ignore[call-overload]
        over = run[0][2][leading].space
        iterator = self._iterator(run[0][1])
        filled: list[object] = []
        for column in zip(*(entry[2] for entry in run), strict=True):
            value = self._unified(iterator, over, values, column)
            if value is None:
                return None
            filled.append(value)
        rest = iter(filled)
        first = run[0][1]
        body = Walk(lambda hole: next(rest), self._tables)(first)
        origins = {entry[1].origin for entry in run}
        origin = first.origin if len(origins) == 1 else Origin(first.title)
        row = first.row if len({entry[1].row for entry in run}) == 1 else None
        return Loop(iterator, values[0], values[1] - values[0], values[-1], (body,), origin, first.title, row)

    def _iterator(self, equation: Equation) -> str:
        inner = 0
        while isinstance(equation, Loop):
            inner, equation = inner + 1, equation.body[0]
        return self._iterators[inner]

    def _unified(self, iterator: str, over: str, values: Sequence[int], column: Sequence[Hole]) -> object | None:
        first = column[0]
        if first.kind == "constant":
            if all(np.array_equal(hole.value, first.value) for hole in column):  # type: ignore[arg-type]
                return ir.constant(np.asarray(first.value))
            return self._tables.constant(iterator, over, values, [hole.value for hole in column])  # type: ignore[misc]
        if first.kind == "symbol":
            names = [str(hole.value) for hole in column]
            if len(set(names)) == 1:
                return ir.symbol(names[0], first.shape)
            return self._tables.parameter(iterator, values, names, first.shape)
        numbers: list[int] = [int(hole.value) for hole in column]  # type: ignore[call-overload]
        if len(set(numbers)) == 1:
            return numbers[0]
        # The Modelica compiler rumoca rejects last indices that are neither numbers nor iterators of outer loops.
        if first.kind == "last":
            return iterator if numbers == list(values) else None
        # The Modelica compiler rumoca rejects a first index that contains an iterator.
        if first.kind in ("first", "begin"):
            return None
        return self._tables.position(iterator, over, values, numbers, first.space)


def _sums(expr: Expr) -> Iterator[Expr]:
    if expr.op in ("+", "-"):
        yield expr
    for argument in expr.args:
        yield from _sums(argument)


def _key(equation: Equation) -> Hashable:
    if isinstance(equation, Statement):
        return ir.key(equation.left), ir.key(equation.right)
    return (equation.range, *map(_key, equation.body))


def _merged(equations: list[Equation]) -> list[Equation]:
    """Return the equations with loops over the same range merged into one loop.

    The merged loop is placed where the first of these loops was.
    """
    found: list[Equation] = []
    for equation in equations:
        if isinstance(equation, Loop):
            same = next(
                (
                    i
                    for i, other in enumerate(found)
                    if isinstance(other, Loop)
                    and (other.iterator, other.range, other.row)
                    == (equation.iterator, equation.range, equation.row)
                ),
                None,
            )
            if same is not None:
                other = found[same]
                assert isinstance(other, Loop)
                origin = other.origin if other.origin == equation.origin else Origin(other.title)
                found[same] = replace(other, body=(*other.body, *equation.body), origin=origin)
                continue
        found.append(equation)
    return found
