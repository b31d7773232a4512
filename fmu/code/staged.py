"""Data types of a model that is cut into evaluation stages; see fmu/sources/core/equations.h."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

import casadi as ca

from ...description.types.start_search import SearchStage
from ...generator.program.tree import TreeMotion

# Derivatives and outputs depend only on the evaluation stages in the listed groups.
RUNNING = ("prepare", "start", "dynamics", "outputs")
_BESIDE = ("violations", "project_position", "project_velocity", "start_checks", "checks", "lengths", "samples")
GROUPS = (*RUNNING, *_BESIDE)
LEVELS = ("position", "velocity")
INPUT_ORDERS = 3


@dataclass(frozen=True)
class Block:
    """Block of consecutive doubles in the workspace array of the generated C code."""

    offset: int
    size: int


@dataclass(frozen=True)
class Label:
    """Name of a workspace block in the C code, and names of the block's elements.

    `elements` is empty if the elements have no names.
    """

    name: str
    elements: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, members: Iterable[tuple[str, int]]) -> Label:
        """Return the label of a workspace block from the names and sizes of its variables.

        A scalar variable `x` gives the element name `x`. An array `x` gives the element names `x[0]`,
        `x[1]`, ….
        """
        elements = ([member] if size == 1 else [f"{member}[{i}]" for i in range(size)] for member, size in members)
        return cls(name, tuple(chain.from_iterable(elements)))

    @property
    def change(self) -> Label:
        """Label of the workspace block with the directional derivatives of the values in this block."""
        return Label(f"change_of_{self.name}", tuple(f"change of {element}" for element in self.elements))


class Labels(NamedTuple):
    """Labels of all arguments and all results of a C function, in order."""

    arguments: Sequence[Label]
    results: Sequence[Label]


@dataclass(frozen=True)
class StagedSystem:
    """Dense linear system A X = B of size n with several right-hand sides, stored column by column.

    Attributes
    ----------
    n : int
        Number of equations.
    columns : int
        Number of right-hand sides; 0 if no stage reads the solution.
    matrix, right : Block
        Workspace blocks of A and B; the solution overwrites B.
    symmetric : bool
        Whether A is symmetric and positive definite, so that no pivots are needed.
    pivots : Block
        Workspace block of the row permutation of the LU factors.
    partition : bool
        Whether A is the Jacobian of a fixed choice of dependent coordinates, which must stay regular
        during a run.
    ratios : int
        Number of leading columns of X that contain ratios of dependent to independent velocities; 0 if
        A does not belong to a coordinate partition.
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
        """Workspace block of the matrix A, as a tuple of length one."""
        return (self.matrix,)


