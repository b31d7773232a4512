"""Keys of the description that a remark refers to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..analysis.prepared import Prepared
from ..description import Chain


class Named(Protocol):
    """Part of the description that has a name."""

    @property
    def name(self) -> str:
        """Name in the description."""


def member(key: str, parts: Sequence[Named], name: str) -> str:
    """Return the key of the part with a name, `links[2] (boom)`, or the name of an element without a table."""
    index = next((k for k, part in enumerate(parts) if part.name == name), None)
    return name if index is None else f"{key}[{index}] ({name})"


def by_law(model: Prepared, name: str) -> str:
    """Return the key of an element with a law, by its name."""
    key = next(element.key for element in model.mechanism.elements if element.name == name)
    return member(key, getattr(model.chain, key), name)


def link(chain: Chain, name: str) -> str:
    """Return the key of a link, or `base`."""
    return "base" if name == "base" else member("links", chain.links, name)


def support_key(model: Prepared, index: int) -> str:
    """Return the key of a support: `base.supports[0] (front_left)`."""
    return f"base.supports[{index}] ({model.mechanism.supports[index].name})"
