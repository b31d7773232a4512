"""The base and its supports."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from .inertia import Inertial
from .types import NonNegative3, Part, Vector3


class Support(Part):
    """Spring-damper between base and ground.

    position    in the base frame, m; undeformed where q_base = 0
    stiffness   N/m along world x, y, z
    damping     N·s/m along world x, y, z
    """

    position: Vector3
    stiffness: NonNegative3
    damping: NonNegative3 = (0.0, 0.0, 0.0)


class Base(Inertial):
    """Base body with six coordinates; `rigid` adds constraint (32) of P0, q_base = 0."""

    support: Literal["flexible", "rigid"] = "flexible"
    linearized: bool = Field(False, strict=True)
    supports: tuple[Support, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Base:
        if not self.has_inertia:
            raise ValueError("mass and inertia of the base are missing (or give pseudo_inertia)")
        if self.support == "flexible" and not self.supports:
            raise ValueError('support = "flexible" needs at least one [[base.supports]]; or set support = "rigid"')
        return self
