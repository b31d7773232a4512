"""Accelerations of a mechanism by Pinocchio's numbers: constraint rows, forces, Gauss's principle.

Nothing of the package is used: rows come from `Posture`'s frames by the product rule, the rank from how the
mechanism was made, the solution from a singular value decomposition in the metric of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from helpers_absolute import Row, closure_rows, replacement_rows
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from machines.tree import Posture, Table, Tree, X, Y, Z, transform

Array = NDArray[np.float64]
_ZERO = 1e-9  # m or rad per square root of a moment: a row below it, where 1 kg or kg·m² is lightest, is rounding
_DEPENDENT = 3e-4  # singular values; those of the machines that are taken are above 1e-3 or rounding


@dataclass(frozen=True)
class Constraint:
    """Φ = 0 (if it has a position level), C q̇ = ν (if it has a velocity level), C q̈ = γ; C of shape (n,)."""

    C: Array
    gamma: float
    nu: float | None = None
    Phi: float | None = None

    def divided(self, by: float) -> Constraint:
        """Return the quantity in another unit."""
        return Constraint(self.C / by, self.gamma / by, *(x if x is None else x / by for x in (self.nu, self.Phi)))


class Task(Protocol):
    """Something that constrains a mechanism."""

    def constraints(self, posture: Posture, t: float) -> list[Constraint]: ...


def held(found: Row, target: Array, order: int = 0) -> Constraint:
    """The order-th derivative of a scalar is to be the first of `target`, whose rates are the others."""
    wanted = [*target[: 3 - order]]
    Phi = found.value - wanted[0] if order == 0 else None
    nu = wanted[-2] if order < 2 else None
    return Constraint(found.J[0], wanted[-1] - found.bias, nu, Phi)


def coordinate(posture: Posture, name: str) -> Row:
    """One of the coordinates as a scalar."""
    k = posture.tree.names.index(name)
    return Row(posture.q[k], posture.qd[k], 0.0, {0: np.eye(posture.tree.n)[k]})


def between(posture: Posture, closure: Table) -> list[Row]:
    """The scalars that a closure holds at zero, the distance's at its square."""
    a, b = (posture.frame(closure[side]["link"], transform(closure[side])) for side in "ab")
    return closure_rows(a, b, closure["type"])  # type: ignore[arg-type]


@dataclass(frozen=True)
class Loop:
    """A closure that is a constraint."""

    closure: Table

    def constraints(self, posture: Posture, t: float) -> list[Constraint]:
        rows, length = between(posture, self.closure), self.closure.get("length", 0.0)
        found = [held(row, np.array([length**2, 0.0, 0.0])) for row in rows]
        return [one.divided(2 * length) for one in found] if length else found


class HeldBase:
    """Constraint equations of a rigid base: its coordinates are zero (Jarzębowska et al. 2023, (32))."""

    def constraints(self, posture: Posture, t: float) -> list[Constraint]:
        """Six rows, if the base is rigid."""
        rigid = posture.tree.data.get("base", {}).get("support") == "rigid"
        names = [name for name in posture.tree.names if rigid and name.startswith("base.")]
        return [held(coordinate(posture, name), np.zeros(3)) for name in names]


def effort(posture: Posture) -> Array:
    """All generalised forces, those of inertia and weight included: M q̈ = effort + Cᵀ λ; shape (n,), N or N·m."""
    springs = [posture.tree.springs[name] for name in posture.tree.names]
    k, rest, d = np.array([[s.k, s.rest, s.d] for s in springs]).T
    total = -posture.bias - k * (posture.q - rest) - d * posture.qd
    for part in (_supports, _applied, _replacement):
        total = total + part(posture)
    return total


def _supports(posture: Posture) -> Array:
    base, total = posture.tree.data.get("base", {}), np.zeros(posture.tree.n)
    for support in base.get("supports", ()):
        at = np.array(support["position"], dtype=float)
        foot = posture.frame("base", transform({"xyz": at})).origin()
        way, rate, J = foot.value - at, foot.rate, foot.J[0]
        if base.get("linearized", False):
            J = np.zeros((3, posture.tree.n))
            J[:, :6] = np.column_stack([X, Y, Z, np.cross(Z, at), np.cross(Y, at), np.cross(X, at)])
            way, rate = J @ posture.q, J @ posture.qd
        total -= (support["stiffness"] * way + support.get("damping", np.zeros(3)) * rate) @ J
    return total


def _applied(posture: Posture) -> Array:
    total = np.zeros(posture.tree.n)
    for force in posture.tree.data.get("forces", ()):
        if "effort" in force:
            owner = force["joint"]
            (k,) = [i for i, name in enumerate(posture.tree.names) if owner in (name, name.partition(".")[0])]
            total[k] += force["effort"]
            continue
        frame = posture.frame(force["link"], transform({"xyz": force["point"]}))
        value = np.array(force["force"])
        total += (frame.R @ value if force.get("frame") == "link" else value) @ frame.origin().J[0]
    return total


