"""Constrained equations of motion in a form that does not depend on the solution method.

The equations are M q̈ − Cᵀ λ = f and C q̈ = W. The matrix C is the Jacobian of the independent
constraints. The vector f contains the applied forces minus the inertia forces. Unit efforts on some
coordinates can be additional right-hand sides. If a constraint prescribes the value of a
coordinate, the acceleration of this coordinate is known. The coordinate and the constraint are then
removed from the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, product

from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism.symbolic import SymbolicMechanism
from ...program.items import listed
from ...program.program import EquationSystem
from ...program.tree import Tree
from ..bodies.dynamics import Dynamics
from ..constraints.constraints import ConstraintEquations


@dataclass(frozen=True)
class Partition:
    """Partition into dependent and independent coordinates, and choice of independent constraints.

    Attributes
    ----------
    dependent
        Names of the dependent coordinates, one per independent constraint.
    rows
        Names of the independent constraints.
    without_drive
        Names of a maximal set of independent constraints whose forces no drive exerts; empty if every
        joint has a drive.
    """

    dependent: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    without_drive: tuple[str, ...] = ()


@dataclass(frozen=True)
class ActiveSystem:
    """Constraints and coordinates in the linear system from which the accelerations are computed.

    Attributes
    ----------
    rows
        Indices of the independent constraints in the system. Constraints that prescribe the value of a
        coordinate are not among them.
    free
        Indices of the coordinates in the system.
    held
        Coordinates with prescribed values: mapping from the index of the coordinate to the index of the
        constraint that prescribes its value.
    dependent
        Positions of the dependent coordinates in the tuple `free`.
    without_drive
        Indices of a maximal set of independent constraints whose forces no drive exerts; empty if every
        joint has a drive.
    """

    rows: tuple[int, ...]
    free: tuple[int, ...]
    held: dict[int, int]
    dependent: tuple[int, ...]
    without_drive: tuple[int, ...]

    @property
    def all_rows(self) -> tuple[int, ...]:
        return tuple(sorted([*self.rows, *self.held.values()]))

    @property
    def independent(self) -> tuple[int, ...]:
        return tuple(k for i, k in enumerate(self.free) if i not in self.dependent)

    @property
    def following(self) -> tuple[int, ...]:
        """Return the indices of the dependent coordinates in the system."""
        return tuple(self.free[i] for i in self.dependent)


def active_system(
    mechanism: SymbolicMechanism, constraints: ConstraintEquations | None, partition: Partition
) -> ActiveSystem:
    """Select the constraints and coordinates of the linear system.

    Coordinates with prescribed values are excluded. If the multipliers of all constraints are needed,
    these coordinates stay in the system.
    """
    if constraints is None:
        return ActiveSystem((), tuple(range(mechanism.n)), {}, (), ())
    rows = [i for i, row in enumerate(constraints.rows) if row.name in partition.rows]
    all_multipliers = mechanism.formulation == "lagrange" or mechanism.redundant == "minimum_norm"
    held = {k: i for i in rows if (k := constraints.rows[i].fixes) is not None and not all_multipliers}
    free = tuple(k for k in range(mechanism.n) if k not in held)
    dependent = tuple(i for i, k in enumerate(free) if mechanism.coordinates[k].name in partition.dependent)
    without_drive = tuple(i for i, row in enumerate(constraints.rows) if row.name in partition.without_drive)
    return ActiveSystem(tuple(i for i in rows if i not in held.values()), free, held, dependent, without_drive)


def forces(program: EquationSystem, dynamics: Dynamics, Q: Expr, units: Sequence[int]) -> tuple[Expr, Expr]:
    """Define the forces Q − h, shape (n,): generalised applied forces minus inertia forces.

    The first result is Q − h. The second result, shape (n, 1 + len(units)), has Q − h as its first
    column. Each further column is a unit effort on one of the coordinates `units`.
    """
    program.section("accelerations")
    f = program.define("f", Q - dynamics.h, None, "applied forces minus inertia forces; N or N.m")
    if not units:
        return f, f
    n = f.shape[0]
    unit_efforts = [ir.constant([float(i == k) for i in range(n)]) for k in units]
    text = "applied minus inertia forces, followed by unit friction efforts"
    return f, _columns(program, "F", [f, *unit_efforts], text)


def stabilised(mechanism: SymbolicMechanism, constraints: ConstraintEquations) -> Expr:
    """Return the right-hand side W of the stabilised constraints C q̈ = W.

    Without stabilisation, W would be γ. Let Φ be the constraint violation. Baumgarte's method gives W =
    γ − 2αΦ̇ − β²Φ with the constants α and β. In the reduced form, the constraint violation decays with
    Φ̇ = −κΦ, so that W = γ + κ²Φ.
    """
    if mechanism.formulation == "gpme_reduced":
        kappa = mechanism.kappa
        return constraints.gamma + kappa * kappa * constraints.Phi
    alpha, beta = mechanism.alpha, mechanism.beta
    return constraints.gamma - 2.0 * alpha * constraints.Phi_dot - beta * beta * constraints.Phi


@dataclass(frozen=True)
class EquationsOfMotion:
    """Linear system for accelerations X and constraint multipliers Λ: M X − Cᵀ Λ = F and C X = W.

    Attributes
    ----------
    held
        Accelerations of the coordinates whose values are prescribed by constraints; None if there are
        no such coordinates.
    tree
        Bodies and joint axes from which M is formed.
    """

    M: Expr
    F: Expr
    tree: Tree
    held: Expr | None = None
    C: Expr | None = None
    W: Expr | None = None


def equations_of_motion(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    dynamics: Dynamics,
    constraints: ConstraintEquations,
    active: ActiveSystem,
    F: Expr,
) -> EquationsOfMotion:
    """Define the constrained equations of motion for forces F, shape (n,) or (n, c).

    Each of the c columns of F is a separate right-hand side. The right-hand side of the constraints is
    zero for all columns except the first.
    """
    wanted = program.define(
        "wanted",
        stabilised(mechanism, constraints),
        None,
        "stabilised right-hand side of the acceleration constraints, C*qdd = wanted",
    )
    M, C, W = dynamics.M, None, None
    if active.rows:
        C = submatrix(
            program,
            "Cr",
            constraints.C,
            (active.rows, active.free),
            "Jacobian of the independent constraints and the free coordinates",
        )
        W = submatrix(
            program, "wr", wanted, (active.rows,), "right-hand side of the independent stabilised constraints"
        )
    held = _held(program, wanted, active)
    if held is not None:
        others = list(active.held)
        M = submatrix(program, "Mr", dynamics.M, (active.free, active.free), "mass matrix of the free coordinates")
        beside = submatrix(
            program, "Mh", dynamics.M, (active.free, others), "mass matrix between free and fixed coordinates"
        )
        F = submatrix(program, "Fr", F, (active.free, *map(range, F.shape[1:])), "forces on the free coordinates")
        F = _with_first(
            program,
            "Fs",
            F,
            _first(F) - beside @ held,
            "forces on the free coordinates minus inertia forces of the fixed ones",
        )
        if W is not None:
            Ch = submatrix(
                program, "Ch", constraints.C, (active.rows, others), "Jacobian of the fixed coordinates"
            )
            W = W - Ch @ held
    if W is not None and F.shape[1:]:
        zero = ir.zeros(len(active.rows))
        W = _columns(
            program,
            "W",
            [W, *[zero] * (F.shape[1] - 1)],
            "right-hand sides of the constraints, one column per column of F",
        )
    return EquationsOfMotion(M, F, dynamics.tree.of(active.free), held, C, W)


def solve(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    equations: EquationsOfMotion,
    active: ActiveSystem,
    ratios: tuple[Expr, Expr | None] | None,
    *,
    multipliers: bool = False,
) -> tuple[Expr, Expr | None]:
    """Return the symbols of the accelerations and, if requested, of the constraint multipliers.

    The multipliers belong to the constraints `active.rows`. Accelerations and multipliers have as many
    columns as the forces F.
    """
    columns = equations.F.shape[1:]
    name = "X" if columns else "qdd"
    text = "without friction, and per friction effort" if columns else "of the coordinates; m/s2 or rad/s2"
    text = f"accelerations {text}"
    names = [mechanism.coordinates[k].name for k in active.free]
    own, Lambda = f"{name}_free" if active.held else name, None
    if equations.C is None or equations.W is None:
        of_tree = (own, equations.M, equations.F, text, listed(names))
        X = program.solve(*of_tree, tree=equations.tree, symmetric=True)
    else:
        matrices = (equations.M, equations.C, equations.F, equations.W)
        unknowns, chosen = (own, "Lambda" if multipliers else None), (names, active.dependent, ratios)
        X, Lambda = program.constrained_solve(unknowns, matrices, text, *chosen, tree=equations.tree)
    if equations.held is None:
        return X, Lambda
    return _complete(program, name, mechanism.n, active, X, equations.held, text), Lambda


def submatrix(
    program: EquationSystem, name: str, array: Expr, chosen: tuple[Sequence[int], ...], description: str
) -> Expr:
    """Define a submatrix with the chosen rows and columns of a matrix, and return its symbol.

    If all rows and columns are chosen, the matrix itself is returned.
    """
    if all(list(part) == list(range(size)) for part, size in zip(chosen, array.shape, strict=True)):
        return array
    shape = tuple(len(part) for part in chosen)
    parts: list[tuple[Index, Expr]] = [
        (tuple(here for here, _ in piece), array[tuple(there for _, there in piece)])
        for piece in product(*map(_runs, chosen))
    ]
    return program.assemble(name, shape, parts, None, description)


def _runs(chosen: Sequence[int]) -> list[tuple[slice, slice]]:
    """Split a list of indices into sections of consecutive numbers.

    The result contains a pair of slices for each section. The first slice is the position of the section
    in the list `chosen`. The second slice is the range of the section's numbers. For the list 0, 1, 5,
    the pairs are (0:2, 0:2) and (2:3, 5:6).
    """
    runs = []
    for _, group in groupby(enumerate(chosen), key=lambda pair: pair[1] - pair[0]):
        pairs = list(group)
        (here, there), length = pairs[0], len(pairs)
        runs.append((slice(here, here + length), slice(there, there + length)))
    return runs


def _held(program: EquationSystem, wanted: Expr, active: ActiveSystem) -> Expr | None:
    if not active.held:
        return None
    accelerations = ir.array([wanted[row] for row in active.held.values()])
    return program.define(
        "qdd_held", accelerations, None, "accelerations of the fixed coordinates; m/s2 or rad/s2"
    )


def _first(array: Expr) -> Expr:
    return array[:, 0] if array.shape[1:] else array


def _with_first(program: EquationSystem, name: str, array: Expr, first: Expr, description: str) -> Expr:
    if not array.shape[1:]:
        return program.define(name, first, None, description)
    rows, columns = array.shape
    rest = slice(1, columns)
    parts: list[tuple[Index, Expr]] = [((slice(0, rows), 0), first), ((slice(0, rows), rest), array[:, rest])]
    return program.assemble(name, array.shape, parts, None, description)


def _columns(program: EquationSystem, name: str, columns: Sequence[Expr], description: str) -> Expr:
    rows = slice(0, columns[0].shape[0])
    parts: list[tuple[Index, Expr]] = [((rows, j), column) for j, column in enumerate(columns)]
    return program.assemble(name, (rows.stop, len(columns)), parts, None, description)


def _complete(
    program: EquationSystem, name: str, n: int, active: ActiveSystem, X: Expr, held: Expr, text: str
) -> Expr:
    """Return the accelerations of all coordinates in order.

    The known accelerations of the removed coordinates are inserted between the unknowns of the linear
    system.
    """
    rest = tuple(slice(0, size) for size in X.shape[1:])
    parts: list[tuple[Index, Expr]] = [((here, *rest), X[(there, *rest)]) for there, here in _runs(active.free)]
    for i, k in enumerate(active.held):
        row = held[i] if not rest else ir.array([held[i], *[0.0] * (X.shape[1] - 1)])
        parts.append(((k, *rest), row))
    return program.assemble(name, (n, *X.shape[1:]), parts, None, text)
