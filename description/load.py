"""Functions that read a TOML description file and report all of its problems at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import DescriptionError, Problem
from ..core.file_kinds import text_kind
from ..core.input_files import read_text
from ..language.suggest import unknown
from . import cases
from .consistency import problems_of
from .draft import draft
from .messages import named
from .tables.chain import Description
from .uses import misspelled

_LARGEST = 1_000_000  # maximum size of a description file, bytes; even a thousand links need much less
_DEEPEST = 20  # maximum nesting of tables and arrays; the deepest key, `pseudo_inertia`, has level 4


def load(path: Path | str, case: str | None = None, changes: Mapping[str, Any] | None = None) -> Description:
    """Read and check a description file, apply one of its cases, then change keys.

    Faults in other cases raise no error; see `faulty_cases`.

    Parameters
    ----------
    path
        TOML file.
    case
        Name of a case, or None.
    changes
        New values of keys, see `cases.flattened`.

    Returns
    -------
    Description
        Validated description.

    Raises
    ------
    DescriptionError
        If the file, the case or a change is invalid; the error contains all problems.
    """
    source = str(path)
    return from_data(read(path), case, source, changes)


def read(path: Path | str) -> dict[str, Any]:
    """Return the tables of a description file without validation.

    File paths are converted to paths relative to the working folder. If the file is not valid TOML,
    DescriptionError is raised.
    """
    text = read_text(Path(path), _LARGEST)
    try:
        return _with_paths(tomllib.loads(text), Path(path).parent)
    except (ValueError, RecursionError) as error:
        kind = text_kind(text)
        wrong = f"expected a description in TOML, got {kind}" if kind else f"the file is not valid TOML: {error}"
        raise DescriptionError(str(path), wrong) from None


def faulty_cases(path: Path | str) -> dict[str, list[Problem]]:
    """Return the problems of each faulty case in a description file, by the name of the case.

    Raises DescriptionError if the file cannot be read.
    """
    return dict(_faulty(read(path), ()))


def from_data(
    data: dict[str, Any],
    case: str | None = None,
    source: str = "description",
    changes: Mapping[str, Any] | None = None,
) -> Description:
    """Return the validated description from the parsed tables of a TOML file; see `load`."""
    if _is_deeper(data, _DEEPEST):
        raise DescriptionError(source, f"expected tables and arrays nested in at most {_DEEPEST} levels")
    chain, problems = _validate(data)
    named = ((entry.get("name"), index, entry) for index, entry in cases.entries(data))
    sets = {name: (index, entry.get("set")) for name, index, entry in named if isinstance(name, str)}
    if problems:
        problems += [problem for _, wrong in _faulty(data, problems) for problem in wrong]
    if case is not None and case not in sets:
        problems.append(Problem("cases", unknown("case", case, list(sets))))
    tables = data
    if case is not None and not problems:
        index, settings = sets[case]
        chain, tables, problems = _variant(tables, settings, f"cases[{index}].set", "leads")
    if changes and not problems:
        chain, tables, problems = _variant(tables, cases.flattened(changes, tables), "changes", "lead")
    if problems or chain is None:
        raise DescriptionError(source, problems)
    return chain


def _faulty(data: dict[str, Any], known: Sequence[Problem]) -> Iterator[tuple[str, list[Problem]]]:
    """Yield the name and the problems of each faulty case.

    Problems that the description also has without the case are omitted.
    """
    for index, entry in cases.entries(data):
        _, _, problems = _variant(data, entry.get("set"), f"cases[{index}].set", "leads", known)
        if problems:
            yield str(entry.get("name")), problems


def _variant(
    tables: dict[str, Any], settings: Any, where: str, leads: str, known: Sequence[Problem] = ()
) -> tuple[Description | None, dict[str, Any], list[Problem]]:
    """Return the changed description, the changed tables, and the problems that the changes cause.

    The description is None if it is invalid.
    """
    varied, problems = cases.varied(tables, settings, where, lambda changed: _validate(changed)[1])
    variant, consequences = _validate(varied)
    problems += [] if variant is None else misspelled(tables, variant, where)
    problems += [Problem(where, f"{leads} to {problem}") for problem in consequences if problem not in known]
    return variant, varied, problems


def tables_of(chain: Description) -> dict[str, Any]:
    """Return a description, without its cases, as tables that can be written to a TOML file."""
    tables: dict[str, Any] = chain.model_dump(mode="json", by_alias=True, exclude_unset=True)
    tables.pop("cases", None)
    return tables


def schema() -> dict[str, Any]:
    """Return the JSON Schema of descriptions, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Description.model_json_schema()


def _with_paths(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the tables with file paths relative to the working folder.

    A file path is the value of a key `file`.
    """

    def placed(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: placed(name, member) for name, member in value.items()}
        if isinstance(value, list):
            return [placed(key, member) for member in value]
        return str(folder / value) if isinstance(value, str) and key.rpartition(".")[2] == "file" else value

    return {key: placed(key, value) for key, value in data.items()}


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(member, levels - 1) for member in members)


def _validate(data: dict[str, Any]) -> tuple[Description | None, list[Problem]]:
    sound, problems = draft(data)
    if sound is not None:
        problems += problems_of(sound)
    found = list(dict.fromkeys(named(problem, data) for problem in problems))
    return (sound.chain if sound and not found else None), found
