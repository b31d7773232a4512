"""Constraint formulation, statics, simulation and named cases."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .names import Name
from .types import AllOrNames, AutoOrNames, KeyProblem, NonNegative, Part, Positive, RedundantRows

_MOST_POINTS = 50_000  # of output: every state of every run is kept, compared and drawn
_MOST_STEPS = 10_000_000  # of RK4: hours


class Constraints(Part):
    """How constraints are kept (design 4.4–4.6).

    formulation      gpme: states q and q̇ | gpme_reduced: q and the independent q̇, P4 (7) | lagrange: multipliers
    dependent        coordinate names, one per independent row, or `auto`
    alpha, beta      1/s, Baumgarte's Φ̈ + 2αΦ̇ + β²Φ = 0 of gpme and lagrange
    kappa            1/s, position feedback Φ̇ = −κΦ of gpme_reduced
    velocity_forces  as_printed adds ΔQ of P0 (26) and P2 (20)
    redundant        rows that depend on others: `auto` chooses those to leave out, or their names; or the
                     multipliers of least norm
    actuated         joints that have a drive, as `[[forces]]` names them
    projection       positions and velocities are put back on the constraints after each step of a solver
    """

    formulation: Literal["gpme", "gpme_reduced", "lagrange"] = "gpme"
    dependent: AutoOrNames = "auto"
    alpha: NonNegative = 20.0
    beta: NonNegative = 20.0
    kappa: NonNegative = 10.0
    velocity_forces: Literal["physical", "as_printed"] = "physical"
    redundant: RedundantRows = "auto"
    actuated: AllOrNames = "all"
    projection: Annotated[bool, Field(strict=True)] = False


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
    # below 1e-12 solvers meet the rounding of doubles
    tolerance: Annotated[float, Field(strict=True, ge=1e-12, le=0.1)] = 1e-9
    start: Literal["statics", "description"] = "statics"

    @model_validator(mode="after")
    def _sensible(self) -> Simulation:
        if self.output_step > self.stop:
            raise KeyProblem(
                "output_step", f"expected at most stop, which is {self.stop:g} s, got {self.output_step:g}"
            )
        points = self.stop / self.output_step
        if points > _MOST_POINTS:
            raise KeyProblem("output_step", f"expected at most {_MOST_POINTS} output points, got {points:.3g}")
        if self.method == "RK4" and self.stop / self.step > _MOST_STEPS:
            raise KeyProblem("step", f"expected at most {_MOST_STEPS} steps, got {self.stop / self.step:.3g}")
        return self


class Outputs(Part):
    """What the FMU gives besides coordinates, points and efforts: joint loads of all or some links."""

    loads: AllOrNames = ()


class Case(Part):
    """A variant: dotted keys of the description and their new values."""

    name: Name
    set: dict[str, Any] = Field({})
