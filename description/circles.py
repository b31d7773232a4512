"""Detection of algebraic loops: forces whose expressions depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ..core.errors import Problem
from ..language import expressions
from .draft import Draft
from .references import References


def names_in(text: str) -> list[str]:
    """Return the names in an expression, or an empty list for an invalid expression."""
    try:
        return list(dict.fromkeys(expressions.names(expressions.parse(text))))
    except ValueError:
        return []


def problems(draft: Draft, names: References) -> Iterator[Problem]:
    """Yield a problem for each algebraic loop between forces of `[[lines]]`."""
    places, waiting = dict[str, str](), dict[str, list[str]]()
    called = dict(draft.names("lines"))
    for where, text in draft.texts("lines", "force"):
        name = called.get(where.removesuffix(".force"), "")
        places[name] = where
        waiting[name] = [names.measured[x].partition(".")[0] for x in filter(names.is_force, names_in(text))]
    while circle := _circle(waiting):
        shown = " → ".join(f"{name}_force" for name in circle)
        text = f"{shown}: these forces form an algebraic loop; remove one dependency"
        yield Problem(places[circle[0]], text)
        waiting[circle[0]].remove(circle[1])


def _circle(waiting: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the forces of one algebraic loop, in the order of their dependence.

    The first force is repeated at the end.
    """
    try:
        TopologicalSorter(
            {name: [x for x in others if x in waiting] for name, others in waiting.items()}
        ).prepare()
    except CycleError as error:
        found: list[str] = error.args[1][::-1]  # graphlib lists each force before its users; the list is reversed
        return found
    return []
