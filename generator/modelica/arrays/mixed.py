"""Equations between elements of arrays whose elements differ in unit.

The unit check of OpenModelica assumes that all elements of an array have one unit. It therefore
warns about correct equations if an array contains elements with different units. Equations between
lists, `{x} = {y}`, are not checked, so the equations are written in this form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ....description.types.units import exponents
from ....language import ir
from ....language.ir import Expr
from ...program.program import EquationSystem
from .gather import Arrangement, Statement
from .loops import Equation, Loop

_Known = Mapping[str, str | None]
_Unit = tuple[int, ...]


def with_lists(arrangement: Arrangement, equations: Iterable[Equation]) -> tuple[Arrangement, list[Equation]]:
    """Return the variables and equations, with equations between lists where units are mixed.

    A scalar equation is written as `{x} = {y}` if it contains an element of an array with mixed units.
    If the value of an output contains such an element, the output's declaration has no value. An
    additional equation then defines the output.
    """
    program, units = arrangement.program, _units(arrangement)
    named = [_named(equation, arrangement) for equation in equations]
    mixed = _mixing(program, named, units)
    outputs = [replace(output, expr=_by_names(output.expr, arrangement)) for output in program.outputs]
    program = replace(program, outputs=outputs, listed={o.name for o in outputs if _elements(o.expr) & mixed})
    return replace(arrangement, program=program), [_listed(equation, mixed) for equation in named]


def _units(arrangement: Arrangement) -> dict[str, str | None]:
    program = arrangement.program
    found = {parameter.name: parameter.unit for parameter in program.parameters}
    found |= {variable.name: variable.unit for variable in arrangement.variables}
    return found | {output.name: output.unit for output in program.outputs}


def _named(equation: Equation, arrangement: Arrangement) -> Equation:
    """Return an equation in which coordinates and rates have their own names instead of array subscripts.

    Loops are returned unchanged.
    """
    if isinstance(equation, Loop) or (equation.left.op == "symbol" and equation.left.data in arrangement.values):
        return equation
    return replace(equation, right=_by_names(equation.right, arrangement))


def _by_names(expr: Expr, arrangement: Arrangement) -> Expr:
    if expr.op == "index" and expr.args[0].op == "symbol" and not expr.shape:
        elements, key = arrangement.values.get(expr.args[0].data, ()), expr.data[0]
        if elements and isinstance(key, int) and _is_published(elements[key], arrangement.program):
            return elements[key]
    args = tuple(_by_names(argument, arrangement) for argument in expr.args)
    return expr if args == expr.args else replace(expr, args=args)


def _is_published(element: Expr, program: EquationSystem) -> bool:
    return element.op == "symbol" and element.data in program.published


def _mixing(program: EquationSystem, equations: Iterable[Equation], units: _Known) -> set[str]:
    """Return the names of arrays whose equations contain quantities of at least two different units.

    Only arrays without a common unit of all elements are considered.
    """
    found: dict[str, set[_Unit]] = {}
    sides = [(s.left, s.right) for s in _statements(equations)]
    sides += [(ir.symbol(output.name), output.expr) for output in program.outputs]
    for left, right in sides:
        met = {unit for side in (left, right) for term in _terms(side) if (unit := _unit(term, units)) is not None}
        for name in _elements(left) | _elements(right):
            if units.get(name) is None:
                found.setdefault(name, set()).update(met)
    for name, elements in _named_elements(program).items():
        known = (_exponents(units.get(element.data)) for element in elements)
        found.setdefault(name, set()).update(unit for unit in known if unit is not None)
    return {name for name, met in found.items() if len(met) > 1}


def _named_elements(program: EquationSystem) -> dict[str, list[Expr]]:
    arrays = program.gatherings.arrays.values()
    return {a.name: [e for e in a.elements.values() if e.op == "symbol"] for a in arrays if a.name in ("q", "qd")}


def _statements(equations: Iterable[Equation]) -> Iterator[Statement]:
    for equation in equations:
        if isinstance(equation, Loop):
            yield from _statements(equation.body)
        else:
            yield equation


def _terms(expr: Expr) -> list[Expr]:
    if expr.op in ("+", "-", "neg"):
        return [term for argument in expr.args for term in _terms(argument)]
    return [expr]


def _unit(term: Expr, units: _Known) -> _Unit | None:
    """Return the exponents of the base units in the unit of a term; None if the unit is unknown.

    Radians count as plain numbers.
    """
    if term.op in ("*", "/"):
        left, right = (_unit(factor, units) for factor in term.args)
        if left is None or right is None:
            return None
        sign = 1 if term.op == "*" else -1
        return tuple(a + sign * b for a, b in zip(left, right, strict=True))
    symbol = term.args[0] if term.op == "index" else term
    return _exponents(units.get(symbol.data)) if symbol.op == "symbol" else None


def _exponents(unit: str | None) -> _Unit | None:
    return None if unit is None else tuple(n for base, n in exponents(unit).items() if base != "rad")


def _elements(expr: Expr) -> set[str]:
    """Return the names of the arrays whose scalar elements occur in an expression."""
    found = {name for argument in expr.args for name in _elements(argument)}
    if expr.op == "index" and expr.args[0].op == "symbol" and not expr.shape:
        found.add(expr.args[0].data)
    return found


def _listed(equation: Equation, mixed: set[str]) -> Equation:
    if isinstance(equation, Loop):  # The Modelica compiler rumoca accepts no array constructors in loops.
        return equation
    scalar = not equation.left.shape and equation.left.op in ("index", "symbol")
    if not scalar or not (_elements(equation.left) | _elements(equation.right)) & mixed:
        return equation
    sides = (Expr("array", (1,), (side,)) for side in (equation.left, equation.right))
    left, right = sides
    return replace(equation, left=left, right=right)
