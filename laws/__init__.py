"""Laws of force elements as expressions.

Each law is written once. The expressions use the same names as expressions in a description. For
each table in `description.elements`, this package has a module of the same name. The function `act`
of the module defines the forces and outputs of an element. The reference solver and the generator
evaluate the laws in the same way as expressions in `[[forces]]`. The package `oracle`, which checks
results by an independent simulation, has its own implementation of the laws.
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
