"""Templates of this package's rooms: one way to fill them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def fill(template: str, values: Mapping[str, Any], *, autoescape: bool = True) -> str:
    """Text of a template, such as `archive/terminals.xml.jinja`.

    Every value is escaped for XML and HTML, with autoescape off none is.
    """
    environment = Environment(
        loader=PackageLoader("gpmelica", "fmu"),
        undefined=StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(values)
