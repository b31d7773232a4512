"""Laws of force elements, each written once as expressions over the names of descriptions.

A module of the name of each table in `description.elements` has `act`, which says what an element does. Reference
and generator read what it says, as they read the expressions of `[[forces]]`; the oracle has laws of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ..description.fields.elements import Element
from ..language.ir import Expr
from .law import Law


def law(key: str, element: Element, coordinate: Callable[[str], str], expression: Callable[..., Expr]) -> Law:
    """Return what an element of a table does; see `Law`."""
    found = Law(element, coordinate, expression)
    import_module(f".{key}", __name__).act(element, found)
    return found
