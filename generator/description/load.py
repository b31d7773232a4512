"""TOML file → validated description, with a case applied; all problems of the file at once."""

from __future__ import annotations

import copy
import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ...errors import DescriptionError, Problem
from . import types
from .chain import Chain
from .consistency import problems_of

_LARGEST = 1_000_000  # bytes; a description of a thousand links is far below


def load(path: Path | str, case: str | None = None) -> Chain:
    """Description in a TOML file, one of its cases applied.

    Raises DescriptionError with all problems of the file, its cases included.
    """
    source = str(path)
    data = _read(Path(path), source)
    return from_data(data, case, source)


def from_data(data: dict[str, Any], case: str | None = None, source: str = "description") -> Chain:
    """Description from the tables of a TOML file; see `load`."""
    chain, problems = _validate(data)
    chosen = chain
    for index, entry in enumerate(_cases(data)):
        varied, case_problems = _with_case(data, entry, index)
        problems += [problem for problem in case_problems if problem not in problems]
        if entry.get("name") == case and case is not None:
            chosen = varied
    if case is not None and case not in [entry.get("name") for entry in _cases(data)]:
        known = ", ".join(str(entry.get("name")) for entry in _cases(data)) or "none"
        problems.append(Problem("cases", f"there is no case {case!r}; known are: {known}"))
    if problems or chosen is None:
        raise DescriptionError(source, problems)
    return chosen


def schema() -> dict[str, Any]:
    """JSON Schema of the description, for editors."""
    return Chain.model_json_schema()


def _read(path: Path, source: str) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise DescriptionError(
                source, [Problem("", f"expected a description below {_LARGEST} bytes, got {size}")]
            )
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise DescriptionError(source, [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise DescriptionError(source, [Problem("", f"is not UTF-8 text (byte {error.start})")]) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DescriptionError(source, [Problem("", f"is not valid TOML: {error}")]) from None


def _cases(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    cases = data.get("cases", [])
    return [entry for entry in cases if isinstance(entry, dict)] if isinstance(cases, list) else []


def _with_case(data: dict[str, Any], case: dict[str, Any], index: int) -> tuple[Chain | None, list[Problem]]:
    varied, problems = copy.deepcopy(data), []
    settings = case.get("set", {})
    for key, value in settings.items() if isinstance(settings, dict) else ():
        try:
            _assign(varied, key.split("."), copy.deepcopy(value))
        except KeyError as error:
            problems.append(Problem(f'cases[{index}].set."{key}"', f"there is no {error.args[0]} to change"))
    if problems:
        return None, problems
    return _validate(varied)


def _assign(target: Any, keys: list[str], value: Any) -> None:
    """Set a dotted key; members of lists are addressed by their name, their index, or all by `*`."""
    if len(keys) > 1 and keys[0] == "*" and isinstance(target, list):
        for item in target:
            _assign(item, keys[1:], value)
    elif len(keys) > 1:
        _assign(_member(target, keys[0]), keys[1:], value)
    elif isinstance(target, dict):
        target[keys[0]] = value
    else:
        raise KeyError(keys[0])


def _member(target: Any, key: str) -> Any:
    if isinstance(target, dict) and key in target:
        return target[key]
    if isinstance(target, list):
        for index, item in enumerate(target):
            if key == str(index) or (isinstance(item, dict) and item.get("name") == key):
                return item
    raise KeyError(key)


def _validate(data: dict[str, Any]) -> tuple[Chain | None, list[Problem]]:
    """The chain if its parts are sound, and all problems, those between sound parts included."""
    try:
        chain = Chain.model_validate(data)
        return chain, problems_of(chain, data)
    except ValidationError as error:
        details = error.errors(include_url=False)
    problems = list(dict.fromkeys(_problem(detail, data) for detail in details))
    rest = _without(data, details)
    try:
        problems += problems_of(Chain.model_validate(rest), data)
    except ValidationError:
        pass  # what is left does not stand alone; its problems are already listed
    return None, problems


def _without(data: dict[str, Any], details: Iterable[ErrorDetails]) -> dict[str, Any]:
    """The data without the members that have problems of their own."""
    faulty = {tuple(detail["loc"][:2]) for detail in details}
    rest: dict[str, Any] = {"schema": 1, "name": "unnamed"} | data
    for key, value in data.items():
        if any(loc[0] == key and len(loc) == 1 for loc in faulty) or isinstance(
            getattr(Chain.model_fields.get(key), "default", None), types.Part
        ):
            if any(loc[0] == key for loc in faulty):
                rest.pop(key)
        elif isinstance(value, list):
            rest[key] = [item for index, item in enumerate(value) if (key, index) not in faulty]
        elif isinstance(value, dict):
            bad = {loc[1] for loc in faulty if loc[0] == key}
            if key == "base" and bad:
                rest.pop(key)
            elif key != "base":
                rest[key] = {name: item for name, item in value.items() if name not in bad}
    return rest


def _problem(detail: ErrorDetails, data: Any) -> Problem:
    keys = _real_keys(detail["loc"], data)
    return Problem(_dotted(keys), _message(detail))


def _real_keys(loc: tuple[int | str, ...], data: Any) -> list[int | str]:
    """The location's keys that exist in the file; pydantic adds the names of union members."""
    keys: list[int | str] = []
    for position, key in enumerate(loc):
        last = position == len(loc) - 1
        if isinstance(data, dict) and (key in data or (last and isinstance(key, str) and key.isidentifier())):
            keys.append(key)
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int):
            keys.append(key)
            data = data[key] if key < len(data) else None
    return keys


def _dotted(keys: Iterable[int | str]) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def _message(detail: ErrorDetails) -> str:
    kind, got = detail["type"], detail["input"]
    if kind == "missing":
        return "is missing" if isinstance(detail["loc"][-1], str) else "one more value is expected here"
    if kind == "extra_forbidden":
        return _unknown_key(str(detail["loc"][-1]))
    if kind == "value_error":
        return str(detail["ctx"]["error"])
    if kind == "too_long":
        return f"expected at most {detail['ctx']['max_length']} values, got {detail['ctx']['actual_length']}"
    return f"{detail['msg'].replace('Input should be', 'expected')}, got {_shown(got)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _unknown_key(key: str) -> str:
    known = sorted({name for part in _parts(types.Part) for name in part.model_fields})
    close = difflib.get_close_matches(key, known, n=1)
    return "unknown key" + (f"; did you mean {close[0]!r}?" if close else "")


def _parts(part: type[types.Part]) -> Iterable[type[types.Part]]:
    for sub in part.__subclasses__():
        yield sub
        yield from _parts(sub)
