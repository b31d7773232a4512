"""Interface that all force elements implement."""

from __future__ import annotations

from typing import Protocol

from ..expressions.state import State
from .load import Load


class Element(Protocol):
    """Force element that acts on bodies or coordinates."""

    def act(self, state: State, load: Load) -> None:
        """Add the element's forces and potential energy at one state to the sums in `load`."""
        ...

    def signals(self, state: State) -> dict[str, float]:
        """Return the output signals of the force element at one state, by name."""
        ...


class Silent:
    """Base class of force elements without outputs."""

    def signals(self, state: State) -> dict[str, float]:
        del state
        return {}
