"""Force elements of the independent Python solver, with one module for each type of element.

A module has the name of the description table that defines its elements. The constant `MEASURES` of a
module contains the names of the quantities that an element measures. The function `of` of a module
builds an element from its table.
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
    """Yield the force elements from all description tables for which this package has a module."""
    for key, module in _MODULES.items():
        yield from (module.of(table, setting) for table in setting.data[key])


def measured(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the quantities that the force elements measure, as a dictionary.

    The keys are the names in expressions, such as `slide_force`. The values are the names in the
    evaluation context, such as `slide.force`.
    """
    return {
        f"{table['name']}_{quantity}": f"{table['name']}.{quantity}"
        for key, module in _MODULES.items()
        for table in data[key]
        for quantity in module.MEASURES
    }
