"""Mass matrix and inertia forces by sums over subtrees (design 4.2).

With every quantity about the world's origin, a subtree's mass, static moment, inertia and inertia
wrench are plain sums; M and h follow by scalar products with the coordinates' axes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...mechanism import Body, Mechanism
from ...program import ir
from ...program.ir import Expr, Index
from ...program.program import Program
from .kinematics import Axis, Kinematics


@dataclass(frozen=True)
class Inertia:
    """Sums over a body or subtree, about the world's origin, world axes.

    m     kg
    s     shape (3,), kg·m: static moment
    J     shape (3, 3), kg·m²
    N, F  shape (3,), N·m and N: inertia wrench for q̈ = 0, gravity included
    """

    m: Expr
    s: Expr
    J: Expr
    N: Expr
    F: Expr


@dataclass(frozen=True)
class Dynamics:
    """M, shape (n, n), and h, shape (n,), with gravity in h; units follow the coordinates'.

    subtree   sums over each body and all bodies behind it
    momenta   per coordinate: P = (moment, force) of the subtree per acceleration of the coordinate
    """

    M: Expr
    h: Expr
    subtrees: tuple[Inertia, ...]
    momenta: tuple[Axis, ...]


def derive(program: Program, mechanism: Mechanism, kinematics: Kinematics) -> Dynamics:
    """Define inertia, subtree sums, M and h."""
    own = [_own_inertia(program, body, kinematics, b) for b, body in enumerate(mechanism.bodies)]
    subtrees = _subtree_sums(program, mechanism, own)
    momenta = _momenta(program, mechanism, kinematics, subtrees)
    program.section("mass matrix and inertia forces")
    M = program.assemble(
        "M",
        (mechanism.n, mechanism.n),
        _mass_matrix_parts(mechanism, kinematics, momenta),
        None,
        "mass matrix; kg, kg.m or kg.m2 as its row and column are lengths or angles",
        symmetric=True,
    )
    h = program.assemble(
        "h",
        (mechanism.n,),
        [((k,), _project(kinematics.axes[k], subtrees[b].N, subtrees[b].F)) for k, b in _owners(mechanism)],
        None,
        "inertia forces for zero accelerations and gravity; N or N.m",
    )
    return Dynamics(M, h, tuple(subtrees), tuple(momenta))


def _project(axis: Axis, moment: Expr, force: Expr) -> Expr:
    """Power of a wrench about the world's origin per unit of a coordinate's rate."""
    return axis.e @ moment + axis.u @ force


def _owners(mechanism: Mechanism) -> list[tuple[int, int]]:
    return [(k, b) for b, body in enumerate(mechanism.bodies) for k in body.coordinates]


def _own_inertia(program: Program, body: Body, kinematics: Kinematics, b: int) -> Inertia:
    name, motion = body.name, kinematics.motions[b]
    program.section(name)
    mass = program.define(f"{name}_mass", body.mass, "kg", f"mass of {name}")
    com = program.define(f"com_{name}", body.com, "m", f"centre of mass of {name}, its frame")
    inertia = program.define(f"I_{name}", body.inertia, "kg.m2", f"inertia of {name} about its com, its axes")
    r = program.define(f"r_{name}", motion.p + motion.R @ com, "m", f"centre of mass of {name}")
    s = program.define(f"s_{name}", mass * r, "kg.m", f"static moment of {name}")
    J = program.define(
        f"J_{name}",
        motion.R @ inertia @ motion.R.T + _steiner(s, r),
        "kg.m2",
        f"inertia of {name} about the world's origin",
    )
    w, v, z, a = motion.w, motion.v, motion.z, motion.a
    L = program.define(f"L_{name}", mass * v + ir.cross(w, s), "kg.m/s", f"momentum of {name}")
    H = program.define(
        f"H_{name}", J @ w + ir.cross(s, v), "kg.m2/s", f"angular momentum of {name} about the world's origin"
    )
    F = program.define(f"F_{name}", mass * a + ir.cross(z, s) + ir.cross(w, L), "N", f"inertia force of {name}")
    N = program.define(
        f"N_{name}",
        J @ z + ir.cross(s, a) + ir.cross(w, H) + ir.cross(v, L),
        "N.m",
        f"inertia moment of {name} about the world's origin",
    )
    return Inertia(mass, s, J, N, F)


def _steiner(s: Expr, r: Expr) -> Expr:
    """m·(rᵀr·1 − r·rᵀ) with s = m·r."""
    xx, yy, zz = s[0] * r[0], s[1] * r[1], s[2] * r[2]
    xy, xz, yz = -(s[0] * r[1]), -(s[0] * r[2]), -(s[1] * r[2])
    return ir.array([[yy + zz, xy, xz], [xy, xx + zz, yz], [xz, yz, xx + yy]])


def _subtree_sums(program: Program, mechanism: Mechanism, own: list[Inertia]) -> list[Inertia]:
    program.section("sums over subtrees")
    sums = list(own)
    for b in reversed(range(len(own))):
        children = [c for c, body in enumerate(mechanism.bodies) if body.parent == b]
        if children:
            sums[b] = _sum(program, mechanism.bodies[b].name, own[b], [sums[c] for c in children])
    return sums


def _sum(program: Program, name: str, own: Inertia, behind: list[Inertia]) -> Inertia:
    def total(key: str, unit: str, text: str) -> Expr:
        expr = getattr(own, key)
        for part in behind:
            expr = expr + getattr(part, key)
        return program.define(f"{key}_from_{name}", expr, unit, f"{text} of {name} and all behind it")

    return Inertia(
        total("m", "kg", "mass"),
        total("s", "kg.m", "static moment"),
        total("J", "kg.m2", "inertia about the world's origin"),
        total("N", "N.m", "inertia moment about the world's origin"),
        total("F", "N", "inertia force"),
    )


def _momenta(
    program: Program, mechanism: Mechanism, kinematics: Kinematics, subtrees: list[Inertia]
) -> list[Axis]:
    program.section("inertia wrench per acceleration of each coordinate")
    momenta = []
    for k, b in _owners(mechanism):
        symbol, tree, axis = mechanism.coordinates[k].symbol, subtrees[b], kinematics.axes[k]
        rotates = mechanism.coordinates[k].motion.kind == "rotation"
        moment = program.define(
            f"PN_{symbol}",
            tree.J @ axis.e + ir.cross(tree.s, axis.u),
            "kg.m2" if rotates else "kg.m",
            f"moment about the world's origin per acceleration of {symbol}",
        )
        force = program.define(
            f"PF_{symbol}",
            tree.m * axis.u + ir.cross(axis.e, tree.s),
            "kg.m" if rotates else "kg",
            f"force per acceleration of {symbol}",
        )
        momenta.append(Axis(moment, force))
    return momenta


def _mass_matrix_parts(
    mechanism: Mechanism, kinematics: Kinematics, momenta: list[Axis]
) -> list[tuple[Index, Expr]]:
    """Entries M[j, k], j ≤ k: 0 unless j is an ancestor of k or k itself."""
    parts: list[tuple[Index, Expr]] = []
    for k, b in _owners(mechanism):
        above = mechanism.ancestors(b)
        for j in range(k + 1):
            axis, zero = kinematics.axes[j], ir.constant(0.0)
            parts.append(((j, k), _project(axis, momenta[k].e, momenta[k].u) if j in above else zero))
    return parts
