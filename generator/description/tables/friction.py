"""Friction in a revolute or prismatic joint (design 4.8)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from .types import KeyProblem, NonNegative, Part, Positive


class LuGre(Part):
    """LuGre model: bristles of stiffness sigma0 and damping sigma1, viscous sigma2; mu_s static, mu_k kinetic.

    sigma0        1/rad or 1/m: the model gives a friction coefficient, dimensionless
    sigma1, sigma2   s/rad or s/m
    v_s           Stribeck velocity, rad/s or m/s
    diameter      m, of a revolute joint's journal
    normal_force  N; without it, the joint's load
    """

    model: Literal["lugre"]
    sigma0: Positive
    sigma1: NonNegative = 0.0
    sigma2: NonNegative = 0.0
    mu_s: Positive
    mu_k: Positive
    v_s: Positive
    diameter: Positive | None = None
    normal_force: Positive | None = None

    @model_validator(mode="after")
    def _stribeck(self) -> LuGre:
        if self.mu_k > self.mu_s:
            raise KeyProblem("mu_k", f"expected at most mu_s = {self.mu_s:g}, got {self.mu_k:g}")
        return self


class Dahl(Part):
    """Dahl model: bristles of stiffness sigma0, static coefficient mu_s, exponent gamma between 1 and 2."""

    model: Literal["dahl"]
    sigma0: Positive
    mu_s: Positive
    gamma: Annotated[float, Field(strict=True, ge=1.0, le=2.0)] = 1.0
    diameter: Positive | None = None
    normal_force: Positive | None = None


Friction = Annotated[LuGre | Dahl, Field(discriminator="model")]
