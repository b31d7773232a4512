"""Symbolic mass matrix and inertia forces of a tree of bodies, by sums over subtrees.

Newton's and Euler's equations of each body are written about the origin of its own frame, in world
axes. The mass, first mass moment, inertia and inertia wrench of a subtree are sums over its bodies.
Each child subtree is referred to the origin of its parent body before the summation. The mass
matrix M and the inertia forces h are scalar products of these sums with the joint axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism import GROUND
from ....mechanism.symbolic import SymbolicMechanism
from ...program.items import Traits
from ...program.program import EquationSystem
from ...program.tree import BiasMotion, Composites, InertiaForces, JointAxis, Tree, TreeBody
from .kinematics import SymbolicKinematics, of_body


@dataclass(frozen=True)
class Inertia:
    """Mass, first mass moment, inertia and inertia wrench of a single body or of a subtree.

    The reference point is the origin of the single body, or the origin of the subtree's root body. All
    components are in world axes.

    Attributes
    ----------
    m
        Mass, kg.
    s
        First mass moment, shape (3,), kg·m.
    J
        Inertia, shape (3, 3), kg·m².
    N, F
        Moment N, N·m, and force F, N, of the inertia wrench for q̈ = 0, gravity included, shape (3,)
        each.
    """

    m: Expr
    s: Expr
    J: Expr
    N: Expr
    F: Expr


_NONE = Inertia(ir.constant(0.0), ir.zeros(3), ir.zeros(3, 3), ir.zeros(3), ir.zeros(3))


@dataclass(frozen=True)
class UnitAccelerationWrench:
    """Inertia wrench of a subtree per unit acceleration of one coordinate, in world axes.

    The wrench is a force F with a moment N, shape (3,) each. The moment is about the origin of the body
    for which the wrench is stored.
    """

    N: Expr
    F: Expr


@dataclass(frozen=True)
class Dynamics:
    """Symbolic mass matrix M, shape (n, n), and generalised forces h of inertia and gravity, shape (n,).

    The units of the matrix elements follow from the units of the coordinates.

    Attributes
    ----------
    subtrees
        Mass, first mass moment, inertia and inertia wrench of the subtree of each body.
    tree
        Bodies and joint axes from which M is formed.
    momenta
        Mapping from the pair (k, b) to the inertia wrench per unit acceleration of coordinate k. The
        wrench is that of the subtree that coordinate k moves. Its moment is about the origin of body b,
        which is the root body of this subtree or an ancestor of this root body.
    """

    M: Expr
    h: Expr
    subtrees: tuple[Inertia, ...]
    tree: Tree
    momenta: dict[tuple[int, int], UnitAccelerationWrench]


def derive(program: EquationSystem, mechanism: SymbolicMechanism, kinematics: SymbolicKinematics) -> Dynamics:
    """Define the mass matrix M and the inertia forces h in the program.

    The definitions of body inertias and subtree sums, from which M and h follow, are added as well.
    """
    bodies = range(len(mechanism.bodies))
    own, parts = zip(*(_own_inertia(program, kinematics, b) for b in bodies), strict=True)
    tree = _tree(kinematics, own, parts)
    subtrees = _subtree_sums(program, kinematics, own)
    momenta = _momenta(program, kinematics, subtrees)
    program.composites = _composites(tree, mechanism, subtrees, momenta)
    program.section("mass matrix and inertia forces")
    M = program.assemble(
        "M",
        (mechanism.n, mechanism.n),
        _mass_matrix_parts(kinematics, momenta),
        None,
        "mass matrix; the unit of an element is kg, kg.m or kg.m2",
        Traits(symmetric=True),
    )
    rows: list[tuple[Index, Expr]] = [
        ((k,), kinematics.power(k, subtrees[b].N, subtrees[b].F)) for k, b in enumerate(kinematics.owners)
    ]
    text = "generalised inertia and gravity forces, if all coordinate accelerations are zero; N or N.m"
    inertial = InertiaForces(tree, tuple(range(mechanism.n)), None)
    h = program.assemble("h", (mechanism.n,), rows, None, text, Traits(inertial=inertial))
    return Dynamics(M, h, tuple(subtrees), tree, momenta)


def _tree(kinematics: SymbolicKinematics, own: Sequence[Inertia], parts: Sequence[tuple[Expr, Expr]]) -> Tree:
    """Return the tree of the bodies that have mass or coordinates, together with all their ancestors.

    Parameters
    ----------
    parts
        First mass moment and inertia of each body in its own axes.
    """
    mechanism, places = kinematics.mechanism, {GROUND: GROUND}
    kept = {b for b, body in enumerate(mechanism.bodies) if body.coordinates or own[b] is not _NONE}
    for b in reversed(range(len(own))):
        kept |= {mechanism.bodies[b].parent} if b in kept else set()
    links: list[TreeBody] = []
    for b in sorted(kept - {GROUND}):
        places[b] = len(links)
        body, inertia, motion = mechanism.bodies[b], own[b], kinematics.motions[b]
        moves = BiasMotion(motion.R, motion.w, motion.dw, motion.dv)
        fixed = None if body.coordinates else (body.rotation, body.offset)
        about = (inertia.m, inertia.s, inertia.J, motion.arm)
        central = (body.com, body.inertia)
        links.append(TreeBody(body.name, places[body.parent], *about, moves, parts[b], fixed, motion.p, *central))
    none = ir.constant(0.0)
    freedoms = [
        JointAxis(places[b], axis.e, axis.u, none if coordinate.armature is None else coordinate.armature)
        for b, axis, coordinate in zip(kinematics.owners, kinematics.axes, mechanism.coordinates, strict=True)
    ]
    return Tree(tuple(links), tuple(freedoms))


def _composites(
    tree: Tree,
    mechanism: SymbolicMechanism,
    subtrees: Sequence[Inertia],
    momenta: dict[tuple[int, int], UnitAccelerationWrench],
) -> Composites:
    """Return the masses, first moments and inertia wrenches of all subtrees, in the order of the root bodies."""
    names = [link.name for link in tree.links]
    places = {b: names.index(body.name) for b, body in enumerate(mechanism.bodies) if body.name in names}
    sums = [subtrees[b] for b in places]
    per_acceleration = {(k, places[b]): (momentum.N, momentum.F) for (k, b), momentum in momenta.items()}
    return Composites(
        tree,
        tuple(part.m for part in sums),
        tuple(part.s for part in sums),
        tuple(part.N for part in sums),
        tuple(part.F for part in sums),
        per_acceleration,
    )


def _own_inertia(
    program: EquationSystem, kinematics: SymbolicKinematics, b: int
) -> tuple[Inertia, tuple[Expr, Expr]]:
    """Return the inertia of a body in world axes.

    The second result contains the first mass moment and the inertia in the body's own axes.
    """
    body, motion = kinematics.mechanism.bodies[b], kinematics.motions[b]
    if ir.is_zero(body.mass):
        return _NONE, (_NONE.s, _NONE.J)
    name = body.name
    program.section(*of_body(body))
    mass = program.define(f"{name}_mass", body.mass, "kg", f"mass of {name}")
    com = program.define(f"com_{name}", body.com, "m", f"centre of mass of {name}, body frame")
    inertia = body.inertia + mass * steiner(com, ir.zeros(3), com)
    inertia = program.define(f"Io_{name}", inertia, "kg.m2", f"inertia of {name} about its origin, body axes")
    s = program.define(
        f"s_{name}", mass * (motion.R @ com), "kg.m", f"first mass moment of {name} about its origin, world axes"
    )
    J = turned(program, f"J_{name}", motion.R, inertia, f"inertia of {name} about its origin, world axes")
    w, dw, dv = motion.w, motion.dw, motion.dv
    F = mass * dv + ir.cross(dw, s) + ir.cross(w, ir.cross(w, s))
    N = J @ dw + ir.cross(s, dv) + ir.cross(w, J @ w)
    # If a body has children, its inertia force and moment occur only in subtree sums and need no variables.
    if _children(kinematics.mechanism, b):
        return Inertia(mass, s, J, N, F), (mass * com, inertia)
    N = program.define(
        f"N_{name}",
        N,
        "N.m",
        f"inertia moment of {name} about its origin, if all coordinate accelerations are zero",
    )
    F = program.define(f"F_{name}", F, "N", f"inertia force of {name}, if all coordinate accelerations are zero")
    return Inertia(mass, s, J, N, F), (mass * com, inertia)


def turned(program: EquationSystem, name: str, R: Expr, inertia: Expr, text: str) -> Expr:
    """Define an inertia in world axes, R I Rᵀ, and return its symbol.

    The columns of R are the axes of the body, and I is the inertia in the body's own axes.
    """
    if R.op == "constant":
        return program.define(name, R @ inertia @ R.T, "kg.m2", text)
    left = [R[i, :] @ inertia for i in range(3)]
    return _symmetric(program, name, [left[0] @ R.T, left[1] @ R[1:3, :].T, left[2] @ R[2, :]], text)


def _symmetric(program: EquationSystem, name: str, upper: Sequence[Expr], text: str) -> Expr:
    """Define an inertia matrix by its upper triangle and return its symbol.

    Parameters
    ----------
    upper
        Elements of the three matrix rows from the diagonal to the last column, with the shapes (3,),
        (2,) and ().
    """
    indices: list[Index] = [(0, slice(0, 3)), (1, slice(1, 3)), (2, 2)]
    return program.assemble(
        name, (3, 3), list(zip(indices, upper, strict=True)), "kg.m2", text, Traits(symmetric=True)
    )


def steiner(arm: Expr, s: Expr, moved: Expr) -> Expr:
    """Return the difference between the inertias about two reference points, shape (3, 3).

    The result is the inertia about the new point minus the inertia about the old point. It follows from
    the parallel axis theorem. If both moments are given per unit mass, in m, the result is also per
    unit mass, in m².

    Parameters
    ----------
    arm
        Vector from the new reference point to the old one, shape (3,), m.
    s, moved
        First mass moments about the old and the new point, shape (3,) each, kg·m. They satisfy moved =
        s + m·arm with the mass m.
    """
    (x, y, z), (sx, sy, sz), (tx, ty, tz) = arm, s, moved
    xx, yy, zz = x * (sx + tx), y * (sy + ty), z * (sz + tz)
    xy, xz, yz = -(sx * y + x * ty), -(sx * z + x * tz), -(sy * z + y * tz)
    return ir.array([[yy + zz, xy, xz], [xy, xx + zz, yz], [xz, yz, xx + yy]])


def _children(mechanism: SymbolicMechanism, b: int) -> list[int]:
    """Return the indices of the child bodies whose subtrees have mass."""
    own = [c for c, body in enumerate(mechanism.bodies) if body.parent == b]
    return [c for c in own if not ir.is_zero(mechanism.bodies[c].mass) or _children(mechanism, c)]


def _subtree_sums(
    program: EquationSystem, kinematics: SymbolicKinematics, own: Sequence[Inertia]
) -> list[Inertia]:
    program.section("sums over subtrees")
    sums, bodies = list(own), kinematics.mechanism.bodies
    for b in reversed(range(len(own))):
        children = _children(kinematics.mechanism, b)
        if children:
            behind = [_moved(program, bodies[c].name, sums[c], kinematics.motions[c].arm) for c in children]
            sums[b] = _sum(program, bodies[b].name, own[b], behind)
    return sums


def _moved(program: EquationSystem, name: str, part: Inertia, arm: Expr) -> Inertia:
    """Return the inertia data of a subtree with the origin of its parent body as reference point."""
    text = f"first mass moment of the subtree of {name} about the origin of its parent"
    s = program.define(f"moved_s_{name}", part.s + part.m * arm, "kg.m", text)
    moved = steiner(arm, part.s, s)
    J = ir.array([[part.J[i, j] + moved[i, j] for j in range(3)] for i in range(3)])
    return Inertia(part.m, s, J, part.N + ir.cross(arm, part.F), part.F)


def _sum(program: EquationSystem, name: str, own: Inertia, behind: Sequence[Inertia]) -> Inertia:
    def total(key: str, unit: str, text: str) -> Expr:
        expr = getattr(own, key)
        for part in behind:
            expr = expr + getattr(part, key)
        return program.define(f"{key}_from_{name}", expr, unit, f"{text}, subtree of {name}")

    upper: list[Expr] = [own.J[0, :], own.J[1, 1:3], own.J[2, 2]]
    for part in behind:
        upper[0] = upper[0] + ir.array([part.J[0, j] for j in range(3)])
        upper[1] = upper[1] + ir.array([part.J[1, j] for j in (1, 2)])
        upper[2] = upper[2] + part.J[2, 2]
    return Inertia(
        total("m", "kg", "mass"),
        total("s", "kg.m", "first mass moment"),
        _symmetric(program, f"J_from_{name}", upper, f"inertia about the origin of {name}, subtree of {name}"),
        total("N", "N.m", "inertia moment, if all coordinate accelerations are zero"),
        total("F", "N", "inertia force, if all coordinate accelerations are zero"),
    )


def _momenta(
    program: EquationSystem, kinematics: SymbolicKinematics, subtrees: Sequence[Inertia]
) -> dict[tuple[int, int], UnitAccelerationWrench]:
    program.section("inertia wrench per unit acceleration of each coordinate")
    mechanism, momenta = kinematics.mechanism, {}
    for k, b in enumerate(kinematics.owners):
        symbol, tree, axis = mechanism.coordinates[k].symbol, subtrees[b], kinematics.axes[k]
        rotates = mechanism.coordinates[k].motion.kind == "rotation"
        own, other = ("kg.m2", "kg.m") if rotates else ("kg.m", "kg")
        text = f"of the subtree per acceleration of {symbol}"
        force = tree.m * axis.u + ir.cross(axis.e, tree.s)
        force = program.define(f"PF_{symbol}", force, other, f"inertia force {text}")
        moment = tree.J @ axis.e + ir.cross(tree.s, axis.u)
        name, carrier = f"PN_{symbol}", b
        while carrier >= 0:
            about = f"inertia moment {text}, about the origin of {mechanism.bodies[carrier].name}"
            moment = program.define(name, moment, own, about)
            momenta[k, carrier] = UnitAccelerationWrench(moment, force)
            moment = moment + ir.cross(kinematics.motions[carrier].arm, force)
            carrier = mechanism.bodies[carrier].parent
            name = f"PN_{symbol}_{mechanism.bodies[carrier].name}"
    return momenta


def _mass_matrix_parts(
    kinematics: SymbolicKinematics, momenta: dict[tuple[int, int], UnitAccelerationWrench]
) -> list[tuple[Index, Expr]]:
    """Return the elements M[j, k] of the mass matrix with j ≤ k.

    An element is zero if coordinate j does not move the body of coordinate k.
    """
    parts: list[tuple[Index, Expr]] = []
    for k in range(kinematics.mechanism.n):
        for j in range(k + 1):
            momentum = momenta.get((k, kinematics.owners[j]))
            value = ir.constant(0.0) if momentum is None else kinematics.power(j, momentum.N, momentum.F)
            armature = kinematics.mechanism.coordinates[k].armature
            parts.append(((j, k), value if armature is None or j < k else value + armature))
    return parts
