"""Settings of constraints, statics, simulation and outputs, and named cases."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from ..fields.names import FileName, Name
from ..fields.numbers import PlainNonNegative, PlainPositive
from ..fields.types import AllOrNames, AutoOrNames, KeyProblem, OrTable, Part, RedundantRows, Text
from .parameter import known_unit

MOST_POINTS = 50_000  # of output: every state of every run is kept, compared and drawn
_SHORTEST = 1e-7  # s between output points: FMPy takes much shorter steps for rounding
_MOST_STEPS = 10_000_000  # of RK4: hours


class Constraints(Part):
    """Formulation and stabilisation of the constraints."""

    formulation: Literal["gpme", "gpme_reduced", "lagrange"] = "gpme"
    """`gpme`: states q and q̇; `gpme_reduced`: q and the independent q̇; `lagrange`: with multipliers."""
    dependent: AutoOrNames = "auto"
    """Names of the dependent coordinates, one per independent row; `auto` chooses them."""
    alpha: PlainNonNegative = 20.0
    """Of Baumgarte's Φ̈ + 2αΦ̇ + β²Φ = 0, 1/s; in `gpme` and `lagrange`."""
    beta: PlainNonNegative = 20.0
    """Of Baumgarte's Φ̈ + 2αΦ̇ + β²Φ = 0, 1/s; in `gpme` and `lagrange`."""
    kappa: PlainNonNegative = 10.0
    """Position feedback Φ̇ = −κΦ, 1/s; in `gpme_reduced`."""
    redundant: RedundantRows = "auto"
    """Rows to leave out where rows depend on each other: names, or `auto`; `minimum_norm` leaves out none."""
    actuated: AllOrNames = "all"
    """Joints whose drives realise the programmed constraints, named as in `forces`."""
    projection: Annotated[bool, Field(strict=True)] = False
    """Whether positions and velocities are put back on the constraints after each step of a solver."""


class Statics(Part):
    """Initial static equilibrium of the base, of beams and of joints that are not locked."""

    locked: tuple[str, ...] | None = None
    """Joints held at their start values meanwhile; without it, all joints that have no spring."""


class Simulation(Part):
    """Time span, methods and tolerances of the simulation."""

    stop: PlainPositive = 1.0
    """End of the run, s; it begins at 0."""
    output_step: PlainPositive = 0.01
    """Between two points of the results, s."""
    step: PlainPositive = 1e-4
    """Of the method RK4, s; others choose theirs."""
    method: Literal["RK4", "DOP853", "Radau", "BDF", "LSODA"] = "Radau"
    """Of the reference solver; the FMU has its own."""
    # below 1e-12 solvers meet the rounding of doubles
    tolerance: Annotated[float, Field(strict=True, ge=1e-12, le=0.1)] = 1e-9
    """Of the solvers, relative, dimensionless; runs are compared at 100 times as much, but to 1e-6 at best."""
    start: Literal["statics", "description"] = "statics"
    """`statics`: from the equilibrium; `description`: from the values given, which may violate constraints."""
    accelerations: Literal["auto", "dense", "recursion"] = "auto"
    """How the native FMU solves for them: `dense`, with the mass matrix; `recursion` over the bodies, with rows of
    constraints, too, unless `formulation` is `lagrange` or no coordinate is free; `auto`: by fewer operations."""
    violation: PlainPositive = 1e-6
    """Constraint violation up to which a run holds, m or rad, beyond what is left of the start's."""
    starts_violated: tuple[str, ...] = ()
    """Programmed constraints that may be violated at the start in `statics`, too; names."""

    @model_validator(mode="after")
    def _sensible(self) -> Simulation:
        if self.output_step > self.stop:
            raise KeyProblem(
                "output_step", f"expected at most stop, which is {self.stop:g} s, got {self.output_step:g}"
            )
        points = self.stop / self.output_step
        if points > MOST_POINTS:
            raise KeyProblem("output_step", f"expected at most {MOST_POINTS} output points, got {points:.3g}")
        if self.output_step < _SHORTEST:
            raise KeyProblem("output_step", f"expected at least {_SHORTEST:g} s, got {self.output_step:g}")
        if self.method == "RK4" and self.stop / self.step > _MOST_STEPS:
            raise KeyProblem("step", f"expected at most {_MOST_STEPS} steps, got {self.stop / self.step:.3g}")
        return self


class RequestedOutput(Part):
    """Expression that becomes an output."""

    expression: str
    """Of what expressions of forces know, and of accelerations such as `E.ax` and `column.angle_ddot`, too."""
    unit: Annotated[str, AfterValidator(known_unit)] | None = None
    """As Modelica writes it, such as `m` or `N.m`; without one nothing is said of it."""
    description: Text = ""
    """A line about it, for Modelica, FMU and report."""


def _expression_or_table(value: Any) -> Any:
    if isinstance(value, dict | RequestedOutput):
        return value
    if not isinstance(value, str):
        raise ValueError(f"expected an expression, or a table with one, got {value!r}")
    return {"expression": value}


ExpressionOrTable = Annotated[RequestedOutput, OrTable(_expression_or_table, {"type": "string"})]


class Outputs(Part):
    """Outputs of the FMU in addition to coordinates, points and efforts."""

    loads: AllOrNames = ()
    """Links whose joint loads become outputs, in N and N·m."""
    points: AllOrNames = ()
    """Points whose accelerations become outputs, too: `<point>_ax` …, m/s², world axes, without gravity."""
    links: AllOrNames = ()
    """Links, or `base`, whose frames in the world become outputs, of beams where they begin: `<link>_origin_x` …,
    m, `<link>_quaternion_w` …, and their angular velocities, `<link>_omega_x` …, rad/s, world axes."""
    energy: Annotated[bool, Field(strict=True)] = False
    """Whether `kinetic_energy`, `potential_energy` and their sum `total_energy` become outputs, J."""
    expressions: dict[Name, ExpressionOrTable] = Field(default_factory=dict)
    """Name → expression that becomes an output of this name, or a table of it."""


class Case(Part):
    """Variant of the description with other values of some keys."""

    name: FileName
    """What `--case` calls it."""
    set: dict[str, Any] = Field({})
    """Dotted key → its new value; members of lists go by name, by index, or all by `*`."""
