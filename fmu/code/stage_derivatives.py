"""Forward and reverse derivatives of evaluation stages as CasADi functions.

CasADi does not differentiate a linear solve A X = B after a stage. For such a stage, the CasADi
functions return the directional derivative of the residual B − A X for constant X. The C code then
computes dX = A⁻¹ (dB − dA X) with the stored factors of A. For constrained equations of motion M X
− Cᵀ Λ = F, C X = W, the residuals are F − M X + Cᵀ Λ and W − C X. For the mass matrix M of a tree
of bodies, M X is computed by the recursive Newton–Euler algorithm. See
fmu/sources/core/equations.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, pairwise

import casadi as ca

from .casadi_eval import SX
from .staged import AnySystem, Block, Label, Stage, Staged, StagedSystem, TreeSystem
from .tape import with_own_registers


@dataclass(frozen=True)
class StageDerivative:
    """Directional derivatives of an evaluation stage, excluding the final linear solve of the stage.

    The derivative relates two sets of workspace blocks: the stage reads the blocks `origin` and
    computes the blocks `to`. The forward function returns the changes of `to` for given changes of
    `origin`. The reverse function returns contributions to the adjoints of `origin` for given adjoints
    of `to`.

    Attributes
    ----------
    name : str
        Name of the stage's function.
    function : tuple
        CasADi symbols of the blocks `origin`, symbols of all blocks `values`, and the results as one
        column vector.
    values, origin, to : tuple of Block
        Workspace blocks of the values that the derivative needs, and the blocks `origin` and `to`.
    changes : tuple of Label
        Labels of the blocks that contain the changes of `to`.
    """

    name: str
    function: tuple[list[SX], list[SX], SX]
    values: tuple[Block, ...]
    origin: tuple[Block, ...]
    to: tuple[Block, ...]
    changes: tuple[Label, ...]

    @cached_property
    def forward(self) -> ca.Function:
        """CasADi function of the forward directional derivative of an evaluation stage.

        The arguments are the values that the derivative needs, and the changes of the workspace blocks
        `origin`. The call returns the changes of the blocks `to`.
        """
        return self._derivative(f"{self.name}_forward", self.origin, self.to)

    @cached_property
    def reverse(self) -> ca.Function:
        """CasADi function of the reverse derivative of an evaluation stage.

        The arguments are the values that the derivative needs, and the adjoints of the workspace blocks
        `to`. The call returns contributions to the adjoints of the blocks `origin`. The function is built
        only when it is first used, because only FMI 3.0 uses adjoints.
        """
        return self._derivative(f"{self.name}_reverse", self.to, self.origin, reverse=True)

    def _derivative(
        self, name: str, seeds: tuple[Block, ...], sensitivities: tuple[Block, ...], *, reverse: bool = False
    ) -> ca.Function:
        changing, symbols, result = self.function
        given = [ca.SX.sym(f"seed{i}", block.size) for i, block in enumerate(seeds)]
        total = ca.densify(ca.jtimes(result, ca.vertcat(*changing), ca.vertcat(*given), reverse))
        ends = [0, *accumulate(block.size for block in sensitivities)]
        return with_own_registers(name, [*symbols, *given], [total[a:b] for a, b in pairwise(ends)])


def differentiated(staged: Staged) -> dict[str, StageDerivative]:
    """Return the derivatives of all evaluation stages on which state derivatives and outputs depend.

    The keys are the names of the stages' functions.
    """
    return {stage.function.name(): differentiate(stage) for stage in staged.running}


def differentiate(stage: Stage) -> StageDerivative:
    """Return the derivative of an evaluation stage with respect to all workspace blocks on which
    the stage depends.
    """
    symbols = [ca.SX.sym(f"i{i}", block.size) for i, block in enumerate(stage.inputs)]
    results = list(stage.function.call(symbols))
    to, values, arguments = stage.outputs, stage.inputs, list(symbols)
    changes = tuple(label.change for label in stage.labels)
    # If the solution of a linear system is zero, a change of the matrix does not change the solution.
    if stage.vanishes:
        place = stage.outputs.index(stage.solution)
        results, to, changes = results[place : place + 1], to[place : place + 1], changes[place : place + 1]
    elif stage.system is not None:
        skipped, residuals, unknowns, solved = _solve(stage.system, results)
        results = [*residuals, *results[skipped + len(residuals) :]]
        to, changes, values = to[skipped:], changes[skipped:], (*values, *solved)
        arguments += map(ca.vec, unknowns)
    result = ca.vertcat(*results)
    depends = iter(ca.which_depends(result, ca.vertcat(*symbols), 1, False))
    used = [i for i, symbol in enumerate(symbols) if any(tuple(islice(depends, symbol.numel())))]
    origin = tuple(stage.inputs[i] for i in used)
    changing = [symbols[i] for i in used]
    return StageDerivative(stage.function.name(), (changing, arguments, result), values, origin, to, changes)


def _solve(system: AnySystem, results: list[SX]) -> tuple[int, list[SX], list[SX], tuple[Block, ...]]:
    """Return the data that the directional derivative of a linear solve needs.

    Returns
    -------
    skipped : int
        Number of leading results of the stage that contain matrices, not right-hand sides.
    residuals : list of SX
        Residuals of the linear equations, which replace the right-hand sides.
    unknowns : list of SX
        Symbols of the solution and, with constraints, of the Lagrange multipliers.
    blocks : tuple of Block
        Workspace blocks of the unknowns.
    """
    X = ca.SX.sym("solution", system.n, system.columns)
    if isinstance(system, StagedSystem):
        A, B = ca.reshape(results[0], system.n, system.n), ca.reshape(results[1], *X.shape)
        return 1, [ca.vec(B - ca.mtimes(A, X))], [X], (system.right,)
    if isinstance(system, TreeSystem):
        skipped, unknowns = 4, (system.right, system.wanted)
        MX = ca.horzcat(*(_inertia_forces(system, results[:4], x) for x in ca.horzsplit(X)))
        if system.m == 0:
            return skipped, [ca.vec(ca.reshape(results[4], *X.shape) - MX)], [X], unknowns[:1]
    else:
        skipped, unknowns = 1, (system.solution, system.multipliers)
        MX = ca.mtimes(ca.reshape(results[0], system.n, system.n), X)
    L = ca.SX.sym("multipliers", system.m, system.columns)
    C, F = ca.reshape(results[skipped], system.m, system.n), ca.reshape(results[skipped + 1], *X.shape)
    W = ca.reshape(results[skipped + 2], *L.shape)
    residuals = [ca.vec(F - MX + ca.mtimes(C.T, L)), ca.vec(W - ca.mtimes(C, X))]
    return skipped + 1, residuals, [X, L], unknowns


def _inertia_forces(system: TreeSystem, blocks: Sequence[SX], x: SX) -> SX:
    """Return the inertia forces M x of a tree of bodies, shape (n,).

    The forces are computed by the recursive Newton–Euler algorithm.

    `blocks` contains the joint axes, inertias, offset vectors and armatures (rotor inertias as seen at
    the joints), in the format of fmu/sources/algebra/tree_solve.h.
    """
    axes, inertias, arms = (ca.vertsplit(b, size) for b, size in zip(blocks[:3], (6, 10, 3), strict=True))
    firsts = [0, *system.ends[:-1]]
    # For each body, the list contains the angular acceleration and the acceleration of the body's origin.
    moving: list[tuple[SX, SX]] = []
    # For each body, the list contains the moment about the body's origin and the force.
    wrenches: list[tuple[SX, SX]] = []
    for b, parent in enumerate(system.parents):
        w, a = moving[parent] if parent >= 0 else (ca.SX(3, 1), ca.SX(3, 1))
        a = a + ca.cross(w, arms[b])
        for k in range(firsts[b], system.ends[b]):
            w, a = w + axes[k][:3] * x[k], a + axes[k][3:] * x[k]
        moving.append((w, a))
        m, s, J = inertias[b][0], inertias[b][1:4], _symmetric(inertias[b][4:])
        wrenches.append((ca.mtimes(J, w) + ca.cross(s, a), m * a + ca.cross(w, s)))
    forces = [ca.SX(0)] * system.n
    for b in reversed(range(system.bodies)):
        N, F = wrenches[b]
        for k in range(firsts[b], system.ends[b]):
            forces[k] = ca.dot(axes[k][:3], N) + ca.dot(axes[k][3:], F) + blocks[3][k] * x[k]
        if (parent := system.parents[b]) >= 0:
            wrenches[parent] = wrenches[parent][0] + N + ca.cross(arms[b], F), wrenches[parent][1] + F
    return ca.vertcat(*forces)


def _symmetric(upper: SX) -> SX:
    """Return the symmetric matrix, shape (3, 3), that has the elements xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = ca.vertsplit(upper)
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
