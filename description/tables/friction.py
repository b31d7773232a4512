"""Friction models of revolute and prismatic joints."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..fields.numbers import AnyNumber, NonNegative, Positive, between, value_of
from ..fields.types import KeyProblem, Part
from ..types.bounds import EXPONENT


class LuGre(Part):
    """LuGre model: friction coefficient μ = sigma0·z + sigma1·ż + sigma2·q̇ with bristle deflection
    z.
    """

    model: Literal["lugre"]
    """Friction model."""
    sigma0: Positive
    """Bristle stiffness, 1/rad or 1/m."""
    sigma1: NonNegative = 0.0
    """Bristle damping, s/rad or s/m."""
    sigma2: NonNegative = 0.0
    """Viscous friction, s/rad or s/m."""
    mu_s: Positive
    """Static friction coefficient, dimensionless."""
    mu_k: Positive
    """Kinetic friction coefficient, dimensionless, at most `mu_s`."""
    v_s: Positive
    """Stribeck velocity, rad/s or m/s."""
    diameter: Positive | None = None
    """Journal diameter of a revolute joint, m; not for a prismatic joint."""
    normal_force: Positive | None = None
    """Constant normal force between the surfaces, N; default: the joint reaction perpendicular to the axis."""

    @model_validator(mode="after")
    def _stribeck(self) -> LuGre:
        static, kinetic = value_of(self.mu_s), value_of(self.mu_k)
        if kinetic > static:
            raise KeyProblem("mu_k", f"expected at most mu_s = {static:g}, got {kinetic:g}")
        return self


class Dahl(Part):
    """Dahl model: friction coefficient μ = sigma0·z with bristle deflection z."""

    model: Literal["dahl"]
    """Friction model."""
    sigma0: Positive
    """Bristle stiffness, 1/rad or 1/m."""
    mu_s: Positive
    """Static friction coefficient, dimensionless."""
    gamma: Annotated[AnyNumber, between(EXPONENT)] = 1.0
    """Exponent γ of the Dahl model, dimensionless."""
    diameter: Positive | None = None
    """Journal diameter of a revolute joint, m; not for a prismatic joint."""
    normal_force: Positive | None = None
    """Constant normal force between the surfaces, N; default: the joint reaction perpendicular to the axis."""


class Coulomb(Part):
    """Regularised Coulomb friction −F·tanh(q̇/v_s), where F is the friction limit (key `effort`).

    The friction does not depend on the joint reaction.
    """

    model: Literal["coulomb"]
    """Friction model."""
    effort: Positive
    """Friction limit, N·m or N."""
    v_s: Positive
    """Regularisation velocity, rad/s or m/s, at which friction reaches 76 % of its limit."""


Friction = Annotated[LuGre | Dahl | Coulomb, Field(discriminator="model")]
