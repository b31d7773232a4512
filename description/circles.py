"""Detection of algebraic loops between forces and controllers whose expressions depend on each
other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ..core.errors import Problem
from ..language import expressions
from .draft import Draft
from .elements import ELEMENTS
from .references import References
from .types.measures import FORCE


def names_in(text: str) -> list[str]:
    """Return the names in an expression, or an empty list for an invalid expression."""
    try:
        return list(dict.fromkeys(expressions.names(expressions.parse(text))))
    except ValueError:
        return []


def problems(draft: Draft, names: References) -> Iterator[Problem]:
    """Yield a problem for each algebraic loop between forces of `[[lines]]` and outputs of elements.

    States of controllers interrupt a loop.
    """
    places, waiting = dict[str, str](), dict[str, list[str]]()
    for where, quantity, used in (*_of_lines(draft), *_of_elements(draft)):
        places.setdefault(quantity, where)
        waiting[quantity] = [name for name in used if names.is_force(name)]
    while circle := _circle(waiting):
        what = "forces" if all(name.endswith(f"_{FORCE}") for name in circle) else "outputs"
        text = f"{' → '.join(circle)}: these {what} form an algebraic loop; remove one dependency"
        yield Problem(places[circle[0]], text)
        waiting[circle[0]].remove(circle[1])


def _of_lines(draft: Draft) -> Iterator[tuple[str, str, list[str]]]:
    """Yield key path, name and dependencies of the force of each two-point force element.

    Dependencies are the names of the quantities from which the force is computed.
    """
    called, driven = dict(draft.names("lines")), driven_outputs(draft)
    for where, text in draft.texts("lines", "force"):
        yield where, f"{called.get(where.removesuffix('.force'), '')}_{FORCE}", names_in(text)
    for where, line in draft.entries("lines"):
        if line.input and line.name in driven:
            yield where, f"{line.name}_{FORCE}", [driven[line.name]]


def _of_elements(draft: Draft) -> Iterator[tuple[str, str, list[str]]]:
    """Yield key path, name and dependencies of each quantity that an element publishes.

    The key path is the path of the element. The dependencies are the names on which the quantity
    depends directly.
    """
    driven = driven_outputs(draft)
    for key in ELEMENTS:
        for where, element in draft.entries(key):
            texts = (getattr(element, part) for part in element.direct_commands)
            used = [name for text in texts if isinstance(text, str) for name in names_in(text)]
            inputs = (element.inputs.get(part, "") for part in element.direct_commands)
            used += [driven[name] for name in inputs if name in driven]
            yield from ((where, quantity, used) for quantity in element.spelled(element.name))


def driven_outputs(draft: Draft) -> dict[str, str]:
    """Return the controller outputs that drive inputs, as written in expressions.

    The dictionary keys are the names of the driven inputs.
    """
    return {name: output.replace(".", "_") for name, output in draft.chain.driven.items()}


def _circle(waiting: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the quantities of one algebraic loop, with the first quantity repeated at the end.

    Each quantity depends on the next one.
    """
    try:
        TopologicalSorter(
            {name: [x for x in others if x in waiting] for name, others in waiting.items()}
        ).prepare()
    except CycleError as error:
        found: list[str] = error.args[1][::-1]  # reversed: graphlib lists a quantity before its dependants
        return found
    return []
