"""Generalised forces Q = −∂E_p/∂q − ∂R/∂q̇ + f_ext and the energy behind them.

Design 4.1; P2 (14)–(16), P3 (13), (14).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import SolveError
from ...generator.language.expressions import Tree
from ...generator.mechanism import AppliedForce, Mechanism, Place
from ..constraints.closures import Conditions
from ..kinematics.expression import stops
from ..kinematics.piecewise import PiecewiseLinear
from ..kinematics.quantities import Reader, Reading, State

Array = NDArray[np.float64]
Input: TypeAlias = Callable[[float], float] | float | PiecewiseLinear


class Component(Protocol):
    """One component of an applied force."""

    def number(self, state: State) -> float:
        """Its value."""
        ...

    def by_rates(self, state: State) -> Array:
        """∂/∂q̇, shape (n,)."""
        ...


@dataclass(frozen=True)
class Loads:
    """Generalised forces by origin, each of shape (n,), N·m or N, and the energy they stem from.

    elastic      springs of coordinates, supports and closures
    dissipative  their dampers
    printed      ΔQ_i = Σ_k q̇_k ∂Q_k/∂q̇_i of P0 (26) and P2 (20), if the description asks for it, else 0
    potential    J, of gravity and springs
    """

    gravity: Array
    elastic: Array
    dissipative: Array
    applied: Array
    printed: Array
    potential: float

    @property
    def total(self) -> Array:
        """Q, shape (n,), N·m or N."""
        return self.gravity + self.elastic + self.dissipative + self.applied + self.printed


def load_places(mechanism: Mechanism) -> list[Place]:
    """Where supports and forces at places act, in this order."""
    base = next((b for b, body in enumerate(mechanism.bodies) if body.name == "base"), 0)
    supports = [Place(base, support.position) for support in mechanism.supports]
    return supports + [force.place for force in mechanism.forces if force.place is not None]


class LoadModel:
    """All loads of a mechanism, compiled.

    first        index of the first of `load_places` among the state's places
    inputs       values of the FMU inputs by their symbols; those without one are zero
    replacement  the spring-damper closures
    """

    def __init__(
        self, mechanism: Mechanism, reader: Reader, first: int, inputs: Mapping[str, Input] | None = None
    ) -> None:
        _check_inputs(mechanism, inputs or {})
        self._gravity = _weights(mechanism)
        self._springs = _Springs(mechanism)
        self._supports = _Supports(mechanism, first)
        self.replacement = ReplacementJoints(mechanism)
        self._inputs = [value for value in (inputs or {}).values() if isinstance(value, PiecewiseLinear)]
        self._as_printed = mechanism.velocity_forces == "as_printed"
        column = first + len(mechanism.supports)
        self._readings: list[Reading] = []
        self._forces: list[tuple[AppliedForce, tuple[Component, ...], int]] = []
        for force in mechanism.forces:
            self._forces.append((force, self._components(force, reader, inputs or {}), column))
            column += force.place is not None

    def _components(
        self, force: AppliedForce, reader: Reader, inputs: Mapping[str, Input]
    ) -> tuple[Component, ...]:
        if force.values is None:
            return tuple(_Given(inputs.get(symbol, 0.0)) for symbol in force.symbols)
        return tuple(self._reading(reader, force.name, tree) for tree in force.values)

    def _reading(self, reader: Reader, name: str, tree: Tree) -> Reading:
        self._readings.append(reader.reading(f"force {name}", tree))
        return self._readings[-1]

    def stops(self) -> list[float]:
        """Times at which an input or an expression of time jumps or has a kink, s."""
        times = [time for table in self._inputs for time in table.stops()]
        return times + [time for reading in self._readings for time in stops(reading.node)]

    def __call__(self, state: State) -> Loads:
        """All generalised forces in the state."""
        n = len(state.q)
        springs = [self._springs(state), self._supports(state)]
        if self.replacement.closures:
            springs.append(self.replacement.reaction(state))
        dissipative = sum((part.dissipative for part in springs), np.zeros(n))
        return Loads(
            gravity=state.posture.T_q.reshape(n, -1) @ self._gravity.ravel(),
            elastic=sum((part.elastic for part in springs), np.zeros(n)),
            dissipative=dissipative,
            applied=self._applied(state),
            # dampers' forces −D q̇ with symmetric D come a second time
            printed=dissipative + self._applied_by_rates(state) if self._as_printed else np.zeros(n),
            potential=sum(part.energy for part in springs) - float(np.vdot(state.posture.T, self._gravity)),
        )

    def _applied(self, state: State) -> Array:
        effort = np.zeros(len(state.q))
        for force, components, column in self._forces:
            values = _values(force, components, state)
            if force.coordinate is not None:
                effort[force.coordinate] += values[0]
            else:
                effort += values @ state.places.jacobian[:, :, column].T
        return effort

    def _applied_by_rates(self, state: State) -> Array:
        """Σ_k q̇_k ∂Q_k/∂q̇ of the applied forces: the velocity of where they act times their slopes."""
        total = np.zeros(len(state.q))
        for force, components, column in self._forces:
            slopes = np.array([component.by_rates(state) for component in components])
            if force.coordinate is not None:
                total += state.qd[force.coordinate] * slopes[0]
            else:
                total += state.places.velocity[:, column] @ _in_world(force, slopes, state)
        return total

    def wrenches(self, state: State) -> Array:
        """What point forces and spring-damper closures do to each slot, shape (B, 6).

        Force, then moment about the world's origin; world axes, N and N·m.
        """
        total = np.zeros((state.posture.T.shape[1], 6))
        if self.replacement.closures:
            total += self.replacement.wrenches(state).sum(axis=0)
        for force, components, column in self._forces:
            if force.place is not None:
                values = _values(force, components, state)
                moment = np.cross(state.places.position[:, column], values)
                total[force.place.body + 1] += np.concatenate([values, moment])
        return total


def _values(force: AppliedForce, components: Sequence[Component], state: State) -> Array:
    """An effort, shape (1,), or a force in world axes, shape (3,)."""
    return _in_world(force, np.array([component.number(state) for component in components]), state)


def _in_world(force: AppliedForce, values: Array, state: State) -> Array:
    if force.place is None or force.in_world:
        return values
    return np.asarray(state.posture.T[:3, force.place.body + 1, :3] @ values)


def _check_inputs(mechanism: Mechanism, inputs: Mapping[str, Input]) -> None:
    known = [symbol for force in mechanism.forces if force.values is None for symbol in force.symbols]
    unknown = [symbol for symbol in inputs if symbol not in known]
    if unknown:
        raise SolveError(f"no input is called {', '.join(unknown)}; known are: {', '.join(known) or 'none'}")


class _Given:
    """A component whose value is an FMU input."""

    def __init__(self, value: Input) -> None:
        self._value = value

    def number(self, state: State) -> float:
        """Its value."""
        if isinstance(self._value, PiecewiseLinear):
            return self._value.at(state.t, state.since)
        return float(self._value(state.t)) if callable(self._value) else float(self._value)

    def by_rates(self, state: State) -> Array:
        """Inputs do not depend on q̇."""
        return np.zeros_like(state.qd)


def _weights(mechanism: Mechanism) -> Array:
    """m g c̃ᵀ of every slot, shape (4, B, 4): its product with T, summed, is the work of gravity."""
    weights = np.zeros((4, len(mechanism.bodies) + 1, 4))
    for b, body in enumerate(mechanism.bodies):
        weights[:3, b + 1] = body.mass * np.outer(mechanism.gravity, [*body.com, 1.0])
    return weights


@dataclass(frozen=True)
class _Reaction:
    elastic: Array
    dissipative: Array
    energy: float


class _Springs:
    """Springs and dampers of coordinates."""

    def __init__(self, mechanism: Mechanism) -> None:
        data = [(c.stiffness or 0.0, c.rest or 0.0, c.damping or 0.0) for c in mechanism.coordinates]
        self._stiffness, self._rest, self._damping = np.array(data, dtype=float).reshape(-1, 3).T

    def __call__(self, state: State) -> _Reaction:
        deflection = state.q - self._rest
        elastic = -self._stiffness * deflection
        return _Reaction(elastic, -self._damping * state.qd, -0.5 * float(elastic @ deflection))


class ReplacementJoints:
    """Spring-damper closures: deformations d, forces −(C d + B ḋ), so Q = −(∂d/∂q)ᵀ(C d + B ḋ) (P3 (13), (14))."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.closures = tuple(closure for closure in mechanism.closures if closure.stiffness is not None)
        self.conditions = Conditions(mechanism, self.closures)
        self._stiffness, self._damping = (
            np.array([x for closure in self.closures for x in getattr(closure, key)], dtype=float)
            for key in ("stiffness", "damping")
        )

    def reaction(self, state: State) -> _Reaction:
        """Generalised forces and energy."""
        rows = self.conditions.rows(state.posture)
        spring, damper = self._stiffness * rows.Phi, self._damping * rows.Phi_dot
        return _Reaction(-spring @ rows.C, -damper @ rows.C, 0.5 * float(spring @ rows.Phi))

    def wrenches(self, state: State) -> Array:
        """What each deformation's spring and damper do to the slots, (K, B, 6); see `Conditions.wrenches`."""
        rows = self.conditions.rows(state.posture)
        forces = -(self._stiffness * rows.Phi + self._damping * rows.Phi_dot)
        return forces[:, None, None] * self.conditions.wrenches(state.posture)


