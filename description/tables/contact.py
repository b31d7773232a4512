"""Contacts of points on links with planes, such as a load on a deck, and the contact law."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ..fields.names import Name
from ..fields.numbers import AnyNumber, NonNegative, Positive, Vector3, between
from ..fields.types import Direction, KeyProblem, Part
from ..types.bounds import HERTZIAN


class ContactLaw(Part):
    """Contact force k·δⁿ·(1 + c·δ̇) at penetration depth δ, never tensile (Hunt and Crossley 1975)."""

    exponent: Annotated[AnyNumber, between(HERTZIAN)]
    """Exponent n of the depth, dimensionless, at least 1; 1.5 for round bodies (Hertz)."""
    loss: NonNegative = 0.0
    """Coefficient c of the dissipation, s/m or s/rad."""


def without_damper(law: ContactLaw | None, keys: set[str]) -> None:
    """Raise KeyProblem if a description contains both a contact law and a damper."""
    if law is not None and "damping" in keys:
        raise KeyProblem("damping", "does not go with law, whose loss takes its place; remove one of them")


class Plane(Part):
    """Fixed plane; the side of its normal is free."""

    point: Vector3 = (0.0, 0.0, 0.0)
    """One of its points: x, y, z in the world frame, m."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Direction in the world frame, of any length."""


class ContactFriction(Part):
    """Regularised Coulomb friction with force mu·N·tanh(v/v_s), N the normal force, v the sliding
    velocity.
    """

    mu: NonNegative
    """Coefficient, dimensionless."""
    v_s: Positive
    """Of the regularisation: at it friction has 76 % of its strength, m/s."""


class Contact(Part):
    """Unilateral contact between a point on a link and a plane; the plane pushes and never pulls."""

    name: Name
    """Of its outputs `<name>_gap` and `<name>_force`."""
    link: str
    """The link's name, or `base`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """x, y, z in the (undeformed) link's frame, m."""
    plane: Plane = Plane()
    """What it rests on."""
    stiffness: Positive
    """Against the depth, N/m; with `law` N/mⁿ."""
    damping: NonNegative = 0.0
    """Against the rate of the depth, N·s/m."""
    law: ContactLaw | None = None
    """Smooth law in place of the damper."""
    friction: ContactFriction | None = Field(None)
    """Friction along the plane; without it there is none."""

    @model_validator(mode="after")
    def _one_law(self) -> Contact:
        without_damper(self.law, self.model_fields_set)
        return self
