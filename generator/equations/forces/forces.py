"""Generalised forces Q of all force elements (Jarzębowska et al. 2023, equations (13)–(18)).

The table `FORCE_ELEMENTS` contains one module per kind of force element. Each module has
a function `of`, which yields the force elements of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from ....description.types.force_elements import FORCE_ELEMENTS
from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism.symbolic import SymbolicMechanism
from ...program.program import EquationSystem
from ..bodies.filters import FilterOutput
from ..bodies.kinematics import SymbolicKinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points
from .element import ForceElement, Forces, on_subtrees
from .lines import LINES


def _elements(mechanism: SymbolicMechanism) -> Iterator[ForceElement]:
    for name in FORCE_ELEMENTS:
        yield from import_module(f".{name}", __package__).of(mechanism)


def derive(
    program: EquationSystem,
    kinematics: SymbolicKinematics,
    points: Points,
    lower: Lowering,
    followed: Sequence[FilterOutput],
) -> tuple[Expr, dict[int, Wrench], Forces]:
    """Define the generalised forces Q, shape (n,), N or N·m, without friction.

    The first result is the symbol of Q. The second result is the sum of the wrenches on each subtree,
    see `on_subtrees`. The third result contains the outputs, states and energies of the force elements.
    """
    mechanism, forces = kinematics.mechanism, Forces(program, kinematics, points, lower, followed)
    program.gatherings.members(LINES, [line.name for line in mechanism.lines])
    for element in _elements(mechanism):
        element.act(forces)
    program.section("generalised forces")
    acting = on_subtrees(program, kinematics, forces.wrenches, "acting")
    parts: list[tuple[Index, Expr]] = []
    for k in range(mechanism.n):
        own = forces.efforts.get(k, ir.constant(0.0))
        parts.append(((k,), own + _of_wrenches(kinematics, k, acting)))
    return (
        program.assemble("Q", (mechanism.n,), parts, None, "generalised forces of all force elements; N or N.m"),
        acting,
        forces,
    )


def _of_wrenches(kinematics: SymbolicKinematics, k: int, acting: dict[int, Wrench]) -> Expr:
    """Return the generalised force on coordinate k that is due to the wrenches applied to bodies.

    The argument `acting` contains for each body the total wrench on its subtree.
    """
    wrench = acting.get(kinematics.owners[k])
    return ir.constant(0.0) if wrench is None else kinematics.power(k, wrench.N, wrench.F)
