"""Check of parameter values of a run against the bounds in the description.

The FMU enforces the same bounds. The check takes place in the main process. Otherwise, every worker
would have to import the schema of the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..description.draft import draft
from ..description.messages import named
from .structures import Structure


def wrong_numbers(structure: Structure, values: Mapping[str, float]) -> str:
    """Return an error message if the values of the varied keys are invalid in the description.

    The message is empty for valid values.
    """
    if not structure.checked:
        return ""
    parameters = {structure.parameters[key]: value for key, value in values.items()}
    _, problems = draft(_with_parameters(structure.checked, parameters))
    if not problems:
        return ""
    whole = _with_parameters(structure.tables, parameters)
    _, problems = draft(whole)
    return "; ".join(str(named(problem, whole)) for problem in problems)


def _with_parameters(tables: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    known = dict(tables.get("parameters", {}))
    for name, value in values.items():
        if name in known:
            known[name] = {**known[name], "value": value} if isinstance(known[name], dict) else value
    return {**tables, "parameters": known}
