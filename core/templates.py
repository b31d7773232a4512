"""Jinja templates of the package and their common settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(room: str = "", *, autoescape: bool = False, **filters: Callable[..., str]) -> Environment:
    """Return a Jinja environment for the templates in a folder of this package.

    If `autoescape` is true, inserted texts are escaped for XML and HTML.
    """
    made = Environment(
        loader=PackageLoader("gpmelica", room),
        undefined=StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= filters
    return made


def fill(template: str, values: Mapping[str, Any], *, autoescape: bool = True) -> str:
    """Render the template at a path in this package.

    If `autoescape` is true, inserted texts are escaped for XML and HTML.
    """
    return environment(autoescape=autoescape).get_template(template).render(values)
