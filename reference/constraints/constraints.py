"""Constraint equations at position, velocity and acceleration level.

The equations are (28) to (32) of Jarzębowska et al. 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Filter, Mechanism, ProgrammedTask
from ..kinematics.expression import stops
from ..kinematics.jet import Number
from ..kinematics.kinematics import Posture, Vectors
from ..kinematics.quantities import (
    CompiledExpression,
    ExpressionCompiler,
    Indices,
    KinematicState,
    Quantities,
    by_chain,
)
from .closures import Conditions
from .paths import OrientationRows, PathRows
from .rows import Rows, Sizes, stack


class RowGroup(Protocol):
    """Group of constraint equations that are evaluated together.

    Attributes
    ----------
    names : tuple of str
        Name of each equation.
    order : int
        0 for equations in positions, 1 in velocities, 2 in accelerations.
    """

    names: tuple[str, ...]
    order: int

    def rows(self, state: KinematicState) -> Rows:
        """Evaluate the constraint equations of the group at one state or at many states."""
        ...

    def sizes(self, state: KinematicState) -> Sizes:
        """Return the magnitudes of the terms that add up to the constraint values Φ and the Jacobian C.

        Rounding errors are estimated as fractions of these magnitudes.
        """
        ...

    def stops(self) -> Iterator[float]:
        """Return the times at which a constraint equation or one of its derivatives jumps, s."""
        return iter(())


class ProgrammedGroup(RowGroup, Protocol):
    """Group of constraint equations that an expression or a path of the description defines."""

    def slopes(self, state: KinematicState) -> Array:
        """Return the derivatives of the equations with respect to the quantities x, shape (rows, quantities).

        Equations in velocities are differentiated with respect to ẋ. Equations in accelerations are
        differentiated with respect to ẍ. The constraint Jacobian is the product of these derivatives with
        ∂x/∂q.
        """
        ...


class CompiledConstraints:
    """All m constraint equations of a mechanism, compiled.

    The equations are in this order: programmed constraints, knife edges, closures, fixed base. Within
    each group, the order is that of the description.

    Attributes
    ----------
    tasks : list of ProgrammedGroup
        Programmed constraints.
    edges : KnifeEdges
        Nonholonomic constraints of knife edges.
    loops : Conditions
        Conditions of the closures.
    names : tuple of str
        Name of each equation.
    orders : ndarray of int, shape (m,)
        0 for equations in positions, 1 in velocities, 2 in accelerations.
    programmed : tuple of int
        Indices of the programmed equations.
    contact_rows : slice
        Equations of knife edges and closures, whose multipliers are forces on bodies.
    closure_rows : slice
        Equations of the closures.
    base_rows : tuple of int
        Indices of the equations of a fixed base.
    """

    def __init__(self, mechanism: Mechanism, quantities: Quantities, reader: ExpressionCompiler) -> None:
        self.tasks = [group for entry in mechanism.programmed for group in programmed(entry, quantities, reader)]
        self.edges, closures = KnifeEdges(mechanism), _Closures(mechanism)
        groups: list[RowGroup] = [*self.tasks, self.edges, closures]
        first = sum(len(group.names) for group in self.tasks)
        after_edges = first + len(self.edges.names)
        last = after_edges + len(closures.names)
        self.programmed = tuple(range(first))
        self.loops, self.closure_rows = closures.conditions, slice(after_edges, last)
        self.contact_rows = slice(first, last)
        if mechanism.base_fixed:
            groups.append(_FixedBase(mechanism))
        self._groups = [group for group in groups if group.names]
        self.names = tuple(name for group in self._groups for name in group.names)
        self.base_rows = tuple(range(last, len(self.names)))
        self.orders = np.array([group.order for group in self._groups for _ in group.names], dtype=int)
        self._none = Rows(np.zeros(0), np.zeros(0), np.zeros((0, mechanism.n)), np.zeros(0))

    def contact_wrenches(self, posture: Posture) -> Array:
        """Return the wrench of each knife edge and closure equation on all bodies, shape (rows, B, 6).

        Each wrench is the effect of a multiplier of 1. The first three elements are the force, and the
        others are the moment, in world axes. Moments refer to the posture's datum, a reference point
        near the mechanism.
        """
        if posture.S.ndim > 2:
            return np.array([self.contact_wrenches(posture[k]) for k in range(len(posture.S))])
        return np.concatenate([self.edges.wrenches(posture), self.loops.wrenches(posture)])

    def __call__(self, state: KinematicState) -> Rows:
        """Evaluate all constraint equations at one state or at many states."""
        return stack([self._none, *(group.rows(state) for group in self._groups)], state.q.shape[:-1])

    @property
    def readings(self) -> list[CompiledExpression]:
        """Compiled expressions of the programmed constraints."""
        return [task.reading for task in self.tasks if isinstance(task, _ExpressionRow)]

    def sizes(self, state: KinematicState) -> Sizes:
        """Return the magnitudes of the terms that add up to all constraint values and their Jacobian.

        Rounding errors are estimated as fractions of these magnitudes.
        """
        parts = [group.sizes(state) for group in self._groups]
        phi = [np.zeros(0), *(part.Phi for part in parts)]
        return Sizes(np.concatenate(phi), np.concatenate([self._none.C, *(part.C for part in parts)]))

    def stops(self) -> Iterator[float]:
        """Yield the times at which a constraint equation or one of its derivatives jumps, s."""
        for group in self._groups:
            yield from group.stops()


def programmed(entry: ProgrammedTask, quantities: Quantities, reader: ExpressionCompiler) -> list[ProgrammedGroup]:
    """Return the equations of a programmed constraint in one or two groups.

    Only a path that prescribes orientations has two groups: one for positions and one for orientations.
    """
    if entry.path is not None:
        places = PathRows(entry.name, entry.path, quantities)
        if entry.path.orientations is None:
            return [places]
        return [places, OrientationRows(entry.name, entry.path, quantities)]
    if entry.filter is not None:
        return [_FollowingRow(entry.name, entry.filter, quantities, reader.mechanism)]
    assert entry.expression is not None
    reading = reader.reading(f"programmed constraint {entry.name}", entry.expression)
    return [_ExpressionRow(entry.name, entry.order, reading, quantities)]


class _ExpressionRow:
    """Constraint equation from an expression of the description.

    A position constraint has the form Φ(t, x) = 0 with the quantities x of the expression. A velocity
    constraint has the form Ψ(t, x, ẋ) = 0 and is linear in ẋ. An acceleration constraint is linear in
    ẍ. See Jarzębowska et al. 2023, equation (7).
    """

    def __init__(self, name: str, order: int, reading: CompiledExpression, quantities: Quantities) -> None:
        self.names: tuple[str, ...] = (name,)
        self.order, self.reading, self._quantities = order, reading, quantities

    def rows(self, state: KinematicState) -> Rows:
        return (self._position_row, self._velocity_row, self._acceleration_row)[self.order](state)

    def _position_row(self, state: KinematicState) -> Rows:
        jet, used = self.reading.jet(state), self.reading.positions
        C = by_chain(jet.gradient[..., 1:], state.jacobian[..., used, :])
        return _row(jet.value, jet.rate, C, -jet.second)

    def _velocity_row(self, state: KinematicState) -> Rows:
        jet, used, rates = self.reading.jet(state), self.reading.positions, self.reading.velocities
        # A velocity constraint contains no accelerations, so the last gradient entries belong to velocities.
        by_rate = jet.gradient[..., 1 + len(used) :]
        none = np.zeros_like(jet.value)
        return _row(none, jet.value, by_chain(by_rate, state.jacobian[..., rates, :]), -jet.rate)

    def _acceleration_row(self, state: KinematicState) -> Rows:
        jet, rates = self.reading.jet(state), self.reading.accelerations
        by_rate = jet.gradient[..., jet.gradient.shape[-1] - len(rates) :]
        none = np.zeros_like(jet.value)
        # An acceleration constraint is evaluated with q̈ = 0 and yields the terms that do not depend on q̈.
        return _row(none, none, by_chain(by_rate, state.jacobian[..., rates, :]), -jet.value)

    def sizes(self, state: KinematicState) -> Sizes:
        value, slopes = self.reading.sizes(state)
        used, own = self._leading
        C = slopes[own] @ self._quantities.jacobian_sizes(state)[used]
        return Sizes(np.array([0.0 if self.order else value]), C[None])

    def slopes(self, state: KinematicState) -> Array:
        used, own = self._leading
        slopes = np.zeros((1, len(state.x)))
        slopes[0, used] = self.reading.jet(state).gradient[own]
        return slopes

    @property
    def _leading(self) -> tuple[Indices, slice]:
        """Indices of the quantities of highest order, and a slice of the equation's gradient.

        The quantities of highest order are positions x in a position constraint, velocities ẋ in a velocity
        constraint, and accelerations ẍ in an acceleration constraint. The slice selects the derivatives with
        respect to these quantities.
        """
        used = (self.reading.positions, self.reading.velocities, self.reading.accelerations)
        first = 1 + sum(map(len, used[: self.order]))
        return used[self.order], slice(first, first + len(used[self.order]))

    def stops(self) -> Iterator[float]:
        return stops(self.reading.node)


def _row(Phi: Number, Phi_dot: Number, C: Array, gamma: Number) -> Rows:
    Phi, Phi_dot, gamma = (np.asarray(x)[..., None] for x in (Phi, Phi_dot, gamma))
    return Rows(Phi, Phi_dot, C[..., None, :], gamma)


class _FollowingRow(RowGroup):
    """Constraint equation q_k − y = 0 of a coordinate q_k that follows the output y of an input filter."""

    order = 0

    def __init__(self, name: str, led_by: Filter, quantities: Quantities, mechanism: Mechanism) -> None:
        assert led_by.coordinate is not None
        self.names: tuple[str, ...] = (name,)
        self._k, self._i = led_by.coordinate, mechanism.filters.index(led_by)
        self._place = quantities.position[mechanism.coordinates[self._k].name]
        self._unit = np.eye(mechanism.n)

    def rows(self, state: KinematicState) -> Rows:
        y, rate, second = np.moveaxis(state.followed[..., self._i, :], -1, 0)
        return _row(state.q[..., self._k] - y, state.qd[..., self._k] - rate, self._unit[self._k], second)

    def sizes(self, state: KinematicState) -> Sizes:
        made_of = abs(state.q[self._k]) + abs(state.followed[self._i, 0])
        return Sizes(np.array([made_of]), self._unit[self._k][None])

    def slopes(self, state: KinematicState) -> Array:
        slopes = np.zeros((1, len(state.x)))
        slopes[0, self._place] = 1.0
        return slopes


class KnifeEdges(RowGroup):
    """Knife-edge constraints Ψ = n·v = 0 of bodies with a no-slip direction.

    The vector n is a normal fixed to the body, and v is the velocity of the contact point. See Wojtyra
    and Frączek 2013, equations (30), (31).
    """

    order = 1

    def __init__(self, mechanism: Mechanism) -> None:
        edges, slots = mechanism.nonholonomic, len(mechanism.bodies) + 1
        self.names = tuple(edge.name for edge in edges)
        self._slots = [edge.place.body + 1 for edge in edges]
        factors = np.zeros((slots, 4, 2, len(edges)))
        for k, edge in enumerate(edges):
            factors[edge.place.body + 1, :, 0, k] = [*edge.normal, 0.0]
            factors[edge.place.body + 1, :, 1, k] = [*edge.place.position, 1.0]
        self._vectors = Vectors(factors.reshape(slots, 4, -1))

    def rows(self, state: KinematicState) -> Rows:
        motion, K = self._vectors.motion(state.posture), len(self.names)
        n, v, C = motion.position[..., :K], motion.velocity[..., K:], motion.jacobian[..., K:]
        # The sum over this array is −Γ of equation (31) in Wojtyra and Frączek 2013.
        rate = motion.velocity[..., :K] * v + n * motion.bias[..., K:]
        slopes = np.sum(n[..., None, :, :] * C, axis=-2).swapaxes(-2, -1)
        return Rows(np.zeros(K), np.sum(n * v, axis=-2), slopes, -np.sum(rate, axis=-2))

    def sizes(self, state: KinematicState) -> Sizes:
        """Return the magnitudes of the terms that add up to the Jacobian of all knife edges.

        Rounding errors are estimated as fractions of these magnitudes.
        """
        K, (reach, slopes) = len(self.names), self._vectors.sizes(state.posture)
        return Sizes(np.zeros(K), (reach[:K] * slopes[:, K:]).T)

    def wrenches(self, posture: Posture) -> Array:
        """Return the wrench of each knife edge on all bodies, shape (rows, B, 6), for a unit multiplier.

        The wrench results from the unit normal force n at the contact point. The opposite force on the
        ground is omitted.
        """
        place, K = self._vectors.motion(posture).position, len(self.names)
        n, r = place[:, :K].T, place[:, K:].T
        wrenches = np.zeros((K, posture.T.shape[1], 6))
        wrenches[range(K), self._slots] = np.concatenate([n, np.cross(r, n)], axis=1)
        return wrenches


class _Closures(RowGroup):
    order = 0

    def __init__(self, mechanism: Mechanism) -> None:
        cut = [closure for closure in mechanism.closures if closure.rows]
        self.conditions = Conditions(mechanism, cut)
        self.names = tuple(row for closure in cut for row in closure.rows)

    def rows(self, state: KinematicState) -> Rows:
        return self.conditions.rows(state.posture)

    def sizes(self, state: KinematicState) -> Sizes:
        return self.conditions.sizes(state.posture)


class _FixedBase(RowGroup):
    """Constraint equations q_base = 0 of a fixed base (Jarzębowska et al. 2023, equation (32))."""

    order = 0

    def __init__(self, mechanism: Mechanism) -> None:
        self._base = [k for k, c in enumerate(mechanism.coordinates) if c.role == "base"]
        self.names = tuple(mechanism.coordinates[k].symbol for k in self._base)
        self._C, self._gamma = np.eye(mechanism.n)[self._base], np.zeros(len(self._base))

    def rows(self, state: KinematicState) -> Rows:
        return Rows(state.q[..., self._base], state.qd[..., self._base], self._C, self._gamma)

    def sizes(self, state: KinematicState) -> Sizes:
        return Sizes(np.ones(len(self._base)), self._C)
