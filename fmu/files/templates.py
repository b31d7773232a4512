"""Templates of this package's rooms: one way to fill them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...templates import environment


def fill(template: str, values: Mapping[str, Any], *, autoescape: bool = True) -> str:
    """Text of a template, such as `archive/terminals.xml.jinja`.

    Every value is escaped for XML and HTML, with autoescape off none is.
    """
    return environment("fmu", autoescape=autoescape).get_template(template).render(values)
