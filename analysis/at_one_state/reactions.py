"""Uniqueness of joint reactions in rigid-body models (Wojtyra and Frączek 2013, sections 3 and 4.2).

With redundant constraints, the multipliers λ are determined only up to the null space of Cᵀ. Let
C E = Q R be a decomposition with a column permutation E, and p the number of redundant constraints.
Then the last p columns of Q span this null space. For a kinematic pair X, the matrix C_X consists of
the rows of C that belong to X. The matrix Q_X consists of the same rows of these p columns. The
reaction of the pair X is unique if C_Xᵀ Q_X is zero (equations 21 to 27).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...reference.constraints.redundancy import Rank, rank_of
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.manifold import Manifold, elsewhere
from ...reference.solve.model import ReferenceModel
from ...reference.solve.solver import InitialValueProblem
from ..start.absolute import Pair, pairs
from ..start.planar import in_plane

# A wrench component counts as zero up to this value if the vector of Lagrange multipliers has norm 1.
_ZERO = 1e-7


@dataclass(frozen=True)
class Verdict:
    """Uniqueness of the reaction of one kinematic pair; see `absolute.Pair`.

    Parameters
    ----------
    name, kind : str
        Name and kind of the pair.
    unique : bool
        Whether the whole reaction is unique.
    components : dict
        Whether each transmitted component of the reaction is unique, by name such as `fx`.
    """

    name: str
    kind: str
    unique: bool
    components: dict[str, bool]


@dataclass(frozen=True)
class Reactions:
    """Rank of the constraints in absolute coordinates, and uniqueness of each joint reaction.

    Absolute coordinates are six per body, or three per body of a planar mechanism. C is the constraint
    Jacobian of all joints and closures in these coordinates.

    Parameters
    ----------
    rows
        Number of rows of C.
    columns
        Number of columns of C.
    rank
        Numerical rank of C. The field also contains the smallest singular value that counts as nonzero,
        and the largest that counts as zero.
    holonomic
        Rank of those rows of C that belong to position constraints.
    nonholonomic
        Rank of those rows of C that belong to velocity constraints.
    planar
        Whether the mechanism is planar.
    verdicts
        Uniqueness of the reaction of each joint and closure.
    redundant_rows
        Groups of linearly dependent constraint equations of the description, by name.
    elsewhere
        Rank of C in a second configuration that fulfils the constraints.

    Examples
    --------
    >>> import gpmelica as gp
    >>> found = gp.load("examples/four_bar_3d.toml").reactions()
    >>> found.redundancy, found.singular
    (3, False)
    >>> found.not_unique
    ('crank', 'coupler', 'rocker', 'pin')
    """

    rows: int
    columns: int
    rank: Rank
    holonomic: int
    nonholonomic: int
    planar: bool
    verdicts: tuple[Verdict, ...]
    redundant_rows: tuple[tuple[str, ...], ...]
    elsewhere: int

    @property
    def singular(self) -> bool:
        """Whether the initial configuration is singular.

        The configuration is singular if the rank of C is different in a second configuration.
        """
        return self.elsewhere != self.rank.rank

    @property
    def redundancy(self) -> int:
        """Degree of redundancy: number of rows of the constraint Jacobian minus rank of this Jacobian.

        See Wojtyra and Frączek 2013, equation (7).
        """
        return self.rows - self.rank.rank

    @property
    def not_unique(self) -> tuple[str, ...]:
        """Names of the joints and closures whose reactions are not unique."""
        return tuple(verdict.name for verdict in self.verdicts if not verdict.unique)


def reactions(problem: InitialValueProblem) -> Reactions:
    """Determine which joint reactions are unique in the initial state.

    The initial state is first projected onto the position constraints. A second configuration is then
    analysed. If C has the same rank there, a reaction or component counts as unique only if it is
    unique in both configurations.

    Raises
    ------
    SolveError
        If the QR decomposition and the singular values give different results. The rank is then
        ill-conditioned.
    """
    model, given = problem.model, problem.initial_state
    state = Manifold(model, given).nearest(given).state
    here, there = _Analysis(model, state), _Analysis(model, elsewhere(model, state))
    same = here.planar == there.planar and here.rank.rank == there.rank.rank
    found = here.pairs
    return Reactions(
        rows=sum(len(pair.rows) for pair in found),
        columns=(3 if here.planar else 6) * len(problem.mechanism.bodies),
        rank=here.rank,
        holonomic=_rank([pair for pair in found if pair.order == 0]).rank,
        nonholonomic=_rank([pair for pair in found if pair.order]).rank,
        planar=here.planar,
        verdicts=tuple(map(_both, here.verdicts, there.verdicts)) if same else here.verdicts,
        redundant_rows=problem.solvability.redundant,
        elsewhere=here.rank.rank + there.spatial_rank - here.spatial_rank,
    )


class _Analysis:
    """Rank of the constraint Jacobian, and uniqueness of the joint reactions, at one state."""

    def __init__(self, model: ReferenceModel, state: KinematicState) -> None:
        spatial = pairs(model, state)
        plane = in_plane(model, state, spatial)
        self.planar = plane is not None
        self.pairs = [pair.scaled() for pair in (spatial if plane is None else plane)]
        self.rank, self.spatial_rank = _rank(self.pairs), _rank(spatial).rank
        C = _stacked(self.pairs)
        self.verdicts = _verdicts(self.pairs, _idle_by_qr(C, self.rank))
        _cross_check(self.verdicts, _verdicts(self.pairs, _idle_by_svd(C, self.rank)), self.rank)


def _both(here: Verdict, there: Verdict) -> Verdict:
    """Combine two results about the uniqueness of one joint reaction, each from one configuration.

    The reaction or a component counts as unique if it is unique in both configurations.
    """
    components = {key: unique and there.components.get(key, True) for key, unique in here.components.items()}
    return Verdict(here.name, here.kind, here.unique and there.unique, components)


def _stacked(found: Sequence[Pair]) -> Array:
    return np.vstack([pair.rows for pair in found]) if found else np.zeros((0, 0))


def _rank(found: Sequence[Pair]) -> Rank:
    return rank_of(_stacked([pair.scaled() for pair in found]))


def _idle_by_qr(C: Array, rank: Rank) -> Array:
    return np.asarray(qr(C, pivoting=True)[0][:, rank.rank :]) if C.size else np.zeros((0, 0))


def _idle_by_svd(C: Array, rank: Rank) -> Array:
    return np.linalg.svd(C)[0][:, rank.rank :] if C.size else np.zeros((0, 0))


def _verdicts(found: Sequence[Pair], idle: Array) -> tuple[Verdict, ...]:
    ends = np.cumsum([len(pair.rows) for pair in found])
    return tuple(_verdict(pair, idle[end - len(pair.rows) : end]) for pair, end in zip(found, ends, strict=True))


def _verdict(pair: Pair, idle: Array) -> Verdict:
    unique = _vanishes(pair.rows.T @ idle)
    borne = [c for c in range(len(pair.components)) if not _vanishes(pair.wrenches[:, c])]
    sizes = np.linalg.norm(pair.wrenches, axis=0)
    components = {pair.components[c]: unique or _vanishes(pair.wrenches[:, c] @ idle / sizes[c]) for c in borne}
    return Verdict(pair.name, pair.kind, unique, components)


def _vanishes(values: Array) -> bool:
    return bool(np.abs(values).max(initial=0.0) <= _ZERO)


def _cross_check(by_qr: tuple[Verdict, ...], by_svd: tuple[Verdict, ...], rank: Rank) -> None:
    differing = [a.name for a, b in zip(by_qr, by_svd, strict=True) if a != b]
    if differing:
        raise SolveError(
            f"cannot decide whether the reactions of {', '.join(differing)} are unique: QR decomposition and"
            f" singular values give different ranks (smallest nonzero singular value {rank.smallest:.2g},"
            f" largest value treated as zero {rank.largest:.2g}); the initial position is close to a singular"
            " one; change it or the dimensions"
        )
