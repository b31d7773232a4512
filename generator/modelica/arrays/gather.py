"""Arrays of similar quantities, for example one array for the velocities of all bodies.

Each definition of a program becomes a variable with equations in the Modelica source. Definitions
of one quantity for several coordinates, bodies or supports share an array variable.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ....core.trajectory import Array
from ....description.types.origin import Origin
from ....language import ir
from ....language.ir import Expr, Replacement, Shape
from ...program.gathered import GatheredArray
from ...program.items import ConstrainedSolve, Definition, ImplicitSystem, Item, LinearSolve, TreeSolve, used
from ...program.program import EquationSystem
from .sums import folded

# Headings above the arrays in the Modelica source, by index set, i.e. joints, links or coordinates.
_TITLES = {
    "coordinates": "motion",
    "bodies": "motion",
    "joints": "joint reactions",
}


@dataclass(frozen=True)
class ArrayDeclaration:
    """Declaration of a variable, of a derived parameter, or of a constant table of positions.

    Attributes
    ----------
    value
        Expression of a derived parameter; None for variables.
    elements
        Mapping from the position of an array element, counted from 1, to the origin of the element. The
        origin is an entry of the description or a step of the derivation.
    guess
        Value near the initial state, which solvers use as an initial guess.
    positions
        Elements of a constant table. They are positions in arrays, counted from 1.
    """

    name: str
    shape: Shape
    unit: str | None
    description: str
    origin: Origin
    title: str
    value: Expr | None = None
    elements: Mapping[int, Origin] | None = None
    guess: Array | None = None
    positions: tuple[int, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether the value of the declared quantity contains only numbers and no parameters."""
        return bool(self.positions) or (self.value is not None and not self.value.symbols)

    @property
    def is_variable(self) -> bool:
        """Whether the declared quantity is a variable, that is, its value follows from equations."""
        return self.value is None and not self.positions


@dataclass(frozen=True)
class Statement:
    """Equation `left = right`.

    Attributes
    ----------
    row
        Index of the constraint equation to which the equation belongs, or None.
    """

    left: Expr
    right: Expr
    origin: Origin
    title: str
    row: int | None = None


@dataclass(frozen=True)
class Arrangement:
    """Variables and equations of a Modelica source, in which arrays replace separate definitions.

    Attributes
    ----------
    program
        Program whose outputs, states, checks and assertions refer to array elements.
    variables
        Declarations of all variables and derived parameters.
    statements
        Equations.
    spaces
        Mapping from the name of an array to the names of the index sets of its axes, such as `bodies`.
        For an axis without an index set, the name is empty.
    values
        Mapping from the name of an array to the values of its elements. The values are expressions of
        the program before arrays were formed.
    """

    program: EquationSystem
    variables: tuple[ArrayDeclaration, ...]
    statements: tuple[Statement, ...]
    spaces: Mapping[str, tuple[str, ...]]
    values: Mapping[str, tuple[Expr, ...]]


def arranged(program: EquationSystem, guesses: Mapping[str, Array]) -> Arrangement:
    """Return the variables and equations of a program's Modelica source, with arrays.

    Definitions and linear systems on which the model does not depend are omitted. The argument
    `guesses` is explained in `package.render`.
    """
    return _Gathering(program, guesses).arrangement()


def title(origin: Origin) -> str:
    """Return the heading of the equations that have a common origin.

    The origin is a part of the description or a step of the derivation.
    """
    return str(origin)


