"""Decorator for functions whose arguments are the fields of an options class."""

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

_HEADING = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)  # matches the underlined heading of a numpydoc section
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)  # matches the start of a line without indentation


def taking(
    record: Callable[Fields, Record],
) -> Callable[[Callable[[Owner, Record], Result]], Callable[Concatenate[Owner, Fields], Result]]:
    """Return a decorator that replaces the second parameter of a function by the fields of an options class.

    The signature of the decorated function has the names, order, types and default values of the
    fields. The section `Parameters` of its docstring contains the descriptions of these fields.

    Parameters
    ----------
    record
        Options class, a dataclass.
    """

    make = cast(Callable[..., Record], record)

    def decorate(
        function: Callable[[Owner, Record], Result],
    ) -> Callable[Concatenate[Owner, Fields], Result]:
        own = inspect.signature(function)
        first = next(iter(own.parameters.values()))
        # By default, get_type_hints removes the annotations that declare command-line options.
        types = get_type_hints(record)
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
    """Return a function's docstring with a section `Parameters` about the fields of an options class."""
    sections = _sections(function)
    known = {name: text for item in (function, *record.__mro__) for name, text in _entries(item).items()}
    sections.pop("Parameters", None)
    summary = sections.pop("")
    parameters = "\n".join(known[name] for name in names if name in known)
    whole = {"Parameters": parameters} | sections
    return "\n\n".join([summary, *(f"{name}\n{'-' * len(name)}\n{text}" for name, text in whole.items())])


def _sections(item: Any) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by heading.

    The text before the first section has an empty heading.
    """
    summary, *rest = _HEADING.split(inspect.getdoc(item) or "")
    return {"": summary.rstrip()} | {name: text.rstrip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _entries(item: Any) -> dict[str, str]:
    """Return the parameter descriptions in the docstring of a function or class, by parameter name."""
    entries = _ENTRY.split(_sections(item).get("Parameters", ""))
    return {entry.split()[0]: entry.rstrip() for entry in entries if entry}
