"""GPME: the reduced, multiplier-free equations (design 4.4; P0 (26), P2 (20))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from . import ir
from .constraints import Constraints
from .dynamics import Dynamics
from .ir import Expr, Index
from .mechanism import Mechanism
from .program import Program


@dataclass(frozen=True)
class System:
    """Equations for the accelerations, A q̈ = b + Vᵀ(further generalised forces); symbols.

    f            shape (n,): Q − h
    independent  indices of the independent coordinates: the first rows of A
    following    indices of the dependent coordinates that follow them: the rows of D, or none
    D, Cd        ∂q̇_following/∂q̇_independent, and the columns of C that it was solved with
    """

    A: Expr
    b: Expr
    f: Expr
    independent: tuple[int, ...]
    following: tuple[int, ...] = ()
    D: Expr | None = None
    Cd: Expr | None = None

    def unit_force(self, k: int) -> list[Expr]:
        """Right-hand side, one entry per row of A, of a unit generalised force on coordinate k."""
        column = [ir.constant(1.0 if i == k else 0.0) for i in self.independent]
        if k in self.following and self.D is not None:
            row = self.following.index(k)
            column = [self.D[row, i] for i in range(len(self.independent))]
        return column + [ir.constant(0.0)] * (self.b.shape[0] - len(column))


def free(program: Program, mechanism: Mechanism, dynamics: Dynamics, Q: Expr) -> System:
    """Without constraints: M q̈ = Q − h."""
    program.section("accelerations")
    b = program.define("b", Q - dynamics.h, None, "applied minus inertia forces; N or N.m")
    return System(dynamics.M, b, b, tuple(range(mechanism.n)))


def gpme(
    program: Program,
    mechanism: Mechanism,
    dynamics: Dynamics,
    Q: Expr,
    constraints: Constraints,
    dependent: Sequence[int],
) -> System:
    """GPME; `dependent` are indices, one per row."""
    n, m = mechanism.n, len(constraints.rows)
    program.section("reduction to independent coordinates")
    f = program.define("f", Q - dynamics.h, None, "applied minus inertia forces; N or N.m")
    independent = [k for k in range(n) if k not in dependent]
    # A coordinate that a row holds does not follow the independent ones: its row of D is zero and left out.
    held = {row.fixes for row in constraints.rows}
    following = [k for k in dependent if k not in held]
    D = Cd = None
    rows, forces = [dynamics.M[k, :] for k in independent], [f[k] for k in independent]
    if following:
        Cd, D = _dependence(program, mechanism, constraints, following, independent)
    if D is not None:
        # row by row: compilers expand a product of blocks element by element, each with the whole product in it
        Md = _rows(program, "Md", dynamics.M, following, "rows of M of the dependent coordinates")
        fd = _rows(program, "fd", f, following, "f of the dependent coordinates")
        rows = [row + D[:, i] @ Md for i, row in enumerate(rows)]
        forces = [force + D[:, i] @ fd for i, force in enumerate(forces)]
    program.section("accelerations")
    last = slice(n - m, n)
    A_parts: list[tuple[Index, Expr]] = [((i, slice(0, n)), row) for i, row in enumerate(rows)]
    b_parts: list[tuple[Index, Expr]] = [((i,), force) for i, force in enumerate(forces)]
    A_parts.append(((last, slice(0, n)), constraints.C))
    b_parts.append(((last,), _stabilised(mechanism, constraints)))
    A = program.assemble("A", (n, n), A_parts, None, "reduced mass matrix above the constraint Jacobian")
    b = program.assemble("b", (n,), b_parts, None, "reduced forces above the stabilised constraint accelerations")
    return System(A, b, f, tuple(independent), tuple(following), D, Cd)


def solve(program: Program, mechanism: Mechanism, system: System) -> Expr:
    """Accelerations; returns the symbol of q̈, shape (n,)."""
    about = _all_names(mechanism)
    return program.solve("qdd", system.A, system.b, None, "accelerations; m/s2 or rad/s2", about)


def responses(program: Program, mechanism: Mechanism, system: System, forces: Sequence[int]) -> Expr:
    """Accelerations without, and per, unit force on some coordinates; symbol of shape (n, 1 + len(forces))."""
    n, count = mechanism.n, len(forces)
    columns: list[tuple[Index, Expr]] = [((slice(0, n), 0), system.b)]
    columns += [((slice(0, n), j), ir.array(system.unit_force(k))) for j, k in enumerate(forces, start=1)]
    right = program.assemble("B", (n, 1 + count), columns, None, "right-hand sides: b, and unit friction efforts")
    text = "accelerations without friction, and per friction effort"
    return program.solve("X", system.A, right, None, text, _all_names(mechanism))


def multipliers(
    program: Program, mechanism: Mechanism, dynamics: Dynamics, system: System, X: Expr, forces: Sequence[int]
) -> Expr:
    """Multipliers of the acting rows for each column of X (see `responses`): C_dᵀ λ = (M q̈ − f)_d.

    Returns a symbol of shape (m, columns).
    """
    assert system.Cd is not None
    m, columns = len(system.following), X.shape[1]
    parts: list[tuple[Index, Expr]] = []
    for i, k in enumerate(system.following):
        parts.append(((i, 0), dynamics.M[k, :] @ X[:, 0] - system.f[k]))
        for j in range(1, columns):
            acting = 1.0 if forces[j - 1] == k else 0.0
            parts.append(((i, j), dynamics.M[k, :] @ X[:, j] - ir.constant(acting)))
    right = program.assemble(
        "Ed", (m, columns), parts, None, "constraint forces on the dependent coordinates, per column of X"
    )
    return program.solve(
        "Lambda", ir.transpose(system.Cd), right, None, "multipliers", _names(mechanism, system.following)
    )


def _stabilised(mechanism: Mechanism, constraints: Constraints) -> Expr:
    """γ − 2αΦ̇ − β²Φ (Baumgarte)."""
    alpha, beta = ir.lift(mechanism.alpha), ir.lift(mechanism.beta)
    return constraints.gamma - 2.0 * alpha * constraints.Phi_dot - beta * beta * constraints.Phi


def _dependence(
    program: Program,
    mechanism: Mechanism,
    constraints: Constraints,
    following: Sequence[int],
    independent: Sequence[int],
) -> tuple[Expr, Expr | None]:
    """C_d, and D = ∂q̇_d/∂q̇_i = −C_d⁻¹ C_i of shape (m, n − m), or None if nothing is independent."""
    acting = sum(row.fixes is None for row in constraints.rows)
    C = constraints.C[0:acting, :]
    Cd = _columns(program, "Cd", C, following, "columns of C of the dependent coordinates")
    if not independent:
        return Cd, None
    Ci = _columns(program, "Ci", C, independent, "columns of C of the independent coordinates")
    names = _names(mechanism, following)
    text = "partition: dependent velocities per independent velocity"
    return Cd, program.solve("D", Cd, -Ci, None, text, names)


def _columns(program: Program, name: str, matrix: Expr, chosen: Sequence[int], text: str) -> Expr:
    m = matrix.shape[0]
    parts: list[tuple[Index, Expr]] = [((slice(0, m), here), matrix[:, there]) for here, there in _runs(chosen)]
    return program.assemble(name, (m, len(chosen)), parts, None, text)


def _rows(program: Program, name: str, array: Expr, chosen: Sequence[int], text: str) -> Expr:
    rest = tuple(slice(0, size) for size in array.shape[1:])
    parts: list[tuple[Index, Expr]] = [((here, *rest), array[there]) for here, there in _runs(chosen)]
    return program.assemble(name, (len(chosen), *array.shape[1:]), parts, None, text)


def _runs(chosen: Sequence[int]) -> list[tuple[slice, slice]]:
    """Position and source of each run of neighbouring indices."""
    runs = []
    for _, group in groupby(enumerate(chosen), key=lambda pair: pair[1] - pair[0]):
        pairs = list(group)
        (here, there), length = pairs[0], len(pairs)
        runs.append((slice(here, here + length), slice(there, there + length)))
    return runs


def _names(mechanism: Mechanism, coordinates: Sequence[int]) -> str:
    return ", ".join(mechanism.coordinates[k].name for k in coordinates)


def _all_names(mechanism: Mechanism) -> str:
    names = [coordinate.name for coordinate in mechanism.coordinates]
    shown = names if len(names) <= 8 else [*names[:4], "…", *names[-3:]]
    return ", ".join(shown)
