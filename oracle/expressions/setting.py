"""Common input of force elements and constraints: the mechanism, its points, and the language of expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..bodies.machine import Machine, Place
from .language import Expression, Language
from .state import Names


@dataclass
class Setting:
    """Everything that elements and constraints need to be built.

    Parameters
    ----------
    places : list of Place
        Points that have been asked for; elements know them by their indices.
    expressions : list of Expression
        All expressions that act, for the times at which they change.
    filters : dict
        Name of a filtered input to its index among the filters.
    """

    machine: Machine
    language: Language
    names: Names
    places: list[Place] = field(default_factory=list)
    expressions: list[Expression] = field(default_factory=list)
    filters: dict[str, int] = field(default_factory=dict)

    @property
    def data(self) -> Mapping[str, Any]:
        """Tables of the description."""
        return self.machine.data

    def point(self, link: str, position: Sequence[float]) -> int:
        """Return the index of a point of a link, in m."""
        self.places.append(self.machine.place(link, position))
        return len(self.places) - 1

    def compile(self, text: str | float, label: str, own: Mapping[str, str] | None = None) -> Expression:
        """Compile an expression that acts during a run."""
        found = self.language.compile(text, label, own)
        self.expressions.append(found)
        return found
