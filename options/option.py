"""Class that declares a command-line option in the annotation of a dataclass field."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

NO_DEFAULT: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Option:
    """Declaration of a field of an options class as an option on the command line.

    The type of the field has the form `Annotated[type, Option(…)]`. A field without this annotation
    is not available on the command line.

    Parameters
    ----------
    help
        Text of `--help`.
    flag
        Flags on the command line, separated by spaces. Default: the name of the field; a switch
        also has the flag `--no-…`.
    type
        Type of the option on the command line; None means the type of the field.
    unset
        Value if the option is not on the command line. Default: the default value of the field.
    least
        Smallest admissible number; None for no limit.
    shows_default
        Whether `--help` shows the default value.
    positional
        Whether the value is given as an argument without a flag.
    """

    help: str
    flag: str = ""
    type: Any = None
    unset: Any = NO_DEFAULT
    least: int | None = None
    shows_default: bool = True
    positional: bool = False


@dataclass(frozen=True)
class Entry:
    """Field of an options class that is also an option on the command line."""

    name: str
    type: Any
    default: Any
    option: Option


@cache
def entries(record: type) -> tuple[Entry, ...]:
    """Return the command-line options of an options class, in the order of its fields."""
    return tuple(_entries(record))


def _entries(record: type) -> Iterator[Entry]:
    hints = get_type_hints(record, include_extras=True)
    for field in dataclasses.fields(record):
        hint = hints[field.name]
        for option in (part for part in get_args(hint) if isinstance(part, Option)):
            own = get_args(hint)[0] if option.type is None else option.type
            known = NO_DEFAULT if field.default is dataclasses.MISSING else field.default
            default = known if option.unset is NO_DEFAULT else option.unset
            yield Entry(field.name, own, default, option)
