"""Functions that find the key to which a problem or remark in a description belongs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_TOKEN = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\[(?P<index>\d+)\]|(?P<word>[A-Za-z0-9_-]+)')
# Tables with named entries in order of precedence: a name refers to the first table that contains the name.
_NAMED = ("closures", "lines", "contacts", "motions", "programmed", "nonholonomic", "forces", "points", "links")

Path = list[str]


def path_of(where: str, message: str, tables: Mapping[str, Any]) -> Path:
    """Return the keys that locate a problem in the tables of a description.

    Parameters
    ----------
    where : str
        Place such as `links[3].mass (boom)`, or an empty text.
    message : str
        Text of the problem. If `where` is empty, the place is the table whose name occurs first in the
        text.
    tables : mapping
        Tables of the description file.

    Returns
    -------
    list of str
        Keys and indices of existing tables and values; empty for the file as a whole.
    """
    found = _existing(_keys(where), tables)
    return found or _first_named(message, tables)


def _keys(where: str) -> Iterator[str]:
    for token in _TOKEN.finditer(re.split(r" \(|,", where, maxsplit=1)[0]):
        if token["quoted"] is not None:
            yield json.loads(token[0])
        else:
            yield token["index"] or token["word"]


def _existing(keys: Iterator[str], tables: Any) -> Path:
    found: Path = []
    for key in keys:
        members = dict(enumerate(tables)) if isinstance(tables, list) else tables
        own = int(key) if isinstance(tables, list) and key.isdigit() else key
        if not isinstance(members, Mapping) or own not in members:
            break
        found.append(key)
        tables = members[own]
    return found


def _first_named(message: str, tables: Mapping[str, Any]) -> Path:
    found = [(match.start(), path) for path, name in _members(tables) if (match := _word(name).search(message))]
    return min(found, key=lambda entry: entry[0])[1] if found else []


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")


def _members(tables: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for key in _NAMED:
        entries = tables.get(key)
        if isinstance(entries, Mapping):
            yield from (([key, name], name) for name in entries)
        elif isinstance(entries, list):
            names = [(k, entry.get("name")) for k, entry in enumerate(entries) if isinstance(entry, Mapping)]
            yield from (([key, str(k)], name) for k, name in names if isinstance(name, str))
