"""Laws of force elements, each written once as expressions of the names in descriptions.

Each table in `description.elements` has a module of the same name. The function `act` of this
module defines the forces and outputs of an element. The reference solver and the generator evaluate
these expressions in the same way as expressions in `[[forces]]`. The oracle has its own
implementation of the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from ..description.fields.elements import Element
from ..language.ir import Expr
from .law import Law


def law(
    key: str,
    element: Element,
    coordinate: Callable[[str], str],
    expression: Callable[..., Expr],
    driven: Mapping[str, str],
) -> Law:
    """Return the law of an element of the table `key`: its forces, outputs and energy, see `Law`."""
    found = Law(element, coordinate, expression, driven)
    import_module(f".{key}", __name__).act(element, found)
    return found
