"""Unilateral contacts between points of bodies and planes, with regularised Coulomb friction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ...description.types.measures import FORCE
from ...mechanism import Mechanism, Place, PlaneContact
from ..kinematics.jet import Number
from ..kinematics.lengths import Height
from ..kinematics.quantities import KinematicState, Relation
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements
from .unilateral import NumericPressingLaw, Overlap, pressing_law


@dataclass(frozen=True)
class _Touch:
    """Contact between a point of a body and a plane.

    The attribute `column` is the index of the point among all points whose motion is computed.
    """

    contact: PlaneContact
    column: int
    law: NumericPressingLaw

    @property
    def overlap(self) -> Overlap:
        name = self.contact.name
        return Overlap(name, f"contact {name}", self.depth, self.held, ("touches", "is clear"))

    def gap(self, state: KinematicState) -> Number:
        """Return the signed distance of the contact point from its plane, m, negative in contact."""
        way = state.posture.datum - np.asarray(self.contact.origin, dtype=float)
        return (state.places.position[..., self.column] + way) @ self.contact.normal

    def depth(self, state: KinematicState) -> Number:
        return -self.gap(state)

    def held(self, state: KinematicState) -> Number:
        """Return the force of the contact's spring and damper, N; the force is negative if they would pull."""
        opening = state.places.velocity[..., self.column] @ self.contact.normal
        return self.law.force(self.depth(state), -opening)

    def normal_force(self, state: KinematicState) -> Number:
        """Return the normal force of the contact, N.

        The force is negative only in trial steps beyond an event.
        """
        return self.held(state) if self.overlap.acts(state) else 0.0 * self.held(state)

    def force(self, state: KinematicState) -> Array:
        """Return the contact force on the body in world axes, shape (…, 3), N."""
        contact, N = self.contact, self.normal_force(state)
        pressing: Array = np.multiply.outer(N, contact.normal)
        if contact.mu is None or contact.v_s is None:
            return pressing
        velocity = state.places.velocity[..., self.column]
        sliding = velocity - np.multiply.outer(velocity @ contact.normal, contact.normal)
        speed = np.linalg.norm(sliding, axis=-1)
        share = np.tanh(speed / float(contact.v_s)) / np.where(speed > 0.0, speed, 1.0)
        return np.asarray(pressing - (float(contact.mu) * N * share)[..., None] * sliding)


class Contacts(ForceElements):
    """All contacts between points and planes."""

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        self._slots = len(given.mechanism.bodies) + 1
        self._touches = [
            _Touch(contact, given.first + i, pressing_law(contact.stiffness, contact.damping, contact.law))
            for i, contact in enumerate(given.mechanism.contacts)
        ]

    def relations(self) -> list[Relation]:
        """Return the switching conditions of all contacts.

        A contact has two conditions: the point is beyond the plane, and the force is compressive.
        """
        return [relation for touch in self._touches for relation in touch.overlap.relations()]

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces of springs, dampers and friction of all contacts.

        The result has an elastic part from springs, a dissipative part from dampers, and an applied
        part from friction. If a contact separates while its spring is still compressed, the energy of
        the spring is lost.
        """
        parts, energy = np.zeros((3, *state.q.shape)), np.zeros(state.q.shape[:-1])
        for touch in self._touches:
            across, normal = state.places.jacobian[..., touch.column], touch.contact.normal
            pressing, depth = touch.normal_force(state), touch.depth(state)
            acts = touch.overlap.acts(state)
            spring = touch.law.elastic(depth) * acts
            forces = [np.multiply.outer(x, normal) for x in (spring, pressing - spring, pressing)]
            forces[2] = touch.force(state) - forces[2]
            parts += [(across @ force[..., None])[..., 0] for force in forces]
            energy += touch.law.energy(depth) * acts
        elastic, dissipative, applied = parts
        return ForceContribution(elastic, dissipative, applied, energy)

    def wrenches(self, state: KinematicState) -> Array:
        """Return the wrench of the contact forces on the ground and each body, shape (B, 6)."""
        total = np.zeros((self._slots, 6))
        for touch in self._touches:
            F = touch.force(state)
            moment = np.cross(state.places.position[:, touch.column], F)
            total[touch.contact.place.body + 1] += np.concatenate([F, moment])
        return total

    def forces(self) -> dict[str, Callable[[KinematicState], Number]]:
        """Return a function of the state for the normal force of each contact, N."""
        return {f"{touch.contact.name}.{FORCE}": touch.normal_force for touch in self._touches}

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each contact, W."""
        return {
            f"contact {touch.contact.name}": float(touch.force(state) @ state.places.velocity[:, touch.column])
            for touch in self._touches
        }

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return two outputs for each contact, by output name: gap, m, and normal force, N."""
        found: dict[str, float] = {}
        for touch in self._touches:
            found[touch.contact.signals["gap"].signal.name] = touch.gap(state)
            found[touch.contact.signals["force"].signal.name] = touch.normal_force(state)
        return found

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Drawings of the contact planes."""
        return tuple(
            ForceArrow(
                "contacts",
                touch.contact.name,
                "plane",
                touch.contact.place,
                Place(-1, np.asarray(touch.contact.origin, dtype=float)),
                tuple(touch.contact.normal.tolist()),
            )
            for touch in self._touches
        )

    def acting(self, state: KinematicState) -> Array:
        """Return the contact force on each body, shape (contacts, 3), world axes, N."""
        return np.array([touch.force(state) for touch in self._touches]).reshape(-1, 3)


def places(mechanism: Mechanism) -> list[Place]:
    """Return the body-fixed point of each contact between a point and a plane."""
    return [contact.place for contact in mechanism.contacts]


def lengths(mechanism: Mechanism, first: int) -> Iterator[Height]:
    """Yield the gap of each contact for use in expressions."""
    for k, contact in enumerate(mechanism.contacts):
        name, slot = f"{contact.name}.gap", contact.place.body + 1
        origin = np.asarray(contact.origin, dtype=float)
        yield Height(name, f"{name}_dot", first + k, slot, origin, contact.normal)


of = Contacts
