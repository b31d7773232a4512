"""Tables of a description as readable TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..core.templates import environment
from .import_urdf import Imported


def toml_text(robot: Imported, head: Iterable[str]) -> str:
    """The file; head: lines that it begins with, as a comment."""
    templates = environment("exchange", value=value, comment=comment)
    return templates.get_template("description.toml.jinja").render(robot=robot, head=list(head))


def value(given: Any) -> str:
    """Any value of a table, in one line; numbers with all their digits."""
    if isinstance(given, dict):
        return "{ " + ", ".join(f"{key} = {value(entry)}" for key, entry in given.items()) + " }"
    if isinstance(given, list | tuple):
        return "[" + ", ".join(map(value, given)) + "]"
    return json.dumps(given, ensure_ascii=False)


def comment(text: str) -> str:
    """One line, whatever characters a name has."""
    return "".join(c if c.isprintable() else "?" for c in text)
