"""Constraints on position, velocity and acceleration level (design 4.3; P0 (28)–(32), P2 (17)–(19))."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..generator import expressions
from ..generator.description.task import Path, Programmed
from ..generator.mechanism import Mechanism
from .closures import Conditions
from .expression import stops
from .quantities import Quantities, Reader, Reading, State
from .rows import Rows, stack

Array = NDArray[np.float64]


class Block(Protocol):
    """Some rows that belong together."""

    names: tuple[str, ...]

    def rows(self, state: State) -> Rows:
        """The rows in the state."""
        ...

    def stops(self) -> Iterator[float]:
        """Times at which a row or one of its derivatives jumps, s."""
        ...


class Constraints:
    """All constraints of a mechanism, compiled: programmed ones in file order, closures likewise, the fixed base.

    loops          the closures' conditions
    closure_rows   where they are among the rows
    """

    def __init__(self, mechanism: Mechanism, quantities: Quantities, reader: Reader) -> None:
        self._blocks: list[Block] = [programmed(entry, quantities, reader) for entry in mechanism.programmed]
        first = sum(len(block.names) for block in self._blocks)
        closures = _Closures(mechanism)
        self.loops, self.closure_rows = closures.conditions, slice(first, first + len(closures.names))
        if closures.names:
            self._blocks.append(closures)
        if mechanism.base_fixed:
            self._blocks.append(_FixedBase(mechanism))
        self.names = tuple(name for block in self._blocks for name in block.names)
        self._none = Rows(np.zeros(0), np.zeros(0), np.zeros((0, mechanism.n)), np.zeros(0))

    def __call__(self, state: State) -> Rows:
        """All rows in the state."""
        return stack([self._none, *(block.rows(state) for block in self._blocks)])

    def stops(self) -> Iterator[float]:
        """Times at which a row or one of its derivatives jumps, s."""
        for block in self._blocks:
            yield from block.stops()


def programmed(entry: Programmed, quantities: Quantities, reader: Reader) -> Block:
    """The rows of a programmed constraint."""
    if entry.path is not None:
        return _PathRows(entry.name, entry.path, quantities)
    assert entry.expression is not None
    tree = expressions.parse(entry.expression)
    return _ExpressionRow(entry.name, entry.order, reader.reading(f"programmed constraint {entry.name}", tree))


class _ExpressionRow:
    """Φ(t, x) = 0, or Ψ(t, x, ẋ) = 0, linear in ẋ."""

    def __init__(self, name: str, order: int, reading: Reading) -> None:
        self.names: tuple[str, ...] = (name,)
        self.order, self.reading = order, reading

    def rows(self, state: State) -> Rows:
        return self._velocity_row(state) if self.order else self._position_row(state)

    def _position_row(self, state: State) -> Rows:
        jet, used = self.reading.jet(state), self.reading.positions
        gradient = jet.gradient[1:]
        C = gradient @ state.jacobian[used]
        direction = np.concatenate([[1.0], state.x_dot[used]])
        second = direction @ jet.hessian @ direction + gradient @ state.bias[used]
        return _row(jet.value, float(jet.gradient @ direction), C, -float(second))

    def _velocity_row(self, state: State) -> Rows:
        jet, used, rates = self.reading.jet(state), self.reading.positions, self.reading.velocities
        by_rate = jet.gradient[1 + len(used) :]
        direction = np.concatenate([[1.0], state.x_dot[used], state.bias[rates]])
        return _row(0.0, jet.value, by_rate @ state.jacobian[rates], -float(jet.gradient @ direction))

    def stops(self) -> Iterator[float]:
        return stops(self.reading.node)


def _row(Phi: float, Phi_dot: float, C: Array, gamma: float) -> Rows:
    return Rows(np.array([Phi]), np.array([Phi_dot]), C[None, :], np.array([gamma]))


class _PathRows:
    """Components of R_Pᵀ(r_E − r_P(t)) in the path's frame P, whose origin is o_P: R_Pᵀ(r_E − o_P) − w(t)."""

    def __init__(self, name: str, path: Path, quantities: Quantities) -> None:
        self.names = tuple(f"{name}_{component}" for component in path.components)
        self._own = ["xyz".index(component) for component in path.components]
        self._rotation, self._origin = path.frame.rotation.T[self._own], path.frame.offset
        self._point = quantities.point(path.point)
        self.path = path

    def rows(self, state: State) -> Rows:
        R, used = self._rotation, self._point
        w, w_dot, w_ddot = (x[self._own] for x in waypoint_motion(self.path, state.t))
        return Rows(
            R @ (state.x[used] - self._origin) - w,
            R @ state.x_dot[used] - w_dot,
            R @ state.jacobian[used],
            w_ddot - R @ state.bias[used],
        )

    def stops(self) -> Iterator[float]:
        return (k * self.path.leg_time for k in range(len(self.path.waypoints)))


def waypoint_motion(path: Path, t: float) -> tuple[Array, Array, Array]:
    """w, ẇ, ẅ in the path's frame, each of shape (3,), m and s: quintic legs with rest at each waypoint."""
    waypoints, T = np.array(path.waypoints), path.leg_time
    leg = int(min(max(t // T, 0), len(waypoints) - 2))
    x = min(max(t / T - leg, 0.0), 1.0)
    step = waypoints[leg + 1] - waypoints[leg]
    return (
        waypoints[leg] + step * (x**3 * (10 - 15 * x + 6 * x * x)),
        step * (30 * (x * (1 - x)) ** 2 / T),
        step * (60 * x * (1 - x) * (1 - 2 * x) / T**2),
    )


class _Closures:
    """Cut joints: one row per condition."""

    def __init__(self, mechanism: Mechanism) -> None:
        cut = [closure for closure in mechanism.closures if closure.rows]
        self.conditions = Conditions(mechanism, cut)
        self.names = tuple(row for closure in cut for row in closure.rows)

    def rows(self, state: State) -> Rows:
        return self.conditions.rows(state.posture)

    def stops(self) -> Iterator[float]:
        return iter(())


class _FixedBase:
    """q_base = 0 (P0 (32))."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._base = [k for k, c in enumerate(mechanism.coordinates) if c.role == "base"]
        self.names = tuple(mechanism.coordinates[k].symbol for k in self._base)
        self._C, self._gamma = np.eye(mechanism.n)[self._base], np.zeros(len(self._base))

    def rows(self, state: State) -> Rows:
        return Rows(state.q[self._base], state.qd[self._base], self._C, self._gamma)

    def stops(self) -> Iterator[float]:
        return iter(())
