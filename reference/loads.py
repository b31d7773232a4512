"""Generalised forces Q = −∂E_p/∂q − ∂R/∂q̇ + f_ext and the energy behind them (design 4.1; P2 (14)–(16))."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SolveError
from ..generator.expressions import Tree
from ..generator.mechanism import AppliedForce, Mechanism, Place
from .quantities import Reader, Reading, State

Array = NDArray[np.float64]
Input: TypeAlias = Callable[[float], float] | float
Component: TypeAlias = Callable[[State], float]


@dataclass(frozen=True)
class Loads:
    """Generalised forces by origin, each of shape (n,), N·m or N, and the energy they stem from.

    elastic      springs of coordinates and supports
    dissipative  their dampers
    potential    J, of gravity and springs
    """

    gravity: Array
    elastic: Array
    dissipative: Array
    applied: Array
    potential: float

    @property
    def total(self) -> Array:
        """Q, shape (n,), N·m or N."""
        return self.gravity + self.elastic + self.dissipative + self.applied


def load_places(mechanism: Mechanism) -> list[Place]:
    """Where supports and forces at places act, in this order."""
    base = next((b for b, body in enumerate(mechanism.bodies) if body.name == "base"), 0)
    supports = [Place(base, support.position) for support in mechanism.supports]
    return supports + [force.place for force in mechanism.forces if force.place is not None]


class LoadModel:
    """All loads of a mechanism, compiled.

    first    index of the first of `load_places` among the state's places
    inputs   values of the FMU inputs by their symbols; those without one are zero
    """

    def __init__(
        self, mechanism: Mechanism, reader: Reader, first: int, inputs: Mapping[str, Input] | None = None
    ) -> None:
        _check_inputs(mechanism, inputs or {})
        self._gravity = _weights(mechanism)
        self._springs = _Springs(mechanism)
        self._supports = _Supports(mechanism, first)
        column = first + len(mechanism.supports)
        self.readings: list[Reading] = []
        self._forces: list[tuple[AppliedForce, tuple[Component, ...], int]] = []
        for force in mechanism.forces:
            self._forces.append((force, self._components(force, reader, inputs or {}), column))
            column += force.place is not None

    def _components(
        self, force: AppliedForce, reader: Reader, inputs: Mapping[str, Input]
    ) -> tuple[Component, ...]:
        if force.values is None:
            return tuple(_input(inputs.get(symbol, 0.0)) for symbol in force.symbols)
        return tuple(self._reading(reader, force.name, tree).number for tree in force.values)

    def _reading(self, reader: Reader, name: str, tree: Tree) -> Reading:
        self.readings.append(reader.reading(f"force {name}", tree))
        return self.readings[-1]

    def __call__(self, state: State) -> Loads:
        """All generalised forces in the state."""
        n = len(state.q)
        springs, supports = self._springs(state), self._supports(state)
        return Loads(
            gravity=state.posture.T_q.reshape(n, -1) @ self._gravity.ravel(),
            elastic=springs.elastic + supports.elastic,
            dissipative=springs.dissipative + supports.dissipative,
            applied=self._applied(state),
            potential=springs.energy + supports.energy - float(np.vdot(state.posture.T, self._gravity)),
        )

    def _applied(self, state: State) -> Array:
        effort = np.zeros(len(state.q))
        for force, components, column in self._forces:
            values = np.array([component(state) for component in components])
            if force.coordinate is not None:
                effort[force.coordinate] += values[0]
            elif force.place is not None:
                if not force.in_world:
                    values = state.posture.T[:3, force.place.body + 1, :3] @ values
                effort += values @ state.places.jacobian[:, :, column].T
        return effort


def _check_inputs(mechanism: Mechanism, inputs: Mapping[str, Input]) -> None:
    known = [symbol for force in mechanism.forces if force.values is None for symbol in force.symbols]
    unknown = [symbol for symbol in inputs if symbol not in known]
    if unknown:
        raise SolveError(f"no input is called {', '.join(unknown)}; known are: {', '.join(known) or 'none'}")


def _input(value: Input) -> Component:
    return (lambda state: float(value(state.t))) if callable(value) else (lambda state: float(value))


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
