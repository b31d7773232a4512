"""Detection of parameters and lookup tables that a description defines but does not use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ..core.errors import Problem
from ..language import expressions
from ..language.ir import Expr
from ..language.suggest import unknown
from .fields.numbers import ParametricNumber
from .tables.chain import Description

_OPEN = {
    "parameters": "parameter",
    "tables": "table",
}  # singular noun that messages use for an entry of each table


def unused(chain: Description) -> dict[str, tuple[str, ...]]:
    """Return the parameters and lookup tables that neither the description nor any of its cases uses.

    Parameters
    ----------
    chain
        Description, with or without one of its cases.

    Returns
    -------
    dict
        Unused names under the keys `parameters` and `tables`, in the order of the file.
    """
    used, in_cases = used_names(chain), set(_words([case.set for case in chain.cases]))
    return {key: tuple(name for name in getattr(chain, key) if name not in used[key] | in_cases) for key in _OPEN}


def used_names(chain: Description) -> dict[str, set[str]]:
    """Return the names in `parameters` and `tables` that numbers and expressions of a description
    use.
    """
    trees = [*_numbers(chain), *map(expressions.parse, _expressions(chain))]
    return {
        "parameters": {name for tree in trees for name in expressions.names(tree)},
        "tables": {use.data[0] for tree in trees for use in expressions.tables(tree)},
    }


def misspelled(before: Mapping[str, Any], after: Description, where: str) -> Iterator[Problem]:
    """Yield a problem for each parameter or lookup table that a change adds but nothing uses.

    The name is then probably misspelled.

    Parameters
    ----------
    before
        Tables of the file without the changes.
    after
        Description with the changes.
    where
        Place of the changes, such as `cases[2].set`.

    Yields
    ------
    Problem
        Message with the most similar name in the file.
    """
    used = used_names(after)
    for key, what in _OPEN.items():
        known = before.get(key, {})
        for name in getattr(after, key):
            if name not in known and name not in used[key]:
                yield Problem(f'{where}."{key}.{name}"', unknown(what, name, known))


def _numbers(part: Any) -> Iterator[Expr]:
    """Yield all expressions of parameters that a description contains in place of numbers."""
    if isinstance(part, ParametricNumber):
        yield part.expression
    elif isinstance(part, BaseModel):
        yield from _numbers([getattr(part, key) for key in type(part).model_fields])
    elif isinstance(part, dict):
        yield from _numbers(list(part.values()))
    elif isinstance(part, list | tuple):
        for member in part:
            yield from _numbers(member)


def _expressions(chain: Description) -> Iterator[str | float]:
    """Return all expressions in constraints, motions, applied forces, force elements and outputs."""
    found: list[Any] = [entry.expression for entry in chain.programmed]
    found += [motion.position for motion in chain.motions]
    for force in chain.forces:
        found += [force.effort, *(force.force or ())]
    for line in chain.lines:
        found += [line.force, line.rest]
    found += [getattr(element, key) for _, element in chain.elements for key in element.commands]
    found += [output.expression for output in chain.outputs.expressions.values()]
    return (text for text in found if isinstance(text, str | float))


def _words(value: Any) -> Iterator[str]:
    """Yield all words in all strings of a value; the value may be a nested table or list."""
    if isinstance(value, str):
        yield from re.findall(r"\w+", value)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
