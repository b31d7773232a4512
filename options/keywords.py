"""Decorator for functions whose arguments are the fields of an options record."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints

Fields = ParamSpec("Fields")
Record = TypeVar("Record")
Owner = TypeVar("Owner")
Result = TypeVar("Result")

_HEADING = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)  # heading of a numpydoc section, underlined
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)  # start of a line without indentation


def taking(
    record: Callable[Fields, Record],
) -> Callable[[Callable[[Owner, Record], Result]], Callable[Concatenate[Owner, Fields], Result]]:
    """Return a decorator that replaces the second parameter of a function by the fields of a record.

    The signature of the decorated function has the names, order, types and default values of the
    fields. The section `Parameters` of the docstring contains the field descriptions of the record.

    Parameters
    ----------
    record
        Class of the record, a dataclass.
    """

    make = cast(Callable[..., Record], record)

    def decorate(
        function: Callable[[Owner, Record], Result],
    ) -> Callable[Concatenate[Owner, Fields], Result]:
        own = inspect.signature(function)
        first = next(iter(own.parameters.values()))
        types = get_type_hints(record)  # types of the fields, without the annotations for the command line
        fields = [p.replace(annotation=types[p.name]) for p in inspect.signature(record).parameters.values()]
        whole = own.replace(parameters=[first, *fields])

        @wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Result:
            given = whole.bind(*arguments, **keywords).arguments
            owner = given.pop(first.name)
            return function(owner, make(**given))

        called.__signature__ = whole  # type: ignore[attr-defined]
        called.__doc__ = _documented(function, cast(type, record), list(whole.parameters))
        return called

    return decorate


def _documented(function: Callable[..., Any], record: type, names: Sequence[str]) -> str:
    """Return a function's docstring with a section `Parameters` that describes the fields of a record."""
    sections = _sections(function)
    known = {name: text for item in (function, *record.__mro__) for name, text in _entries(item).items()}
    sections.pop("Parameters", None)
    summary = sections.pop("")
    parameters = "\n".join(known[name] for name in names if name in known)
    whole = {"Parameters": parameters} | sections
    return "\n\n".join([summary, *(f"{name}\n{'-' * len(name)}\n{text}" for name, text in whole.items())])


def _sections(item: Any) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by heading; the text before them has an empty heading."""
    summary, *rest = _HEADING.split(inspect.getdoc(item) or "")
    return {"": summary.rstrip()} | {name: text.rstrip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _entries(item: Any) -> dict[str, str]:
    """Return the parameter descriptions in the docstring of a function or class, by parameter name."""
    entries = _ENTRY.split(_sections(item).get("Parameters", ""))
    return {entry.split()[0]: entry.rstrip() for entry in entries if entry}
