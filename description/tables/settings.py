"""Description tables `[constraints]`, `[statics]`, `[simulation]`, `[outputs]` and `[[cases]]`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from ..fields.names import CaseName, Name
from ..fields.numbers import PlainNonNegative, PlainPositive
from ..fields.types import AllOrNames, AutoOrNames, KeyProblem, OrTable, Part, RedundantRows, Text
from ..types.units import known_unit

MOST_POINTS = 50_000  # maximum number of output points, because all states of all runs are kept in memory
_SHORTEST = 1e-7  # smallest interval of output points, s; FMPy ignores intervals that look like rounding errors
_MOST_STEPS = 10_000_000  # maximum number of RK4 steps; more would take hours


class Constraints(Part):
    """Formulation and stabilisation of the constraints."""

    formulation: Literal["gpme", "gpme_reduced", "lagrange"] = "gpme"
    """`gpme`: states q and q̇; `gpme_reduced`: states q and independent q̇; `lagrange`: equations with
    Lagrange multipliers."""
    dependent: AutoOrNames = "auto"
    """Names of the dependent coordinates, one per independent constraint equation; `auto` selects them."""
    alpha: PlainNonNegative = 20.0
    """Coefficient α of the Baumgarte stabilisation Φ̈ + 2αΦ̇ + β²Φ = 0, 1/s; for `gpme` and `lagrange`."""
    beta: PlainNonNegative = 20.0
    """Coefficient β of the Baumgarte stabilisation Φ̈ + 2αΦ̇ + β²Φ = 0, 1/s; for `gpme` and `lagrange`."""
    kappa: PlainNonNegative = 10.0
    """Coefficient κ of the stabilisation Φ̇ = −κΦ, 1/s; for `gpme_reduced`."""
    redundant: RedundantRows = "auto"
    """Redundant constraint equations to remove: names, or `auto`; `minimum_norm` keeps all."""
    actuated: AllOrNames = "all"
    """Joints whose drives realise the programmed constraints, with names as in `forces`."""
    projection: Annotated[bool, Field(strict=True)] = False
    """Whether positions and velocities are projected onto the constraints after each step of a solver."""


class Statics(Part):
    """Initial static equilibrium of the base, of beams and of joints that are not locked."""

    locked: tuple[str, ...] | None = None
    """Joints that keep their initial positions during the search for the equilibrium; default: all
    joints without a spring."""


class Simulation(Part):
    """Time span, methods and tolerances of the simulation."""

    stop: PlainPositive = 1.0
    """Final time, s; the initial time is 0."""
    output_step: PlainPositive = 0.01
    """Interval between output times, s."""
    step: PlainPositive = 1e-4
    """Step size of the method RK4, s; other methods adapt their step size."""
    method: Literal["RK4", "DOP853", "Radau", "BDF", "LSODA"] = "Radau"
    """Integration method of the reference solver; the FMU has its own method."""
    # At tolerances below 1e-12, rounding errors of double precision disturb the solvers.
    tolerance: Annotated[float, Field(strict=True, ge=1e-12, le=0.1)] = 1e-9
    """Relative tolerance of the solvers, dimensionless; the tolerance of comparisons is 100 times as
    large, and at least 1e-6."""
    start: Literal["statics", "description"] = "statics"
    """`statics`: start from the static equilibrium; `description`: start from the values in the
    description, which may violate constraints."""
    accelerations: Literal["auto", "dense", "recursion"] = "auto"
    """Solution for the accelerations in the native FMU. `dense`: by the mass matrix; `recursion`: over
    the bodies, also with constraints, except with the formulation `lagrange` or without free
    coordinates; `auto`: the method with fewer operations."""
    violation: PlainPositive = 1e-6
    """Admissible constraint violation during the run, m or rad, in addition to the decaying initial violation."""
    starts_violated: tuple[str, ...] = ()
    """Names of programmed constraints that may be violated initially, also with `start = "statics"`."""

    @model_validator(mode="after")
    def _sensible(self) -> Simulation:
        if self.output_step > self.stop:
            raise KeyProblem(
                "output_step", f"expected at most the value of stop, {self.stop:g} s, got {self.output_step:g}"
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
    """Expression whose value becomes an output of the FMU."""

    expression: str
    """Expression of all names that force expressions may use, and of accelerations such as `E.ax` and
    `column.angle_ddot`."""
    unit: Annotated[str, AfterValidator(known_unit)] | None = None
    """Unit in the notation of Modelica, such as `m` or `N.m`; default: no unit."""
    description: Text = ""
    """One line about the output, for the Modelica model, the FMU and the report."""


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
    """Links whose joint reactions become outputs, N and N·m."""
    points: AllOrNames = ()
    """Points whose accelerations become outputs `<point>_ax` and so on, m/s², world frame, without gravity."""
    links: AllOrNames = ()
    """Links, or `base`, whose frames become outputs in the world frame: origin `<link>_origin_x` …, m,
    orientation `<link>_quaternion_w` …, and angular velocity `<link>_omega_x` …, rad/s. The frame of a
    beam is that of its first end."""
    energy: Annotated[bool, Field(strict=True)] = False
    """Whether `kinetic_energy`, `potential_energy` and their sum `total_energy` become outputs, J."""
    expressions: dict[Name, ExpressionOrTable] = Field(default_factory=dict)
    """Outputs by name, each an expression, or a table with an expression."""


class Case(Part):
    """Named case: new values that replace the values of some keys of the description."""

    name: CaseName
    """Name of the case, for `--case`."""
    set: dict[str, Any] = Field({})
    """New values by dotted key. Members of lists are selected by name or index, or all by `*`. Keys and
    tables that the file does not have are added."""
