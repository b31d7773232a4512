"""Valid parts of a faulty description, which can be checked although other parts have faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..core.errors import Problem
from . import messages
from .fields.numbers import known_parameters
from .tables.chain import Description
from .tables.parameter import values

Location = tuple[int | str, ...]
# Keys that contain several named entries, such as links and points; each entry is validated separately.
_WITH_MEMBERS = {key for key, field in Description.model_fields.items() if field.default in ((), {})}


@dataclass(frozen=True)
class Draft:
    """Valid parts of a description that also has faulty parts.

    Parameters
    ----------
    chain
        Description without the faulty parts.
    data
        All tables of the file.
    faulty
        Key paths of the faulty parts, such as `("links", 3)`, `("points", "E")` or `("gravity",)`.
    """

    chain: Description
    data: Mapping[str, Any]
    faulty: frozenset[Location] = frozenset()

    def entries(self, key: str) -> list[tuple[str, Any]]:
        """Return the valid members of a list such as `links`, each with its key path in the file."""
        kept = [i for i in range(len(self.data.get(key, ()))) if (key, i) not in self.faulty]
        return [(f"{key}[{i}]", entry) for i, entry in zip(kept, getattr(self.chain, key), strict=True)]

    def names(self, key: str) -> list[tuple[str, str]]:
        """Return the key path and the name of each entry of a list such as `links` or a table such as `points`.

        Entries with faults are included.
        """
        items = self.data.get(key, ())
        if isinstance(items, dict):
            return [(f"{key}.{name}", name) for name in items]
        named = ((i, item.get("name")) for i, item in enumerate(items) if isinstance(item, dict))
        return [(f"{key}[{i}]", name) for i, name in named if isinstance(name, str)]

    def texts(self, key: str, *path: str) -> list[tuple[str, str]]:
        """Return the values of one key in all entries of a list such as `links`, or a table such as `points`.

        The argument `key` is the key of the list or table. The argument `path` contains the keys from an
        entry to the value. Each value is paired with its full key path. Values that are not strings are
        omitted; entries with faults are included.
        """
        items = self.data.get(key, ())
        members = items.items() if isinstance(items, dict) else enumerate(items)
        found = [(messages.dotted([key, name, *path]), _inside(member, path)) for name, member in members]
        return [(where, value) for where, value in found if isinstance(value, str)]


def _inside(value: Any, path: Location) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def draft(data: dict[str, Any]) -> tuple[Draft | None, list[Problem]]:
    """Return the valid parts of a description file, and the problems of the faulty parts.

    If a list or table such as `links` is missing or invalid as a whole, the first result is None.
    """
    with known_parameters(values(data.get("parameters"))):
        return _draft(data)


def _draft(data: dict[str, Any]) -> tuple[Draft | None, list[Problem]]:
    try:
        return Draft(Description.model_validate(data), data), []
    except ValidationError as error:
        problems = messages.problems(error, data)
        faulty = frozenset(_part(detail["loc"]) for detail in error.errors(include_url=False))
    if any(len(location) == 1 and location[0] in _WITH_MEMBERS for location in faulty):
        return None, problems
    return Draft(Description.model_validate(_without(data, faulty)), data, faulty), problems


def _part(location: Location) -> Location:
    """Return the key path of the top-level key to which a location in a file belongs.

    For a list or table with named entries, such as `links`, the key path also contains the entry. Each
    such entry is validated separately.
    """
    return location[:2] if location[0] in _WITH_MEMBERS else location[:1]


def _without(data: dict[str, Any], faulty: frozenset[Location]) -> dict[str, Any]:
    """Return a copy of a file's tables from which the faulty parts are removed.

    If the required keys `schema` and `name` are missing or faulty, they are replaced by placeholders.
    """
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
