"""Initial equations of the Modelica source that determine the static equilibrium of the mechanism.

The static equilibrium depends on the values of the parameters. The equations are generated only if

- the description contains expressions of parameters,
- the mechanism starts at rest in a stable equilibrium, and
- all coordinates that are changed to close the loops may also be changed to find the equilibrium.

Otherwise the start parameters define the initial state.
"""

from __future__ import annotations

from ...description.types.origin import Origin
from ...language import ir
from ...language.ir import Expr
from ..program.program import EquationSystem
from . import text as mo
from .writer import Declaration, Equation

_ORIGIN = Origin("static equilibrium at the start")
_MULTIPLIERS = "start_multipliers"


def found(program: EquationSystem) -> frozenset[str]:
    """Return the names of the coordinates whose initial values are unknowns of initial equations."""
    start = program.start
    if start is None or not program.calculated or any(start.described[1]) or any(start.defaults[1]):
        return frozenset()
    if start.is_indifferent or (start.assembly and not set(start.moving) <= set(start.free)):
        return frozenset()
    return frozenset(start.coordinates[k] for k in start.free)


def multipliers(program: EquationSystem) -> list[Declaration]:
    """Return the declaration of the multipliers of loop closures in static equilibrium, N or N·m."""
    if not found(program) or program.start is None or not program.start.equilibrium:
        return []
    size, text = len(program.start.equilibrium), "multipliers of loop closures in static equilibrium; N or N.m"
    modifiers = ("each fixed = false", "each start = 0.0")
    return [Declaration(_ORIGIN, "parameter ", _MULTIPLIERS, None, text, (size,), modifiers)]


def equations(program: EquationSystem) -> list[Equation]:
    """Return the initial equations for the static equilibrium.

    The generalised forces on the free coordinates are zero, and the loops are closed.
    """
    start = program.start
    if not found(program) or start is None:
        return []
    forces = [_sum(program, k) for k in start.free]
    rows = [] if start.Phi is None else [start.Phi[i] for i in start.equilibrium]
    return [Equation(_ORIGIN, f"{mo.text(expr)} = 0.0") for expr in (*forces, *rows)]


def _sum(program: EquationSystem, k: int) -> Expr:
    start = program.start
    assert start is not None
    total, factors = start.forces[k], ir.symbol(_MULTIPLIERS, (len(start.equilibrium),))
    for j, row in enumerate(start.equilibrium):
        assert start.C is not None
        total = total + start.C[row, k] * factors[j]
    return total
