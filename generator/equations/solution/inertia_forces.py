"""Inertia forces and joint reactions, by recursion over the bodies from the leaves to the root.

The generalised inertia forces are either M x, for accelerations x and the mass matrix M, or the
bias forces h.
"""

from __future__ import annotations

from dataclasses import replace

from ....language import ir
from ....language.ir import Expr, Index
from ...program.items import Definition
from ...program.program import EquationSystem
from ...program.tree import InertiaForces, Transmitted, Tree, TreeBody

_Pair = tuple[Expr, Expr]


def by_recursion(program: EquationSystem, item: Definition, inertial: InertiaForces, tree: Tree) -> None:
    """Add generalised inertia forces to the program, computed by recursion over the bodies of a tree."""
    program.section(item.origin.kind, item.origin.name, item.origin.element)
    x, name = inertial.x, item.name
    own = [_own(link) for link in tree.links] if x is None else _per_acceleration(program, tree, x, name)
    wrenches = _sums(program, tree, own, name)
    parts: list[tuple[Index, Expr]] = []
    for i, k in enumerate(inertial.rows):
        freedom, (N, F) = tree.freedoms[k], wrenches[tree.freedoms[k].body]
        force = freedom.e @ N + freedom.u @ F
        parts.append(((i,), force if x is None else force + freedom.armature * x[k]))
    program.items.append(replace(item, parts=tuple(parts), inertial=None))


class Loads:
    """Definitions of joint reactions by recursion over the bodies.

    The inertia wrench of each body is defined once, and all joint reactions use it.
    """

    def __init__(self, program: EquationSystem) -> None:
        self._program, self._known = program, dict[str, list[_Pair]]()

    def add(self, item: Definition, load: Transmitted) -> None:
        """Add the definition of a joint reaction to the program, after the definitions that it requires."""
        wrench = self._wrenches(load.tree, load.x)[load.link][load.part]
        self._program.items.append(replace(item, parts=(((), load.rest + wrench),), inertial=None))

    def _wrenches(self, tree: Tree, x: Expr) -> list[_Pair]:
        name = x.data
        if name not in self._known:
            self._program.section("inertia wrenches of the accelerations")
            own = _per_acceleration(self._program, tree, x, name)
            self._known[name] = _sums(self._program, tree, own, name)
        return self._known[name]


def _own(link: TreeBody) -> _Pair:
    """Return the inertia moment about the body's origin, N·m, and the inertia force, N, for q̈ = 0.

    Gravity is included.
    """
    m, s, J = link.mass, link.moment, link.inertia
    w, dw, dv = link.motion.w, link.motion.dw, link.motion.dv
    F = m * dv + ir.cross(dw, s) + ir.cross(w, ir.cross(w, s))
    return J @ dw + ir.cross(s, dv) + ir.cross(w, J @ w), F


def _per_acceleration(program: EquationSystem, tree: Tree, x: Expr, name: str) -> list[_Pair]:
    """Return the inertia wrench of each body due to the accelerations x of the coordinates."""
    found: list[_Pair] = []
    for link, (alpha, a) in zip(tree.links, _accelerations(program, tree, x, name), strict=True):
        moment = link.inertia @ alpha + ir.cross(link.moment, a)
        found.append((moment, link.mass * a + ir.cross(alpha, link.moment)))
    return found


def _accelerations(program: EquationSystem, tree: Tree, x: Expr, name: str) -> list[_Pair]:
    """Return for each body the angular acceleration, rad/s², and the acceleration of the origin, m/s².

    Only the contributions of the accelerations x of the coordinates are included.
    """
    found: list[_Pair] = []
    for b, link in enumerate(tree.links):
        alpha, a = found[link.parent] if link.parent >= 0 else (ir.zeros(3), ir.zeros(3))
        a = a + ir.cross(alpha, link.arm)
        for k, freedom in enumerate(tree.freedoms):
            if freedom.body == b:
                alpha, a = alpha + x[k] * freedom.e, a + x[k] * freedom.u
        text = f"acceleration of {link.name} due to the accelerations of the coordinates"
        alpha = program.define(f"alpha_{link.name}_{name}", alpha, "rad/s2", f"angular {text}")
        found.append((alpha, program.define(f"a_{link.name}_{name}", a, "m/s2", text)))
    return found


def _sums(program: EquationSystem, tree: Tree, own: list[_Pair], name: str) -> list[_Pair]:
    """Return the inertia wrench of the subtree of each body, about the body's origin."""
    found = list(own)
    for b, link in reversed(list(enumerate(tree.links))):
        text = f"of the subtree of {link.name}"
        N = program.define(f"N_{link.name}_{name}", found[b][0], "N.m", f"inertia moment {text}")
        F = program.define(f"F_{link.name}_{name}", found[b][1], "N", f"inertia force {text}")
        found[b] = N, F
        if link.parent >= 0:
            moment, force = found[link.parent]
            found[link.parent] = moment + N + ir.cross(link.arm, F), force + F
    return found
