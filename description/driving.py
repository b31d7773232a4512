"""Checks of inputs that elements drive, checks of sample times, and checks of initial values.

Initial values must not depend on forces or inputs, because they are computed from positions and
velocities.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import Problem
from ..language.suggest import unknown
from .circles import driven_outputs, names_in
from .draft import Draft
from .elements import ELEMENTS
from .fields.elements import Element
from .fields.numbers import value_of
from .references import References

# Largest number of samples; more samples would be slow, because the reference solver restarts at each sample.
_MOST_SAMPLES = 1_000_000


def problems(draft: Draft, names: References) -> Iterator[Problem]:
    """Yield the problems of driven inputs, sample counts and initial values.

    A driven input must exist, and only one controller may drive it. An initial value must not
    depend on forces or inputs.
    """
    elements = [entry for key in ELEMENTS for entry in draft.entries(key)]
    yield from _inputs(elements, draft)
    yield from _counts(elements, draft.chain.simulation.stop)
    dependence = _Dependence([element for _, element in elements], draft, names)
    for where, element in elements:
        for key in element.initial_commands:
            for name in dependence.unknown(getattr(element, key)):
                what = "an input" if name in draft.chain.inputs else names.kind(name)
                text = f"expected an initial value from positions and velocities, but {name} is {what}"
                yield Problem(f"{where}.{key}", f"{text}; use a filter of {name} that has the key `start`")


def _inputs(elements: list[tuple[str, Element]], draft: Draft) -> Iterator[Problem]:
    known, taken = draft.chain.inputs, dict[str, str]()
    for where, element in elements:
        name = element.drives_input
        if name is None:
            continue
        # A table of the description with an error may define the input, so an unknown name is not reported.
        if name not in known and not draft.faulty:
            yield Problem(f"{where}.drives", unknown("input", name, known))
        if name in taken:
            text = f"the input {name!r} is driven by {taken[name]} already; expected one controller per input"
            yield Problem(f"{where}.drives", text)
        taken.setdefault(name, where)


def _counts(elements: list[tuple[str, Element]], stop: float) -> Iterator[Problem]:
    """Yield a problem for each element with too many samples up to the end time, s."""
    for where, element in elements:
        key = element.sample_key
        count = 0.0 if key is None else stop / value_of(getattr(element, key))
        if count > _MOST_SAMPLES:
            text = f"expected at most {_MOST_SAMPLES} samples up to simulation.stop = {stop:g} s, got {count:.3g}"
            yield Problem(f"{where}.{key}", f"{text}; increase the sample time, or leave it out")


class _Dependence:
    """Search for forces and inputs on which initial values depend, directly or through other elements."""

    def __init__(self, elements: list[Element], draft: Draft, names: References) -> None:
        self._names = names
        self._driven = driven_outputs(draft)
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
