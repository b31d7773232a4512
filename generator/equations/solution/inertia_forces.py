"""Forces M x that accelerations x take, by recursion over the bodies: accelerations outward, wrenches inward."""

from __future__ import annotations

from dataclasses import replace

from ...language import ir
from ...language.ir import Expr
from ...program.items import Definition
from ...program.program import Program
from ...program.tree import Inertial, Tree

_Pair = tuple[Expr, Expr]


def by_recursion(program: Program, item: Definition, inertial: Inertial) -> None:
    """Add the definition of some rows of M x to the program, without M, and those that it needs."""
    tree, x = inertial.tree, inertial.x
    program.section(item.origin.kind, item.origin.name, item.origin.element)
    wrenches = _wrenches(program, tree, _accelerations(program, tree, x))
    parts = []
    for i, k in enumerate(inertial.rows):
        freedom, (N, F) = tree.freedoms[k], wrenches[tree.freedoms[k].body]
        parts.append(((i,), freedom.e @ N + freedom.u @ F + freedom.armature * x[k]))
    program.items.append(replace(item, parts=tuple(parts), inertial=None))


def _accelerations(program: Program, tree: Tree, x: Expr) -> list[_Pair]:
    """Of each body: its angular acceleration and that of its origin, rad/s² and m/s²."""
    found: list[_Pair] = []
    for b, link in enumerate(tree.links):
        alpha, a = found[link.parent] if link.parent >= 0 else (ir.zeros(3), ir.zeros(3))
        a = a + ir.cross(alpha, link.arm)
        for k, freedom in enumerate(tree.freedoms):
            if freedom.body == b:
                alpha, a = alpha + x[k] * freedom.e, a + x[k] * freedom.u
        text = f"of body {b + 1} of the tree"
        alpha = program.define(f"alpha_{b + 1}", alpha, "rad/s2", f"angular acceleration {text}")
        found.append((alpha, program.define(f"a_{b + 1}", a, "m/s2", f"acceleration {text}")))
    return found


def _wrenches(program: Program, tree: Tree, accelerations: list[_Pair]) -> list[_Pair]:
    """What each body and all behind it take: moment about its origin and force, N·m and N."""
    found = [
        (link.inertia @ alpha + ir.cross(link.moment, a), link.mass * a + ir.cross(alpha, link.moment))
        for link, (alpha, a) in zip(tree.links, accelerations, strict=True)
    ]
    for b, link in reversed(list(enumerate(tree.links))):
        text = f"that body {b + 1} of the tree and all behind it take"
        N = program.define(f"taken_N_{b + 1}", found[b][0], "N.m", f"moment {text}")
        F = program.define(f"taken_F_{b + 1}", found[b][1], "N", f"force {text}")
        found[b] = N, F
        if link.parent >= 0:
            moment, force = found[link.parent]
            found[link.parent] = moment + N + ir.cross(link.arm, F), force + F
    return found
