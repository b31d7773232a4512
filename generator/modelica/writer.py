"""Declarations and equations as the template's filters write them, which note what part each line comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..types.origin import Origin
from . import text as mo
from .origin import Origins, Source

_INDENT = 4  # of everything inside a model of the package


@dataclass(frozen=True)
class Declaration:
    """`prefix name[dimensions](modifiers) = binding "description" annotation`, in pieces."""

    origin: Origin
    prefix: str
    name: str
    dimensions: str
    modifiers: str
    binding: str
    description: str
    annotation: str = ""

    @property
    def text(self) -> str:
        """Laid out."""
        code = f"{self.prefix}{self.name}{self.dimensions}{self.modifiers}{self.binding}"
        annotation = f"\n{' ' * (_INDENT + 4)}{self.annotation}" if self.annotation else ""
        return mo.layout(code, _INDENT, mo.quoted(self.description) + annotation)


@dataclass(frozen=True)
class Equation:
    """`left = right`."""

    origin: Origin
    code: str

    @property
    def text(self) -> str:
        """Laid out."""
        return mo.layout(self.code, _INDENT)


Member = Declaration | Equation


@dataclass(frozen=True)
class Group:
    """Declarations or equations under one heading."""

    title: str
    members: tuple[Member, ...]


class Writer:
    """The filters of one text; members are written in the text's order."""

    def __init__(self) -> None:
        self._written: list[tuple[str, Origin]] = []
        self._names: dict[str, Origin] = {}

    def lines(self, members: Iterable[Member]) -> str:
        """Text of declarations or equations, without a newline at the end."""
        return "\n".join(self._note(member, member.text) for member in members)

    def groups(self, found: Iterable[Group]) -> str:
        """Text of groups, each under its heading, without a newline at the end."""
        return "\n\n".join(self._group(group) for group in found)

    def source(self, text: str) -> Source:
        """The whole text, with the origins of what was written into it."""
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
        return text
