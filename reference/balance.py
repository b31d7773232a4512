"""Energy and power, for balances that hold whatever the equations' form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .model import Model


@dataclass(frozen=True)
class Energy:
    """Energies in J and powers in W: d(kinetic + potential)/dt = applied − dissipated + constraints.

    kinetic      ½ q̇ᵀ M q̇
    potential    of gravity (zero at the world origin), supports and springs
    dissipated   power that the dampers take, ≥ 0
    applied      power of the applied forces
    """

    kinetic: float
    potential: float
    dissipated: float
    applied: float

    @property
    def total(self) -> float:
        """Kinetic and potential energy, J."""
        return self.kinetic + self.potential


def energy(model: Model, t: float, q: ArrayLike, qd: ArrayLike) -> Energy:
    """Energy and power at t, s, q and qd, shape (n,), rad or m (per s).

    The power of the constraints, which is not part of it, is `Evaluation.effort` @ qd.
    """
    rate = np.asarray(qd, dtype=float)
    state = model.state(t, np.asarray(q, dtype=float), rate)
    loads = model.loads(state)
    return Energy(
        kinetic=0.5 * float(rate @ model.mass(state.posture)[0] @ rate),
        potential=loads.potential,
        dissipated=-float(loads.dissipative @ rate),
        applied=float(loads.applied @ rate),
    )
