"""Items of a program: definitions and linear systems, each computed from the items before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...description.types.origin import Origin
from ...language.ir import Expr, Index, Shape
from .tree import InertiaForces, Transmitted, Tree


@dataclass(frozen=True)
class Traits:
    """Optional properties of a definition.

    The attributes have the same names and meanings as those of the class `Definition`.
    """

    symmetric: bool = False
    replaceable: bool = False
    by_row: bool = False
    inertial: InertiaForces | Transmitted | None = None


PLAIN = Traits()


@dataclass(frozen=True)
class Definition:
    """Definition `name = expression` of a scalar or array, with one expression or one per array block.

    Attributes
    ----------
    parts
        Pairs of index and expression; the index is zero-based, or () for the whole array. All parts
        together fill the array. After rewriting for Modelica compilers, a part may use earlier parts of
        the same definition.
    unit
        Common unit of all elements; None if the units differ. The units are then given in the
        description.
    constant
        Whether the value depends on parameters only.
    symmetric
        Whether the parts contain only the upper triangle of a symmetric matrix.
    calculated
        Whether the value is an FMU parameter that is calculated from other parameters.
    inertial
        Data for computing an inertia force or a joint reaction by recursion; None for other quantities.
    replaceable
        Whether the value is an applied force that an input can replace.
    by_row
        Whether part i belongs to constraint equation i.
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
        return tuple(expr for _, expr in self.parts)


@dataclass(frozen=True)
class LinearSolve:
    """Linear system `matrix · name = right`, whose unknown `name` has the shape of `right`.

    Attributes
    ----------
    about
        Names of the coordinates for which the system is solved, used in messages.
    ratios
        Number of leading columns of the unknown that contain derivatives of dependent with respect to
        independent velocities; None if there are no such columns. If there are such columns, the matrix
        must stay regular during the whole run.
    tree
        Tree of bodies if the matrix is the mass matrix of a tree; else None.
    symmetric
        Whether the matrix is symmetric and positive definite.
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
        return self.matrix, self.right


@dataclass(frozen=True)
class ConstrainedSolve:
    """Constrained system `M·X − Cᵀ·Λ = F`, `C·X = W` with the unknowns X and Λ.

    Attributes
    ----------
    name, multipliers
        Names of X and of Λ. The name of Λ is None if the model does not use Λ.
    matrix
        M, shape (n, n), symmetric, and regular on the null space of the Jacobian.
    jacobian
        C, shape (m, n), of rank m.
    right
        F, shape (n,) or (n, c), the shape of X.
    wanted
        W, shape (m,) or (m, c), the shape of Λ.
    coordinates
        Names of the n coordinates.
    dependent
        Indices of m coordinates whose columns of C form a regular matrix at the start.
    ratios
        Jacobian C_d of the dependent coordinates, and the matrix ∂X_d/∂X_i of a fixed coordinate
        partition. The matrix is None if no coordinate is independent. `ratios` is None if the partition
        may change during a run.
    tree
        Tree of bodies with the mass matrix M.
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
        return tuple(k for k in range(self.shape[0]) if k not in self.dependent)

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return self.matrix, self.jacobian, self.right, self.wanted

    @property
    def about(self) -> str:
        """Return the names of the coordinates, for messages."""
        return listed(self.coordinates)


@dataclass(frozen=True)
class TreeSolve:
    """Linear system with the mass matrix of a tree, solved without forming this matrix.

    The attribute `system` is the equivalent linear system that contains the matrix.
    """

    system: LinearSolve | ConstrainedSolve
    tree: Tree

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def shape(self) -> Shape:
        return self.system.shape

    @property
    def unit(self) -> str | None:
        """Return the unit of the unknown of the linear system; None if its elements have different units."""
        return self.system.unit

    @property
    def description(self) -> str:
        return self.system.description

    @property
    def about(self) -> str:
        """Return the names of the coordinates, for messages."""
        return self.system.about

    @property
    def origin(self) -> Origin:
        return self.system.origin

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """Return all expressions that the solution uses.

        These are the expressions for the bodies and joint axes of the tree, and those of the linear
        system except its matrix.
        """
        return (*(expr for block in self.tree.blocks for expr in block), *self.system.exprs[1:])


@dataclass(frozen=True)
class ImplicitSystem:
    """Linear equations `left = right` that together determine the unknown `name`.

    The equations are intended for tools that solve them symbolically or numerically themselves.
    """

    name: str
    shape: Shape
    unit: str | None
    description: str
    equations: tuple[tuple[Expr, Expr], ...]
    origin: Origin

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return tuple(expr for equation in self.equations for expr in equation)


def listed(names: Sequence[str]) -> str:
    """Return names as a comma-separated text for a message.

    If there are many names, the names in the middle are replaced by an ellipsis.
    """
    return ", ".join(names if len(names) <= 8 else [*names[:4], "…", *names[-3:]])


Item: TypeAlias = Definition | LinearSolve | TreeSolve | ConstrainedSolve | ImplicitSystem


def used(item: Item) -> set[str]:
    """Return the names of the quantities that an item of a program uses.

    The matrices of a fixed coordinate partition are included.
    """
    exprs = [*item.exprs, *_partition(item)]
    return {name for expr in exprs for name in expr.symbols}


def _partition(item: Item) -> list[Expr]:
    solved = item.system if isinstance(item, TreeSolve) else item
    if not isinstance(solved, ConstrainedSolve) or solved.ratios is None:
        return []
    return [expr for expr in solved.ratios if expr is not None]


def given(item: Item) -> tuple[str, ...]:
    """Return the names of the quantities that an item of a program defines."""
    solved = item.system if isinstance(item, TreeSolve) else item
    if isinstance(solved, ConstrainedSolve) and solved.multipliers is not None:
        return solved.name, solved.multipliers
    return (solved.name,)


def rewritten(item: Item, change: Callable[[Expr], Expr]) -> Item:
    """Return a program item in which the function `change` has replaced each expression."""
    if isinstance(item, Definition):
        return replace(item, parts=tuple((index, change(expr)) for index, expr in item.parts))
    if isinstance(item, LinearSolve):
        return replace(item, matrix=change(item.matrix), right=change(item.right))
    if isinstance(item, ImplicitSystem):
        return replace(item, equations=tuple((change(left), change(right)) for left, right in item.equations))
    raise TypeError(
        f"{item.name} cannot be rewritten; expected a definition or a linear solve, got {type(item).__name__}"
    )
