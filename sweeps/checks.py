"""Whether the description would take a run's numbers; what is out of bounds, the FMU refuses as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..generator.description.draft import draft
from ..generator.description.messages import named


def wrong_numbers(tables: Mapping[str, Any], checked: Mapping[str, Any], values: Mapping[str, float]) -> str:
    """What the description says against values of its parameters; nothing if it takes them.

    tables, checked   of a structure: the whole description, and what there is to check of it
    values            of its parameters, by name
    """
    _, problems = draft(_with_parameters(checked, values))
    if not problems:
        return ""
    whole = _with_parameters(tables, values)
    _, problems = draft(whole)
    return "; ".join(str(named(problem, whole)) for problem in problems)


def _with_parameters(tables: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    known = dict(tables.get("parameters", {}))
    for name, value in values.items():
        if name in known:
            known[name] = {**known[name], "value": value} if isinstance(known[name], dict) else value
    return {**tables, "parameters": known}
