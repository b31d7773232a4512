"""Replacement joints, which close kinematic loops by springs and dampers between two frames.

See Urbaś 2016, equations (13) and (14).
"""

from __future__ import annotations

import numpy as np

from ...core.trajectory import Array
from ..constraints.closures import Conditions
from ..kinematics.quantities import KinematicState, by_chain
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements


class ReplacementJoints(ForceElements):
    """Closures that are modelled by springs and dampers between their frames.

    Deformations d cause the forces −(C d + B ḋ) with stiffness C and damping B. The generalised forces
    are Q = −(∂d/∂q)ᵀ(C d + B ḋ) (Urbaś 2016, equation (13)).
    """

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        mechanism = given.mechanism
        self.closures = tuple(closure for closure in mechanism.closures if closure.stiffness is not None)
        self.conditions = Conditions(mechanism, self.closures)
        self._stiffness, self._damping = (
            np.array([x for closure in self.closures for x in getattr(closure, key)], dtype=float)
            for key in ("stiffness", "damping")
        )

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces and the spring energy of all spring-damper closures."""
        if not self.closures:
            return ForceContribution()
        rows = self.conditions.rows(state.posture)
        spring, damper = self._stiffness * rows.Phi, self._damping * rows.Phi_dot
        elastic, dissipative = (-by_chain(force, rows.C) for force in (spring, damper))
        return ForceContribution(elastic, dissipative, energy=0.5 * np.sum(spring * rows.Phi, axis=-1))

    def wrenches(self, state: KinematicState) -> Array | float:
        """Return the wrench of all spring-damper closures on the ground and each body, shape (B, 6)."""
        return self.by_deformation(state).sum(axis=0) if self.closures else 0.0

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each spring-damper closure, W."""
        if not self.closures:
            return {}
        rows = self.conditions.rows(state.posture)
        each = -(self._stiffness * rows.Phi + self._damping * rows.Phi_dot) * rows.Phi_dot
        own = (each[self.conditions.owner == i].sum() for i in range(len(self.closures)))
        return {f"closure {closure.name}": float(x) for closure, x in zip(self.closures, own, strict=True)}

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Rods that depict the spring-damper closures and connect the origins of their two frames."""
        return tuple(
            ForceArrow("closures", closure.name, "line", closure.b.place, closure.a.place)
            for closure in self.closures
        )

    def acting(self, state: KinematicState) -> Array:
        """Return the force of each spring-damper closure on the body of frame b, shape (closures, 3), N.

        Components are in world axes.
        """
        if not self.closures:
            return np.zeros((0, 3))
        wrenches, owner = self.by_deformation(state), self.conditions.owner
        slots = [closure.b.place.body + 1 for closure in self.closures]
        return np.array([wrenches[owner == i, slot, :3].sum(axis=0) for i, slot in enumerate(slots)])

    def by_deformation(self, state: KinematicState) -> Array:
        """Return the wrenches of the spring and damper of each deformation, shape (K, B, 6).

        Each of the K deformations has a wrench on the ground and on each body. A wrench is a force followed
        by a moment, in world axes. Moments refer to the posture's datum, a reference point near the
        mechanism.
        """
        rows = self.conditions.rows(state.posture)
        forces = -(self._stiffness * rows.Phi + self._damping * rows.Phi_dot)
        return forces[:, None, None] * self.conditions.wrenches(state.posture)


of = ReplacementJoints
