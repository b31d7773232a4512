"""HTML pages that need no other file: common look, every value escaped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render_page(template: str, content: Mapping[str, Any]) -> str:
    """Text of a page; `template` is a file of this folder that extends `page.html.jinja`."""
    environment = Environment(
        loader=PackageLoader("gpmelica", "fmu"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(content)
