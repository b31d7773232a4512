"""Contacts of points on links with planes, such as a load on a deck, and the contact law."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ..fields.names import PartName
from ..fields.numbers import AnyNumber, NonNegative, Positive, Vector3, between
from ..fields.types import Direction, KeyProblem, Part
from ..types.bounds import HERTZIAN


class ContactLaw(Part):
    """Contact force k·δⁿ·(1 + c·δ̇) at penetration depth δ, never tensile (Hunt and Crossley 1975)."""

    exponent: Annotated[AnyNumber, between(HERTZIAN)]
    """Exponent n of the penetration depth, dimensionless; 1.5 for spheres (Hertz)."""
    loss: NonNegative = 0.0
    """Dissipation coefficient c, s/m or s/rad."""


def without_damper(law: ContactLaw | None, keys: set[str]) -> None:
    """Raise KeyProblem if an element has both a contact law and a damper, which exclude each other."""
    if law is not None and "damping" in keys:
        raise KeyProblem("damping", "expected either damping or law, got both; remove one of them")


class Plane(Part):
    """Fixed plane; the normal points to the free side."""

    point: Vector3 = (0.0, 0.0, 0.0)
    """Point of the plane: x, y, z in the world frame, m."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Normal of the plane: a direction in the world frame, of any length."""


class ContactFriction(Part):
    """Regularised Coulomb friction mu·N·tanh(v/v_s) with the normal force N and the sliding velocity v."""

    mu: NonNegative
    """Friction coefficient, dimensionless."""
    v_s: Positive
    """Regularisation velocity, m/s, at which friction reaches 76 % of its limit."""


class Contact(Part):
    """Unilateral contact between a point on a link and a plane; the plane pushes and never pulls."""

    name: PartName
    """Name of the contact, for the outputs `<name>_gap` and `<name>_force`."""
    link: str
    """Name of the link, or `base`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """Contact point: x, y, z in the frame of the undeformed link, m."""
    plane: Plane = Plane()
    """Plane that supports the point."""
    stiffness: Positive
    """Contact stiffness, N/m; with `law` N/mⁿ."""
    damping: NonNegative = 0.0
    """Contact damping, N·s/m."""
    law: ContactLaw | None = None
    """Contact law instead of the damper."""
    friction: ContactFriction | None = Field(None)
    """Friction along the plane; default: none."""

    @model_validator(mode="after")
    def _one_law(self) -> Contact:
        without_damper(self.law, self.model_fields_set)
        return self
