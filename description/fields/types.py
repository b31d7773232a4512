"""Field types for words, texts, vectors and arrays of numbers or names."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
)
from pydantic_core import CoreSchema, core_schema

from .numbers import Matrix3, NonNegative, Number, Plain, PlainVector3, Positive, Vector3


class Part(BaseModel):
    """Base class of all tables of a description: immutable, without unknown keys."""

    # The string below each key is its description in the JSON Schema and in docs/keys.md.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


@dataclass(frozen=True, eq=False)
class OrTable:
    """Annotation of a field that accepts a table or, as an abbreviation, one value of the table.

    Parameters
    ----------
    table
        Function that converts the abbreviation to a table. Tables are returned unchanged; any other
        value raises ValueError.
    value
        JSON Schema of the abbreviated value.
    """

    table: Callable[[Any], Any]
    value: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.table, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [self.value, handler(schema)]}


class KeyProblem(ValueError):
    """Exception for a fault in one key, raised by the validator of the table that contains this key."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def _integer(value: Any) -> Any:
    # A Literal would accept 1.0 and True in place of 1, because they are equal in Python.
    if type(value) is not int:
        raise ValueError(f"expected an integer, got {value!r}")
    return value


Version = Annotated[Literal[1], BeforeValidator(_integer)]
Order = Annotated[Literal[0, 1, 2], BeforeValidator(_integer)]


def _is_array(value: Any) -> bool:
    return isinstance(value, list | tuple)


# The type of a table is selected before the validation, so that errors refer only to the intended type.


def _count(value: Any) -> str:
    return "several" if _is_array(value) else "one"


def _rank(value: Any) -> str:
    return "matrix" if _is_array(value) and any(map(_is_array, value)) else "vector"


def _choice(value: Any) -> str:
    return "word" if isinstance(value, str) else "list"


def _only(*words: str) -> BeforeValidator:
    """Return a validator of strings that accepts only the given words.

    Keys that accept either one of these words or an array of names use this validator.
    """

    def check(value: str) -> str:
        if value not in words:
            raise ValueError(f"expected {', '.join(map(repr, words))} or an array of names, got {value!r}")
        return value

    return BeforeValidator(check)


T = TypeVar("T")
_OneOrSeveral = Annotated[
    Annotated[T, Tag("one")] | Annotated[tuple[T, ...], Tag("several")], Discriminator(_count)
]
PlainPerCoordinate = _OneOrSeveral[Plain]
PerCoordinate = _OneOrSeveral[Number]
NonNegativePerItem = _OneOrSeveral[NonNegative]
PositivePerLeg = _OneOrSeveral[Positive]
Moments = Annotated[Annotated[Vector3, Tag("vector")] | Annotated[Matrix3, Tag("matrix")], Discriminator(_rank)]
Expression = Annotated[
    Annotated[str, Tag("text")] | Annotated[Plain, Tag("number")],
    Discriminator(lambda value: "text" if isinstance(value, str) else "number"),
]
_WordOrNames = Annotated[
    Annotated[T, Tag("word")] | Annotated[tuple[str, ...], Tag("list")], Discriminator(_choice)
]
AutoOrNames = _WordOrNames[Annotated[Literal["auto"], _only("auto")]]
AllOrNames = _WordOrNames[Annotated[Literal["all"], _only("all")]]
RedundantRows = _WordOrNames[Annotated[Literal["auto", "minimum_norm"], _only("auto", "minimum_norm")]]


def _printable(value: str) -> str:
    # Most control characters cannot be written in XML, and terminals interpret them as commands.
    found = next((i for i, c in enumerate(value) if c not in "\n\t" and _is_control(c)), None)
    if found is not None:
        raise ValueError(
            f"expected no control characters except line breaks and tabs, got {value[found]!r} at position {found}"
        )
    return value


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or ord(character) & 0xFFFE == 0xFFFE


Text = Annotated[str, AfterValidator(_printable)]


def _unit(axis: PlainVector3) -> PlainVector3:
    length = math.hypot(*axis)
    if abs(length - 1.0) > 1e-6:
        raise ValueError(f"expected a unit vector, got length {length:.6g}; divide the components by it")
    return _direction(axis)


def _direction(axis: PlainVector3) -> PlainVector3:
    length = math.hypot(*axis)
    if length == 0.0:
        raise ValueError("expected a direction, got a vector of length 0")
    x, y, z = (x / length for x in axis)
    return x, y, z


UnitVector = Annotated[PlainVector3, AfterValidator(_unit)]
Direction = Annotated[PlainVector3, AfterValidator(_direction)]
