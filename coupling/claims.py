"""Remarks on capabilities that an FMU declares in its model description although it does not have them.

A test, a call of the FMU or the simulation reveals a wrong declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

from .participant import Participant
from .system import CouplingRemark

_REMARKS = {
    "restores": ("restores_wrongly", "claims to save and restore its state, but {}; the feature is not used"),
    "takes_courses": ("ignores_slopes", "claims to interpolate its inputs, but {}; it gets their {}"),
    "gives_slopes": ("gives_no_slopes", "claims to give slopes of its outputs, but {}; they are not used"),
    "gives_gains": ("gives_no_derivatives", "claims to give directional derivatives, but {}; they are not used"),
    "memory": ("lists_no_states", "lists no states, but {}; states are assumed"),
}


def wrong_claims(part: Participant) -> Iterator[CouplingRemark]:
    """Yield a remark on each capability that an FMU declares but does not have.

    An FMU may also declare that it has no states, although its outputs depend on earlier inputs.
    Such an FMU also gets a remark.
    """
    given = "means" if part.abilities.memory else "values at the end of each step"
    for claim, why in part.abilities.wrong.items():
        id, sentence = _REMARKS[claim]
        yield CouplingRemark(id, part.name, f"{part.name} {sentence.format(why, given)}")
