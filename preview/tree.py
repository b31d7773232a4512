"""Tree of a description's tables for the preview page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def tree(tables: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one tree node for each key of a table.

    A node contains the key, a title, the value as text, and a list of child nodes. An array that
    contains no tables has no child nodes.
    """
    return [_node(key, key, value) for key, value in tables.items()]


def _node(key: str, title: str, value: Any) -> dict[str, Any]:
    inner: list[dict[str, Any]] = []
    if isinstance(value, Mapping):
        inner = tree(value)
    elif _has_tables(value):
        inner = [_node(str(k), _title(k, member), member) for k, member in enumerate(value)]
    return {"key": key, "title": title, "text": "" if inner else _text(value), "inner": inner}


def _has_tables(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(member, Mapping) for member in value)


def _title(index: int, member: Any) -> str:
    name = member.get("name") if isinstance(member, Mapping) else None
    return f"[{index}] {name}" if isinstance(name, str) else f"[{index}]"


def _text(value: Any) -> str:
    """Return a value in TOML notation.

    A date is shown as a string. An integer with thousands of digits is shown as `…`.
    """
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:  # Python raises an error for the text of an integer with thousands of digits.
        return "…"
