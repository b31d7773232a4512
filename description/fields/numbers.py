"""The one reader of numbers that may be expressions of `[parameters]`: `mass = "payload"`, `xyz = ["L", 0, 0]`.

A table's field of the types below takes both. What an expression gives is a `Given`: the number that it has with
the parameters of the description, which remembers what it was. So everything that wants a number has one; only the
generator asks whether it is an expression, and makes it follow the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ...language import constants, expressions
from ...language.ir import Expr
from ...language.suggest import alternatives
from ..types.bounds import ANY, NON_NEGATIVE, POSITIVE, Bounds

# of the description that is being read: values of its parameters, None of one that is faulty itself
_KNOWN: ContextVar[Mapping[str, float | None]] = ContextVar("parameters")


class Given(float):
    """A number that an expression of `[parameters]` gives.

    text  as the description has it
    tree  the same, parsed: of names of parameters and pi
    """

    text: str
    tree: Expr

    def __new__(cls, value: float, text: str, tree: Expr) -> Given:
        """The number with the parameters of the description, and the expression."""
        given = super().__new__(cls, value)
        given.text, given.tree = text, tree
        return given

    def __getnewargs__(self) -> tuple[float, str, Expr]:  # type: ignore[override]
        """What copies and other processes make it from."""
        return float(self), self.text, self.tree

    def __repr__(self) -> str:
        """For messages: 'payload - 600' = -100."""
        return f"{self.text!r} = {float(self):.6g}"


@contextmanager
def known_parameters(values: Mapping[str, float | None]) -> Iterator[None]:
    """Set the parameters that expressions may use while tables are read; None: unknown value."""
    token = _KNOWN.set(_KNOWN.get(values))
    try:
        yield
    finally:
        _KNOWN.reset(token)


def _read(value: Any, check: Callable[[Any], float]) -> float:
    if isinstance(value, Given):  # of a part that is made of another one's numbers
        check(float(value))
        return value
    if not isinstance(value, str):
        return check(value)
    known, tree = _KNOWN.get({}), _parsed(value)
    faulty = any(known[name] is None for name in _parameters_of(value, tree, known))
    number = Given(1.0 if faulty else _value(value, tree, known), value, tree)
    if not faulty:  # else what is wrong is reported there
        check(number)
    return number


def _parsed(text: str) -> Expr:
    try:
        return expressions.parse(text)
    except ValueError as error:
        raise ValueError(f"expected a number, or an expression of [parameters]: {error}") from None


def _parameters_of(text: str, tree: Expr, known: Mapping[str, float | None]) -> set[str]:
    """Names that an expression uses; raises ValueError for others than parameters."""
    if next(expressions.started_names(tree), None):
        raise ValueError(f"{text!r}: start(…) is known once a run begins; expected parameters and numbers")
    if next(expressions.tables(tree), None) is not None:
        raise ValueError(f"{text!r}: table(…) changes over time; expected parameters and numbers")
    used = {*expressions.names(tree)} - {"pi"}
    for name in sorted(used):
        if name not in known:
            raise ValueError(
                f"{text!r} uses {name!r}, but this number may be an expression of [parameters] and pi only;"
                f" {alternatives(name, known)}"
            )
    return used


def _value(text: str, tree: Expr, known: Mapping[str, float | None]) -> float:
    numbers = {name: value for name, value in known.items() if value is not None}
    try:
        return constants.value(tree, numbers)
    except ValueError as error:
        raise ValueError(f"{text!r} has no value: {error}") from None


def _written(value: float) -> float | str:
    return value.text if isinstance(value, Given) else value


@dataclass(frozen=True)
class _Readable:
    """Mark of a field whose number may be an expression."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(_written)
        return core_schema.no_info_wrap_validator_function(_read, handler(source), serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = handler(schema)
        return {"anyOf": [number, {"type": "string", "format": "expression"}]}


def _field(bounds: Bounds) -> Any:
    if bounds.exclusive:
        return Field(strict=True, allow_inf_nan=False, gt=bounds.low, le=bounds.high)
    return Field(strict=True, allow_inf_nan=False, ge=bounds.low, le=bounds.high)


# numbers of their own: settings, start values, what decides about the equations' form
Plain = Annotated[float, _field(ANY)]
PlainPositive = Annotated[float, _field(POSITIVE)]
PlainNonNegative = Annotated[float, _field(NON_NEGATIVE)]
PlainVector3 = tuple[Plain, Plain, Plain]

# numbers or expressions of parameters
Number = Annotated[float, _field(ANY), _Readable()]
Positive = Annotated[float, _field(POSITIVE), _Readable()]
NonNegative = Annotated[float, _field(NON_NEGATIVE), _Readable()]
Vector3 = tuple[Number, Number, Number]
NonNegative3 = tuple[NonNegative, NonNegative, NonNegative]
Matrix3 = tuple[Vector3, Vector3, Vector3]
Vector4 = tuple[Number, Number, Number, Number]
Matrix4 = tuple[Vector4, Vector4, Vector4, Vector4]


def between(bounds: Bounds) -> Any:
    """Return annotations for a number or expression within bounds; for `Annotated[float, *between(…)]`."""
    return _field(bounds), _Readable()
