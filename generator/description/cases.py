"""Cases: a description's tables with some of their keys overridden."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import Problem
from .suggest import unknown


def entries(data: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cases of a file with their position in it, as far as they are tables."""
    cases = data.get("cases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield index, case


def varied(data: dict[str, Any], case: Mapping[str, Any], index: int) -> tuple[dict[str, Any], list[Problem]]:
    """A copy of the tables with the case's keys set, and the keys that lead nowhere."""
    copied, problems = copy.deepcopy(data), []
    settings = case.get("set")
    for key, value in settings.items() if isinstance(settings, dict) else ():
        try:
            _assign(copied, key.split("."), value)
        except LookupError as error:
            problems.append(Problem(f'cases[{index}].set."{key}"', str(error)))
    return copied, problems


def _assign(target: Any, keys: list[str], value: Any) -> None:
    """Set a dotted key; raises LookupError if there is no place for it."""
    first, *rest = keys
    for place in _places(target, first, new=not rest):
        if rest:
            _assign(target[place], rest, value)
        else:
            target[place] = copy.deepcopy(value)


def _places(target: Any, key: str, new: bool) -> list[Any]:
    """Where a key leads: into a table, or into a list by name, by index, or to all members by `*`.

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
