"""Interface of force elements."""

from __future__ import annotations

from typing import Protocol

from ..expressions.state import State
from .load import Load


class Element(Protocol):
    """A force element."""

    def act(self, state: State, load: Load) -> None:
        """Add its forces and its energy."""
        ...

    def signals(self, state: State) -> dict[str, float]:
        """Return its outputs by name."""
        ...


class Silent:
    """An element without outputs."""

    def signals(self, state: State) -> dict[str, float]:
        """Return no outputs."""
        del state
        return {}
