"""Elements of a program: definitions and linear systems, each of which uses only earlier elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...description.types.origin import Origin
from ...language.ir import Expr, Index, Shape
from .tree import InertiaForces, Transmitted, Tree


@dataclass(frozen=True)
class Traits:
    """Optional properties of a definition, with default values.

    The class `Definition` has attributes with these names and explains them.
    """

    symmetric: bool = False
    replaceable: bool = False
    by_row: bool = False
    inertial: InertiaForces | Transmitted | None = None


PLAIN = Traits()


@dataclass(frozen=True)
class Definition:
    """Definition of a scalar or array by one expression, or by one expression for each block of an array.

    Attributes
    ----------
    parts
        Pairs of index and expression. The index is zero-based; the index () selects the whole array.
        Together, the expressions define all elements. After rewriting for Modelica compilers, an
        expression may use blocks that earlier pairs define.
    unit
        Common unit of all elements. If the units differ, `unit` is None, and the text `description`
        states the units.
    constant
        Whether the value depends on parameters only.
    symmetric
        Whether `parts` contains only the upper triangle of a symmetric matrix.
    calculated
        Whether the value is an FMU parameter that is calculated from other parameters.
    inertial
        Data from which a recursion over the bodies computes the value, if the value is an inertia force
        or a joint reaction. None for all other quantities.
    replaceable
        Whether the value is an applied force that an input can replace.
    by_row
        Whether element i of `parts` belongs to constraint equation i.
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
    """Linear system `matrix · name = right`. The unknown `name` has the same shape as `right`.

    Attributes
    ----------
    about
        Names of the coordinates for which the system is solved. They appear in error messages.
    ratios
        Number n_i of independent coordinates. The first n_i columns of the unknown are then the
        derivatives of the dependent velocities with respect to the independent velocities. The matrix
        must stay regular during the whole run. None if the unknown has no such columns.
    tree
        Tree of bodies whose mass matrix is the matrix. None if the matrix is not a mass matrix.
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
        Names of X and Λ in the program. The name of Λ is None if the model does not use Λ.
    matrix
        Matrix M, shape (n, n), symmetric, and regular on the null space of C.
    jacobian
        Constraint Jacobian C, shape (m, n), of rank m.
    right
        Right-hand side F of the equations of motion, with the shape of X, which is (n,) or (n, c).
    wanted
        Right-hand side W of the constraints, with the shape of Λ, which is (m,) or (m, c).
    coordinates
        Names of the n coordinates.
    dependent
        Indices of the m dependent coordinates. In the initial state, the columns of C for these
        coordinates form a regular matrix.
    ratios
        For a fixed coordinate partition, the pair of the Jacobian C_d of the dependent coordinates and
        the matrix ∂X_d/∂X_i. The matrix is None if no coordinate is independent. Instead of a pair,
        `ratios` is None if the partition may change during a run.
    tree
        Tree of bodies whose mass matrix is M.
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
    """Linear system with the mass matrix of a tree of bodies, solved by recursion over the bodies.

    The recursion does not form the mass matrix. The attribute `system` is the equivalent linear system
    with this matrix.
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

        They include the expressions for the bodies and joint axes of the tree. The matrix of the linear
        system is excluded, because the solution does not use it.
        """
        return (*(expr for block in self.tree.blocks for expr in block), *self.system.exprs[1:])


@dataclass(frozen=True)
class ImplicitSystem:
    """Linear equations that determine the elements of the unknown `name`.

    Each equation is a pair of a left-hand and a right-hand side. Compilers that receive these equations
    solve them symbolically or numerically.
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
    """Return the names of the quantities that a definition or linear system of a program uses.

    If a linear system has a fixed coordinate partition, the names of the partition's matrices are
    included.
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
    """Return a copy of a definition or linear system, with the function `change` applied to its expressions."""
    if isinstance(item, Definition):
        return replace(item, parts=tuple((index, change(expr)) for index, expr in item.parts))
    if isinstance(item, LinearSolve):
        return replace(item, matrix=change(item.matrix), right=change(item.right))
    if isinstance(item, ImplicitSystem):
        return replace(item, equations=tuple((change(left), change(right)) for left, right in item.equations))
    raise TypeError(
        f"cannot replace expressions in {item.name}: expected a Definition, LinearSolve or ImplicitSystem,"
        f" got {type(item).__name__}"
    )
