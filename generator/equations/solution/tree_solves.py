"""Accelerations by recursion over the bodies, where that takes fewer operations than a dense mass matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from ...program.items import ConstrainedSolve, Definition, Item, LinearSolve, TreeSolve
from ...program.program import Program
from .inertia_forces import by_recursion

Way: TypeAlias = Literal["auto", "dense", "recursion"]


def with_tree_solves(program: Program, way: Way) -> Program:
    """The program with solves of trees in place of those dense ones for which it pays, or of all, or of none.

    With one of them, all that is not asked for M itself goes without it.
    """
    items = [_chosen(item, way) for item in program.items]
    if not any(isinstance(item, TreeSolve) for item in items):
        return program
    found = replace(program, items=[], reserved=set(program.reserved))
    for item in items:
        if isinstance(item, Definition) and item.inertial is not None:
            by_recursion(found, item, item.inertial)
        else:
            found.items.append(item)
    return found


def _chosen(item: Item, way: Way) -> Item:
    if not isinstance(item, LinearSolve | ConstrainedSolve) or item.tree is None:
        return item
    recursion, dense = _operations(item)
    return TreeSolve(item) if way == "recursion" or (way == "auto" and recursion < dense) else item


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
