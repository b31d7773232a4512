"""Conversion of the tables of a description to the text of a TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..exchange.names import printable
from ..exchange.toml_text import value

# These keys come first in each table of a written TOML file, in this order.
_FIRST = ("name", "link", "joint", "parent", "type", "frame")


def description_text(tables: dict[str, Any], head: Iterable[str]) -> str:
    """Return the TOML text of the given tables; the lines of `head` become comments at the beginning."""
    return "\n".join([*(f"# {printable(line)}" for line in head), *_lines(tables)]) + "\n"


def _lines(tables: dict[str, Any]) -> Iterator[str]:
    for key, entry in tables.items():
        if not isinstance(entry, dict) and not _is_list(entry):
            yield f"{key} = {value(entry)}"
    for key, entry in tables.items():
        if isinstance(entry, dict) and entry:
            yield from ("", f"[{key}]", *_keys(entry))
        for member in entry if _is_list(entry) else ():
            yield from ("", f"[[{key}]]", *_keys(member))


def _keys(table: dict[str, Any]) -> Iterator[str]:
    for key in [*(k for k in _FIRST if k in table), *(k for k in table if k not in _FIRST)]:
        yield f"{key} = {value(table[key])}"


def _is_list(entry: Any) -> bool:
    return isinstance(entry, list) and bool(entry) and isinstance(entry[0], dict)