class _Gathering:
    """Conversion of a program into variables and equations, with arrays in place of similar definitions."""

    def __init__(self, program: EquationSystem, guesses: Mapping[str, Array]) -> None:
        self._guesses = guesses
        self._program = replace(program, reserved=set(program.reserved))
        needed = _needed(program)
        self._items = [item for item in program.items if item.name in needed or _is_kept(item)]
        self._definitions = {item.name: item for item in self._items if isinstance(item, Definition)}
        self._published = program.published
        self._states = {state.name for state in program.states}
        self._states |= {variable.name for sampling in program.samplings for variable in sampling.held}
        self._parameters = {p.name for p in program.parameters}
        self._variables: list[ArrayDeclaration] = []
        self._statements: list[Statement] = []
        self._places: dict[str, Expr] = {}
        self._fixed_places: dict[str, Expr] = {}
        self._inlined: dict[str, Expr] = {}
        self._arrays: dict[str, tuple[GatheredArray, str, list[Expr]]] = {}
        for array in program.gatherings.arrays.values():
            self._reserve(array)

    def arrangement(self) -> Arrangement:
        self._change, self._change_fixed = Replacement(self._places), self._in_parameters()
        owner = {
            name: array.name for array, _, elements in self._arrays.values() for name in self._owned(elements)
        }
        placed: set[str] = set()
        for item in self._items:
            if item.name not in owner:
                self._add(item)
            elif owner[item.name] not in placed:
                placed.add(owner[item.name])
                self._add_array(*self._arrays[owner[item.name]])
        renamed = self._renamed()
        self._add_referenced({name: entry for name, entry in self._arrays.items() if name not in placed}, renamed)
        spaces = {item.name: self._counted(item.shape) for item in self._items}
        spaces |= {name: self._axes(array, elements) for array, name, elements in self._arrays.values()}
        values = {name: tuple(elements) for _, name, elements in self._arrays.values()}
        return Arrangement(renamed, tuple(self._variables), tuple(self._statements), spaces, values)

    def _reserve(self, array: GatheredArray) -> None:
        """Reserve the name of an array and the positions of its elements.

        If a member of the index set has no value in the array, nothing is reserved, because the array
        would have gaps.
        """
        labels = self._program.gatherings.sets[array.over]
        elements = [array.elements.get(label) for label in labels]
        if len(labels) < 2 or any(value is None or self._is_unfit(value) for value in elements):
            return
        found = [value for value in elements if value is not None]
        if not any(value.op == "symbol" and value.data in self._known() for value in found):
            return
        name = self._program.fresh(array.name)
        shape = (len(labels), *found[0].shape)
        symbol = ir.symbol(name, shape)
        fixed = all(map(self._is_fixed, found))
        for position, value in enumerate(found):
            if value.op == "symbol" and value.data not in self._places:
                self._place(value, symbol[position], fixed)
        self._arrays[array.name] = (array, name, found)

    def _place(self, value: Expr, here: Expr, fixed: bool) -> None:
        owned = value.data in self._owned([value])
        if owned or value.data in self._published or (fixed and value.data in self._parameters):
            self._places[value.data] = here
            if fixed:
                self._fixed_places[value.data] = here
        if owned and not fixed and self._is_fixed(value):
            self._inlined[value.data] = self._definitions[value.data].parts[0][1]

    def _in_parameters(self, own: Container[str] = ()) -> Replacement:
        """Return a function that replaces symbols in expressions that depend on parameters only.

        The symbol of a definition is replaced by an array element, if there is one, or otherwise by the
        expression of the definition. The
        argument `own` contains the names of the elements of the array that is being defined. Elements
        of this array do not replace symbols.
        """
        values = {name: place for name, place in self._fixed_places.items() if name not in own}
        values = {name: place for name, place in values.items() if name not in self._parameters or own}
        inlined = dict(self._inlined)
        while any(value.symbols & set(inlined) for value in inlined.values()):
            change = Replacement(inlined)
            inlined = {name: change(value) for name, value in inlined.items()}
        return Replacement(values | inlined)

    def _known(self) -> set[str]:
        return {*self._definitions, *self._parameters}

    def _is_unfit(self, value: Expr) -> bool:
        """Whether a value is neither a constant nor a symbol, or is a symmetric matrix.

        Such a value cannot be an element of a Modelica array.
        """
        if value.op == "symbol":
            definition = self._definitions.get(value.data)
            return definition is not None and definition.symmetric
        return value.op != "constant"

    def _owned(self, elements: Iterable[Expr]) -> list[str]:
        """Return the names of those array elements that the Modelica source declares only in the array.

        The argument `elements` contains all elements of the array. Elements that are outputs, applied
        forces or calculated parameters are also declared as scalar variables, so their names are not
        returned.
        """
        names = [value.data for value in elements if value.op == "symbol"]
        return [
            name
            for name in names
            if name in self._definitions
            and name not in self._published
            and not self._definitions[name].replaceable
            and not self._definitions[name].calculated
        ]

    def _add_array(self, array: GatheredArray, name: str, elements: list[Expr]) -> None:
        shape = (len(elements), *elements[0].shape)
        own = {value.data for value in elements if value.op == "symbol"} & set(self._definitions)
        fixed = all(self._is_fixed(value) for value in elements)
        origins = {
            i: self._definitions[v.data].origin
            for i, v in enumerate(elements, 1)
            if v.op == "symbol" and v.data in own
        }
        origin = self._origin(array, set(origins.values()))
        heading = str(origin)
        description = with_units(array.description, array.unit)
        about = (name, shape, array.unit, description, origin, heading)
        if fixed:
            value = Expr("array", shape, tuple(self._fixed_value(array.name, element) for element in elements))
            self._variables.append(ArrayDeclaration(*about, value, origins))
            return
        self._variables.append(ArrayDeclaration(*about, None, origins, self._guess(elements)))
        symbol = ir.symbol(name, shape)
        if not self._owned(elements):
            self._statements.append(Statement(symbol, ir.array(elements), origin, heading))
            return
        for position, value in enumerate(elements):
            self._add_element(symbol, position, value, origin, heading)

    def _origin(self, array: GatheredArray, origins: set[Origin]) -> Origin:
        """Return the origin of an array, which becomes the heading of its declaration.

        If all elements originate from the same step of the derivation, this step is the origin.
        Otherwise the origin is a title that belongs to the index set, for example `motion` for an array
        over the bodies.
        """
        steps = [origin for origin in origins if origin.kind not in ("link", "base")]
        if len(origins) == 1 and (steps or array.over not in _TITLES):
            return next(iter(origins))
        return Origin(_TITLES.get(array.over, array.over))

    def _add_element(self, symbol: Expr, position: int, value: Expr, origin: Origin, heading: str) -> None:
        here = symbol[position]
        if not self._owned([value]) or str(self._places.get(value.data, here).data) != str(here.data):
            self._statements.append(Statement(here, self._change(value), origin, heading))
            return
        definition = self._definitions[value.data]
        for index, expr in definition.parts:
            left = here[index] if index else here
            self._statements.append(Statement(left, folded(self._change(expr)), definition.origin, heading))

    def _is_fixed(self, value: Expr) -> bool:
        if value.op != "symbol":
            return True
        return value.data in self._parameters or (
            value.data in self._definitions and self._definitions[value.data].constant
        )

    def _fixed_value(self, name: str, value: Expr) -> Expr:
        """Return an array element that depends on parameters only, as an expression over other arrays."""
        if value.op != "symbol" or value.data not in self._owned([value]):
            return value
        own = {element.data for element in self._arrays[name][2] if element.op == "symbol"}
        change, unnamed = self._in_parameters(own), own & set(self._owned(self._arrays[name][2]))

        def written(definition: str) -> Expr:
            found = change(self._definitions[definition].parts[0][1])
            return Replacement({other: written(other) for other in found.symbols & unnamed})(found)

        return folded(written(value.data))

    def _guess(self, elements: list[Expr]) -> Array | None:
        found = [self._guesses.get(value.data) if value.op == "symbol" else None for value in elements]
        if all(guess is None for guess in found):
            return None
        nothing = np.zeros(elements[0].shape)
        return np.array([nothing if guess is None else guess for guess in found])

    def _axes(self, array: GatheredArray, elements: list[Expr]) -> tuple[str, ...]:
        return (array.over, *("" for _ in elements[0].shape))

    def _counted(self, shape: Shape) -> tuple[str, ...]:
        """Return the name of the index set for each axis of an array of the given shape.

        If the axis has one element per coordinate, the name is `coordinates`. For all other axes, the
        name is empty.
        """
        n = len(self._program.gatherings.sets.get("coordinates", ()))
        return tuple("coordinates" if size == n else "" for size in shape)

    def _add_referenced(
        self, waiting: dict[str, tuple[GatheredArray, str, list[Expr]]], renamed: EquationSystem
    ) -> None:
        """Add those arrays to the Modelica source that its equations or other expressions use.

        Other expressions are, for example, derived parameters, outputs, states, events and checks. An
        array is also added if only another added array uses it.
        """
        outside = {name for expr in _external_expressions(renamed) for name in expr.symbols}
        while True:
            named = outside | self._named()
            referenced = [name for name, entry in waiting.items() if entry[1] in named]
            if not referenced:
                return
            for name in referenced:
                self._add_array(*waiting.pop(name))

    def _named(self) -> set[str]:
        expressions = [expr for statement in self._statements for expr in (statement.left, statement.right)]
        expressions += [variable.value for variable in self._variables if variable.value is not None]
        return {name for expr in expressions for name in expr.symbols}

    def _add(self, item: Item) -> None:
        if isinstance(item, Definition):
            if item.name in self._published or item.calculated:
                if not item.calculated and item.name not in self._states:
                    self._add_equations(item)
                return
            self._add_definition(item)
            return
        self._variables.append(
            ArrayDeclaration(
                item.name,
                item.shape,
                item.unit,
                with_units(item.description, item.unit),
                item.origin,
                str(item.origin),
            )
        )
        self._statements += [
            Statement(folded(self._change(left)), folded(self._change(right)), item.origin, str(item.origin))
            for left, right in _equations(item)
        ]

    def _add_definition(self, item: Definition) -> None:
        heading = str(item.origin)
        about = (item.name, item.shape, item.unit, with_units(item.description, item.unit), item.origin, heading)
        if item.constant and not item.replaceable:
            self._variables.append(ArrayDeclaration(*about, folded(self._change_fixed(item.parts[0][1]))))
            return
        self._variables.append(ArrayDeclaration(*about, guess=self._guesses.get(item.name)))
        if not item.replaceable:
            self._add_equations(item)

    def _add_equations(self, item: Definition) -> None:
        symbol, heading = ir.symbol(item.name, item.shape), str(item.origin)
        for i, (index, expr) in enumerate(item.parts):
            left, right = _narrowed(symbol[index] if index else symbol, self._change(expr))
            self._statements.append(
                Statement(left, folded(right), item.origin, heading, i if item.by_row else None)
            )
        if item.symmetric and item.shape[0] == 2:
            self._statements.append(Statement(symbol[1, 0], symbol[0, 1], item.origin, heading))
        elif item.symmetric:
            for k in range(1, item.shape[0]):
                self._statements.append(Statement(symbol[k, 0:k], symbol[0:k, k], item.origin, heading))

    def _renamed(self) -> EquationSystem:
        """Return the program in which array elements replace symbols that were defined separately.

        Symbols are replaced in outputs, states, start values, checks and assertions, but not in the
        definitions and linear systems.
        """
        program, change = self._program, self._change
        start = program.start
        if start is not None:
            C, Phi, Phi_dot = (None if e is None else change(e) for e in (start.C, start.Phi, start.Phi_dot))
            start = replace(start, forces=tuple(map(change, start.forces)), C=C, Phi=Phi, Phi_dot=Phi_dot)
        return replace(
            program,
            outputs=[
                replace(o, expr=change(o.expr) if o.name not in program.published else o.expr)
                for o in program.outputs
            ],
            states=[replace(s, derivative=change(s.derivative)) for s in program.states],
            samplings=[
                replace(s, held=tuple(replace(x, next=change(x.next)) for x in s.held)) for s in program.samplings
            ],
            start_values=[replace(v, expr=change(v.expr)) for v in program.start_values],
            start_checks=[replace(a, value=change(a.value)) for a in program.start_checks],
            checks=[replace(a, value=change(a.value)) for a in program.checks],
            assertions=[replace(a, value=change(a.value)) for a in program.assertions],
            lengths=[replace(x, value=change(x.value), rate=change(x.rate)) for x in program.lengths],
            requirements=[replace(r, value=change(r.value)) for r in program.requirements],
            start=start,
        )