def _replacement(posture: Posture) -> Array:
    """Springs and dampers in place of closures."""
    total = np.zeros(posture.tree.n)
    for closure in _soft(posture.tree.data):
        a, b = (posture.frame(closure[side]["link"], transform(closure[side])) for side in "ab")
        along = posture.frame("ground", transform({})) if closure.get("axes") == "world" else a
        rows = replacement_rows(a, b, along)  # type: ignore[arg-type]
        for found, k, d in zip(rows, closure["stiffness"], closure.get("damping", np.zeros(6)), strict=True):
            total -= (k * found.value + d * found.rate) * found.J[0]
    return total


def _soft(data: Table) -> list[Table]:
    return [closure for closure in data.get("closures", ()) if closure.get("model") == "spring_damper"]


@dataclass(frozen=True)
class Answer:
    """Independent solution for one state.

    qdd       accelerations of the coordinates, shape (n,)
    singular  singular values of C in the mass metric with rows of length 1, descending
    L         Cholesky factor of M: ‖Lᵀ q̈‖² is twice the energy of accelerations
    scale     reference magnitude of q̈: ‖Lᵀ q̈‖, at least the effects of forces and of constraints alone
    """

    qdd: Array
    singular: Array
    L: Array
    scale: float

    def error(self, qdd: Array) -> float:
        """Return the relative error of other accelerations in the mass metric."""
        return float(np.linalg.norm(self.L.T @ (qdd - self.qdd)) / self.scale)


class Oracle:
    """A description with its tasks, its closures that are constraints (`loops`), and its rank as it was made."""

    def __init__(self, data: Table, tasks: Sequence[Task], rank: int) -> None:
        self.tree, self.rank = Tree(data), rank
        self.loops = [Loop(closure) for closure in data.get("closures", ()) if closure not in _soft(data)]
        self._tasks: list[Task] = [*tasks, *self.loops, HeldBase()]

    def _rows(self, posture: Posture, t: float) -> list[Constraint]:
        return [c for task in self._tasks for c in task.constraints(posture, t)]

    def on_constraints(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """The nearest state, in the mass metric, that obeys all rows. Raises ValueError if it is not found."""
        for _ in range(20):
            posture = Posture(self.tree, q, 0 * q)
            rows = [c for c in self._rows(posture, t) if c.Phi is not None]
            step = self._least(posture, rows, [-c.Phi for c in rows if c.Phi is not None])
            q, change = q + step, np.linalg.norm(step) / (1 + np.linalg.norm(q))
            if change < 1e-12:
                break
        else:
            raise ValueError("Newton's method does not find a position")
        posture = Posture(self.tree, q, qd)
        rows = [c for c in self._rows(posture, t) if c.nu is not None]
        return q, qd + self._least(posture, rows, [c.nu - c.C @ qd for c in rows if c.nu is not None])

    def _least(self, posture: Posture, rows: Sequence[Constraint], wanted: Sequence[Any]) -> Array:
        """The smallest x with C x = wanted."""
        if not rows:
            return np.zeros(self.tree.n)
        L = np.linalg.cholesky(posture.M)
        A, sizes = _metric(posture, L, rows)
        return np.asarray(solve_triangular(L.T, _solved(A, np.array(wanted) / sizes)))

    def __call__(self, t: float, q: Array, qd: Array) -> Answer:
        """Accelerations at a state that obeys the constraints."""
        posture = Posture(self.tree, q, qd)
        L, rows = np.linalg.cholesky(posture.M), self._rows(posture, t)
        y = solve_triangular(L, effort(posture), lower=True)
        scale, singular = float(np.linalg.norm(y)), np.zeros(0)
        if rows:
            A, sizes = _metric(posture, L, rows)
            _, singular, Vt = np.linalg.svd(A)
            V = Vt[: self.rank].T
            wanted = _solved(A, np.array([c.gamma for c in rows]) / sizes)
            scale += float(np.linalg.norm(wanted))
            y = y - V @ (V.T @ y) + wanted
        return Answer(solve_triangular(L.T, y), singular, L, scale)


def _metric(posture: Posture, L: Array, rows: Sequence[Constraint]) -> tuple[Array, Array]:
    """C L⁻ᵀ with rows of length 1, and the lengths; rows of rounding noise stay as small as they are."""
    A = solve_triangular(L, np.array([c.C for c in rows]).T, lower=True).T
    sizes = np.maximum(np.linalg.norm(A, axis=1), _ZERO / np.sqrt(posture.tree.lightest))
    return A / sizes[:, None], sizes


def _solved(A: Array, right: Array) -> Array:
    """The smallest y with A y = right."""
    U, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    kept = sizes > _DEPENDENT  # not relative to the largest: all may be rounding
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ right) / sizes[kept]))
