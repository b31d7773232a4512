"""Option `--set KEY=VALUE` of the command line, which changes keys of the description."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from ..core.errors import DescriptionError, Problem


def changes_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return new values by dotted key, from command-line arguments `KEY=VALUE`.

    Raises
    ------
    DescriptionError
        If an argument has no key or no value, or if a key occurs twice; the error lists all problems.
    """
    found, problems = dict[str, Any](), list[Problem]()
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            expected = "expected KEY=VALUE, as in simulation.stop=2"
            problems.append(Problem(f"--set {text}", expected))
        elif key in found:
            problems.append(Problem(f"--set {key}", "the key occurs twice; expected one value"))
        else:
            found[key] = _value(value)
    if problems:
        raise DescriptionError("command line", problems)
    return found


def _value(text: str) -> Any:
    """Return the value of a text in TOML notation, such as `2.5` or `[1, 2]`.

    A text that is not valid TOML, such as the expression `2*payload`, is returned unchanged.
    """
    try:
        tables = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return tables["value"] if len(tables) == 1 else text