def _narrowed(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Return both sides of an equation, with array dimensions of length 1 removed from both.

    A block of one row or one column of an array becomes a vector, and a block of one element becomes a
    scalar. A constant vector of length 1 also becomes a scalar. The reason is that the compiler
    rumoca rejects `W[:,i] = zeros(1)` in loops.
    """
    if left.op == "index" and left.shape == (1,) and right.op == "constant":
        return _narrow(left), ir.constant(float(right.data[0]))
    if left.op != "index" or right.op != "index":
        return left, right
    if [isinstance(key, slice) for key in left.data] != [isinstance(key, slice) for key in right.data]:
        return left, right
    return _narrow(left), _narrow(right)


def _narrow(block: Expr) -> Expr:
    keys = tuple(key.start if isinstance(key, slice) and key.stop - key.start == 1 else key for key in block.data)
    return ir.index(block.args[0], keys)


def _is_kept(item: Item) -> bool:
    return isinstance(item, Definition) and (item.replaceable or item.calculated)


def _equations(item: Item) -> Iterator[tuple[Expr, Expr]]:
    if isinstance(item, TreeSolve):
        yield from _equations(item.system)
    elif isinstance(item, ImplicitSystem):
        yield from item.equations
    elif isinstance(item, LinearSolve):
        yield item.matrix @ ir.symbol(item.name, item.shape), item.right
    elif isinstance(item, ConstrainedSolve):
        raise TypeError(
            f"Modelica source cannot contain the linear system {item.name}, because the system includes"
            " constraint equations; call with_linear_solves() first"
        )


def with_units(text: str, unit: str | None) -> str:
    """Return the description of an array, with a remark if the elements of the array differ in unit."""
    return text if unit is not None or ";" in text else f"{text}; units differ by element"


def _needed(program: EquationSystem) -> set[str]:
    """Return the names of all definitions and linear systems on which the model depends.

    The model depends on a definition if an output, state, event, assertion or initial condition uses
    it, directly or through other definitions. An array is returned completely, even if the model
    depends on only one of its elements.
    """
    giver = {item.name: item for item in program.items}
    together: dict[str, list[str]] = {}
    for array in program.gatherings.arrays.values():
        labels = program.gatherings.sets[array.over]
        elements = [array.elements[label] for label in labels if label in array.elements]
        names = [element.data for element in elements if element.op == "symbol" and element.data in giver]
        together |= {name: [*names, *together.get(name, [])] for name in names}
    waiting = [name for expr in _external_expressions(program) for name in expr.symbols]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in giver and name not in found:
            found.add(name)
            waiting += [*used(giver[name]), *together.get(name, [])]
    return found


def _external_expressions(program: EquationSystem) -> Iterator[Expr]:
    yield from (output.expr for output in program.outputs)
    for state in program.states:
        yield from (state.derivative, state.start)
    yield from (value.expr for value in program.start_values)
    for event in program.events:
        yield from (event.time, *([] if event.rate is None else [event.rate]))
    for lookup in program.lookups:
        yield from (lookup.begin, lookup.rate)
    for sampling in program.samplings:
        yield sampling.period
        yield from (expr for variable in sampling.held for expr in (variable.start, variable.next))
    yield from (a.value for a in (*program.start_checks, *program.checks, *program.assertions))
    yield from (required.value for required in program.requirements)
    yield from (expr for item in program.items if _is_kept(item) for expr in item.exprs)
    if program.start is not None:
        start = program.start
        yield from start.forces
        yield from (expr for expr in (start.C, start.Phi, start.Phi_dot) if expr is not None)
