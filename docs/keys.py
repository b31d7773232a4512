"""Generator of the reference of all description keys: `python docs/keys.py` writes `docs/keys.md` from
the JSON Schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpmelica.description import schema

PAGE = Path(__file__).with_name("keys.md")
_HEAD = """# Every key of a description

Made from the schema by `python docs/keys.py`; `gpmelica schema` prints the same for editors. SI units, angles in
rad. How keys work together is explained in [the chain description](description.md), joints and frames are drawn in
[joints and frames](joints.md), and the equations are explained in [theory](theory.md).
"""
_UNBOUNDED = 1e30

Schema = dict[str, Any]


def page() -> str:
    whole = schema()
    return "\n".join(
        [_HEAD, *_section("top level", whole, whole["$defs"]), *_sections(whole, whole["$defs"], "", set())]
    )


def _sections(table: Schema, tables: dict[str, Schema], path: str, done: set[str]) -> Iterator[str]:
    """Yield the sections of `docs/keys.md` about all tables that are nested below a table.

    If a table occurs several times, only the first occurrence is described.
    """
    for key, value in table["properties"].items():
        for name, heading in _tables_of(value, f"{path}{key}"):
            if name not in done:
                done.add(name)
                yield from _section(f"`{heading}`", tables[name], tables, name)
                yield from _sections(tables[name], tables, f"{path}{key}.", done)


def _tables_of(value: Schema, path: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the TOML heading of each table that is admissible as the value of a key."""
    if "$ref" in value:
        yield _name(value), f"[{path}]"
    for choice in (*value.get("anyOf", ()), *value.get("oneOf", ())):
        yield from _tables_of(choice, path)
    if "$ref" in value.get("items", {}):
        yield _name(value["items"]), f"[[{path}]]"
    if _members(value):
        yield from _tables_of(_members(value), f"{path}.NAME")


def _section(heading: str, table: Schema, tables: dict[str, Schema], name: str = "") -> Iterator[str]:
    anchor = f'<a id="{name}"></a>' if name else ""
    yield from (f"## {heading}{anchor}", "", table["description"], "")
    yield from ("| key | value | default | meaning |", "|---|---|---|---|")
    for key, value in table["properties"].items():
        # pydantic omits the description of a key if the value is a table with an identical description.
        meaning = value.get("description") or tables[_name(value)]["description"]
        default = "required" if key in table.get("required", ()) else _default(value)
        yield f"| `{key}` | {_value(value)} | {default} | {_cell(meaning)} |"
    yield ""


def _default(value: Schema) -> str:
    default = value.get("default")
    if default is None or default in ({}, []) or "$ref" in value:
        return "–"
    return f"`{json.dumps(default)}`"


def _value(value: Schema) -> str:
    """Return a phrase that describes the admissible values of a key."""
    choices = [
        choice for choice in (*value.get("anyOf", ()), *value.get("oneOf", ())) if choice != {"type": "null"}
    ]
    if choices:
        return " or ".join(map(_value, choices))
    if "$ref" in value:
        return f"[table](#{_name(value)})"
    known = value.get("enum") or ([value["const"]] if "const" in value else [])
    if known:
        return ", ".join(f"`{json.dumps(word)}`" for word in known)
    return _KINDS[value["type"]](value)


def _number(value: Schema) -> str:
    bounds = {"exclusiveMinimum": ">", "minimum": "≥", "maximum": "≤"}
    limits = [
        f"{sign} {value[key]:g}" for key, sign in bounds.items() if abs(value.get(key, _UNBOUNDED)) < _UNBOUNDED
    ]
    return " ".join([value["type"], ", ".join(limits)]).strip()


def _array(value: Schema) -> str:
    fixed = value.get("prefixItems")
    if fixed and fixed[0].get("type") == "array":
        return f"{len(fixed)}×{len(fixed[0]['prefixItems'])} numbers"
    if fixed:
        return f"{len(fixed)} {_plural(_value(fixed[0]))}"
    return f"list of {_plural(_value(value['items']))}"


def _plural(kind: str) -> str:
    return re.sub(r"\b(number|text|expression)\b", r"\1s", kind)


def _object(value: Schema) -> str:
    return f"names with {_value(_members(value))}" if _members(value) else "table"


_KINDS = {
    "string": lambda value: "name" if "pattern" in value else value.get("format", "text"),
    "boolean": lambda value: "`true`, `false`",
    "number": _number,
    "integer": _number,
    "array": _array,
    "object": _object,
}


def _members(value: Schema) -> Schema:
    found = value.get("additionalProperties") or next(iter(value.get("patternProperties", {}).values()), {})
    return found if isinstance(found, dict) else {}


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
