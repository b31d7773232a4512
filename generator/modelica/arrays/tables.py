"""Array subscripts and constant values as functions of the iterator of a loop.

A subscript is an expression of the iterator, or an element of a constant table. A value that varies
between passes of a loop is an element of a constant table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....description.types.origin import Origin
from ....language import ir
from ....language.ir import Expr
from ...program.program import EquationSystem
from .gather import Arrangement, ArrayDeclaration

# A subscript contains at most this number of nested index tables; `A[parent[body[i]]]` contains 2.
_LONGEST_PATH = 3
# Declarations of index tables and of parameter arrays have these headings in the Modelica source.
_NUMBERING, _ALIKE = "numbering", "tables of parameters"


@dataclass(frozen=True)
class Topology:
    """Constant table of the topology: each member of the set `over` has a counterpart in the set `of`.

    For example, the counterpart of a body is its parent. The table contains positions of the
    counterparts in the set `of`, counted from 1.
    """

    name: str
    over: str
    of: str
    description: str
    positions: tuple[int, ...]

    def entry(self, position: int) -> int | None:
        """Return the counterpart that the table assigns to a member of the set `over`.

        Members and counterparts are given by their positions in their sets, counted from 1. The result
        is None if the set `over` has no member at the given position.
        """
        return self.positions[position - 1] if 0 < position <= len(self.positions) else None


@dataclass
class Tables:
    """Constant tables in which equations in loops look up array subscripts and constant values.

    Attributes
    ----------
    spaces
        Mapping from the name of an array to the names of the index sets of its axes. For example, an
        axis with the index set `bodies` has one element per body.
    known
        All available tables that contain positions in arrays.
    constants
        Mapping from the name of a constant array to its index set and its elements.
    parameters
        Mapping from a parameter's name to its unit and shape, for all parameters that can be elements
        of a table.
    mixed
        Names of the arrays of coordinates and rates, whose elements differ in unit.
    fresh
        Function that returns a unique name.
    used
        Names of those tables in `known` that at least one loop uses.
    asked
        Names of those arrays in `constants` that at least one loop uses.
    made
        Tables of parameters: mapping from a tuple of parameter names to the name of their table and the
        shape of each parameter.
    """

    spaces: Mapping[str, tuple[str, ...]]
    known: Sequence[Topology]
    constants: Mapping[str, tuple[str, tuple[Expr, ...]]]
    parameters: Mapping[str, tuple[str | None, ir.Shape]]
    mixed: frozenset[str]
    fresh: Callable[[str], str]
    used: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    made: dict[tuple[str, ...], tuple[str, ir.Shape]] = field(default_factory=dict)

    def is_parameter(self, name: str) -> bool:
        """Whether a symbol is a parameter that can be an element of a table of parameters.

        Equations in loops read the values of parameters from such tables.
        """
        return name in self.parameters

    def position(
        self, iterator: str, over: str, values: Sequence[int], wanted: Sequence[int], of: str
    ) -> str | None:
        """Return an expression of the loop iterator that is equal to a subscript in all passes of the loop.

        In pass k of the loop, the iterator has the value `values[k]`, and the subscript has the value
        `wanted[k]`. The iterator refers to the set `over`, and the subscript to the set `of`. The
        result is None if no such expression is found.
        """
        for text, function in self._candidates(iterator, over, of):
            if self._fits(function, values, wanted):
                self._note(text)
                return text
        return self._affine(iterator, values, wanted)

    def _fits(self, function: Callable[[int], int | None], values: Sequence[int], wanted: Sequence[int]) -> bool:
        return all(function(value) == number for value, number in zip(values, wanted, strict=True))

    def _candidates(self, i: str, over: str, of: str) -> Iterator[tuple[str, Callable[[int], int | None]]]:
        if over == of or not over or not of:
            yield i, lambda value: value
            yield f"{i} - 1", lambda value: value - 1
            yield f"{i} + 1", lambda value: value + 1
        paths: list[tuple[str, str, Callable[[int], int | None]]] = [(over, i, lambda value: value)]
        for _ in range(_LONGEST_PATH):
            longer = []
            for end, text, function in paths:
                for table in self.known:
                    if table.over == end:
                        path = (table.of, f"{table.name}[{text}]", _composed(table.entry, function))
                        longer.append(path)
                        if table.of == of or not of:
                            yield path[1], path[2]
            paths = longer

    def _note(self, text: str) -> None:
        self.used |= {table.name for table in self.known if f"{table.name}[" in text}

    def _affine(self, i: str, values: Sequence[int], wanted: Sequence[int]) -> str | None:
        """Return the text of a subscript that is the loop iterator plus a constant.

        The result is None if the difference between subscript and iterator is not constant.
        """
        change = wanted[0] - values[0]
        if any(value + change != number for value, number in zip(values, wanted, strict=True)):
            return None
        return i if change == 0 else f"{i} {'+' if change > 0 else '-'} {abs(change)}"

    def constant(self, i: str, over: str, values: Sequence[int], wanted: Sequence[np.ndarray]) -> Expr | None:
        """Return an element of a constant array, with the loop iterator `i` as its subscript.

        For the iterator values `values`, the element has the values `wanted`. The result is None if no
        constant array over the set `over` has these elements.
        """
        for name, (space, elements) in self.constants.items():
            if space == over and elements[0].shape == wanted[0].shape:
                found = [elements[value - 1].data for value in values if value <= len(elements)]
                if len(found) == len(wanted) and all(map(np.array_equal, found, wanted)):
                    self.asked.add(name)
                    return _element(name, (len(elements), *elements[0].shape), i)
        return None

    def parameter(self, i: str, values: Sequence[int], names: Sequence[str], shape: ir.Shape) -> Expr | None:
        """Return the expression for an element of a table whose elements are the parameters `names`.

        The subscript of the element contains the loop iterator. The result is None if the parameters
        differ in unit, or if the values of the iterator are not consecutive.
        """
        units = {self.parameters[name][0] for name in names}
        if len(units) > 1:
            return None
        known = tuple(names)
        if known not in self.made:
            self.made[known] = (self.fresh(_common(names)), shape)
        name, first, step = self.made[known][0], values[0], values[1] - values[0]
        if first == step == 1:
            position = i
        elif step == 1:
            position = f"{i} - {first - 1}"
        else:
            return None
        return _element(name, (len(names), *shape), position)


def _composed(
    outer: Callable[[int], int | None], inner: Callable[[int], int | None]
) -> Callable[[int], int | None]:
    def value(number: int) -> int | None:
        found = inner(number)
        return None if found is None else outer(found)

    return value


def _element(name: str, shape: ir.Shape, position: str) -> Expr:
    key = (position, *(slice(0, size) for size in shape[1:]))
    return Expr("index", shape[1:], (ir.symbol(name, shape),), key)


def _common(names: Sequence[str]) -> str:
    """Return a name for a table: the common prefix and the common suffix of the names of its elements."""
    begin = 0
    while len({name[: begin + 1] for name in names}) == 1 and begin < min(map(len, names)):
        begin += 1
    end = 0
    shortest = min(map(len, names)) - begin
    while end < shortest and len({name[len(name) - end - 1 :] for name in names}) == 1:
        end += 1
    head, tail = names[0][:begin].rstrip("_0123456789"), names[0][len(names[0]) - end :].strip("_")
    return "_".join(part for part in (head, tail) if part) or "values"


def tables_for(arrangement: Arrangement) -> Tables:
    """Return all constant tables that `for` loops in the equations of a Modelica source can use."""
    program = arrangement.program
    gatherings = program.gatherings
    known = [
        Topology(program.fresh(t.name), t.over, t.of, t.description, gatherings.positions(t))
        for t in gatherings.tables
    ]
    constants = {}
    for array in gatherings.arrays.values():
        elements = [array.elements.get(label) for label in gatherings.sets[array.over]]
        if all(element is not None and element.op == "constant" for element in elements):
            constants[program.fresh(array.name)] = (array.over, tuple(e for e in elements if e is not None))
    parameters = {p.name: (p.unit, p.shape) for p in program.parameters}
    parameters |= {
        v.name: (v.unit, v.shape) for v in arrangement.variables if v.value is not None and v.elements is None
    }
    mixed = frozenset(v.name for v in arrangement.variables if v.unit is None and v.name in arrangement.values)
    return Tables(arrangement.spaces, known, constants, parameters, mixed, program.fresh)


def declared(tables: Tables, program: EquationSystem) -> tuple[ArrayDeclaration, ...]:
    """Return the declarations of all constant tables, including tables of parameters, that loops use."""
    return (*_topology(tables), *_constants(tables, program), *_parameters(tables))


def _topology(tables: Tables) -> Iterator[ArrayDeclaration]:
    for table in tables.known:
        if table.name in tables.used:
            about = (table.name, (len(table.positions),), None, table.description, Origin(_NUMBERING), _NUMBERING)
            yield ArrayDeclaration(*about, positions=table.positions)


def _constants(tables: Tables, program: EquationSystem) -> Iterator[ArrayDeclaration]:
    for name in sorted(tables.asked):
        over, elements = tables.constants[name]
        array = next(
            a for a in program.gatherings.arrays.values() if a.over == over and name.rstrip("_") == a.name
        )
        values = ir.constant([element.data for element in elements])
        yield ArrayDeclaration(
            name, values.shape, array.unit, array.description, Origin(_NUMBERING), _NUMBERING, values
        )


def _parameters(tables: Tables) -> Iterator[ArrayDeclaration]:
    for names, (name, shape) in tables.made.items():
        unit = tables.parameters[names[0]][0]
        value = Expr("array", (len(names), *shape), tuple(ir.symbol(each, shape) for each in names))
        text = f"array of the parameters {names[0]} to {names[-1]}" + ("" if unit else "; units differ by element")
        yield ArrayDeclaration(name, value.shape, unit, text, Origin(_NUMBERING), _ALIKE, value)
