"""TOML file → validated description, with a case applied; all problems of the file at once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import DescriptionError, Problem
from ..core.input_files import read_text
from ..language.suggest import unknown
from . import cases
from .consistency import problems_of
from .draft import draft
from .messages import named
from .tables.chain import Chain
from .uses import misspelled

_LARGEST = 1_000_000  # bytes; a description of a thousand links is far below
_DEEPEST = 20  # tables and arrays inside each other; a pseudo_inertia is at 4


def load(path: Path | str, case: str | None = None, changes: Mapping[str, Any] | None = None) -> Chain:
    """Description in a TOML file, one of its cases applied, and then changes, see `cases.flattened`.

    Raises DescriptionError with all problems of the file, its cases included.
    """
    source = str(path)
    return from_data(_read(Path(path), source), case, source, changes)


def from_data(
    data: dict[str, Any],
    case: str | None = None,
    source: str = "description",
    changes: Mapping[str, Any] | None = None,
) -> Chain:
    """Description from the tables of a TOML file; see `load`."""
    if _is_deeper(data, _DEEPEST):
        raise DescriptionError(source, f"has tables or arrays more than {_DEEPEST} deep")
    chain, problems = _validate(data)
    chosen, tables = (chain if case is None else None), data
    names = []
    for index, entry in cases.entries(data):
        varied, wrong = cases.varied(data, entry.get("set"), f"cases[{index}].set")
        variant, consequences = _validate(varied)
        new = [problem for problem in consequences if problem not in problems]
        wrong += [] if variant is None else misspelled(data, variant, f"cases[{index}].set")
        problems += [*wrong, *(Problem(f"cases[{index}].set", f"leads to {problem}") for problem in new)]
        names.append(entry.get("name"))
        if case == names[-1]:
            chosen, tables = variant, varied
    if case is not None and case not in names:
        problems.append(Problem("cases", unknown("case", case, [name for name in names if isinstance(name, str)])))
    if changes and not problems:
        varied, problems = cases.varied(tables, cases.flattened(changes, tables), "changes")
        chosen, consequences = _validate(varied)
        problems += [Problem("changes", f"lead to {problem}") for problem in consequences]
        problems += [] if chosen is None else misspelled(tables, chosen, "changes")
    if problems or chosen is None:
        raise DescriptionError(source, problems)
    return chosen


def tables_of(chain: Chain) -> dict[str, Any]:
    """The tables of a file that says the same, without its cases."""
    tables: dict[str, Any] = chain.model_dump(mode="json", by_alias=True, exclude_unset=True)
    tables.pop("cases", None)
    return tables


def schema() -> dict[str, Any]:
    """JSON Schema of the description, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Chain.model_json_schema()


def _read(path: Path, source: str) -> dict[str, Any]:
    text = read_text(path, _LARGEST)
    try:
        return _with_paths(tomllib.loads(text), path.parent)
    except (ValueError, RecursionError) as error:
        raise DescriptionError(source, f"is not valid TOML: {error}") from None


def _with_paths(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The tables with paths of files that go from the folder, wherever a key is called `file`."""

    def placed(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: placed(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [placed(key, member) for member in value]
        return str(folder / value) if isinstance(value, str) and key.rpartition(".")[2] == "file" else value

    return {key: placed(key, value) for key, value in data.items()}


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether tables and arrays are inside each other more than so many levels deep."""
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(member, levels - 1) for member in members)


def _validate(data: dict[str, Any]) -> tuple[Chain | None, list[Problem]]:
    """The chain if all is well, and all problems, those between sound parts included."""
    sound, problems = draft(data)
    if sound is not None:
        problems += problems_of(sound)
    found = list(dict.fromkeys(named(problem, data) for problem in problems))
    return (sound.chain if sound and not found else None), found
