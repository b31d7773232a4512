"""Rotations between the frames of closures that let these not turn against each other.

The three cosines that are the closure's conditions, or its springs' deformations, also vanish where the frames are
turned by a third or half of a turn. So loops are closed by the whole rotation, and a start turned far is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....description.types.closures import MOST_TURNED
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicLoopClosure
from ...program.program import Assertion, Program, Turn
from ..bodies.kinematics import SymbolicKinematics


def turns(kinematics: SymbolicKinematics, names: Sequence[str]) -> Iterator[Turn]:
    """Rotations of the closures among the constraint equations of these names."""
    for closure in kinematics.mechanism.closures:
        if closure.rows and len(closure.turning) == 3:
            angles = [closure.rows[k] for k in closure.turning]
            R_a, R_b = (ir.array(axes).T for axes in _axes(kinematics, closure))
            rates = ir.array([rate @ R_a for rate in _rates(kinematics, closure)]).T
            yield Turn(tuple(names.index(row) for row in angles), R_a.T @ R_b, rates)


def start_checks(program: Program, kinematics: SymbolicKinematics) -> Iterator[Assertion]:
    """Conditions that the frames of closures are not turned far at the start, whatever their parameters are."""
    for closure in kinematics.mechanism.closures:
        springs = [closure.stiffness[k] for k in closure.turning] if closure.stiffness is not None else []
        if len(closure.turning) < 3 or any(map(ir.is_zero, springs)):
            continue
        program.section("closure", closure.name)
        angle = _angle(*_axes(kinematics, closure))
        for spring in springs:  # one without stiffness lets the frames turn
            angle = ir.choose(">", spring, ir.constant(0.0), angle, ir.constant(0.0))
        yield Assertion(angle, MOST_TURNED, _message(closure))


def _message(closure: SymbolicLoopClosure) -> str:
    return (
        f"the frames of closure {closure.name} are turned against each other at the start; expected less than"
        " 1.57 rad (90 degrees), because beyond it the closure pulls them to half a turn: turn frame a or b by its"
        " rpy, or start nearer to the closed position; found in rad:"
    )


def _axes(kinematics: SymbolicKinematics, closure: SymbolicLoopClosure) -> tuple[list[Expr], list[Expr]]:
    """World axes of frames a and b as vectors, shape (3,): elements of a product have no Modelica form."""
    a, b = (
        [kinematics.motion(f.place.body).R @ ir.lift(f.rotation)[:, i] for i in range(3)]
        for f in (closure.a, closure.b)
    )
    return a, b


def _rates(kinematics: SymbolicKinematics, closure: SymbolicLoopClosure) -> Iterator[Expr]:
    """Angular velocity of frame b against frame a by each coordinate's rate, world axes, shape (3,)."""
    mechanism = kinematics.mechanism
    behind_a, behind_b = (set(mechanism.ancestors(f.place.body)) for f in (closure.a, closure.b))
    for k, axis in enumerate(kinematics.axes):
        yield axis.e * float((k in behind_b) - (k in behind_a))


def _angle(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    """Angle of the rotation from frame a to frame b, rad; 1 + 2 cos(angle) is the sum of the axes' cosines."""
    cosines = a[0] @ b[0] + a[1] @ b[1] + a[2] @ b[2]
    lowest, highest = ir.constant(0.0), ir.constant(1.0)
    square = ir.call("min", highest, ir.call("max", lowest, 0.25 * (3.0 - cosines)))
    return 2.0 * ir.call("asin", ir.call("sqrt", square))