@dataclass(frozen=True)
class TreeSystem:
    """Equations of motion M X − Cᵀ Λ = F, C X = W with the mass matrix M of a tree of bodies.

    The arrays are described in fmu/sources/algebra/tree_rows.h and in generator/program/tree.py.

    Attributes
    ----------
    n, m, columns, bodies : int
        Number of coordinates, constraint equations, right-hand sides and bodies.
    axes, inertias, arms, armatures : Block
        Workspace blocks of the arrays that define M: joint axes, inertias, offset vectors and
        armatures, i.e. rotor inertias as seen at the joints.
    jacobian : Block
        Workspace block of the constraint Jacobian C.
    right, wanted : Block
        Workspace blocks of F and W; the solution X and the multipliers Λ overwrite these blocks.
    factors : Block
        Workspace block of the factors of M.
    work : Block
        Workspace block of scratch memory, in which the solver leaves the factors of the constraints.
    parents, ends : tuple of int
        Index of each body's parent, and index one past the last coordinate of each body.
    motions : tuple
        Motion type of each coordinate.
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
        """Workspace blocks of the arrays that define the mass matrix, then the block of the Jacobian C."""
        return self.axes, self.inertias, self.arms, self.armatures, self.jacobian


@dataclass(frozen=True)
class ConstrainedSystem:
    """Equations of motion M X − Cᵀ Λ = F, C X = W with dense matrices, stored column by column.

    Attributes
    ----------
    n, m, columns : int
        Number of coordinates, constraint equations and right-hand sides.
    matrix, jacobian : Block
        Workspace blocks of the mass matrix M and the constraint Jacobian C.
    right, wanted : Block
        Workspace blocks of F and W.
    solution, multipliers : Block
        Workspace blocks of X and Λ.
    work : Block
        Workspace block of factors that derivatives reuse; see
        fmu/sources/algebra/constrained_solve.h.
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
    """Evaluation stage: a CasADi function that reads and writes workspace blocks.

    The stage may also solve a linear system that the function has computed.

    Attributes
    ----------
    name, about : str
        Name of the stage's result, and names of the unknowns of its linear system, for messages.
    group : str
        Group of stages to which the stage belongs.
    function : casadi.Function
        Function that computes the outputs from the inputs.
    inputs, outputs : tuple of Block
        Workspace blocks of the arguments and of the results.
    system : StagedSystem, TreeSystem, ConstrainedSystem or None
        Linear system that is solved after the call of the function, or None if none is solved.
    labels : tuple of Label
        Labels of the outputs.
    vanishes : bool
        Whether the stage computes a Newton step that is zero after convergence, where its directional
        derivatives are evaluated. A change of the matrix then has no effect on the solution.
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
        """Workspace block that contains the solution after the linear system of the stage is solved."""
        assert isinstance(self.system, StagedSystem)
        return self.system.right


@dataclass(frozen=True)
class Phase:
    """Newton iteration in one phase of the search for the initial state; see fmu/code/start.py.

    Attributes
    ----------
    search : SearchStage
        Kind of the search, with its iteration limits.
    stage : int
        Index, within the group START, of the evaluation stage that computes the Newton system.
    found, begin : Block or None
        Workspace blocks of the sum of all Newton steps, and of the initial guess.
    left : Block
        Workspace block of the residual, which vanishes at the solution.
    names : tuple of str
        Names of the residual's elements, for messages.
    stiffness : Block or None
        Stiffness matrix, which the C code derives from the Jacobian and which is positive definite at a
        stable equilibrium. None if the stage computes the matrix of the Newton system itself.
    tried : Block or None
        Workspace block of a step that is tested before it is accepted; None if each Newton step is
        accepted.
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
    """Evaluation stages of a model and the layout of their workspace.

    Attributes
    ----------
    stages : list of Stage
        All stages in order of evaluation.
    phases : list of Phase
        Newton iterations of the initial-state search.
    given : list of int
        Offset of each state's start parameter in the workspace. The list is empty if the model has no
        initial-state search.
    blocks : dict
        Workspace blocks that the model-independent C code accesses, by name.
    labels : dict
        Labels of the workspace blocks that stages read, by block.
    size : int
        Size of the workspace, doubles.
    """

    stages: list[Stage] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    blocks: dict[str, Block] = field(default_factory=dict)
    labels: dict[Block, Label] = field(default_factory=dict)
    size: int = 0

    def group(self, name: str) -> list[Stage]:
        return [stage for stage in self.stages if stage.group == name]

    @property
    def running(self) -> list[Stage]:
        """Evaluation stages on which state derivatives and outputs depend, in order of evaluation.

        A stage with a linear system is omitted if no other stage reads the solution of this system.
        """
        running = (stage for stage in self.stages if stage.group in RUNNING)
        return [
            stage
            for stage in running
            if not (isinstance(stage.system, StagedSystem) and stage.system.columns == 0)
        ]

    def read(self, blocks: Sequence[Block]) -> list[Label]:
        return [self.labels[block] for block in blocks]

    def allocate(self, size: int, name: str | None = None) -> Block:
        """Append a block with `size` doubles to the workspace and return it."""
        block = Block(self.size, size)
        self.size += size
        if name is not None:
            self.blocks[name] = block
        return block
