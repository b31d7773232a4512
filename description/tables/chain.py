"""Top level of a description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field, ModelWrapValidatorHandler, create_model, model_validator

from ...language import expressions
from ...language.ir import Expr
from ..elements import ELEMENTS
from ..fields.elements import Element
from ..fields.names import FileName, Name
from ..fields.numbers import Vector3, known_parameters
from ..fields.types import Part, Text, Version
from ..types.measures import spelled
from .base import Base
from .closure import Closure
from .contact import Contact
from .line import Line
from .link import Link
from .parameter import NumberOrTable, values
from .settings import Case, Constraints, Outputs, Simulation, Statics
from .table import Table
from .task import Force, Motion, Nonholonomic, Point, Programmed


class _Machine(Part):
    version: Version = Field(alias="schema")
    """Version of the format."""
    name: FileName
    """Of the mechanism; becomes the Modelica model's and the FMU's name."""
    description: Text = ""
    """A line about it, for Modelica, FMU and report."""
    gravity: Vector3 = (0.0, 0.0, -9.81)
    """x, y, z in the world frame, m/s²."""
    parameters: dict[Name, NumberOrTable] = Field({})
    """Name → number or table that expressions may use, here and in place of other numbers of the mechanism."""
    tables: dict[Name, Table] = Field({})
    """Name → table over time from a file, which expressions use as `table(name, t)`."""
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
    motions: tuple[Motion, ...] = ()
    """Joints that are driven."""
    nonholonomic: tuple[Nonholonomic, ...] = ()
    """Knife edges."""
    forces: tuple[Force, ...] = ()
    """Applied forces and efforts."""
    lines: tuple[Line, ...] = ()
    """Forces along the lines between two points: spring legs, cylinders, ropes."""
    contacts: tuple[Contact, ...] = ()
    """Points of links on planes."""


if TYPE_CHECKING:

    class _WithElements(_Machine):
        """Tables of the mechanism, with the lists of force elements whose law is in `laws`."""

else:
    _WithElements = create_model(
        "_WithElements",
        __base__=_Machine,
        **{key: (tuple[table, ...], Field((), description=table.__doc__)) for key, table in ELEMENTS.items()},
    )


class Chain(_WithElements):
    """Description of a mechanism and its task in SI units, angles in rad."""

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

    @model_validator(mode="wrap")
    @classmethod
    def _with_parameters(cls, data: Any, handler: ModelWrapValidatorHandler[Chain]) -> Chain:
        with known_parameters(values(data.get("parameters") if isinstance(data, dict) else None)):
            return handler(data)

    @property
    def accelerated(self) -> tuple[str, ...]:
        """Names of the points whose accelerations are outputs."""
        wanted = self.outputs.points
        return tuple(self.points) if wanted == "all" else tuple(dict.fromkeys(wanted))

    @property
    def posed(self) -> tuple[str, ...]:
        """Names of the links whose frames are outputs."""
        wanted = self.outputs.links
        return tuple(link.name for link in self.links) if wanted == "all" else tuple(dict.fromkeys(wanted))

    @property
    def tasks(self) -> tuple[Programmed | Motion, ...]:
        """Programmed constraints and motions, which drives have to realise."""
        return (*self.programmed, *self.motions)

    @property
    def elements(self) -> Iterator[tuple[str, Element]]:
        """Force elements whose law is in `laws`, each with the key of its list."""
        return ((key, element) for key in ELEMENTS for element in getattr(self, key))

    @property
    def measured(self) -> dict[str, str]:
        """Measured quantities of force elements: name in expressions, `lift_length`, to name in
        equations, `lift.length`.
        """
        supports = zip(self.base.support_names, self.base.supports, strict=True) if self.base else ()
        parts = [("line", line.name) for line in self.lines]
        parts += [("contact", contact.name) for contact in self.contacts]
        parts += [("support", name) for name, support in supports if support.one_sided]
        found = {name: other for part in parts for name, other in spelled(*part).items()}
        for _, element in self.elements:
            found |= element.spelled(element.name)
        return found

    def expression(self, text: str | float) -> Expr:
        """Return the parsed expression, with measured quantities renamed as in the equations."""
        return expressions.renamed(expressions.parse(text), self.measured)

    @property
    def parameter_values(self) -> dict[str, float]:
        """Value of each parameter by name."""
        return {name: parameter.value for name, parameter in self.parameters.items()}
