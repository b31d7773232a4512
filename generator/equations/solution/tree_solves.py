"""Accelerations by recursion over the bodies, where that takes fewer operations than a dense mass matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from ...program.items import ConstrainedSolve, Definition, Item, LinearSolve, TreeSolve
from ...program.program import Program
from ...program.tree import Tree
from .inertia_forces import by_recursion
from .lumps import Lumps

Way: TypeAlias = Literal["auto", "dense", "recursion"]


def with_tree_solves(program: Program, way: Way) -> Program:
    """The program with solves of trees in place of those dense ones for which it pays, or of all, or of none.

    With one of them, all that is not asked for M itself goes without it.
    """
    chosen = [item for item in program.items if _is_chosen(item, way)]
    if not chosen:
        return program
    found = replace(program, items=[], reserved=set(program.reserved))
    lumps: Lumps | None = None
    for item in program.items:
        tree = _tree(item)
        if tree is None or (isinstance(item, LinearSolve | ConstrainedSolve) and item not in chosen):
            found.items.append(item)
            continue
        lumps = lumps or Lumps(found, tree.links)
        if isinstance(item, Definition) and item.inertial is not None:
            by_recursion(found, item, item.inertial, lumps(tree))
        elif isinstance(item, LinearSolve | ConstrainedSolve):
            found.items.append(TreeSolve(item, lumps(tree)))
    return found


def _tree(item: Item) -> Tree | None:
    """Whose inertia an item is about."""
    if isinstance(item, Definition):
        return None if item.inertial is None else item.inertial.tree
    return item.tree if isinstance(item, LinearSolve | ConstrainedSolve) else None


def _is_chosen(item: Item, way: Way) -> bool:
    if not isinstance(item, LinearSolve | ConstrainedSolve) or item.tree is None:
        return False
    recursion, dense = _operations(item)
    return way == "recursion" or (way == "auto" and recursion < dense)


def _operations(item: LinearSolve | ConstrainedSolve) -> tuple[int, int]:
    """By recursion, and with the mass matrix."""
    assert item.tree is not None
    rows = item.wanted.shape[0] if isinstance(item, ConstrainedSolve) else 0
    columns = (*item.shape, 1)[1]
    return item.tree.recursion(columns, rows), item.tree.dense(columns, rows)


def words(program: Program) -> str:
    """Which way was taken, by how many operations; "" where there is no choice."""
    for item in program.items:
        system = item.system if isinstance(item, TreeSolve) else item
        if isinstance(system, LinearSolve | ConstrainedSolve) and system.tree is not None:
            recursion, dense = (f"{count:,}" for count in _operations(system))
            if isinstance(item, TreeSolve):
                return f"by recursion, {recursion} operations; the mass matrix would take {dense}"
            return f"with the mass matrix, {dense} operations; recursion over the bodies would take {recursion}"
    return ""
