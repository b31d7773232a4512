"""Accelerations by recursion over the bodies.

The recursion is used if it needs fewer operations than a dense mass matrix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from ....language import ir
from ...program.items import ConstrainedSolve, Definition, LinearSolve, TreeSolve
from ...program.program import EquationSystem
from ...program.tree import InertiaForces, Transmitted, Tree
from .inertia_forces import Loads, by_recursion
from .lumps import RigidComposites

Way: TypeAlias = Literal["auto", "dense", "recursion"]
AccelerationSolve: TypeAlias = LinearSolve | ConstrainedSolve


def with_tree_solves(program: EquationSystem, way: Way) -> EquationSystem | None:
    """Return the program with the accelerations solved by recursion over the bodies.

    Inertia forces and joint reactions are then also computed by recursion. The result is None if the
    recursion is not faster than the dense mass matrix.
    """
    system = _of_accelerations(program)
    if system is None or not _is_better(system, way):
        return None
    found = replace(program, items=[], reserved=set(program.reserved))
    solved, lumps, loads = _with_multipliers(found, system), None, Loads(found)
    for item in program.items:
        inertial = item.inertial if isinstance(item, Definition) else None
        if isinstance(item, Definition) and isinstance(inertial, Transmitted):
            loads.add(item, inertial)
        elif item is system:
            lumps = lumps or RigidComposites(found, _tree(system).links)
            found.items.append(TreeSolve(solved, lumps(_tree(system))))
        elif isinstance(item, Definition) and isinstance(inertial, InertiaForces):
            lumps = lumps or RigidComposites(found, inertial.tree.links)
            _forces(found, item, inertial, solved, lumps)
        else:
            found.items.append(item)
    return found


def _forces(
    program: EquationSystem,
    item: Definition,
    inertial: InertiaForces,
    solved: AccelerationSolve,
    lumps: RigidComposites,
) -> None:
    if isinstance(solved, ConstrainedSolve) and _is_solved_for(inertial, solved):
        program.items.append(_by_multipliers(item, inertial, solved))
    else:
        by_recursion(program, item, inertial, lumps(inertial.tree))


def _of_accelerations(program: EquationSystem) -> AccelerationSolve | None:
    solves = (item for item in program.items if isinstance(item, LinearSolve | ConstrainedSolve))
    return next((item for item in solves if item.tree is not None), None)


def _tree(system: AccelerationSolve) -> Tree:
    assert system.tree is not None
    return system.tree


def _is_better(system: AccelerationSolve, way: Way) -> bool:
    recursion, dense = _operations(system)
    return way == "recursion" or (way == "auto" and recursion < dense)


def _with_multipliers(program: EquationSystem, system: AccelerationSolve) -> AccelerationSolve:
    if isinstance(system, LinearSolve) or system.multipliers is not None:
        return system
    return replace(system, multipliers=program.fresh("Lambda"))


def _is_solved_for(inertial: InertiaForces, system: ConstrainedSolve) -> bool:
    """Whether all accelerations q̈ in the inertia forces M q̈ are unknowns of the linear system.

    This is the case if no coordinate has a prescribed value, and if there are no friction efforts.
    """
    x = inertial.x
    return x is not None and x.op == "symbol" and x.data == system.name and len(system.shape) == 1


def _by_multipliers(item: Definition, inertial: InertiaForces, system: ConstrainedSolve) -> Definition:
    """Return a definition of inertia forces, with the expression F + Cᵀ Λ in place of M q̈."""
    assert system.multipliers is not None
    Lambda = ir.symbol(system.multipliers, system.wanted.shape)
    parts = [((i,), system.right[k] + system.jacobian[:, k] @ Lambda) for i, k in enumerate(inertial.rows)]
    return replace(item, parts=tuple(parts), inertial=None)


def _operations(system: AccelerationSolve) -> tuple[int, int]:
    """Return the numbers of floating-point operations of two methods for computing the accelerations.

    The first number is for the recursion over the bodies, the second for the dense mass matrix.
    """
    tree, columns = _tree(system), (*system.shape, 1)[1]
    rows = system.wanted.shape[0] if isinstance(system, ConstrainedSolve) else 0
    return tree.recursion(columns, rows), tree.dense(columns, rows)


def words(program: EquationSystem, way: Way) -> str:
    """Return a phrase that states by which method the accelerations are computed.

    The phrase also states the number of operations of this method and of the rejected method. The
    phrase is empty if the accelerations require no linear system.
    """
    system = _of_accelerations(program)
    if system is None:
        return ""
    recursion, dense = (f"{count:,}" for count in _operations(system))
    if _is_better(system, way):
        return f"by recursion, {recursion} operations; the dense mass matrix would need {dense}"
    return f"with the dense mass matrix, {dense} operations; recursion over the bodies would need {recursion}"
