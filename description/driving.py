"""Checks of elements that drive inputs, and of initial values on which elements depend."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import Problem
from ..language.suggest import unknown
from .circles import names_in
from .draft import Draft
from .elements import ELEMENTS
from .fields.elements import Element
from .references import References


def problems(draft: Draft, names: References) -> Iterator[Problem]:
    """Yield a problem for each input that is unknown or driven twice, and for each initial value that
    cannot be computed.
    """
    elements = [entry for key in ELEMENTS for entry in draft.entries(key)]
    yield from _inputs(elements, draft)
    dependence = _Dependence([element for _, element in elements], draft, names)
    for where, element in elements:
        for key in element.initial_commands:
            for name in dependence.unknown(getattr(element, key)):
                what = "an input" if name in draft.chain.inputs else "a force"
                text = f"expected an initial value from positions and velocities, but {name} is {what}"
                yield Problem(f"{where}.{key}", f"{text}; use a filter of {name} with the key start")


def _inputs(elements: list[tuple[str, Element]], draft: Draft) -> Iterator[Problem]:
    known, taken = draft.chain.inputs, dict[str, str]()
    for where, element in elements:
        name = element.drives_input
        if name is None:
            continue
        if name not in known and not draft.faulty:  # faulty parts may define further inputs
            yield Problem(f"{where}.drives", unknown("input", name, known))
        if name in taken:
            text = f"the input {name!r} is driven by {taken[name]} already; expected one controller per input"
            yield Problem(f"{where}.drives", text)
        taken.setdefault(name, where)


class _Dependence:
    """Dependence of initial values on forces and inputs, also by way of other elements."""

    def __init__(self, elements: list[Element], draft: Draft, names: References) -> None:
        self._names = names
        self._driven = {name: output.replace(".", "_") for name, output in draft.chain.driven.items()}
        self._known = {name: each for each in elements for name in each.spelled(each.name)}

    def unknown(self, text: str | float, seen: tuple[str, ...] = ()) -> Iterator[str]:
        """Yield the forces and inputs on which the initial value of an expression depends."""
        for name in filter(self._names.is_force, names_in(str(text))):
            element = self._known.get(name)
            if element is None:
                yield name
            elif name not in seen:
                for key in dict.fromkeys((*element.direct_commands, *element.initial_commands)):
                    yield from self._of_command(element, key, (*seen, name))

    def _of_command(self, element: Element, key: str, seen: tuple[str, ...]) -> Iterator[str]:
        given = getattr(element, key)
        if given is not None:
            yield from self.unknown(given, seen)
            return
        name = element.inputs[key]
        if name in self._driven:
            yield from self.unknown(self._driven[name], seen)
        else:
            yield name
