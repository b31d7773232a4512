"""Tree of bodies and joint axes from which the mass matrix is formed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from ...language import ir
from ...language.ir import Expr

# In tree_solve.h, "turns" is a rotation about the body's origin, "shifts" a translation, and "moves" any motion.
TreeMotion: TypeAlias = Literal["turns", "shifts", "moves"]
_INERTIA = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class BiasMotion:
    """Velocities and bias accelerations of a body, in world axes.

    Attributes
    ----------
    R
        Axes of the body, shape (3, 3).
    w, dw, dv
        Angular velocity, rad/s, bias angular acceleration, rad/s², and bias acceleration of the body's
        origin, m/s², shape (3,) each. Bias accelerations are values for q̈ = 0. Gravity is included in
        dv as an upward acceleration of the ground.
    """

    R: Expr
    w: Expr
    dw: Expr
    dv: Expr


@dataclass(frozen=True)
class TreeBody:
    """Position and inertia of a body in world axes; the inertia is about the origin of the body's frame.

    Attributes
    ----------
    name
        Name of the body in definitions.
    parent
        Index of the parent body, smaller than the body's own index; -1 for the ground.
    mass, moment, inertia
        Mass, kg; first mass moment, kg·m, shape (3,); inertia, kg·m², shape (3, 3).
    arm
        Vector from the origin of the parent body to the origin of this body, shape (3,), m.
    own
        First mass moment and inertia in the body's own axes.
    place
        Vector from the origin of the first moving body of the tree to the origin of this body, shape
        (3,), m.
    com, central
        Centre of mass, m, shape (3,), and inertia about it, kg·m², shape (3, 3), in body axes.
    fixed
        Axes and origin of a body that is fixed to its parent, in the parent's frame; None for a moving
        body.
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
    """Coordinate of a tree: index of the body that it moves, its axis and its armature.

    Attributes
    ----------
    e, u
        Angular velocity of the body and velocity of its origin per unit coordinate rate, shape
        (3,), world axes.
    """

    body: int
    e: Expr
    u: Expr
    armature: Expr

    @property
    def motion(self) -> TreeMotion:
        """Return the kind of motion that the coordinate causes: `turns`, `shifts` or `moves`.

        The kind `turns` is a rotation of the body about its own origin. The kind `shifts` is a
        translation, and `moves` is any other motion.
        """
        if ir.is_zero(self.u):
            return "turns"
        return "shifts" if ir.is_zero(self.e) else "moves"


