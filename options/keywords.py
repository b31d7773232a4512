"""Functions that take the fields of a record as their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints

Fields = ParamSpec("Fields")
Record = TypeVar("Record")
Owner = TypeVar("Owner")
Result = TypeVar("Result")


def taking(
    record: Callable[Fields, Record],
) -> Callable[[Callable[[Owner, Record], Result]], Callable[Concatenate[Owner, Fields], Result]]:
    """Return a decorator that replaces a function's second parameter, a record, by the fields of the record.

    The function's signature has the names, order, types and default values of the fields; its docstring continues
    with the record's section `Parameters`.

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
        types = get_type_hints(record)  # without the forms of options on the command line
        fields = [p.replace(annotation=types[p.name]) for p in inspect.signature(record).parameters.values()]
        whole = own.replace(parameters=[first, *fields])

        @wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Result:
            given = whole.bind(*arguments, **keywords).arguments
            owner = given.pop(first.name)
            return function(owner, make(**given))

        called.__signature__ = whole  # type: ignore[attr-defined]
        called.__doc__ = f"{inspect.getdoc(function)}\n\n{_parameters(cast(type, record))}"
        return called

    return decorate


def _parameters(record: type) -> str:
    """Return the section `Parameters` of a record and its base classes."""
    sections = [_section(base) for base in reversed(record.__mro__)]
    return "Parameters\n----------\n" + "\n".join(filter(None, sections))


def _section(record: type) -> str:
    """Return the lines of a class's own section `Parameters`; empty if it has none."""
    return inspect.cleandoc(record.__doc__ or "").partition("Parameters\n----------\n")[2]
