"""Parameters and tables that a description uses, and those that nothing refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ..core.errors import Problem
from ..language import expressions
from ..language.ir import Expr
from ..language.suggest import unknown
from .fields.elements import Command
from .fields.numbers import ParametricNumber
from .tables.chain import Chain

_OPEN = {"parameters": "parameter", "tables": "table"}  # tables of a file that take any name


def unused(chain: Chain) -> dict[str, tuple[str, ...]]:
    """Names that neither the description nor the values of one of its cases refer to.

    Parameters
    ----------
    chain : Chain
        The description, with one of its cases or without.

    Returns
    -------
    dict
        `parameters` and `tables`, each with its unused names in the order of the file.
    """
    used, in_cases = used_names(chain), set(_words([case.set for case in chain.cases]))
    return {key: tuple(name for name in getattr(chain, key) if name not in used[key] | in_cases) for key in _OPEN}


def used_names(chain: Chain) -> dict[str, set[str]]:
    """Names of `parameters` and `tables` that numbers and expressions of the description refer to."""
    trees = [*_numbers(chain), *map(expressions.parse, _expressions(chain))]
    return {
        "parameters": {name for tree in trees for name in expressions.names(tree)},
        "tables": {use.data[0] for tree in trees for use in expressions.tables(tree)},
    }


def misspelled(before: Mapping[str, Any], after: Chain, where: str) -> Iterator[Problem]:
    """Problems of changes that add a parameter or table which nothing uses.

    Parameters
    ----------
    before : mapping
        Tables of the file without the changes.
    after : Chain
        The description with the changes.
    where : str
        Place of the changes, such as `cases[2].set`.

    Yields
    ------
    Problem
        One for each such name, with the closest name of the file.
    """
    used = used_names(after)
    for key, what in _OPEN.items():
        known = before.get(key, {})
        for name in getattr(after, key):
            if name not in known and name not in used[key]:
                yield Problem(f'{where}."{key}.{name}"', unknown(what, name, known))


def _numbers(part: Any) -> Iterator[Expr]:
    """Expressions of parameters that stand in place of numbers."""
    if isinstance(part, ParametricNumber):
        yield part.expression
    elif isinstance(part, BaseModel):
        yield from _numbers([getattr(part, key) for key in type(part).model_fields])
    elif isinstance(part, dict):
        yield from _numbers(list(part.values()))
    elif isinstance(part, list | tuple):
        for member in part:
            yield from _numbers(member)


def _expressions(chain: Chain) -> Iterator[str | float]:
    """Expressions of constraints, motions, forces, lines, commands of elements and outputs."""
    found: list[Any] = [entry.expression for entry in chain.programmed]
    found += [motion.position for motion in chain.motions]
    for force in chain.forces:
        found += [force.effort, *(force.force or ())]
    for line in chain.lines:
        found += [line.force, line.rest]
    found += [getattr(element, key) for _, element in chain.elements for key in element.marked(Command)]
    found += [output.expression for output in chain.outputs.expressions.values()]
    return (text for text in found if isinstance(text, str | float))


def _words(value: Any) -> Iterator[str]:
    """Words of all texts in a value of a case."""
    if isinstance(value, str):
        yield from re.findall(r"\w+", value)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
