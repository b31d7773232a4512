"""Filters for templates, which convert declarations and equations to Modelica source text.

The filters also record for each line the entry of the description from which the line was generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...description.types.origin import Origin
from ...language.ir import Shape
from . import quantities
from . import text as mo
from .origin import Origins, Source

_INDENT = 4  # Declarations and equations in a Modelica model are indented by this number of spaces.


@dataclass(frozen=True)
class Declaration:
    """Declaration in Modelica: `prefix type name[shape](modifiers) = binding "description" annotation`.

    Attributes
    ----------
    type
        Modelica type; if None, the type follows from the unit.
    elements
        Mapping from the position of an array element to the entry of the description from which the
        element was generated.
    """

    origin: Origin
    prefix: str
    name: str
    unit: str | None
    description: str
    shape: Shape = ()
    modifiers: tuple[str, ...] = ()
    binding: str = ""
    annotation: str = ""
    type: str | None = None
    elements: Mapping[int, Origin] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the formatted source text of the declaration."""
        kind, modifiers = quantities.declared(self.unit, self.shape, *self.modifiers, kind=self.type)
        dimensions = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        binding = f" = {self.binding}" if self.binding else ""
        code = f"{self.prefix}{kind} {self.name}{dimensions}{modifiers}{binding}"
        annotation = f"\n{' ' * (_INDENT + 4)}{self.annotation}" if self.annotation else ""
        return mo.layout(code, _INDENT, mo.quoted(self.description) + annotation)


@dataclass(frozen=True)
class Equation:
    """Equation `left = right`, `for` equation or `when` equation of a Modelica source.

    A `for` equation has the range `loop`, such as `i in 1:3`. A `when` equation has the condition
    `event`.
    """

    origin: Origin
    code: str
    loop: str = ""
    body: tuple[Equation, ...] = ()
    event: str = ""

    @property
    def text(self) -> str:
        """Return the formatted source text of the equation."""
        return self.indented(_INDENT)

    def indented(self, indent: int) -> str:
        """Return the source text of the equation with a margin of `indent` spaces."""
        if not self.body:
            return mo.layout(self.code, indent)
        margin, inner = " " * indent, (equation.indented(indent + 2) for equation in self.body)
        first, last = (f"when {self.event} then", "when") if self.event else (f"for {self.loop} loop", "for")
        return "\n".join([f"{margin}{first}", *inner, f"{margin}end {last};"])


Member = Declaration | Equation


@dataclass(frozen=True)
class Group:
    """Heading, and the declarations or equations below it."""

    title: str
    members: tuple[Member, ...]


class Writer:
    """Filters for the template of a Modelica source, which also record the origin of each line.

    Declarations and equations must be written in the order in which they occur in the source.
    """

    def __init__(self) -> None:
        self._written: list[tuple[str, Origin]] = []
        self._names: dict[str, Origin] = {}

    def lines(self, members: Iterable[Member]) -> str:
        """Return the source text of declarations or equations, without a newline at the end."""
        return "\n".join(self._note(member, member.text) for member in members)

    def groups(self, found: Iterable[Group]) -> str:
        """Return the source text of groups of declarations or equations, each group under its heading.

        The text does not end with a newline.
        """
        return "\n\n".join(self._group(group) for group in found)

    def source(self, text: str) -> Source:
        """Return the complete Modelica source with the origins of its lines and names."""
        found: dict[int, Origin] = {}
        end, number = 0, 1
        for passage, origin in self._written:
            begin = text.index(passage, end)
            first = number + text.count("\n", end, begin)
            end, number = begin + len(passage), first + passage.count("\n")
            found |= dict.fromkeys(range(first, number + 1), origin)
        return Source(text, Origins(found, self._names))

    def _group(self, group: Group) -> str:
        first, *others = group.members
        heading = f"{' ' * _INDENT}// {group.title}\n{first.text}"
        return "\n".join([self._note(first, heading), *(self._note(member, member.text) for member in others)])

    def _note(self, member: Member, text: str) -> str:
        self._written.append((text, member.origin))
        if isinstance(member, Declaration):
            self._names.setdefault(member.name, member.origin)
            for position, origin in member.elements.items():
                self._names.setdefault(f"{member.name}[{position}", origin)
        return text
