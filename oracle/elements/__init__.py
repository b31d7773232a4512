"""Laws of elements by the oracle: a module of the table's key each.

A module has `MEASURES`, the quantities that the element publishes, and `of`, which makes an element of its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ..expressions.setting import Setting
from ..forces.element import Element

_MODULES = {module.name: import_module(f".{module.name}", __name__) for module in iter_modules(__path__)}


def elements(setting: Setting) -> Iterator[Element]:
    """Return the elements of all tables."""
    for key, module in _MODULES.items():
        yield from (module.of(table, setting) for table in setting.data[key])


def measured(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what expressions call the measures, `slide_force`, with the names of a scope, `slide.force`."""
    return {
        f"{table['name']}_{quantity}": f"{table['name']}.{quantity}"
        for key, module in _MODULES.items()
        for table in data[key]
        for quantity in module.MEASURES
    }
