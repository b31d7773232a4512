"""Static equilibrium and the state that a run starts from (design 3, [statics])."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import SolveError
from ..generator.mechanism import Mechanism
from .model import Model, Start

Array = NDArray[np.float64]
_ITERATIONS = 100
_STEP = 1e-6  # rad or m, of the differences in the stiffness matrix
_LONGEST = 0.3  # rad or m, of a step in each eigenvector of the stiffness
_TINY = 1e-300
_SMALLEST = 1e-12  # stiffness relative to the largest, force relative to those that act: below it is rounding


def free_coordinates(mechanism: Mechanism) -> tuple[int, ...]:
    """Coordinates that find their equilibrium: elastic ones, those of a base on supports, and joints not locked.

    Locked are the joints of the links in `statics.locked`; without that key, joint coordinates without a spring.
    """
    locked = mechanism.chain.statics.locked

    def is_free(k: int) -> bool:
        coordinate = mechanism.coordinates[k]
        if coordinate.role == "base":
            return not mechanism.base_fixed
        if coordinate.role == "elastic":
            return True
        return coordinate.stiffness is not None if locked is None else coordinate.owner not in locked

    return tuple(filter(is_free, range(mechanism.n)))


def described_state(mechanism: Mechanism) -> Start:
    """(q, qd), each of shape (n,), as the description gives them; the base at its zero position."""
    q = np.array([c.position for c in mechanism.coordinates], dtype=float)
    qd = np.array([c.velocity for c in mechanism.coordinates], dtype=float)
    return q, qd


def start_state(mechanism: Mechanism) -> Start:
    """(q0, qd0), each of shape (n,), as `simulation.start` says: positions in equilibrium or as described.

    The velocities are the described ones. Raises SolveError if the equilibrium is not found.
    """
    q, qd = described_state(mechanism)
    return (q if mechanism.chain.simulation.start == "description" else equilibrium(mechanism)), qd


def equilibrium(mechanism: Mechanism) -> Array:
    """q0, shape (n,), where the generalised forces Q of the free coordinates vanish at t = 0 and rest.

    Programmed constraints do not act, FMU inputs are zero. Newton's method with central differences. Where a step
    would be long, or the stiffness is not positive definite, it takes short steps downhill along the stiffness's
    eigenvectors instead: away from unstable equilibria, and no steps along indifferent coordinates.
    Raises SolveError with the worst coordinate if there is no convergence.
    """
    balance = _Balance(mechanism)
    q = described_state(mechanism)[0]
    if not balance.free:
        return q
    acting = balance.acting(q)
    for _ in range(_ITERATIONS):
        step = balance.step(q, acting)
        q[balance.free] += step
        if np.abs(step).max() < 1e-13 * max(1.0, np.abs(q).max()):
            break
    balance.check(q, max(acting, balance.acting(q)))
    return q


class _Balance:
    """Forces on the free coordinates at rest."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.free = mechanism, list(free_coordinates(mechanism))
        self._model = Model(mechanism)
        self._rest = np.zeros(mechanism.n)

    def residual(self, q: Array) -> Array:
        """Q of the free coordinates, shape (f,), N or N·m; h vanishes at rest."""
        return self._model.loads(self._model.state(0.0, q, self._rest)).total[self.free]

    def stiffness(self, q: Array) -> Array:
        """−∂Q/∂q of the free coordinates, shape (f, f)."""
        shifts = np.eye(len(q))[self.free] * _STEP
        columns = [self.residual(q - shift) - self.residual(q + shift) for shift in shifts]
        return np.array(columns).T / (2 * _STEP)

    def step(self, q: Array, acting: float) -> Array:
        """Change of the free coordinates towards a stable equilibrium, shape (f,), rad or m."""
        stiffness, residual = self.stiffness(q), self.residual(q)
        values, vectors = np.linalg.eigh((stiffness + stiffness.T) / 2)
        smallest = _SMALLEST * float(np.abs(values).max())
        if values[0] > smallest:
            step = np.asarray(np.linalg.solve(stiffness, residual), dtype=np.float64)
            if np.abs(step).max() <= _LONGEST:
                return step
        along = vectors.T @ residual
        along[np.abs(along) < _SMALLEST * acting] = 0.0
        steps = along / np.maximum(np.abs(values), max(smallest, _TINY))
        return np.asarray(vectors @ np.clip(steps, -_LONGEST, _LONGEST), dtype=np.float64)

    def acting(self, q: Array) -> float:
        """The largest force or moment that acts, the whole weight (on a lever of 1 m) included; N or N·m."""
        loads = self._model.loads(self._model.state(0.0, q, self._rest))
        mass = sum(float(body.mass) for body in self.mechanism.bodies)
        weight = mass * float(np.linalg.norm(self.mechanism.gravity))
        return max(weight, float(np.abs(loads.elastic).max()), float(np.abs(loads.applied).max()))

    def check(self, q: Array, acting: float) -> None:
        """Raises SolveError if the forces in q are not in balance, to 1e-9 of those that act."""
        residual = np.abs(self.residual(q))
        worst = int(np.argmax(residual))
        if not residual[worst] <= 1e-9 * acting:
            c = self.mechanism.coordinates[self.free[worst]]
            raise SolveError(
                f"no static equilibrium found in {_ITERATIONS} iterations: {residual[worst]:.3g} {c.effort_unit}"
                f" are left on {c.name}; give it a spring, lock its joint in [statics], or set"
                ' simulation.start = "description"'
            )
