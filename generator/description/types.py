"""Field types that all parts of the description share."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

KEYWORDS = frozenset(
    ["algorithm", "and", "annotation", "assert", "block", "break", "class", "connect", "connector", "constant", "constrainedby", "der", "discrete", "each", "else", "elseif", "elsewhen", "encapsulated", "end", "enumeration", "equation", "expandable", "extends", "external", "false", "final", "flow", "for", "function", "if", "import", "impure", "in", "initial", "inner", "input", "loop", "model", "not", "operator", "or", "outer", "output", "package", "parameter", "partial", "protected", "public", "pure", "record", "redeclare", "replaceable", "return", "stream", "then", "time", "true", "type", "when", "while", "within", "Real", "Integer", "Boolean", "String", "abs", "sign", "sqrt", "min", "max", "sum", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "pi", "t", "start", "quintic", "cross", "transpose", "zeros", "cat", "noEvent", "ground"]
)


class Part(BaseModel):
    """Base of all tables: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _identifier(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name):
        raise ValueError(
            f"expected a name of at most 64 letters, digits and '_' that starts with a letter, got {name!r}"
        )
    if name in KEYWORDS:
        raise ValueError(f"{name!r} is a reserved word; choose another name")
    return name


Name = Annotated[str, AfterValidator(_identifier)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0)]
NonNegative = Annotated[float, Field(strict=True, ge=0)]
Vector3 = tuple[Number, Number, Number]
NonNegative3 = tuple[NonNegative, NonNegative, NonNegative]
Matrix3 = tuple[Vector3, Vector3, Vector3]
Vector4 = tuple[Number, Number, Number, Number]
Matrix4 = tuple[Vector4, Vector4, Vector4, Vector4]
Numbers = tuple[Number, ...]


def _unit(axis: Vector3) -> Vector3:
    length = sum(x * x for x in axis) ** 0.5
    if abs(length - 1.0) > 1e-6:
        raise ValueError(f"expected a unit vector, got length {length:.6g}; divide the components by it")
    x, y, z = (x / length for x in axis)
    return x, y, z


UnitVector = Annotated[Vector3, AfterValidator(_unit)]
