"""Mass matrix, inertia forces and joint reactions by sums over subtrees about one common point.

The common point O is the origin of the first moving body of the tree. All positions and inertia
wrenches refer to O. The sum over a subtree is therefore a plain addition, and the parallel axis
theorem is applied only once per body. Let S_j be the twist per unit rate of coordinate j. Let P_k
be the inertia wrench per unit acceleration of coordinate k. All wrenches and twists are about O.
Then the mass matrix has the elements M[j, k] = S_j·P_k. For q̈ = 0, let W_k be the inertia wrench
of the subtree that coordinate k moves. The inertia forces are h[k] = S_k·W_k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....language import ir
from ....language.ir import Expr, Index, Replacement
from ...program.items import Definition, rewritten
from ...program.program import EquationSystem
from ...program.tree import Composites, InertiaForces, Transmitted, Tree
from ..bodies.kinematics import BODIES, COORDINATES
from .joint_loads import JOINTS

_ANGULAR, _LINEAR = slice(0, 3), slice(3, 6)
# The elements xx, yy, zz, xy, xz and yz of an inertia matrix have these indices.
_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def with_point_sums(program: EquationSystem) -> EquationSystem:
    """Return the program with first moments and inertia wrenches of subtrees about one common point.

    In the given program, these quantities refer to the origins of the individual bodies. The given
    program must contain only definitions and linear systems. Definitions that are no longer used remain
    in the returned program.
    """
    composites = program.composites
    if composites is None:
        return program
    result = program.emptied()
    sums = _Sums(result, composites.tree)
    change = Replacement(dict(_replaced(composites, sums)))
    for item in program.items:
        inertial = item.inertial if isinstance(item, Definition) else None
        if not isinstance(item, Definition):
            result.items.append(rewritten(item, change))
        elif item.name == "M" and item.symmetric:
            result.items.append(replace(item, parts=tuple(sums.mass_matrix())))
        elif isinstance(inertial, InertiaForces) and inertial.x is None:
            result.items.append(replace(item, parts=tuple(sums.bias_forces(inertial.rows)), inertial=None))
        elif isinstance(inertial, Transmitted):
            load = replace(inertial, rest=change(inertial.rest))
            result.items.append(replace(item, parts=(((), sums.transmitted(load)),), inertial=None))
        else:
            result.items.append(rewritten(item, change))
    result.outputs = [replace(output, expr=change(output.expr)) for output in program.outputs]
    result.sort()
    return result


def _replaced(composites: Composites, sums: _Sums) -> Iterator[tuple[str, Expr]]:
    """Yield the name and the new expression of first moments and inertia wrenches of subtrees.

    Each of these quantities refers to the origin of a body. Its new expression contains only quantities
    that refer to the common point of all bodies.
    """
    for b in range(len(composites.tree.links)):
        old = (composites.moments[b], composites.bias_moments[b], composites.bias_forces[b])
        for expr, value in zip(old, sums.about_origin(b), strict=True):
            if expr.op == "symbol":
                yield expr.data, value
    for (k, b), wrench in composites.per_acceleration.items():
        for expr, value in zip(wrench, sums.per_acceleration(k, b), strict=True):
            if expr.op == "symbol":
                yield expr.data, value


class _Sums:
    """Definitions of inertias, twists and wrenches about the common point of all bodies of a tree."""

    def __init__(self, program: EquationSystem, tree: Tree) -> None:
        self._program, self._tree = program, tree
        composites = program.composites
        assert composites is not None
        program.gatherings.members(BODIES, [link.name for link in tree.links])
        own = {freedom.body for freedom in tree.freedoms}
        self._moves: list[bool] = []
        for b, link in enumerate(tree.links):
            self._moves.append(b in own or (link.parent >= 0 and self._moves[link.parent]))
        self._own_masses: list[Expr] = []
        self._masses: dict[int, Expr] = {}
        self._places = [self._place(b) for b in range(len(tree.links))]
        for b, link in enumerate(tree.links):
            self._own_masses.append(
                self._body("m", b, link.mass, "kg", f"mass of {link.name}", "mass of each body")
            )
        self._moments: dict[int, Expr] = {}
        self._inertias: dict[int, Expr] = {}
        self._wrenches: dict[int, Expr] = {}
        self._accelerations: dict[int, Expr] = {}
        for b in reversed(range(len(tree.links))):
            self._define_body(b)
        self._twists = [self._twist(k) for k in range(len(tree.freedoms))]
        self._per_acceleration = [self._wrench(k) for k in range(len(tree.freedoms))]

    def _define_body(self, b: int) -> None:
        link, motion = self._tree.links[b], self._tree.links[b].motion
        name = link.name
        self._program.section("inertia")
        m, place = self._own_masses[b], self._places[b]
        total: Expr = ir.constant(0.0)
        for carried in range(b, len(self._tree.links)):
            if b in self._carriers(carried):
                total = total + self._own_masses[carried]
        self._masses[b] = self._forced(
            "mc", b, total, "kg", f"mass of the subtree of {name}", "mass of the subtree of each body"
        )
        com = self._body(
            "com",
            b,
            link.com,
            "m",
            f"centre of mass of {name}, body frame",
            "centre of mass of each body, body frame",
        )
        d = self._body(
            "d",
            b,
            motion.R @ com,
            "m",
            f"centre of mass of {name} relative to its origin, world axes",
            "centre of mass of each body relative to its origin, world axes",
        )
        c = self._forced(
            "c",
            b,
            place + d,
            "m",
            f"centre of mass of {name} relative to the origin of the first moving body",
            "centre of mass of each body relative to the origin of the first moving body of its tree",
        )
        central = self._body(
            "inertia",
            b,
            _six(link.central),
            "kg.m2",
            f"inertia of {name} about its centre of mass, body axes",
            "inertia of each body about its centre of mass, body axes: xx, yy, zz, xy, xz, yz",
        )
        turned = self._body(
            "I",
            b,
            _in_world_axes(motion.R, central),
            "kg.m2",
            f"inertia of {name} about its centre of mass, world axes",
            "inertia of each body about its centre of mass, world axes: xx, yy, zz, xy, xz, yz",
        )
        a = motion.dv + ir.cross(motion.dw, d) + ir.cross(motion.w, ir.cross(motion.w, d))
        F = self._body(
            "F",
            b,
            m * a,
            "N",
            f"inertia force minus weight of {name}, if all coordinate accelerations are zero",
            "inertia force minus weight of each body, if all coordinate accelerations are zero",
        )
        I = _matrix(turned)
        N = I @ motion.dw + ir.cross(motion.w, I @ motion.w) + ir.cross(c, F)
        self._define_subtree(b, m * c, turned + _of_point(m, c), N, F)

    def _define_subtree(self, b: int, s: Expr, J: Expr, N: Expr, F: Expr) -> None:
        name = self._tree.links[b].name
        for child in self._children(b):
            shift = self._shift(child)
            mass, s_c, J_c, W = (
                known[child] for known in (self._masses, self._moments, self._inertias, self._wrenches)
            )
            s = s + (s_c if shift is None else s_c + mass * shift)
            J = J + (J_c if shift is None else _moved(J_c, mass, s_c, shift))
            N = N + (W[_ANGULAR] if shift is None else W[_ANGULAR] + ir.cross(shift, W[_LINEAR]))
            F = F + W[_LINEAR]
        self._moments[b] = self._body(
            "sc",
            b,
            s,
            "kg.m",
            f"first mass moment of the subtree of {name}",
            "first mass moment of each subtree about the origin of the first moving body of its tree",
        )
        self._inertias[b] = self._body(
            "Jc",
            b,
            J,
            "kg.m2",
            f"inertia of the subtree of {name}",
            "inertia of each subtree about the origin of the first moving body of its tree, world axes:"
            " xx, yy, zz, xy, xz, yz",
        )
        text = "inertia wrench minus gravity wrench of each subtree if all qdd are zero; N.m and N"
        wrench = self._program.assemble(
            f"Wc_{name}",
            (6,),
            [((_ANGULAR,), N), ((_LINEAR,), F)],
            None,
            f"inertia wrench minus gravity wrench of the subtree of {name}; N.m and N",
        )
        self._wrenches[b] = self._note("Wc", b, wrench, None, text)

    def _children(self, b: int) -> list[int]:
        return [c for c, link in enumerate(self._tree.links) if link.parent == b]

    def _shift(self, b: int) -> Expr | None:
        """Return the vector from the reference point of the parent body to that of the body itself.

        The result is None if both bodies have the same reference point.
        """
        parent = self._tree.links[b].parent
        return None if self._moves[parent] else self._tree.links[b].arm

    def about_origin(self, b: int) -> tuple[Expr, Expr, Expr]:
        """Return the first mass moment of a subtree, and the moment and force of its inertia forces.

        Both moments are about the origin of the subtree's root body.
        """
        p, W = self._places[b], self._wrenches[b]
        return self._moments[b] - self._masses[b] * p, W[_ANGULAR] - ir.cross(p, W[_LINEAR]), W[_LINEAR]

    def _twist(self, k: int) -> Expr:
        freedom, e = self._tree.freedoms[k], self._axis(k)
        if ir.is_zero(freedom.e):
            angular, linear = freedom.e, e
        else:
            angular, linear = e, freedom.u + ir.cross(self._places[freedom.body], e)
        parts: list[tuple[Index, Expr]] = [((_ANGULAR,), angular), ((_LINEAR,), linear)]
        text = "twist per unit rate of each coordinate; angular part: unit 1 or 1/m, linear part: m or 1"
        return self._coordinate("S", k, parts, text)

    def _wrench(self, k: int) -> Expr:
        S, b = self._twists[k], self._tree.freedoms[k].body
        text = "inertia wrench per unit acceleration of each coordinate"
        text += "; moment: unit kg.m2 or kg.m, force: kg.m or kg"
        return self._coordinate("P", k, self._inertia_times(b, S), text)

    def _inertia_times(self, b: int, V: Expr) -> list[tuple[Index, Expr]]:
        """Return the inertia moment and force of a subtree that moves like one rigid body.

        The argument V is the time derivative of the twist of this rigid body.
        """
        m, s, J = self._masses[b], self._moments[b], _matrix(self._inertias[b])
        return [
            ((_ANGULAR,), J @ V[_ANGULAR] + ir.cross(s, V[_LINEAR])),
            ((_LINEAR,), m * V[_LINEAR] - ir.cross(s, V[_ANGULAR])),
        ]

    def _related(self, j: int, k: int) -> bool:
        """Whether the body that coordinate k moves is in the subtree that coordinate j moves."""
        return self._tree.freedoms[j].body in self._carriers(self._tree.freedoms[k].body)

    def _carriers(self, b: int) -> list[int]:
        """Return the indices of a body and its ancestors."""
        found = [b]
        while (b := self._tree.links[b].parent) >= 0:
            found.append(b)
        return found

    def mass_matrix(self) -> Iterator[tuple[Index, Expr]]:
        """Yield the index and the expression of each element in the upper triangle of the mass matrix."""
        for k, freedom in enumerate(self._tree.freedoms):
            for j in range(k + 1):
                value = self._twists[j] @ self._per_acceleration[k] if self._related(j, k) else ir.constant(0.0)
                yield (j, k), value + freedom.armature if j == k else value

    def bias_forces(self, rows: Sequence[int]) -> Iterator[tuple[Index, Expr]]:
        """Yield the chosen elements of the inertia forces h."""
        for i, k in enumerate(rows):
            yield (i,), self._twists[k] @ self._wrenches[self._tree.freedoms[k].body]

    def per_acceleration(self, k: int, b: int) -> tuple[Expr, Expr]:
        """Return the inertia moment and force of a subtree per unit acceleration of a coordinate.

        The subtree is the one that coordinate k moves. The moment is about the origin of body b.
        """
        P, p = self._per_acceleration[k], self._places[b]
        if self._moves[b]:
            return P[_ANGULAR] - ir.cross(p, P[_LINEAR]), P[_LINEAR]
        arm = self._arm(b, self._tree.freedoms[k].body)
        return P[_ANGULAR] + ir.cross(arm, P[_LINEAR]), P[_LINEAR]

    def _arm(self, b: int, carried: int) -> Expr:
        """Return the vector from the origin of a fixed body to the reference point of a descendant.

        The body is fixed to the ground. The reference point is the origin of the first moving body between
        the fixed body and the descendant.
        """
        total = ir.zeros(3)
        for c in self._carriers(carried):
            if c == b:
                break
            if not self._moves[self._tree.links[c].parent]:
                total = total + self._tree.links[c].arm
        return total

    def transmitted(self, load: Transmitted) -> Expr:
        """Return the moment or force that a joint transmits.

        The effect of the accelerations is included.
        """
        wrench, b = self._acceleration_wrench(load.link, load.x), load.link
        if load.part == 1:
            return load.rest + wrench[_LINEAR]
        p = self._places[b]
        return load.rest + (wrench[_ANGULAR] - ir.cross(p, wrench[_LINEAR]))

    def _acceleration_wrench(self, b: int, x: Expr) -> Expr:
        """Return the part of a subtree's inertia wrench that is proportional to the accelerations x.

        The moment is about the reference point of the subtree.
        """
        if b not in self._accelerations:
            self._accelerations[b] = self._define_acceleration_wrench(b, x)
        return self._accelerations[b]

    def _define_acceleration_wrench(self, b: int, x: Expr) -> Expr:
        freedoms, name = self._tree.freedoms, self._tree.links[b].name
        self._program.section("joint reactions")
        outer = set(self._carriers(b)) - {b}
        above = [k for k, freedom in enumerate(freedoms) if freedom.body in outer]
        behind = [k for k, freedom in enumerate(freedoms) if b in self._carriers(freedom.body)]
        parts: list[tuple[Index, Expr]] = [((_ANGULAR,), ir.zeros(3)), ((_LINEAR,), ir.zeros(3))]
        if above:
            text = f"acceleration of the parent body of {name} due to qdd"
            A = self._program.define(
                f"A_{name}", _weighted(self._twists, x, above), None, f"{text}; rad/s2 and m/s2"
            )
            parts = self._inertia_times(b, A)
        if behind and self._moves[b]:
            for block, (index, part) in enumerate(parts):
                of_block = [P[index] for P in self._per_acceleration]
                parts[block] = (index, part + _weighted(of_block, x, behind))
        elif behind:
            for k in behind:
                pair = self.per_acceleration(k, b)
                parts = [(index, part + x[k] * more) for (index, part), more in zip(parts, pair, strict=True)]
        text = f"inertia wrench of the subtree of {name} due to the accelerations of the coordinates; N.m and N"
        X = self._program.assemble(f"X_{name}", (6,), parts, None, text)
        joints = next(table for table in self._program.gatherings.tables if table.over == JOINTS).members
        joint = next(label for label, body in joints.items() if body == name)
        text = "inertia wrench that each joint transmits due to the accelerations of the coordinates; N.m and N"
        return self._program.gatherings.add("X", (JOINTS, joint), X, None, text)

    def _body(self, key: str, b: int, value: Expr, unit: str, text: str, whole: str) -> Expr:
        value = self._program.define(f"{key}_{self._tree.links[b].name}", value, unit, text)
        return self._note(key, b, value, unit, whole)

    def _forced(self, key: str, b: int, value: Expr, unit: str, text: str, whole: str) -> Expr:
        """Define a quantity under its own name, even if its value is a constant or another symbol."""
        symbol = self._program.assemble(
            f"{key}_{self._tree.links[b].name}", value.shape, [((), value)], unit, text
        )
        return self._note(key, b, symbol, unit, whole)

    def _place(self, b: int) -> Expr:
        link, text = (
            self._tree.links[b],
            "origin of each body relative to the origin of the first moving body of its tree",
        )
        if link.place.op == "symbol" and link.place.data.startswith("p_"):
            return link.place
        self._program.section("motion")
        return self._forced(
            "p", b, link.place, "m", f"origin of {link.name} relative to the origin of the first moving body", text
        )

    def _axis(self, k: int) -> Expr:
        freedom, label = self._tree.freedoms[k], self._program.gatherings.sets[COORDINATES][k]
        e = freedom.u if ir.is_zero(freedom.e) else freedom.e
        if e.op == "symbol":
            return e
        self._program.section("mass matrix and inertia forces")
        symbol = self._program.assemble(
            f"e_{label}", (3,), [((), e)], "1", f"axis of coordinate {label}, world axes"
        )
        return self._program.gatherings.add(
            "e", (COORDINATES, label), symbol, "1", "axis of each coordinate, world axes"
        )

    def _note(self, key: str, b: int, value: Expr, unit: str | None, whole: str) -> Expr:
        return self._program.gatherings.add(key, (BODIES, self._tree.links[b].name), value, unit, whole)

    def _coordinate(self, key: str, k: int, parts: list[tuple[Index, Expr]], whole: str) -> Expr:
        label = self._program.gatherings.sets[COORDINATES][k]
        self._program.section("mass matrix and inertia forces")
        symbol = self._program.assemble(
            f"{key}_{label}",
            (6,),
            parts,
            None,
            whole.replace("each coordinate", label),
        )
        return self._program.gatherings.add(key, (COORDINATES, label), symbol, None, whole)


def _weighted(vectors: Sequence[Expr], x: Expr, chosen: Sequence[int]) -> Expr:
    total: Expr = ir.zeros(*vectors[0].shape)
    for k in chosen:
        total = total + x[k] * vectors[k]
    return total


def _six(inertia: Expr) -> Expr:
    """Return the six elements of an inertia as a vector.

    If the elements are those of a parameter of shape (6,), the result is this parameter.
    """
    elements = [inertia[place] for place in _SIX]
    first = elements[0]
    if first.op == "index" and first.args[0].shape == (6,):
        places = [(e.args[0].data, e.data) if e.op == "index" else None for e in elements]
        if places == [(first.args[0].data, (i,)) for i in range(6)]:
            return first.args[0]
    return ir.array(elements)


def _matrix(six: Expr) -> Expr:
    """Return the inertia matrix, shape (3, 3), with the given elements xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = six
    return ir.function("symmetricMatrix", ir.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), six)


