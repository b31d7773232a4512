"""Relative rotation of the two frames of a loop closure that locks all three rotations.

Such a closure sets three direction cosines to zero. These cosines also vanish if one frame is
rotated by a third of a turn or by half a turn. The solver for the initial state therefore uses the
complete relative rotation, and rejects an initial state in which this rotation is large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....description.types.closures import MOST_TURNED
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicLoopClosure
from ...program.program import Assertion, EquationSystem, Turn
from ..bodies.kinematics import SymbolicKinematics


def turns(kinematics: SymbolicKinematics, names: Sequence[str]) -> Iterator[Turn]:
    """Yield the relative rotation of the two frames of each closure that locks all three rotations.

    The argument `names` contains the names of all constraint equations, in the order of the equations.
    """
    for closure in kinematics.mechanism.closures:
        if closure.rows and len(closure.turning) == 3:
            angles = [closure.rows[k] for k in closure.turning]
            R_a, R_b = (ir.array(axes).T for axes in _axes(kinematics, closure))
            rates = ir.array([rate @ R_a for rate in _rates(kinematics, closure)]).T
            yield Turn(tuple(names.index(row) for row in angles), R_a.T @ R_b, rates)


def start_checks(program: EquationSystem, kinematics: SymbolicKinematics) -> Iterator[Assertion]:
    """Yield assertions that the frames of rotation-locking closures are nearly aligned initially.

    Each assertion limits the angle between the two frames of a closure. The assertions are checked
    for default and for changed parameters.
    """
    for closure in kinematics.mechanism.closures:
        springs = [closure.stiffness[k] for k in closure.turning] if closure.stiffness is not None else []
        if len(closure.turning) < 3 or any(map(ir.is_zero, springs)):
            continue
        program.section("closure", closure.name)
        angle = _angle(*_axes(kinematics, closure))
        # A spring-damper without rotational stiffness allows any relative rotation, so its angle is set to zero.
        for spring in springs:
            angle = ir.choose(">", spring, ir.constant(0.0), angle, ir.constant(0.0))
        yield Assertion(angle, MOST_TURNED, _message(closure))


def _message(closure: SymbolicLoopClosure) -> str:
    return (
        f"frames a and b of closure {closure.name} are rotated relative to each other at the start; expected less"
        " than 1.57 rad (90 degrees), because larger rotations are pulled towards half a turn; rotate frame a or"
        " b by `rpy`, or start nearer to the closed position; found in rad:"
    )


def _axes(kinematics: SymbolicKinematics, closure: SymbolicLoopClosure) -> tuple[list[Expr], list[Expr]]:
    """Return the three axes of frame a and the three axes of frame b, shape (3,) each, in world axes.

    Each axis is a separate vector, because Modelica has no syntax for elements of a matrix product.
    """
    a, b = (
        [kinematics.motion(f.place.body).R @ ir.lift(f.rotation)[:, i] for i in range(3)]
        for f in (closure.a, closure.b)
    )
    return a, b


def _rates(kinematics: SymbolicKinematics, closure: SymbolicLoopClosure) -> Iterator[Expr]:
    """Yield the angular velocity of frame b relative to frame a per unit rate of each coordinate.

    Each angular velocity is a vector of shape (3,), world axes.
    """
    mechanism = kinematics.mechanism
    behind_a, behind_b = (set(mechanism.ancestors(f.place.body)) for f in (closure.a, closure.b))
    for k, axis in enumerate(kinematics.axes):
        yield axis.e * float((k in behind_b) - (k in behind_a))


def _angle(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    """Return the angle of the rotation from frame a to frame b, rad.

    The angle follows from the trace of the rotation matrix, which is 1 + 2 cos(angle).
    """
    cosines = a[0] @ b[0] + a[1] @ b[1] + a[2] @ b[2]
    lowest, highest = ir.constant(0.0), ir.constant(1.0)
    square = ir.call("min", highest, ir.call("max", lowest, 0.25 * (3.0 - cosines)))
    return 2.0 * ir.call("asin", ir.call("sqrt", square))
