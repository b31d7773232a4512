"""What the oracle is given: a description as plain tables, and what production claims."""

from __future__ import annotations

from typing import Any

from . import reference
from .errors import SolveError
from .generator.description.plain import plain
from .oracle.claims import Claims
from .prepared import Prepared


def given(model: Prepared) -> tuple[dict[str, Any], Claims]:
    """Return the description and the claims about its start.

    Parameters
    ----------
    model : Prepared
        Mechanism with its initial state, rank, and choices.
    """
    q, qd = model.start
    coordinates = model.mechanism.coordinates
    start = {c.symbol: float(x) for c, x in zip(coordinates, q, strict=True)}
    start |= {f"{c.symbol}_dot": float(x) for c, x in zip(coordinates, qd, strict=True)}
    found = model.solvability
    claims = Claims(
        start=start,
        rank=found.rank,
        kept=tuple(found.independent),
        without_drive=tuple(found.without_drive),
        dependent=tuple(found.dependent),
        held=_held(model),
    )
    return plain(model.chain), claims


def _held(model: Prepared) -> tuple[str, ...]:
    """Return the names of the coordinates that were held while the equilibrium was sought."""
    if model.chain.simulation.start != "statics":
        return ()
    free = reference.free_coordinates(model.mechanism, model.start[0])
    return tuple(c.name for k, c in enumerate(model.mechanism.coordinates) if k not in free)
