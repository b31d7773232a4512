"""Parts of a staged program: stages, linear systems, blocks of one workspace (sources/core/equations.h)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

import casadi as ca

from ...description.types.start_search import SearchStage
from ...generator.program.tree import TreeMotion

RUNNING = ("prepare", "start", "dynamics", "outputs")  # groups that derivatives and outputs come from
GROUPS = (*RUNNING, "violations", "project_position", "project_velocity", "start_checks", "checks", "lengths")
LEVELS = ("position", "velocity")
INPUT_ORDERS = 3


@dataclass(frozen=True)
class Block:
    """Consecutive doubles of the workspace."""

    offset: int
    size: int


@dataclass(frozen=True)
class Label:
    """Name of a block, an identifier, and names of its elements; none if they have no names of their own."""

    name: str
    elements: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, members: Iterable[tuple[str, int]]) -> Label:
        """Label of a block of named members of some sizes: `x` for a number, `x[0]`, `x[1]`, … for an array."""
        elements = ([member] if size == 1 else [f"{member}[{i}]" for i in range(size)] for member, size in members)
        return cls(name, tuple(chain.from_iterable(elements)))

    @property
    def change(self) -> Label:
        """Label of a change of the block."""
        return Label(f"change_of_{self.name}", tuple(f"change of {element}" for element in self.elements))


class Labels(NamedTuple):
    """Labels of a function's arguments and results, in their order."""

    arguments: Sequence[Label]
    results: Sequence[Label]


@dataclass(frozen=True)
class StagedSystem:
    """A dense n×n system with several right-hand sides, column-major blocks of the workspace, and its pivots.

    symmetric  and positive definite; there are no pivots then
    columns    that are solved for; 0: nothing reads the unknown of a partition
    partition  of a fixed choice of dependent coordinates: has to be regular all the way of a run
    ratios     the first columns of the unknown that are dependent velocities per independent one
    """

    n: int
    columns: int
    matrix: Block
    right: Block
    symmetric: bool
    pivots: Block
    partition: bool
    ratios: int

    @property
    def left(self) -> tuple[Block, ...]:
        """Blocks of the left-hand side."""
        return (self.matrix,)


@dataclass(frozen=True)
class TreeSystem:
    """M X − Cᵀ Λ = F and C X = W with the mass matrix of a tree of bodies, see sources/algebra/tree_rows.h.

    right, wanted  F and W, and X and Λ in their places
    work           the rows' factors
    parents, ends, motions  see `generator.program.tree`
    """

    n: int
    m: int
    columns: int
    bodies: int
    axes: Block
    inertias: Block
    arms: Block
    armatures: Block
    jacobian: Block
    right: Block
    wanted: Block
    factors: Block
    work: Block
    parents: tuple[int, ...]
    ends: tuple[int, ...]
    motions: tuple[TreeMotion, ...]

    @property
    def left(self) -> tuple[Block, ...]:
        """Blocks of the left-hand side."""
        return self.axes, self.inertias, self.arms, self.armatures, self.jacobian


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


AnySystem: TypeAlias = StagedSystem | TreeSystem | ConstrainedSystem


@dataclass(frozen=True)
class Stage:
    """One function of the model, its argument and result blocks, and the solve that follows it.

    labels    names of the results and of their elements, in the order of `outputs`
    vanishes  the solution is zero wherever derivatives are taken, and so is what a change of the matrix does
    """

    name: str
    about: str
    group: str
    function: ca.Function
    inputs: tuple[Block, ...]
    outputs: tuple[Block, ...]
    system: AnySystem | None
    labels: tuple[Label, ...]
    vanishes: bool = False

    @property
    def solution(self) -> Block:
        """Block of the solution of the stage's linear system."""
        assert isinstance(self.system, StagedSystem)
        return self.system.right


@dataclass(frozen=True)
class Phase:
    """A stage of the group START whose step is repeated until it vanishes, see start.py.

    search  stage of the search that it is, with its limits
    stage  its position in the group
    found  what has been found so far; begin: what it began with
    left   what should be zero, and of what: names
    stiffness  matrix that the C layer makes of the tangent, positive definite where what is found is stable; None:
           the system's matrix is the stage's own
    tried  the step that is tried; None: without trial
    """

    search: SearchStage
    stage: int
    found: Block | None
    begin: Block | None
    left: Block
    names: tuple[str, ...]
    stiffness: Block | None
    tried: Block | None


@dataclass
class Staged:
    """All stages, the workspace's size, and the blocks of it that the fixed C layer knows by name.

    labels  names of blocks that stages read, and of their elements
    """

    stages: list[Stage] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    given: list[int] = field(
        default_factory=list
    )  # places of the states' start parameters, where phases find them
    blocks: dict[str, Block] = field(default_factory=dict)
    labels: dict[Block, Label] = field(default_factory=dict)
    size: int = 0

    def group(self, name: str) -> list[Stage]:
        """Stages of one group, in order."""
        return [stage for stage in self.stages if stage.group == name]

    @property
    def running(self) -> list[Stage]:
        """Stages that derivatives and outputs come from, in order; not those whose solution nothing reads."""
        running = (stage for stage in self.stages if stage.group in RUNNING)
        return [
            stage
            for stage in running
            if not (isinstance(stage.system, StagedSystem) and stage.system.columns == 0)
        ]

    def read(self, blocks: Sequence[Block]) -> list[Label]:
        """Labels of blocks that a stage reads."""
        return [self.labels[block] for block in blocks]

    def allocate(self, size: int, name: str | None = None) -> Block:
        """The next block of the workspace."""
        block = Block(self.size, size)
        self.size += size
        if name is not None:
            self.blocks[name] = block
        return block
