"""Complete description: all top-level tables and keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field, ModelWrapValidatorHandler, create_model, model_validator

from ...language import expressions
from ...language.ir import Expr
from ..elements import ELEMENTS
from ..fields.elements import Element
from ..fields.names import FileName, Name, PartName
from ..fields.numbers import Vector3, known_parameters
from ..fields.types import Part, Text, Version
from ..types.measures import spelled
from .base import Base
from .closure import Closure
from .contact import Contact
from .line import Followed, Line
from .link import Link
from .parameter import NumberOrTable, values
from .settings import Case, Constraints, Outputs, Simulation, Statics
from .table import Table
from .task import Force, Motion, Nonholonomic, Point, Programmed


class _Machine(Part):
    version: Version = Field(alias="schema")
    """Version of the description format."""
    name: FileName
    """Name of the mechanism, of the Modelica model and of the FMU."""
    description: Text = ""
    """One line about the mechanism, for the Modelica model, the FMU and the report."""
    gravity: Vector3 = (0.0, 0.0, -9.81)
    """Gravitational acceleration: x, y, z in the world frame, m/s²."""
    parameters: dict[Name, NumberOrTable] = Field({})
    """Parameters by name, each a number or a table. Expressions of parameters may replace numbers of
    the mechanism."""
    tables: dict[PartName, Table] = Field({})
    """Lookup tables over time by name, from files; expressions use them as `table(name, t)`."""
    base: Base | None = None
    """Base of the mechanism; without this table, the ground carries the links."""
    links: tuple[Link, ...] = ()
    """Rigid links and beams in any order; each names its parent."""
    points: dict[PartName, Point] = Field({})
    """Points on links by name, for expressions, paths and outputs."""
    closures: tuple[Closure, ...] = ()
    """Joints that close kinematic loops."""
    programmed: tuple[Programmed, ...] = ()
    """Programmed constraints, which prescribe the motion."""
    motions: tuple[Motion, ...] = ()
    """Driven joints."""
    nonholonomic: tuple[Nonholonomic, ...] = ()
    """Knife edges, as nonholonomic constraints."""
    forces: tuple[Force, ...] = ()
    """Applied forces and efforts."""
    lines: tuple[Line, ...] = ()
    """Two-point force elements: spring-dampers, cylinders and ropes."""
    contacts: tuple[Contact, ...] = ()
    """Contacts between points on links and planes."""


if TYPE_CHECKING:

    class _WithElements(_Machine):
        """Tables of the mechanism, with one list per type of force element in the package `laws`."""

else:
    _WithElements = create_model(
        "_WithElements",
        __base__=_Machine,
        **{key: (tuple[table, ...], Field((), description=table.__doc__)) for key, table in ELEMENTS.items()},
    )


class Description(_WithElements):
    """Description of a mechanism and its task in SI units, angles in rad."""

    constraints: Constraints = Constraints()
    """Formulation and stabilisation of the constraints."""
    statics: Statics = Statics()
    """Search for the initial static equilibrium."""
    simulation: Simulation = Simulation()
    """Time span, methods and tolerances of the simulation."""
    outputs: Outputs = Outputs()
    """Outputs of the FMU in addition to coordinates, points and efforts."""
    cases: tuple[Case, ...] = ()
    """Named variants of the description."""

    @model_validator(mode="wrap")
    @classmethod
    def _with_parameters(cls, data: Any, handler: ModelWrapValidatorHandler[Description]) -> Description:
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
        """Programmed constraints and joint motions that the drives of the mechanism must realise."""
        return (*self.programmed, *self.motions)

    @property
    def elements(self) -> Iterator[tuple[str, Element]]:
        """Force elements that are defined in the package `laws`, each with its key in the description."""
        return ((key, element) for key in ELEMENTS for element in getattr(self, key))

    @property
    def measured(self) -> dict[str, str]:
        """Mapping from the names that expressions use for measured quantities to the names in equations.

        For example, `lift_length` in expressions is `lift.length` in equations.
        """
        supports = zip(self.base.support_names, self.base.supports, strict=True) if self.base else ()
        parts = [("line", line.name) for line in self.lines]
        parts += [("contact", contact.name) for contact in self.contacts]
        parts += [("support", name) for name, support in supports if support.one_sided]
        found = {name: other for part in parts for name, other in spelled(*part).items()}
        for _, element in self.elements:
            found |= element.spelled(element.name)
        return found

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all inputs, including those that controllers drive."""
        return (
            *(motion.name for motion in self.motions if motion.input),
            *(name for force in self.forces if force.input for name in force.components),
            *(line.name for line in self.lines if line.input),
            *(line.rest.input for line in self.lines if isinstance(line.rest, Followed)),
            *(name for _, element in self.elements for name in element.inputs.values()),
        )

    @property
    def driven(self) -> dict[str, str]:
        """Controller outputs that drive inputs, such as `slew.output`.

        Dictionary keys are the driven inputs.
        """
        found = ((element.drives_input, element.name) for _, element in self.elements)
        return {driven: f"{name}.output" for driven, name in found if driven is not None}

    def expression(self, text: str | float) -> Expr:
        """Return the parsed expression.

        Measured quantities are renamed: they get the names that the equations use, such as `lift.length`.
        """
        return expressions.renamed(expressions.parse(text), self.measured)

    @property
    def parameter_values(self) -> dict[str, float]:
        """Value of each parameter by name."""
        return {name: parameter.value for name, parameter in self.parameters.items()}
