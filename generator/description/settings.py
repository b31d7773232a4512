"""Constraint formulation, statics, simulation and named cases."""

from __future__ import annotations

from typing import Any, Literal

from .types import Name, NonNegative, Part, Positive


class Constraints(Part):
    """Baumgarte: Φ̈ + 2αΦ̇ + β²Φ = 0, alpha and beta in 1/s; dependent: coordinate names or `auto`."""

    formulation: Literal["gpme"] = "gpme"
    dependent: Literal["auto"] | tuple[str, ...] = "auto"
    alpha: NonNegative = 20.0
    beta: NonNegative = 20.0


class Statics(Part):
    """Joints held at their start values while the other coordinates find equilibrium.

    Without the key: all joints that have no spring.
    """

    locked: tuple[str, ...] | None = None


class Simulation(Part):
    """stop, output_step and step (RK4) in s; tolerance is relative."""

    stop: Positive = 1.0
    output_step: Positive = 0.01
    step: Positive = 1e-4
    method: Literal["RK4", "DOP853", "Radau", "BDF", "LSODA"] = "DOP853"
    tolerance: Positive = 1e-9
    start: Literal["statics", "description"] = "statics"


class Outputs(Part):
    """What the FMU gives besides coordinates, points and efforts: joint loads of all or some links."""

    loads: Literal["all"] | tuple[str, ...] = ()


class Case(Part):
    """A variant: dotted keys of the description and their new values."""

    name: Name
    set: dict[str, Any] = {}
