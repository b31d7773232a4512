"""Points of links on planes: an outrigger on the ground, a load on a deck."""

from __future__ import annotations

from pydantic import Field

from ..fields.names import Name
from ..fields.numbers import NonNegative, Positive, Vector3
from ..fields.types import Direction, Part


class Plane(Part):
    """A plane that does not move; what is on the side of its normal is free of it."""

    point: Vector3 = (0.0, 0.0, 0.0)
    """One of its points: x, y, z in the world frame, m."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Direction in the world frame, of any length."""


class ContactFriction(Part):
    """Regularised Coulomb friction: mu·N·tanh(v/v_s) against the sliding velocity v."""

    mu: NonNegative
    """Coefficient, dimensionless."""
    v_s: Positive
    """Of the regularisation: at it friction has 76 % of its strength, m/s."""


class Contact(Part):
    """A point of a link that a plane keeps from below; the plane presses, it never pulls."""

    name: Name
    """Of its outputs `<name>_gap` and `<name>_force`."""
    link: str
    """The link's name, or `base`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """x, y, z in the (undeformed) link's frame, m."""
    plane: Plane = Plane()
    """What it rests on."""
    stiffness: Positive
    """Against the depth, N/m."""
    damping: NonNegative = 0.0
    """Against the rate of the depth, N·s/m."""
    friction: ContactFriction | None = Field(None)
    """Friction along the plane; without it there is none."""
