"""Accelerations by recursion over the bodies, where that takes fewer operations than a dense mass matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from ...program.items import Item, LinearSolve, TreeSolve
from ...program.program import Program

Way: TypeAlias = Literal["auto", "dense", "recursion"]


def with_tree_solves(program: Program, way: Way) -> Program:
    """The program with solves of trees in place of those linear ones for which it pays, or of all, or of none."""
    items = [_chosen(item, way) for item in program.items]
    return replace(program, items=items) if any(isinstance(item, TreeSolve) for item in items) else program


def _chosen(item: Item, way: Way) -> Item:
    if not isinstance(item, LinearSolve) or item.tree is None or not _is_better(item, way):
        return item
    system = (item.matrix, item.tree, item.right, item.about, item.origin)
    return TreeSolve(item.name, item.shape, item.unit, item.description, *system)


def _is_better(item: LinearSolve, way: Way) -> bool:
    assert item.tree is not None
    columns = (*item.shape, 1)[1]
    return way == "recursion" or (way == "auto" and item.tree.recursion(columns) < item.tree.dense(columns))


def words(program: Program) -> str:
    """Which way was taken, by how many operations; "" where there is no choice."""
    for item in program.items:
        if isinstance(item, TreeSolve | LinearSolve) and item.tree is not None:
            tree, columns = item.tree, (*item.shape, 1)[1]
            recursion, dense = f"{tree.recursion(columns):,}", f"{tree.dense(columns):,}"
            if isinstance(item, TreeSolve):
                return f"by recursion, {recursion} operations; the mass matrix would take {dense}"
            return f"with the mass matrix, {dense} operations; recursion over the bodies would take {recursion}"
    return ""
