"""Functions that translate pydantic's validation errors into messages about keys of a description file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..core.errors import Problem
from ..language.suggest import alternatives
from .fields.types import KeyProblem, Part
from .tables.chain import Description

_EXPECTED = {
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "an integer",
    "bool_type": "true or false",
    "string_type": "a string",
    "tuple_type": "an array",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "{expected}",
}

_REMOVED = {
    "constraints.velocity_forces": "was removed: the terms ΔQ of the papers"
    " double viscous damping (docs/errata.md); delete the key"
}


def problems(error: ValidationError, data: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a file's tables in the order of the keys, without duplicates."""
    details = error.errors(include_url=False)
    found = [_problem(detail, details, data) for detail in details if not _follows(detail)]
    return list(dict.fromkeys(found))


def named(problem: Problem, data: Mapping[str, Any]) -> Problem:
    """Add the name of a list element to the location of a problem: `links[3].mass (boom)`."""
    place = re.match(r"(\w+)\[(\d+)\]", problem.where)
    entry = data[place[1]][int(place[2])] if place else None
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not re.fullmatch(r"\w{1,64}", name) or problem.where.endswith("].name"):
        return problem
    return Problem(f"{problem.where} ({name})", problem.message)


def _follows(detail: ErrorDetails) -> bool:
    """Whether an array is reported as too short only because some of its members are invalid."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _problem(detail: ErrorDetails, details: Sequence[ErrorDetails], data: Mapping[str, Any]) -> Problem:
    keys, kind = _real_keys(detail, data), detail["type"]
    if kind == "missing" and isinstance(detail["loc"][-1], int):
        absent = sum(d["type"] == "missing" and d["loc"][:-1] == detail["loc"][:-1] for d in details)
        given = len(detail["input"])
        return Problem(dotted(keys), f"expected {given + absent} values, got {given}")
    if kind == "value_error":
        cause = detail["ctx"]["error"]
        own = cause.key.split(".") if isinstance(cause, KeyProblem) else []
        return Problem(dotted([*keys, *own]), str(cause))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key, known = detail["ctx"]["discriminator"].strip("'"), detail["ctx"].get("expected_tags")
        text = f"expected one of {known}, got {_shown(detail['input'][key])}" if known else "the key is missing"
        return Problem(dotted([*keys, key]), text)
    return Problem(dotted(keys), _message(detail))


def _message(detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "the key is missing"
    if kind == "extra_forbidden":
        known = _known_keys(detail["loc"])
        return _REMOVED.get(dotted(detail["loc"])) or f"unknown key; {alternatives(str(detail['loc'][-1]), known)}"
    if kind == "too_short":
        return f"expected at least {context['min_length']} values, got {context['actual_length']}"
    if kind == "too_long":
        return f"expected {context['max_length']} values, got {context['actual_length']}"
    expected = _EXPECTED[kind].format(**context) if kind in _EXPECTED else detail["msg"]
    return f"expected {expected}, got {_shown(detail['input'])}"


def _real_keys(detail: ErrorDetails, data: Any) -> list[int | str]:
    """Return the keys of an error location without the names that pydantic has added.

    Pydantic inserts the names of the types in a union, which the file does not contain. If the error is
    a missing key, this key is part of the result.
    """
    keys: list[int | str] = []
    for key in detail["loc"]:
        members = dict(enumerate(data)) if isinstance(data, list) else data
        if isinstance(members, dict) and key in members:
            keys.append(key)
            data = members[key]
    last = detail["loc"][-1]
    return [*keys, last] if detail["type"] == "missing" and isinstance(last, str) else keys


def dotted(keys: Sequence[int | str]) -> str:
    """Return a key path as text, such as `links[3].mass`, with quotes where TOML requires quotes."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
            continue
        word = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)
        text += f".{word}" if text else word
    return text


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # repr() of an integer with thousands of digits raises an error.
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def _known_keys(loc: Sequence[int | str]) -> list[str]:
    """Return all valid keys of the table in which an unknown key is located.

    The argument `loc` is the path of this key in pydantic's error.
    """
    part: type[Part] = Description
    choice: list[type[Part]] = []
    for key in loc[:-1]:
        if key in part.model_fields:
            choice = [*_parts(part.model_fields[str(key)].annotation)]
            part = next(iter(choice), part)
        # pydantic inserts the tag of the chosen union member into the path that locates an error.
        part = next((member for member in choice if _has_tag(member, key)), part)
    return [field.alias or name for name, field in part.model_fields.items()]


def _has_tag(part: type[Part], tag: int | str) -> bool:
    return any(get_args(field.annotation) == (tag,) for field in part.model_fields.values())


def _parts(annotation: Any) -> Iterator[type[Part]]:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)
