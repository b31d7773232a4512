"""New values for keys of a description, from one of its cases or from Python."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import Problem
from ..language.suggest import unknown
from .draft import Location
from .messages import dotted
from .tables.chain import Description

_KEYS = {field.alias or key for key, field in Description.model_fields.items()}
_DEFINITIONS = ("parameters", "tables")
_LISTS = {key for key, field in Description.model_fields.items() if field.default == ()}


def entries(data: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the index and the table of each case in a file; entries that are not tables are skipped."""
    cases = data.get("cases")
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(case, dict):
            yield index, case


def varied(
    data: dict[str, Any], settings: Any, where: str, problems_of: Callable[[dict[str, Any]], Sequence[Problem]]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return a copy of a description's tables with new values of keys, and a problem for each unknown key.

    A wildcard `*` in a key selects all elements of a list or table. Elements that already have the key
    get the new value. The key is added to other elements only if validation accepts it there. If no
    element accepts the key, it is added to all of them, so that validation reports the reason.
    Parameters and lookup tables are changed first, because other keys may use them.

    Parameters
    ----------
    data
        Tables of the description file.
    settings
        New values by dotted key, such as `links.boom.mass`.
    where
        Place of the settings in the file, for messages.
    problems_of
        Function that returns the problems of changed tables.
    """
    changed, problems = copy.deepcopy(data), list[Problem]()
    given = settings.items() if isinstance(settings, dict) else ()
    for key, value in sorted(given, key=lambda setting: setting[0].partition(".")[0] not in _DEFINITIONS):
        try:
            changed = _changed(changed, key, value, problems_of)
        except LookupError as error:
            problems.append(Problem(f'{where}."{key}"', str(error)))
    return changed, problems


@dataclass(frozen=True)
class _Place:
    """Location of a dotted key, such as `links.boom.mass`, in the tables of a description.

    Attributes
    ----------
    path
        Keys of tables and indices of list elements that lead to the key.
    member
        Path of the list element or table that the last wildcard `*` selects; empty without a wildcard.
    known
        Whether the tables already contain the key.
    """

    path: Location
    member: Location = ()
    known: bool = True

    @property
    def may_be_left_out(self) -> bool:
        """Whether a changed value need not be written to this location.

        The result is True if a wildcard has selected an element that does not contain the key yet.
        """
        return bool(self.member) and not self.known


def _changed(
    data: dict[str, Any], key: str, value: Any, problems_of: Callable[[dict[str, Any]], Sequence[Problem]]
) -> dict[str, Any]:
    """Return the tables of a description with a new value of one key.

    If the tables cannot contain the key, LookupError is raised. For a wildcard, the key is added only
    to elements that accept it.
    """
    places = _places_of(data, key)
    changed = _assigned(data, places, value)
    if not any(place.may_be_left_out for place in places):
        return changed
    before = problems_of(data)
    new = [problem for problem in problems_of(changed) if problem not in before]
    fitting = [place for place in places if not (place.may_be_left_out and _concerns(new, place.member))]
    return _assigned(data, fitting or places, value)


def _assigned(data: dict[str, Any], places: Sequence[_Place], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    for place in places:
        _assign(changed, place.path, value)
    return changed


def _concerns(problems: Sequence[Problem], member: Location) -> bool:
    """Whether a problem is located in the given list element or table."""
    place = re.compile(re.escape(dotted(member)) + r"(?![\w-])")
    return any(place.match(problem.where) for problem in problems)


def flattened(changes: Mapping[str, Any], target: Any) -> dict[str, Any]:
    """Return nested changes as a mapping from dotted keys to new values.

    A mapping changes single keys of an existing table; any other value replaces the existing value.
    NumPy arrays and numbers become Python lists and numbers.
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
    if isinstance(target, dict):
        return target.get(key)
    return next((item for item in target if _has_name(item) and item["name"] == key), None)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _assign(target: Any, path: Location, value: Any) -> None:
    """Set the value at a path in nested tables and lists.

    Missing tables on the path are created. If the path ends in a list with a name that no element of the
    list has, an element with this name is appended.
    """
    *above, last = path
    for depth, key in enumerate(above):
        new: Any = [] if depth == 0 and key in _LISTS else {}
        target = target.setdefault(key, new) if isinstance(target, dict) else target[key]
    if isinstance(target, list) and isinstance(last, str):
        if not isinstance(value, dict) or last.isdigit():
            raise LookupError(_no_key(target, last))
        target.append({"name": last} | copy.deepcopy(value))
    elif _is_number(value) and _has_value(target, last):
        target[last]["value"] = value  # the new value keeps the parameter's unit and bounds
    else:
        target[last] = copy.deepcopy(value)


def _places_of(data: dict[str, Any], key: str) -> list[_Place]:
    """Return all locations that a dotted key selects in the tables of a description.

    The name of a parameter may be given without the prefix `parameters.`. If the tables cannot contain
    the key, LookupError is raised.
    """
    keys = _split(key)
    parameters = data.get("parameters")
    if key not in _KEYS and isinstance(parameters, dict) and key in parameters:
        keys = ["parameters", key]
    missing = keys[0] in _LISTS and keys[0] not in data
    return [*_places(data | {keys[0]: []} if missing else data, keys, _Place(()))]


def _split(key: str) -> list[str]:
    """Return the parts of a dotted key; an index in brackets, as in `links[0].mass`, is a part."""
    return re.sub(r"\[(\d+)\]", r".\1", key).split(".")


def _places(target: Any, keys: Sequence[str], found: _Place) -> Iterator[_Place]:
    """Yield all locations in `target`, a table or list, that the given keys select.

    In a table, a key selects the value of this key. In a list, a key selects an element by its name or
    index. The key `*` selects all elements.
    """
    if not keys:
        yield found
        return
    first, *rest = keys
    if first == "*":
        yield from _places_in_members(target, rest, found)
    elif isinstance(target, dict) and first not in target and "*" not in rest:
        yield replace(found, path=(*found.path, *keys), known=False)
    elif isinstance(target, list) and not rest and first not in _indices(target):
        yield replace(found, path=(*found.path, first), known=False)
    else:
        index = _index(target, first)
        yield from _places(target[index], rest, replace(found, path=(*found.path, index)))


def _places_in_members(target: Any, keys: Sequence[str], found: _Place) -> Iterator[_Place]:
    """Yield the location of a key in each element of a list or table that can contain the key.

    Raises LookupError if no element can contain the key.
    """
    places, errors = list[_Place](), list[LookupError]()
    for index in dict.fromkeys(_indices(target).values()):
        path = (*found.path, index)
        try:
            places += _places(target[index], keys, replace(found, path=path, member=path))
        except LookupError as error:
            errors.append(error)
    if not places:
        raise errors[0] if errors else LookupError(unknown("key", "*", ()))
    yield from places


def _index(target: Any, key: str) -> int | str:
    found = _indices(target)
    if key not in found:
        raise LookupError(_no_key(target, key))
    return found[key]


def _no_key(target: Any, key: str) -> str:
    """Return the error message for an unknown key of a table or an unknown name in a list.

    The message suggests keys of the table, or names of list elements. If the elements have no names, it
    suggests indices.
    """
    found = _indices(target)
    return unknown("key", key, [name for name in found if not name.isdigit()] or found)


def _indices(target: Any) -> dict[str, int | str]:
    """Return a dictionary from texts to indices or keys of a list or table.

    For a list, the texts are the indices of its elements and the names of named elements. For a table,
    the texts are its keys.
    """
    if isinstance(target, dict):
        return {key: key for key in target}
    items = target if isinstance(target, list) else []
    found: dict[str, int | str] = {str(i): i for i in range(len(items))}
    return found | {item["name"]: i for i, item in enumerate(items) if _has_name(item)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _has_name(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _has_value(target: Any, place: Any) -> bool:
    known = target.get(place) if isinstance(target, dict) else target[place]
    return isinstance(known, dict) and "value" in known
