"""Choice of independent constraint equations among redundant ones.

See Wojtyra and Frączek 2013, section 3.1.
"""

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
    """Independent constraint equations, chosen once at a consistent state and used for the whole run.

    The choice is not repeated, because redundant equations seem independent at states off the
    constraint manifold. C is the constraint Jacobian.

    Attributes
    ----------
    rank : Rank
        Rank of C at the consistent state.
    extent : float
        Characteristic length of the mechanism, m.
    unit : ndarray, shape (n,)
        Scale of each coordinate, see `extent.units_of_change`.
    independent : tuple of int
        Indices of independent equations; their number is the rank.
    groups : tuple of tuple of int
        Groups of mutually dependent equations, see `redundancy.redundant_groups`.
    basis : Elimination or MinimumNorm
        Function of C that returns the combination matrix E, shape (r, m). E C is the Jacobian of r
        independent combinations of the m equations.
    kept_names : tuple of str
        Names of the equations that take part in the combination.
    drives : AllJoints or Actuated
        Drives that realise the programmed constraints.
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
    """Choose independent constraint equations at a consistent state.

    The key `constraints.redundant` of the description selects the method.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with the constraints.
    constraints : CompiledConstraints
        Constraint equations.
    state : KinematicState
        State that fulfils the constraints.
    uncertainty : float
        Error of the state's coordinates, relative to the characteristic length of the mechanism.

    Raises
    ------
    SolveError
        If the description lists wrong or too few redundant equations. SolveError is also raised if the drives
        cannot realise the programmed constraints, or if the drives' efforts are not unique.
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
    """Return the rank of the constraint Jacobian at a consistent state.

    The argument `uncertainty` is the error of the coordinates, relative to the characteristic length of
    the mechanism.
    """
    unit = units_of_change(mechanism, state.posture)[1]
    C = comparable(constraints(state).C, constraints.sizes(state).C, unit, uncertainty)
    return rank_of(C, max(TOLERANCE, uncertainty))


def _automatic(constraints: CompiledConstraints, C: Array, least: float) -> tuple[int, ...]:
    """Return the indices of independent equations, with programmed and fixed-base constraints preferred.

    The multipliers of these constraints yield the efforts of the drives and the reactions of the base.
    """
    preferred = [*constraints.programmed, *constraints.base_rows]
    return independent_rows(C, [preferred, [k for k in range(len(C)) if k not in preferred]], least)


def _without(
    constraints: CompiledConstraints,
    C: Array,
    rank: int,
    named: tuple[str, ...],
    groups: tuple[tuple[int, ...], ...],
) -> tuple[int, ...]:
    """Return the indices of all equations except those that the description declares as redundant.

    Raises
    ------
    SolveError
        If the remaining equations are not independent or have a lower rank than all equations together.
    """
    kept = [k for k, name in enumerate(constraints.names) if name not in named]
    found = rank_of(C[kept]).rank
    if found == len(kept) == rank:
        return tuple(kept)
    depend = "; ".join(", ".join(constraints.names[k] for k in group) for group in groups) or "none"
    if found < rank:
        text = f"without {', '.join(named)} the constraint equations have rank {found}, expected {rank}"
    else:
        text = f"{len(kept)} constraint equations remain, but their rank is only {rank}"
    raise SolveError(
        f"{text}; list {len(C) - rank} redundant equations in constraints.redundant; choose them from these"
        f" groups of dependent equations: {depend}"
    )
