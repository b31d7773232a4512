"""A tree of bodies as what the mass matrix of its coordinates is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from ...language import ir
from ...language.ir import Expr

# about the body's origin; without turning it; anything: TreeMotion of sources/algebra/tree_solve.h
TreeMotion: TypeAlias = Literal["turns", "shifts", "moves"]
_INERTIA = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class BiasMotion:
    """Motion of a body for q̈ = 0, world axes; w, dw, dv as in the kinematics.

    R           shape (3, 3): the body's axes
    w, dw, dv   shape (3,), rad/s, rad/s² and m/s², gravity included
    """

    R: Expr
    w: Expr
    dw: Expr
    dv: Expr


@dataclass(frozen=True)
class TreeBody:
    """A body about the origin of its own frame, in world axes.

    name    for definitions
    parent  index of the one that carries it, smaller than its own; -1: the ground
    mass, moment, inertia  kg, kg·m of shape (3,), kg·m² of shape (3, 3)
    arm     shape (3,), m: from the origin of the one that carries it
    own     moment and inertia in the body's own axes
    place   shape (3,), m: from the origin of the first moving body of its tree
    com, central  shape (3,), m, and (3, 3), kg·m²: centre of mass, and inertia about it; in the body's own axes
    fixed   axes and origin in the frame of the one that carries it, if it cannot move there
    """

    name: str
    parent: int
    mass: Expr
    moment: Expr
    inertia: Expr
    arm: Expr
    motion: BiasMotion
    own: tuple[Expr, Expr]
    fixed: tuple[Expr, Expr] | None
    place: Expr
    com: Expr
    central: Expr


@dataclass(frozen=True)
class JointAxis:
    """A coordinate: the body that it moves, how, and its armature.

    e, u  shape (3,), world axes: angular velocity and velocity of the body's origin, per rate
    """

    body: int
    e: Expr
    u: Expr
    armature: Expr

    @property
    def motion(self) -> TreeMotion:
        """Kind of motion that the coordinate gives to its body."""
        if ir.is_zero(self.u):
            return "turns"
        return "shifts" if ir.is_zero(self.e) else "moves"


@dataclass(frozen=True)
class Tree:
    """M = Σ Jᵀ I J over the bodies, and armatures on its diagonal; freedoms in the order of their bodies."""

    links: tuple[TreeBody, ...]
    freedoms: tuple[JointAxis, ...]

    def of(self, coordinates: Sequence[int]) -> Tree:
        """Return the tree with some of its coordinates; all other coordinates are fixed."""
        return Tree(self.links, tuple(self.freedoms[k] for k in coordinates))

    @property
    def blocks(self) -> tuple[list[Expr], ...]:
        """Numbers of axes, inertias, arms and armatures, in the order of sources/algebra/tree_solve.h."""
        inertias = [x for b in self.links for x in (b.mass, b.moment, *(b.inertia[i, j] for i, j in _INERTIA))]
        axes = [x for k in self.freedoms for x in (k.e, k.u)]
        return axes, inertias, [b.arm for b in self.links], [k.armature for k in self.freedoms]

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of each body's parent; −1: the ground."""
        return tuple(b.parent for b in self.links)

    @property
    def ends(self) -> tuple[int, ...]:
        """Number of coordinates that move each body or a body before it."""
        own = [k.body for k in self.freedoms]
        return tuple(accumulate(own.count(b) for b in range(len(self.links))))

    @property
    def motions(self) -> tuple[TreeMotion, ...]:
        """Kind of motion of each coordinate."""
        return tuple(k.motion for k in self.freedoms)

    def recursion(self, columns: int, rows: int = 0) -> int:
        """Operations of a solution by recursion over the bodies that move, in sources/algebra/tree_rows.c."""
        n, bodies = len(self.freedoms), sum(link.fixed is None for link in self.links)
        each = n * (_ELIMINATED + columns * _SOLVED) + bodies * (_MOVED + columns * _PASSED)
        depths, above = self._carried()
        # a row is about what carries two bodies, at most
        reached, passed = min(n, 2 * max(above)), min(bodies, 2 * max(depths) + 2)
        inward = rows * (reached * _SOLVED + passed * _PASSED) // 2
        return each + inward + 2 * rows**2 * (n - rows // 3) + 4 * columns * rows * n

    def dense(self, columns: int, rows: int = 0) -> int:
        """Operations of M and of its factors, and of a solution by them."""
        n, found = len(self.freedoms), 0
        depths, above = self._carried()
        for freedom in self.freedoms:
            found += _MOMENTUM + _TAKEN * depths[freedom.body] + _ENTRY * above[freedom.body]
        free = n - rows
        eliminated = 2 * rows**2 * (n + rows) + free * rows * (2 * n + free) + 4 * columns * rows * n
        return found + _SUMMED * len(self.links) + eliminated + free**3 // 3 + 2 * free**2 * columns

    def _carried(self) -> tuple[list[int], list[int]]:
        """Numbers of ancestors of each body, and of coordinates that move it."""
        own = [k.body for k in self.freedoms]
        depths: list[int] = []
        above: list[int] = []
        for b, link in enumerate(self.links):
            carried = link.parent >= 0
            depths.append(depths[link.parent] + 1 if carried else 0)
            above.append(own.count(b) + (above[link.parent] if carried else 0))
        return depths, above


@dataclass(frozen=True)
class Composites:
    """Sums over each body's subtree about the body's origin, in world axes, by the positions of the tree's links.

    masses, moments        kg, and kg·m of shape (3,)
    bias_moments, bias_forces  shape (3,), N·m and N: inertia wrench for q̈ = 0, gravity included
    per_acceleration       (coordinate, link) → moment and force per acceleration of the coordinate, about the
                           link's origin, shape (3,)
    """

    tree: Tree
    masses: tuple[Expr, ...]
    moments: tuple[Expr, ...]
    bias_moments: tuple[Expr, ...]
    bias_forces: tuple[Expr, ...]
    per_acceleration: dict[tuple[int, int], tuple[Expr, Expr]]


@dataclass(frozen=True)
class InertiaForces:
    """Some rows of M x, where M is a tree's: forces that accelerations x, shape (n,), take; None: rows of h."""

    tree: Tree
    rows: tuple[int, ...]
    x: Expr | None


@dataclass(frozen=True)
class Transmitted:
    """Joint reaction: `rest`, plus the inertia wrench of the descendant bodies under accelerations x.

    link  index in the tree of the body that the joint carries
    part  0: moment about that body's origin, shape (3,), N·m; 1: force, shape (3,), N
    """

    tree: Tree
    link: int
    part: int
    x: Expr
    rest: Expr


# Numbers of additions and multiplications, counted in the C code.
_ELIMINATED, _SOLVED, _MOVED, _PASSED = 110, 50, 125, 40
_MOMENTUM, _TAKEN, _ENTRY, _SUMMED = 25, 12, 5, 50
