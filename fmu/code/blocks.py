"""Places in the workspace of the C layer, and what is solved for between stages (sources/core/equations.h)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """Consecutive doubles of the workspace."""

    offset: int
    size: int


@dataclass(frozen=True)
class System:
    """A dense n×n system with several right-hand sides, column-major blocks of the workspace, and its pivots.

    partition  of a fixed choice of dependent coordinates: has to be regular all the way of a run
    ratios     the first columns of the unknown that are dependent velocities per independent one
    """

    n: int
    columns: int
    matrix: Block
    right: Block
    pivots: Block
    partition: bool
    ratios: int


@dataclass(frozen=True)
class ConstrainedSystem:
    """M X − Cᵀ Λ = F and C X = W, see `generator.program.ConstrainedSolve`; column-major blocks of the workspace.

    work  what is kept of the solution, for derivatives: see `sources/algebra/constrained_solve.h`
    """

    n: int
    m: int
    columns: int
    matrix: Block
    jacobian: Block
    right: Block
    wanted: Block
    solution: Block
    multipliers: Block
    work: Block