class _Supports:
    """Springs and dampers between base and ground, along world axes.

    The deflection d is J (T_b r̃ − r_0), or U q_base where linearized (P2: below (14)); Q = −(∂d/∂q)ᵀ(S d + D ḋ).
    """

    def __init__(self, mechanism: Mechanism, first: int) -> None:
        base, supports = mechanism.chain.base, mechanism.supports
        self._columns = slice(first, first + len(supports))
        stacked = np.array([[s.position, s.stiffness, s.damping] for s in supports], dtype=float)
        self._position, self._stiffness, self._damping = stacked.reshape(-1, 3, 3).transpose(1, 2, 0)
        linearized = base is not None and base.linearized
        self._U = _small_motion(self._position, mechanism.n) if linearized else None

    def __call__(self, state: State) -> _Reaction:
        deflection, rate, jacobian = self._deflection(state)
        spring, damper = self._stiffness * deflection, self._damping * rate
        across = jacobian.reshape(len(state.q), -1)
        energy = 0.5 * float(np.vdot(spring, deflection))
        return _Reaction(-across @ spring.ravel(), -across @ damper.ravel(), energy)

    def _deflection(self, state: State) -> tuple[Array, Array, Array]:
        """d and ḋ, shape (3, supports), m and m/s, and ∂d/∂q, shape (n, 3, supports)."""
        if self._U is not None:
            shape = self._position.shape
            return (state.q @ self._U).reshape(shape), (state.qd @ self._U).reshape(shape), self._U
        places, own = state.places, self._columns
        return places.position[:, own] - self._position, places.velocity[:, own], places.jacobian[:, :, own]


def _small_motion(positions: Array, n: int) -> Array:
    """Transposed U of all supports, shape (n, 3·supports): small angles psi, theta, phi about z, y, x."""
    (x, y, z), zero = positions, np.zeros(positions.shape[1])
    U = np.zeros((n, 3, positions.shape[1]))
    U[:3] = np.eye(3)[:, :, None]
    U[3], U[4], U[5] = [-y, x, zero], [z, zero, -x], [zero, -z, y]
    return U.reshape(n, -1)
