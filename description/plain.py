"""Validated description as plain dictionaries and lists, for the independent Python solver."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from .fields.numbers import ParametricNumber
from .tables.chain import Description
from .tables.table import Table


def plain(chain: Description) -> dict[str, Any]:
    """Return a description as nested dictionaries and lists.

    Expressions of parameters are replaced by numbers. Lookup tables contain their points: `time`, s,
    and `value`. All other values are unchanged.
    """
    tables = {name: _lookup(table) for name, table in chain.tables.items()}
    found: dict[str, Any] = _plain(chain)
    return found | {"parameters": dict(chain.parameter_values), "tables": tables}


def _lookup(table: Table) -> dict[str, Any]:
    time, values = table.points
    return _fields(table) | {"time": time.tolist(), "value": values.tolist()}


def _fields(part: BaseModel) -> dict[str, Any]:
    return {key: _plain(getattr(part, key)) for key in type(part).model_fields}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _fields(value)
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value.value if isinstance(value, ParametricNumber) else value
