"""Base of the mechanism, and supports between base and ground."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..fields.names import Name
from ..fields.numbers import NonNegative3, Vector3
from ..fields.types import KeyProblem, Part
from .contact import ContactLaw
from .inertia import Inertial
from .shape import Shape


class Support(Part):
    """Spring-damper between base and ground, undeformed if all coordinates of the base are 0."""

    position: Vector3
    """Where it holds the base: x, y, z in the base frame, m."""
    stiffness: NonNegative3
    """Along the world's x, y and z, N/m."""
    damping: NonNegative3 = (0.0, 0.0, 0.0)
    """Along the world's x, y and z, N·s/m."""
    one_sided: bool = Field(False, strict=True)
    """Whether it presses along the world's z alone and holds nothing where it would pull: an outrigger."""
    law: ContactLaw | None = None
    """Smooth law of a one-sided one along z, in place of its damper there; its stiffness along z is in N/mⁿ."""
    name: Name | None = None
    """Of the outputs `<name>_gap` and `<name>_force` of a one-sided one; without it `support1` and so on."""

    @model_validator(mode="after")
    def _one_law(self) -> Support:
        if self.law is not None and not self.one_sided:
            raise KeyProblem("law", "goes with one_sided = true alone; set it, or remove the law")
        if self.law is not None and self.damping[2]:
            raise KeyProblem("damping", "expected 0 along z, where the loss of law takes its place")
        return self


class Base(Inertial):
    """Body between ground and links with six coordinates of a free joint.

    At 0, its frame is the world frame.
    """

    support: Literal["flexible", "rigid"] = "flexible"
    """`flexible`: on spring-dampers; `rigid`: all six coordinates are constrained to 0."""
    linearized: bool = Field(False, strict=True)
    """Whether the supports' deflections are linear in the base's angles, an approximation for small angles."""
    supports: tuple[Support, ...] = ()
    """The spring-dampers; at least one if `support` is `flexible`."""
    shape: Shape | None = None
    """What it looks like in pictures; without it a box of its mass and inertia."""

    @property
    def support_names(self) -> tuple[str, ...]:
        """Names of the supports; a support without a name is called `support1` and so on."""
        return tuple(support.name or f"support{i}" for i, support in enumerate(self.supports, start=1))

    @model_validator(mode="after")
    def _complete(self) -> Base:
        if not self.has_inertia:
            raise ValueError("mass and inertia of the base are missing (or give pseudo_inertia)")
        if self.support == "flexible" and not self.supports:
            raise ValueError('support = "flexible" needs at least one [[base.supports]]; or set support = "rigid"')
        return self
