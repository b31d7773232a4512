"""A description's tables with some of their keys overridden: by a case, or from Python."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import Problem
from ..language.suggest import unknown


def entries(data: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cases of a file with their position in it, as far as they are tables."""
    cases = data.get("cases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield index, case


def varied(data: dict[str, Any], settings: Any, where: str) -> tuple[dict[str, Any], list[Problem]]:
    """A copy of the tables with dotted keys set, and the keys that lead nowhere; where: of the settings."""
    copied, problems = copy.deepcopy(data), []
    for key, value in settings.items() if isinstance(settings, dict) else ():
        try:
            _assign(copied, key.split("."), value)
        except LookupError as error:
            problems.append(Problem(f'{where}."{key}"', str(error)))
    return copied, problems


def flattened(changes: Mapping[str, Any], target: Any) -> dict[str, Any]:
    """Changes as dotted keys: a table changes keys of the table that is there; other values take the place.

    Arrays and numbers of NumPy become lists and numbers, as TOML has them.
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
    """The table or list that a key leads to, or None."""
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
    """Set a dotted key; raises LookupError if there is no place for it."""
    first, *rest = keys
    for place in _places(target, first, new=not rest):
        if rest:
            _assign(target[place], rest, value)
        elif _is_number(value) and _has_value(target, place):
            target[place]["value"] = value  # of a parameter with unit and bounds, which stay
        else:
            target[place] = copy.deepcopy(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _places(target: Any, key: str, new: bool) -> list[Any]:
    """Return the keys or indices to which a key leads: a table's key, a member by name or index, or all by `*`.

    new  whether a table may get the key
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
