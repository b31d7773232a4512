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
    """Which model."""
    sigma0: Positive
    """Stiffness of the bristles, 1/rad or 1/m."""
    sigma1: NonNegative = 0.0
    """Damping of the bristles, s/rad or s/m."""
    sigma2: NonNegative = 0.0
    """Viscous part, s/rad or s/m."""
    mu_s: Positive
    """Static coefficient, dimensionless."""
    mu_k: Positive
    """Kinetic coefficient, dimensionless, at most `mu_s`."""
    v_s: Positive
    """Stribeck velocity, rad/s or m/s."""
    diameter: Positive | None = None
    """Of the journal of a revolute joint, m; a prismatic joint has none."""
    normal_force: Positive | None = None
    """What presses the surfaces together, N; without it, the joint's own load across its axis."""

    @model_validator(mode="after")
    def _stribeck(self) -> LuGre:
        static, kinetic = value_of(self.mu_s), value_of(self.mu_k)
        if kinetic > static:
            raise KeyProblem("mu_k", f"expected at most mu_s = {static:g}, got {kinetic:g}")
        return self


class Dahl(Part):
    """Dahl model: friction coefficient μ = sigma0·z with bristle deflection z."""

    model: Literal["dahl"]
    """Which model."""
    sigma0: Positive
    """Stiffness of the bristles, 1/rad or 1/m."""
    mu_s: Positive
    """Static coefficient, dimensionless."""
    gamma: Annotated[AnyNumber, between(EXPONENT)] = 1.0
    """Exponent of the model, dimensionless."""
    diameter: Positive | None = None
    """Of the journal of a revolute joint, m; a prismatic joint has none."""
    normal_force: Positive | None = None
    """What presses the surfaces together, N; without it, the joint's own load across its axis."""


class Coulomb(Part):
    """Regularised Coulomb friction: effort −effort·tanh(q̇/v_s), independent of the joint reaction."""

    model: Literal["coulomb"]
    """Which model."""
    effort: Positive
    """N·m or N."""
    v_s: Positive
    """Of the regularisation: at it friction has 76 % of its strength, rad/s or m/s."""


Friction = Annotated[LuGre | Dahl | Coulomb, Field(discriminator="model")]
