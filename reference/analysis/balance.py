"""Energy and power, for balances that hold whatever the equations' form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..solve.model import Model
from ..solve.solver import formulation


@dataclass(frozen=True)
class Energy:
    """Energies in J and powers in W: d(kinetic + potential)/dt = applied − dissipated − friction + constraints.

    kinetic      ½ q̇ᵀ M q̇
    potential    of gravity (zero at the world origin), supports, springs and spring-damper closures
    dissipated   power that the dampers take, ≥ 0
    friction     power that joint friction takes; negative while its bristles give back what they have stored
    applied      power of the applied forces
    """

    kinetic: float
    potential: float
    dissipated: float
    friction: float
    applied: float

    @property
    def total(self) -> float:
        """Kinetic and potential energy, J."""
        return self.kinetic + self.potential


def energy(model: Model, t: float, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None) -> Energy:
    """Energy and power at t, s, q and qd, shape (n,), rad or m (per s), and z, shape (f,), rad or m, default 0.

    The power of the constraints, which is not part of it, is `Evaluation.effort` @ qd.
    Raises SolveError if the mechanism has friction, which depends on q̈, and q̈ cannot be found.
    """
    rate = np.asarray(qd, dtype=float)
    state = model.state(t, np.asarray(q, dtype=float), rate)
    forces, friction = model.forces(state), 0.0
    if model.friction_coordinates:
        bristles = None if z is None else np.asarray(z, dtype=float)
        friction = -float(model.evaluate(state, formulation(model, state), bristles).friction @ rate)
    return Energy(
        kinetic=0.5 * float(rate @ model.mass(state.posture)[0] @ rate),
        potential=model.potential(state),
        dissipated=-float(forces.dissipative @ rate),
        friction=friction,
        applied=float(forces.applied @ rate),
    )