def _in_world_axes(R: Expr, six: Expr) -> Expr:
    """Return an inertia in world axes, shape (6,), from the inertia in body axes.

    The columns of R are the body axes in the world frame.
    """
    if ir.is_identity(R):
        return six
    matrix = _matrix(six)
    turned = ir.array([R[i, :] @ (matrix @ R[j, :]) for i, j in _SIX])
    return ir.function("inWorldAxes", turned, R, six)


def _of_point(m: Expr, r: Expr) -> Expr:
    """Return the inertia of a point mass at the position r about the origin, shape (6,).

    The inertia follows from the parallel axis theorem.
    """
    x, y, z = r
    six = ir.array([y * y + z * z, x * x + z * z, x * x + y * y, -(x * y), -(x * z), -(y * z)])
    return ir.function("pointInertia", m * six, m, r)


def _moved(six: Expr, m: Expr, s: Expr, arm: Expr) -> Expr:
    """Return an inertia about a new reference point, from the inertia `six` about an old one.

    Both inertias have the shape (6,). The vector `arm` leads from the new point to the old point. The
    mass is m, and s is the first mass moment about the old point.
    """
    (x, y, z), (sx, sy, sz) = arm, s
    tx, ty, tz = sx + m * x, sy + m * y, sz + m * z
    xx, yy, zz = x * (sx + tx), y * (sy + ty), z * (sz + tz)
    grown = [yy + zz, xx + zz, xx + yy, -(sx * y + x * ty), -(sx * z + x * tz), -(sy * z + y * tz)]
    return six + ir.array(grown)
