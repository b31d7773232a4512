"""Functions that return the description key at which an implausible value is located."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..analysis.system import System
from ..description import Description
from ..mechanism import Mechanism


class Named(Protocol):
    """Element of the description that has a name, such as a link, support or force element."""

    @property
    def name(self) -> str:
        """Name of the element in the description."""


def member(key: str, parts: Sequence[Named], name: str) -> str:
    """Return the description key of a named link or force element, such as `links[2] (boom)`.

    If the description contains no such name under the key, the name alone is returned.
    """
    index = next((k for k, part in enumerate(parts) if part.name == name), None)
    return name if index is None else f"{key}[{index}] ({name})"


def by_law(model: System, name: str) -> str:
    """Return the description key of the force element `name`, whose law is defined in the package `laws`."""
    key = next(element.key for element in model.mechanism.elements if element.name == name)
    return member(key, getattr(model.chain, key), name)


def link(chain: Description, name: str) -> str:
    """Return the description key of a link, or `base`."""
    return "base" if name == "base" else member("links", chain.links, name)


def support_key(mechanism: Mechanism, index: int) -> str:
    """Return the description key of a support, such as `base.supports[0] (front_left)`."""
    return f"base.supports[{index}] ({mechanism.supports[index].name})"
