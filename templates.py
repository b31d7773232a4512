"""Templates: what all of their environments have in common."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(room: str, *, autoescape: bool = False, **filters: Callable[..., str]) -> Environment:
    """Of the templates in a folder of this package; autoescape: for XML and HTML. No name without a value."""
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
