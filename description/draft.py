"""Sound parts of a file that may have faults, so that these parts can be checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..core.errors import Problem
from . import messages
from .fields.numbers import known_parameters
from .tables.chain import Chain
from .tables.parameter import values

Location = tuple[int | str, ...]
# tables and arrays whose members stand alone: links, points, …
_WITH_MEMBERS = {key for key, field in Chain.model_fields.items() if field.default in ((), {})}


@dataclass(frozen=True)
class Draft:
    """The sound parts of a description.

    Parameters:
        chain   the description without the faulty parts
        data    all tables of the file
        faulty  where the faulty parts are in it: `("links", 3)`, `("points", "E")`, `("gravity",)`
    """

    chain: Chain
    data: Mapping[str, Any]
    faulty: frozenset[Location] = frozenset()

    def entries(self, key: str) -> list[tuple[str, Any]]:
        """Sound members of a list such as `links`, each with its key path in the file."""
        kept = [i for i in range(len(self.data.get(key, ()))) if (key, i) not in self.faulty]
        return [(f"{key}[{i}]", entry) for i, entry in zip(kept, getattr(self.chain, key), strict=True)]

    def names(self, key: str) -> list[tuple[str, str]]:
        """Names of all members of a list or table of tables, faulty ones included, with their key paths."""
        items = self.data.get(key, ())
        if isinstance(items, dict):
            return [(f"{key}.{name}", name) for name in items]
        named = ((i, item.get("name")) for i, item in enumerate(items) if isinstance(item, dict))
        return [(f"{key}[{i}]", name) for i, name in named if isinstance(name, str)]

    def texts(self, key: str, *path: str) -> list[tuple[str, str]]:
        """Strings at a key of all members of a list or table, faulty ones included, with their key paths."""
        items = self.data.get(key, ())
        members = items.items() if isinstance(items, dict) else enumerate(items)
        found = [(messages.dotted([key, name, *path]), _inside(member, path)) for name, member in members]
        return [(where, value) for where, value in found if isinstance(value, str)]


def _inside(value: Any, path: Location) -> Any:
    """Return the value at a path of keys, or None if a key is missing."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def draft(data: dict[str, Any]) -> tuple[Draft | None, list[Problem]]:
    """The sound parts, and what is wrong with the others; None if there are no parts that stand alone."""
    with known_parameters(values(data.get("parameters"))):  # of all parts, those left out later included
        return _draft(data)


def _draft(data: dict[str, Any]) -> tuple[Draft | None, list[Problem]]:
    try:
        return Draft(Chain.model_validate(data), data), []
    except ValidationError as error:
        problems = messages.problems(error, data)
        faulty = frozenset(_part(detail["loc"]) for detail in error.errors(include_url=False))
    if any(len(location) == 1 and location[0] in _WITH_MEMBERS for location in faulty):
        return None, problems
    return Draft(Chain.model_validate(_without(data, faulty)), data, faulty), problems


def _part(location: Location) -> Location:
    """The member of `links`, `points`, … that a location is in, or else the whole top-level key."""
    return location[:2] if location[0] in _WITH_MEMBERS else location[:1]


def _without(data: dict[str, Any], faulty: frozenset[Location]) -> dict[str, Any]:
    """The tables without faulty parts; name and schema stand in for faulty or missing ones."""
    rest: dict[str, Any] = {"schema": 1, "name": "unnamed"}
    for key, value in data.items():
        if (key,) in faulty:
            continue
        if key in _WITH_MEMBERS and isinstance(value, list):
            rest[key] = [item for i, item in enumerate(value) if (key, i) not in faulty]
        elif key in _WITH_MEMBERS:
            rest[key] = {name: item for name, item in value.items() if (key, name) not in faulty}
        else:
            rest[key] = value
    return rest
