"""Classes for the TOML tables of force elements.

The force laws of these elements are in the package `laws`. Each module contains one class. The name of
the module is the key of these elements in a description.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..fields.elements import Element


def _table(key: str) -> type[Element]:
    module = import_module(f".{key}", __name__)
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Element) and value.__module__ == module.__name__
    )
    return found


ELEMENTS = {module.name: _table(module.name) for module in iter_modules(__path__)}
