"""The whole description."""

from __future__ import annotations

from pydantic import Field

from .base import Base
from .closure import Closure
from .link import Link
from .names import Name
from .settings import Case, Constraints, Outputs, Simulation, Statics
from .task import Force, Nonholonomic, Point, Programmed
from .types import Number, Part, Vector3, Version


class Chain(Part):
    """A mechanism with its task, as the file says it; SI units, radians."""

    version: Version = Field(alias="schema")
    name: Name
    description: str = ""
    gravity: Vector3 = (0.0, 0.0, -9.81)
    parameters: dict[Name, Number] = Field({})
    base: Base | None = None
    links: tuple[Link, ...] = ()
    points: dict[Name, Point] = Field({})
    closures: tuple[Closure, ...] = ()
    programmed: tuple[Programmed, ...] = ()
    nonholonomic: tuple[Nonholonomic, ...] = ()
    forces: tuple[Force, ...] = ()
    constraints: Constraints = Constraints()
    statics: Statics = Statics()
    simulation: Simulation = Simulation()
    outputs: Outputs = Outputs()
    cases: tuple[Case, ...] = ()
