"""Conversion of the tables of a description to readable TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..core.templates import environment
from .import_urdf import Imported
from .names import printable


def toml_text(robot: Imported, head: Iterable[str]) -> str:
    """Return the TOML text of an imported description.

    The lines of `head` become comments at the beginning.
    """
    templates = environment("exchange", value=value, comment=printable)
    return templates.get_template("description.toml.jinja").render(robot=robot, head=list(head))


def value(given: Any) -> str:
    """Return a value as TOML text in a single line; numbers keep all significant digits."""
    if isinstance(given, dict):
        return "{ " + ", ".join(f"{key} = {value(entry)}" for key, entry in given.items()) + " }"
    if isinstance(given, list | tuple):
        return "[" + ", ".join(map(value, given)) + "]"
    return json.dumps(given, ensure_ascii=False)
