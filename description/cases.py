"""Changes of keys in the tables of a description, by a case or from Python."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import Problem
from ..language.suggest import unknown


def entries(data: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield index and table of each case in a file, without entries that are no tables."""
    cases = data.get("cases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield index, case


def varied(data: dict[str, Any], settings: Any, where: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return a copy of a description's tables with changed keys, and problems of keys that do not exist.

    Parameters
    ----------
    data
        Tables of the description file.
    settings
        New values by dotted key, such as `links.boom.mass`.
    where
        Place of the settings in the file, for messages.
    """
    copied, problems = copy.deepcopy(data), []
    for key, value in settings.items() if isinstance(settings, dict) else ():
        try:
            _assign(copied, key.split("."), value)
        except LookupError as error:
            problems.append(Problem(f'{where}."{key}"', str(error)))
    return copied, problems


def flattened(changes: Mapping[str, Any], target: Any) -> dict[str, Any]:
    """Return nested changes as dotted keys.

    A table changes keys of an existing table; any other value replaces the existing value. Arrays and
    numbers of NumPy become lists and numbers of Python.
    """
    found: dict[str, Any] = {}
    for key, value in changes.items():
        below = _member(target, key)
        if isinstance(value, Mapping) and below:
            found |= {f"{key}.{rest}": inner for rest, inner in flattened(value, below).items()}
        else:
            found[key] = _plain(value)
    return found


def _member(target: Any, key: str) -> Any:
    """Return the table or list at a key, or None if the key does not exist."""
    if isinstance(target, dict):
        return target.get(key)
    return next((item for item in target if _has_name(item) and item["name"] == key), None)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _assign(target: Any, keys: list[str], value: Any) -> None:
    """Set the value of a dotted key; raise LookupError if the key has no place in the tables."""
    first, *rest = keys
    for place in _places(target, first, new=not rest):
        if rest:
            _assign(target[place], rest, value)
        elif _is_number(value) and _has_value(target, place):
            target[place]["value"] = value  # the unit and bounds of a parameter stay
        else:
            target[place] = copy.deepcopy(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _places(target: Any, key: str, new: bool) -> list[Any]:
    """Return the keys or indices that one part of a dotted key refers to.

    The part is the key of a table, the name or index of a list's member, or `*` for all members.

    Parameters
    ----------
    target
        Table or list.
    key
        Part of a dotted key.
    new
        Whether the key may be added to a table.
    """
    if isinstance(target, dict) and (new or key in target):
        return [key]
    items = target if isinstance(target, list) else []
    indices = {str(i): i for i in range(len(items))}
    names = {item["name"]: i for i, item in enumerate(items) if _has_name(item)}
    if key == "*" and items:
        return list(indices.values())
    if key in names or key in indices:
        return [(indices | names)[key]]
    raise LookupError(unknown("key", key, target if isinstance(target, dict) else names or indices))


def _has_name(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _has_value(target: Any, place: Any) -> bool:
    known = target.get(place) if isinstance(target, dict) else target[place]
    return isinstance(known, dict) and "value" in known
