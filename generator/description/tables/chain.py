"""The whole description."""

from __future__ import annotations

from pydantic import Field

from .base import Base
from .closure import Closure
from .link import Link
from .names import FileName, Name
from .settings import Case, Constraints, Outputs, Simulation, Statics
from .task import Force, Nonholonomic, Point, Programmed
from .types import Number, Part, Text, Vector3, Version


class Chain(Part):
    """A mechanism with its task, as the file says it; SI units, radians."""

    version: Version = Field(alias="schema")
    """Version of the format."""
    name: FileName
    """Of the mechanism; becomes the Modelica model's and the FMU's name."""
    description: Text = ""
    """A line about it, for Modelica, FMU and report."""
    gravity: Vector3 = (0.0, 0.0, -9.81)
    """x, y, z in the world frame, m/s²."""
    parameters: dict[Name, Number] = Field({})
    """Name → number that expressions may use, in whatever unit the expression wants; a parameter of the FMU."""
    base: Base | None = None
    """The base; without this table the links start from the ground."""
    links: tuple[Link, ...] = ()
    """Rigid links and beams, in any order; parents are named."""
    points: dict[Name, Point] = Field({})
    """Name → point fixed to a link, for expressions, paths and outputs."""
    closures: tuple[Closure, ...] = ()
    """What closes loops."""
    programmed: tuple[Programmed, ...] = ()
    """Programmed constraints: what the mechanism has to do."""
    nonholonomic: tuple[Nonholonomic, ...] = ()
    """Knife edges."""
    forces: tuple[Force, ...] = ()
    """Applied forces and efforts."""
    constraints: Constraints = Constraints()
    """How constraints are kept."""
    statics: Statics = Statics()
    """How the equilibrium at the start is found."""
    simulation: Simulation = Simulation()
    """The run: its length and how exact it is."""
    outputs: Outputs = Outputs()
    """What the FMU gives besides coordinates, points and efforts."""
    cases: tuple[Case, ...] = ()
    """Named variants of the description."""
