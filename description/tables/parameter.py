"""Named parameters, which expressions of the description may use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, model_validator

from ..fields.numbers import Plain
from ..fields.types import KeyProblem, OrTable, Part, Text
from ..types.bounds import LARGEST, Bounds
from ..types.units import known_unit


class Parameter(Part):
    """Number that expressions may use, and parameter of the FMU and of the Modelica model."""

    value: Plain
    """Value of the parameter."""
    unit: Annotated[str, AfterValidator(known_unit)] | None = None
    """Unit in the notation of Modelica, such as `kg` or `N.m/rad`; default: no unit."""
    description: Text = ""
    """One line about the parameter, for the Modelica model, the FMU and the report."""
    min: Plain | None = None
    """Smallest admissible value, in the description and in the FMU."""
    max: Plain | None = None
    """Largest admissible value, in the description and in the FMU."""

    @model_validator(mode="after")
    def _within(self) -> Parameter:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise KeyProblem("max", f"expected at least min, which is {self.min:g}, got {self.max:g}")
        problem = self.bounds.problem(self.value)
        if problem:
            raise KeyProblem("value", f"{problem}, got {self.value:.6g}; change the value, or min and max")
        return self

    @property
    def bounds(self) -> Bounds:
        """Bounds of the parameter's value, given by the keys `min` and `max`."""
        return Bounds(-LARGEST if self.min is None else self.min, LARGEST if self.max is None else self.max)


def _number_or_table(value: Any) -> Any:
    if isinstance(value, dict | Parameter):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, or a table with the key `value`, got {value!r}")
    return {"value": value}


def values(tables: Any) -> dict[str, float | None]:
    """Return the values in the table `[parameters]` of a file, with None for faulty parameters."""
    return {name: _value(entry) for name, entry in tables.items()} if isinstance(tables, dict) else {}


def _value(entry: Any) -> float | None:
    try:
        return Parameter.model_validate(_number_or_table(entry)).value
    except ValueError:  # pydantic's ValidationError is a ValueError
        return None


_NUMBER = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
NumberOrTable = Annotated[Parameter, OrTable(_number_or_table, _NUMBER)]
