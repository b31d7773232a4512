"""Linear springs and viscous dampers of coordinates."""

from __future__ import annotations

import numpy as np

from ..kinematics.quantities import KinematicState
from .element import ElementContext, ForceContribution, ForceElements


class JointSprings(ForceElements):
    """Linear springs and viscous dampers of all coordinates."""

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        mechanism = given.mechanism
        data = [(c.stiffness or 0.0, c.rest or 0.0, c.damping or 0.0) for c in mechanism.coordinates]
        acting = [k for k, (stiffness, _, damping) in enumerate(data) if stiffness or damping]
        self._owners = [(k, f"springs of {mechanism.coordinates[k].owner}") for k in acting]
        self._stiffness, self._rest, self._damping = np.array(data, dtype=float).reshape(-1, 3).T

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces of the springs and of the dampers.

        A spring with stiffness k exerts −k (q − q₀) and is undeformed at the coordinate q₀. A damper with
        damping constant d exerts −d q̇.
        """
        deflection = state.q - self._rest
        elastic = -self._stiffness * deflection
        return ForceContribution(
            elastic, -self._damping * state.qd, energy=-0.5 * np.sum(elastic * deflection, axis=-1)
        )

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of the springs and dampers of each joint and each beam, W."""
        each = -(self._stiffness * (state.q - self._rest) + self._damping * state.qd) * state.qd
        found = {owner: 0.0 for _, owner in self._owners}
        for k, owner in self._owners:
            found[owner] += float(each[k])
        return found


of = JointSprings
