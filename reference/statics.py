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
_SMALLEST = 1e-12  # stiffness relative to the largest; below it a coordinate is taken as indifferent


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

    Programmed constraints do not act, FMU inputs are zero. Newton's method, damped by the natural
    monotonicity test (Deuflhard 2011, Newton Methods for Nonlinear Problems, section 3.3), with
    central differences; indifferent coordinates stay where they are.
    Raises SolveError with the worst coordinate if there is no convergence.
    """
    balance = _Balance(mechanism)
    q = described_state(mechanism)[0]
    if not balance.free:
        return q
    for _ in range(_ITERATIONS):
        inverse = np.asarray(np.linalg.pinv(balance.stiffness(q), rcond=_SMALLEST), dtype=np.float64)
        step = inverse @ balance.residual(q)
        q = balance.damped(q, step, inverse)
        if np.abs(step).max() < 1e-13 * max(1.0, np.abs(q).max()):
            break
    balance.check(q)
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

    def damped(self, q: Array, step: Array, inverse: Array) -> Array:
        """q after as much of the step as brings the equilibrium nearer."""
        for exponent in range(12):
            factor = 0.5**exponent
            trial = q.copy()
            trial[self.free] += factor * step
            nearer = np.linalg.norm(inverse @ self.residual(trial))
            if nearer <= (1 - factor / 4) * np.linalg.norm(step):
                break
        return trial

    def check(self, q: Array) -> None:
        """Raises SolveError if the forces in q are not in balance, to 1e-9 of those that act."""
        loads = self._model.loads(self._model.state(0.0, q, self._rest))
        acting = max(float(np.abs(part).max()) for part in (loads.gravity, loads.elastic, loads.applied))
        residual = np.abs(loads.total[self.free])
        worst = int(np.argmax(residual))
        if not residual[worst] <= 1e-9 * max(acting, 1e-9):
            c = self.mechanism.coordinates[self.free[worst]]
            raise SolveError(
                f"no static equilibrium found in {_ITERATIONS} iterations: {residual[worst]:.3g} {c.effort_unit}"
                f" are left on {c.name}; give it a spring, lock its joint in [statics], or set"
                ' simulation.start = "description"'
            )
