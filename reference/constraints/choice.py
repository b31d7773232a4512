"""Choice of the kept constraints among dependent ones (Wojtyra and Frączek 2013, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism
from ..kinematics.extent import units_of_change
from ..kinematics.quantities import KinematicState
from .constraints import CompiledConstraints
from .drives import Actuated, AllJoints
from .redundancy import (
    TOLERANCE,
    Elimination,
    MinimumNorm,
    Rank,
    comparable,
    independent_rows,
    rank_of,
    redundant_groups,
)


@dataclass(frozen=True)
class RowChoice:
    """Made once, at a consistent state, and kept: beside the manifold rows that depend on each other seem not to.

    rank          of C there
    extent, unit  m, and shape (n,), see `extent.units_of_change`
    independent   indices of `rank` rows that do not depend on each other
    groups        indices of rows that depend on each other, see `redundancy.redundant_groups`
    basis         C ↦ E, shape (r, m): what is made of the rows
    kept_names    of the rows that have a say
    drives        who realises the programmed constraints
    """

    rank: Rank
    extent: float
    unit: Array
    independent: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    basis: Elimination | MinimumNorm
    kept_names: tuple[str, ...]
    drives: AllJoints | Actuated


def choose_rows(
    mechanism: Mechanism, constraints: CompiledConstraints, state: KinematicState, uncertainty: float
) -> RowChoice:
    """The choice at a consistent state, as `constraints.redundant` of the description says.

    uncertainty   of the state's coordinates, relative to the mechanism's extent
    Raises SolveError if the rows named there are not redundant, or not all that are; or for drives that cannot do
    what they have to.
    """
    (extent, unit), least = units_of_change(mechanism, state.posture), max(TOLERANCE, uncertainty)
    rows, sizes = constraints(state).C, constraints.sizes(state).C
    C = comparable(rows, sizes, unit, uncertainty)
    rank, automatic = rank_of(C, least), _automatic(constraints, C, least)
    groups = redundant_groups(C, automatic)
    named = mechanism.redundant
    independent = automatic if isinstance(named, str) else _without(constraints, C, rank.rank, named, groups)
    least = named == "minimum_norm"
    return RowChoice(
        rank,
        extent,
        unit,
        independent,
        groups,
        MinimumNorm(rank.rank, sizes, unit) if least else Elimination(independent, len(C)),
        constraints.names if least else tuple(constraints.names[k] for k in independent),
        AllJoints(constraints)
        if mechanism.actuated is None
        else Actuated(mechanism, constraints, C, independent, sizes, unit),
    )


def rank_at(
    mechanism: Mechanism, constraints: CompiledConstraints, state: KinematicState, uncertainty: float
) -> Rank:
    """Return the rank of C at a consistent state; see `choose_rows`."""
    unit = units_of_change(mechanism, state.posture)[1]
    C = comparable(constraints(state).C, constraints.sizes(state).C, unit, uncertainty)
    return rank_of(C, max(TOLERANCE, uncertainty))


def _automatic(constraints: CompiledConstraints, C: Array, least: float) -> tuple[int, ...]:
    """Rows that are programmed or hold the base stay if possible: their efforts are what the drives deliver."""
    wanted = [*constraints.programmed, *constraints.base_rows]
    return independent_rows(C, [wanted, [k for k in range(len(C)) if k not in wanted]], least)


def _without(
    constraints: CompiledConstraints,
    C: Array,
    rank: int,
    named: tuple[str, ...],
    groups: tuple[tuple[int, ...], ...],
) -> tuple[int, ...]:
    """The rows that are not named; they must be independent, and none may be missing."""
    kept = [k for k, name in enumerate(constraints.names) if name not in named]
    found = rank_of(C[kept]).rank
    if found == len(kept) == rank:
        return tuple(kept)
    depend = "; ".join(", ".join(constraints.names[k] for k in group) for group in groups) or "none"
    if found < rank:
        text = f"without {', '.join(named)} the other rows have rank {found} instead of {rank}"
    else:
        text = f"without {', '.join(named) or 'any row'} the other {len(kept)} rows still have rank {rank} only"
    raise SolveError(
        f"{text}: leave out {len(C) - rank} of the rows that depend on each other, which are: {depend}"
    )
