"""Numbers that may be expressions of `[parameters]`: `mass = "payload"`, `xyz = ["L", 0, 0]`.

A number becomes a `float`. An expression becomes a `ParametricNumber`, which contains the
expression and its value for the described parameters. Arithmetic with a `ParametricNumber` is not
possible. Numerical code uses the value (`value_of`, `values_of`), and code generation uses the
expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeAlias

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ...language import constants, expressions
from ...language.ir import Expr
from ...language.suggest import alternatives
from ..types.bounds import ANY, NON_NEGATIVE, POSITIVE, Bounds

# Parameter values of the description that is being validated; None for a faulty parameter.
_KNOWN: ContextVar[Mapping[str, float | None]] = ContextVar("parameters")


@dataclass(frozen=True, eq=False, repr=False)
class ParametricNumber:
    """Number that is given by an expression of `[parameters]`.

    Two parametric numbers are equal if they have equal values and texts. A parametric number never
    equals a `float`, because its value changes with the parameters. For comparisons, use
    `value_of(number)`.

    Parameters
    ----------
    value
        Value of the expression for the parameter values in the description.
    text
        Expression as in the description.
    expression
        Parsed expression of parameters and pi.
    """

    value: float
    text: str
    expression: Expr

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParametricNumber) and (self.value, self.text) == (other.value, other.text)

    def __hash__(self) -> int:
        return hash((self.value, self.text))

    def __bool__(self) -> bool:
        """Whether the value of the expression is nonzero."""
        return bool(self.value)

    def __repr__(self) -> str:
        """Return an expression and its value for messages, such as `'payload - 600' = -100`."""
        return f"{self.text!r} = {self.value:.6g}"


AnyNumber: TypeAlias = float | ParametricNumber


def value_of(number: AnyNumber) -> float:
    """Return a plain number unchanged, or evaluate an expression with the description's parameters."""
    return number.value if isinstance(number, ParametricNumber) else float(number)


def values_of(numbers: Iterable[AnyNumber]) -> tuple[float, ...]:
    """Return numbers; expressions are evaluated for the parameter values in the description."""
    return tuple(map(value_of, numbers))


@contextmanager
def known_parameters(values: Mapping[str, float | None]) -> Iterator[None]:
    """Within the `with` block, permit these parameters in expressions that are validated.

    Parameters
    ----------
    values
        Value of each parameter; None for a faulty parameter.
    """
    token = _KNOWN.set(_KNOWN.get(values))
    try:
        yield
    finally:
        _KNOWN.reset(token)


def _read(value: Any, check: Callable[[Any], float], bounds: Bounds) -> AnyNumber:
    if isinstance(value, ParametricNumber):  # already validated
        return _checked(value, bounds)
    if not isinstance(value, str):
        return check(value)
    known, tree = _KNOWN.get({}), _parsed(value)
    if any(known[name] is None for name in _parameters_of(value, tree, known)):
        return ParametricNumber(1.0, value, tree)
    return _checked(ParametricNumber(_value(value, tree, known), value, tree), bounds)


def _checked(number: ParametricNumber, bounds: Bounds) -> ParametricNumber:
    problem = bounds.problem(number.value)
    if problem:
        raise ValueError(f"{problem}, got {number!r}")
    return number


def _parsed(text: str) -> Expr:
    try:
        return expressions.parse(text)
    except ValueError as error:
        raise ValueError(f"expected a number, or an expression of [parameters]: {error}") from None


def _parameters_of(text: str, tree: Expr, known: Mapping[str, float | None]) -> set[str]:
    """Return the parameters in an expression; any other name raises ValueError."""
    if next(expressions.started_names(tree), None):
        raise ValueError(f"{text!r}: start(…) has no value before a run; expected parameters and numbers")
    if next(expressions.tables(tree), None) is not None:
        raise ValueError(f"{text!r}: table(…) changes over time; expected parameters and numbers")
    used = {*expressions.names(tree)} - {"pi"}
    for name in sorted(used):
        if name not in known:
            raise ValueError(
                f"{text!r} uses {name!r}; expected an expression of [parameters] and pi only;"
                f" {alternatives(name, known)}"
            )
    return used


def _value(text: str, tree: Expr, known: Mapping[str, float | None]) -> float:
    numbers = {name: value for name, value in known.items() if value is not None}
    try:
        return constants.value(tree, numbers)
    except ValueError as error:
        raise ValueError(f"{text!r} has no value: {error}") from None


def _written(value: AnyNumber) -> float | str:
    return value.text if isinstance(value, ParametricNumber) else value


@dataclass(frozen=True)
class _Readable:
    """Annotation of a field that accepts a number or an expression of parameters."""

    bounds: Bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source
        written = core_schema.plain_serializer_function_ser_schema(_written)
        number = handler.generate_schema(Annotated[float, _field(self.bounds)])
        read = partial(_read, bounds=self.bounds)
        return core_schema.no_info_wrap_validator_function(read, number, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = handler(schema)
        return {"anyOf": [number, {"type": "string", "format": "expression"}]}


def _field(bounds: Bounds) -> Any:
    if bounds.exclusive:
        return Field(strict=True, allow_inf_nan=False, gt=bounds.low, le=bounds.high)
    return Field(strict=True, allow_inf_nan=False, ge=bounds.low, le=bounds.high)


# Numbers that must not be expressions: settings, initial values, and numbers that change the equations' form.
Plain = Annotated[float, _field(ANY)]
PlainPositive = Annotated[float, _field(POSITIVE)]
PlainNonNegative = Annotated[float, _field(NON_NEGATIVE)]
PlainVector3 = tuple[Plain, Plain, Plain]

# Types of keys that accept a number or an expression of parameters.
Number = Annotated[AnyNumber, _Readable(ANY)]
Positive = Annotated[AnyNumber, _Readable(POSITIVE)]
NonNegative = Annotated[AnyNumber, _Readable(NON_NEGATIVE)]
Vector3 = tuple[Number, Number, Number]
NonNegative3 = tuple[NonNegative, NonNegative, NonNegative]
Matrix3 = tuple[Vector3, Vector3, Vector3]
Vector4 = tuple[Number, Number, Number, Number]
Matrix4 = tuple[Vector4, Vector4, Vector4, Vector4]


def between(bounds: Bounds) -> Any:
    """Return the annotation of a key whose value is a number or an expression.

    The value must be within the given bounds. The result is used in `Annotated[AnyNumber, between(…)]`.
    """
    return _Readable(bounds)
