"""Data that force elements and constraints share: mechanism, points and expression compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..bodies.machine import Machine, Place
from .language import Expression, Language
from .state import Names, State


@dataclass(frozen=True)
class Memory:
    """State of a controller: initial value, and function that computes the time derivative."""

    begin: float
    rate: Callable[[State], float]


@dataclass
class Setting:
    """Shared context for building force elements and constraints.

    Parameters
    ----------
    machine : Machine
        Bodies and coordinates.
    language : Language
        Compiler of expressions.
    names : Names
        Names that expressions may use.
    places : list of Place
        Registered body-fixed points. Force elements and constraints refer to a point by the index.
    expressions : list of Expression
        All expressions that are evaluated during a run.
    filters : dict
        Mapping from the name of a filtered input to the index of the input filter.
    memory : list of Memory
        States of controllers.
    samplers : list
        Pairs, one for each sampled controller: sample period, s, and function that takes a sample.
    driven : dict
        Mapping from the name of an input to the controller signal that drives this input, such as
        `slew.output`.
    """

    machine: Machine
    language: Language
    names: Names
    places: list[Place] = field(default_factory=list)
    expressions: list[Expression] = field(default_factory=list)
    filters: dict[str, int] = field(default_factory=dict)
    memory: list[Memory] = field(default_factory=list)
    samplers: list[tuple[float, Callable[[State], None]]] = field(default_factory=list)
    driven: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Mapping[str, Any]:
        """Description of the mechanism as nested dictionaries."""
        return self.machine.data

    def point(self, link: str, position: Sequence[float]) -> int:
        """Register a point of a link, given by its position in m, and return its index."""
        self.places.append(self.machine.place(link, position))
        return len(self.places) - 1

    def remember(self, begin: float, rate: Callable[[State], float]) -> int:
        """Register a state with its initial value and time derivative, and return its index."""
        self.memory.append(Memory(begin, rate))
        return len(self.memory) - 1

    def compile(self, text: str | float, label: str, own: Mapping[str, str] | None = None) -> Expression:
        """Compile an expression and add it to the list of expressions that are evaluated during a run."""
        found = self.language.compile(text, label, own)
        self.expressions.append(found)
        return found
