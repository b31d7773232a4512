"""Base of the mechanism, and supports between base and ground."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..fields.names import PartName
from ..fields.numbers import NonNegative3, Vector3
from ..fields.types import KeyProblem, Part
from .contact import ContactLaw
from .inertia import Inertial
from .shape import Shape


class Support(Part):
    """Spring-damper between base and ground, undeformed if all coordinates of the base are 0."""

    position: Vector3
    """Attachment point on the base: x, y, z in the base frame, m."""
    stiffness: NonNegative3
    """Stiffness along x, y and z of the world frame, N/m."""
    damping: NonNegative3 = (0.0, 0.0, 0.0)
    """Damping along x, y and z of the world frame, N·s/m."""
    one_sided: bool = Field(False, strict=True)
    """Whether the support is unilateral: it pushes along z of the world frame only, like an outrigger."""
    law: ContactLaw | None = None
    """Contact law of a unilateral support along z, instead of the damper; the stiffness along z is in N/mⁿ."""
    name: PartName | None = None
    """Name of a unilateral support, for the outputs `<name>_gap` and `<name>_force`; default `support1`
    and so on."""

    @model_validator(mode="after")
    def _one_law(self) -> Support:
        if self.law is not None and not self.one_sided:
            raise KeyProblem("law", "a contact law requires one_sided = true; set one_sided, or remove the law")
        if self.law is not None and self.damping[2]:
            raise KeyProblem(
                "damping", "expected a damping of 0 along z, because the contact law has its own dissipation"
            )
        return self


class Base(Inertial):
    """Body between ground and links, with the six coordinates of a free joint.

    If all coordinates are 0, the base frame coincides with the world frame.
    """

    support: Literal["flexible", "rigid"] = "flexible"
    """`flexible`: the base is mounted on spring-dampers; `rigid`: all six coordinates are constrained to 0."""
    linearized: bool = Field(False, strict=True)
    """Whether deflections of the supports are linear in the angles of the base, for small angles."""
    supports: tuple[Support, ...] = ()
    """Supports of the base; at least one if `support` is `flexible`."""
    shape: Shape | None = None
    """Appearance in pictures; default: a box with the mass and inertia of the base."""

    @property
    def support_names(self) -> tuple[str, ...]:
        """Names of the supports; a support without a name is called `support1` and so on."""
        return tuple(support.name or f"support{i}" for i, support in enumerate(self.supports, start=1))

    @model_validator(mode="after")
    def _complete(self) -> Base:
        if not self.has_inertia:
            raise ValueError("mass and inertia of the base are missing; give both, or pseudo_inertia")
        if self.support == "flexible" and not self.supports:
            raise ValueError('support = "flexible" needs at least one [[base.supports]]; or set support = "rigid"')
        return self