@dataclass(frozen=True)
class Tree:
    """Tree of bodies that are connected by joint axes, from which the mass matrix is computed.

    The mass matrix is Σ Jᵀ I J with the Jacobian J and the spatial inertia I of each body. Armatures,
    i.e. inertias of drives, are added to its diagonal. The coordinates are sorted by the bodies that
    they move.
    """

    links: tuple[TreeBody, ...]
    freedoms: tuple[JointAxis, ...]

    def of(self, coordinates: Sequence[int]) -> Tree:
        """Return the tree with the given coordinates only; all other coordinates are locked."""
        return Tree(self.links, tuple(self.freedoms[k] for k in coordinates))

    @property
    def blocks(self) -> tuple[list[Expr], ...]:
        """Return the data of the tree for the recursion in the C file sources/algebra/tree_solve.h.

        These are the joint axes, the inertias of the bodies, the vectors between the origins of parents
        and bodies, and the armatures, i.e. the inertias of drives.
        """
        inertias = [x for b in self.links for x in (b.mass, b.moment, *(b.inertia[i, j] for i, j in _INERTIA))]
        axes = [x for k in self.freedoms for x in (k.e, k.u)]
        return axes, inertias, [b.arm for b in self.links], [k.armature for k in self.freedoms]

    @property
    def parents(self) -> tuple[int, ...]:
        """Return the index of each body's parent; −1 is the ground."""
        return tuple(b.parent for b in self.links)

    @property
    def ends(self) -> tuple[int, ...]:
        """Return cumulative numbers of coordinates, in the order of the bodies of the tree.

        Element b is the total number of coordinates in the joints of the bodies 0 to b.
        """
        own = [k.body for k in self.freedoms]
        return tuple(accumulate(own.count(b) for b in range(len(self.links))))

    @property
    def motions(self) -> tuple[TreeMotion, ...]:
        """Return the kind of motion that each coordinate causes: `turns`, `shifts` or `moves`.

        The kind `turns` is a rotation of the body about its own origin. The kind `shifts` is a
        translation, and `moves` is any other motion.
        """
        return tuple(k.motion for k in self.freedoms)

    def recursion(self, columns: int, rows: int = 0) -> int:
        """Return the number of operations that compute the accelerations by recursion over moving bodies.

        The algorithm is that of sources/algebra/tree_rows.c.
        """
        n, bodies = len(self.freedoms), sum(link.fixed is None for link in self.links)
        each = n * (_ELIMINATED + columns * _SOLVED) + bodies * (_MOVED + columns * _PASSED)
        depths, above = self._carried()
        # A constraint equation depends on at most two bodies and their ancestors.
        reached, passed = min(n, 2 * max(above)), min(bodies, 2 * max(depths) + 2)
        inward = rows * (reached * _SOLVED + passed * _PASSED) // 2
        return each + inward + 2 * rows**2 * (n - rows // 3) + 4 * columns * rows * n

    def dense(self, columns: int, rows: int = 0) -> int:
        """Return the number of operations that compute the accelerations with the dense mass matrix.

        The count includes computing the matrix, factorising it and solving the system.
        """
        n, found = len(self.freedoms), 0
        depths, above = self._carried()
        for freedom in self.freedoms:
            found += _MOMENTUM + _TAKEN * depths[freedom.body] + _ENTRY * above[freedom.body]
        free = n - rows
        eliminated = 2 * rows**2 * (n + rows) + free * rows * (2 * n + free) + 4 * columns * rows * n
        return found + _SUMMED * len(self.links) + eliminated + free**3 // 3 + 2 * free**2 * columns

    def _carried(self) -> tuple[list[int], list[int]]:
        """Return the number of ancestors of each body, and the number of coordinates that move each body."""
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
    """Masses, first moments and inertia wrenches of all subtrees, in world axes.

    Moments are about the origin of the root body of the subtree.

    Attributes
    ----------
    masses, moments
        Masses, kg, and first mass moments, shape (3,) each, kg·m.
    bias_moments, bias_forces
        Inertia wrenches for q̈ = 0, gravity included: shape (3,), N·m and N.
    per_acceleration
        Mapping from the pair (coordinate, body) to an inertia moment and an inertia force, shape (3,)
        each. Both are per unit acceleration of the coordinate. The moment is about the body's origin.
    """

    tree: Tree
    masses: tuple[Expr, ...]
    moments: tuple[Expr, ...]
    bias_moments: tuple[Expr, ...]
    bias_forces: tuple[Expr, ...]
    per_acceleration: dict[tuple[int, int], tuple[Expr, Expr]]


@dataclass(frozen=True)
class InertiaForces:
    """Selected elements of the inertia forces of a tree of bodies, computed by recursion.

    Attributes
    ----------
    rows
        Indices of the selected elements of M x or h.
    x
        Accelerations x of the coordinates, shape (n,), if the forces are M x with the mass matrix M.
        None if the forces are h, i.e. the inertia forces for zero accelerations.
    """

    tree: Tree
    rows: tuple[int, ...]
    x: Expr | None


@dataclass(frozen=True)
class Transmitted:
    """Moment or force of a joint reaction as a sum of two terms.

    The second term depends on the accelerations x of the coordinates.

    Attributes
    ----------
    link
        Index in the tree of the body that the joint carries.
    part
        The value 0 selects the moment about the origin of this body, shape (3,), N·m. The value 1
        selects the force, shape (3,), N.
    rest
        First term: moment or force for zero accelerations. The second term is the moment or force of
        inertia of the subtree that is due to the accelerations x.
    """

    tree: Tree
    link: int
    part: int
    x: Expr
    rest: Expr


# These numbers of additions and multiplications per body or coordinate were counted in the generated C code.
_ELIMINATED, _SOLVED, _MOVED, _PASSED = 110, 50, 125, 40
_MOMENTUM, _TAKEN, _ENTRY, _SUMMED = 25, 12, 5, 50
