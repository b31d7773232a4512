"""Items of a program, definitions and linear systems, each computed from items before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...description.types.origin import Origin
from ...language.ir import Expr, Index, Shape
from .tree import InertiaForces, Transmitted, Tree


@dataclass(frozen=True)
class Traits:
    """Properties of a definition beside its value, see `Definition`."""

    symmetric: bool = False
    replaceable: bool = False
    by_row: bool = False
    inertial: InertiaForces | Transmitted | None = None


PLAIN = Traits()


@dataclass(frozen=True)
class Definition:
    """`name = expr`, or block by block.

    parts        blocks (zero-based index, or () for the whole) and their expressions; together they fill the
                 shape. In items rewritten for Modelica compilers a part may use parts before it
    unit         one unit for all elements, or None where they differ; the description then says which
    constant     depends on parameters only
    symmetric    the parts are the upper triangle of a symmetric matrix
    calculated   a parameter of the FMU that follows from others
    inertial     the product with a mass matrix, or the joint reaction, that the value is; None: neither
    replaceable  the value of an applied force, which an input may replace
    by_row       its i-th part belongs to the i-th constraint row
    """

    name: str
    shape: Shape
    unit: str | None
    description: str
    parts: tuple[tuple[Index, Expr], ...]
    origin: Origin
    constant: bool = False
    symmetric: bool = False
    replaceable: bool = False
    by_row: bool = False
    calculated: bool = False
    inertial: InertiaForces | Transmitted | None = None

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """Expressions of all parts."""
        return tuple(expr for _, expr in self.parts)


@dataclass(frozen=True)
class LinearSolve:
    """`matrix · name = right`: name is the unknown, of the shape of `right`.

    about   what is solved and by which coordinates, for messages
    ratios  of a fixed choice of dependent coordinates, whose matrix has to be regular all the way of a run: how
            many of the unknown's first columns are dependent velocities per independent one
    tree    whose mass matrix the matrix is, if it is one
    symmetric  the matrix is, and positive definite
    """

    name: str
    shape: Shape
    unit: str | None
    description: str
    matrix: Expr
    right: Expr
    about: str
    origin: Origin
    ratios: int | None = None
    tree: Tree | None = None
    symmetric: bool = False

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """Matrix and right-hand side."""
        return self.matrix, self.right


@dataclass(frozen=True)
class ConstrainedSolve:
    """`matrix·X − jacobianᵀ·Λ = right` and `jacobian·X = wanted`: X is `name`, Λ is `multipliers` (None: unused).

    matrix       M, shape (n, n), symmetric and regular on what the rows leave free
    jacobian     C, shape (m, n), of rank m
    right        F, shape (n,) or (n, c); X has the same one
    wanted       W, shape (m,) or (m, c); so has Λ
    coordinates  names of the n coordinates
    dependent    indices of m of them whose columns of C are regular at the start
    ratios       these columns, C_d, and ∂X_d/∂X_i (None: nothing is independent), where these coordinates are to
                 be dependent wherever the system is solved; None: where the choice is free
    tree         whose mass matrix M is
    """

    name: str
    shape: Shape
    multipliers: str | None
    description: str
    matrix: Expr
    jacobian: Expr
    right: Expr
    wanted: Expr
    coordinates: tuple[str, ...]
    dependent: tuple[int, ...]
    origin: Origin
    ratios: tuple[Expr, Expr | None] | None = None
    tree: Tree | None = None
    unit: str | None = None

    @property
    def independent(self) -> tuple[int, ...]:
        """Indices of the independent coordinates."""
        return tuple(k for k in range(self.shape[0]) if k not in self.dependent)

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """M, C, F and W."""
        return self.matrix, self.jacobian, self.right, self.wanted

    @property
    def about(self) -> str:
        """Names of the coordinates, for messages."""
        return listed(self.coordinates)


@dataclass(frozen=True)
class TreeSolve:
    """A solve with the mass matrix of a tree, which is not formed; system: the same with that matrix."""

    system: LinearSolve | ConstrainedSolve
    tree: Tree

    @property
    def name(self) -> str:
        """Name of the unknown."""
        return self.system.name

    @property
    def shape(self) -> Shape:
        """Shape of the unknown."""
        return self.system.shape

    @property
    def unit(self) -> str | None:
        """Unit of the unknown; None if it differs by element."""
        return self.system.unit

    @property
    def description(self) -> str:
        """Description of the unknown."""
        return self.system.description

    @property
    def about(self) -> str:
        """Names of the coordinates, for messages."""
        return self.system.about

    @property
    def origin(self) -> Origin:
        """Origin of the system in the description."""
        return self.system.origin

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """Quantities of the tree, and all expressions of the system except its matrix."""
        return (*(expr for block in self.tree.blocks for expr in block), *self.system.exprs[1:])


@dataclass(frozen=True)
class ImplicitSystem:
    """Equations `left = right` that together give `name`, linear in it; for tools that solve by themselves."""

    name: str
    shape: Shape
    unit: str | None
    description: str
    equations: tuple[tuple[Expr, Expr], ...]
    origin: Origin

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """Left and right-hand sides of all equations."""
        return tuple(expr for equation in self.equations for expr in equation)


def listed(names: Sequence[str]) -> str:
    """Names for a message, not too many of them."""
    return ", ".join(names if len(names) <= 8 else [*names[:4], "…", *names[-3:]])


Item: TypeAlias = Definition | LinearSolve | TreeSolve | ConstrainedSolve | ImplicitSystem


def used(item: Item) -> set[str]:
    """Names that an item's expressions use, and those of the partition that has to be regular for a solve."""
    exprs = [*item.exprs, *_partition(item)]
    return {name for expr in exprs for name in expr.symbols}


def _partition(item: Item) -> list[Expr]:
    solved = item.system if isinstance(item, TreeSolve) else item
    if not isinstance(solved, ConstrainedSolve) or solved.ratios is None:
        return []
    return [expr for expr in solved.ratios if expr is not None]


def given(item: Item) -> tuple[str, ...]:
    """Names that an item gives values to."""
    solved = item.system if isinstance(item, TreeSolve) else item
    if isinstance(solved, ConstrainedSolve) and solved.multipliers is not None:
        return solved.name, solved.multipliers
    return (solved.name,)


def rewritten(item: Item, change: Callable[[Expr], Expr]) -> Item:
    """Return the item with changed expressions."""
    if isinstance(item, Definition):
        return replace(item, parts=tuple((index, change(expr)) for index, expr in item.parts))
    if isinstance(item, LinearSolve):
        return replace(item, matrix=change(item.matrix), right=change(item.right))
    if isinstance(item, ImplicitSystem):
        return replace(item, equations=tuple((change(left), change(right)) for left, right in item.equations))
    raise TypeError(f"{item.name} is no item of a program with linear solves alone")
