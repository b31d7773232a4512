"""The native FMU's stages interpreted with NumPy: the generated equations at any state, without a C compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpmelica.analysis.system import System
from gpmelica.fmu.code.staged import Block, ConstrainedSystem, Stage, TreeSystem
from gpmelica.fmu.code.stages import stage
from gpmelica.generator.program.program import EquationSystem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Values:
    """Values of the equations in one state: q̇ and q̈, shape (n,), ż, (f,), outputs and start values by name."""

    qd: Array
    qdd: Array
    z_dot: Array
    outputs: dict[str, float]
    start_values: dict[str, float]


class StagedModel:
    """A model's stages and one workspace, run as the C layer runs them (fmu/sources/core/equations.h)."""

    def __init__(self, model: System, program: EquationSystem | None = None) -> None:
        self.model, self.program = model, program or model.native_program
        self.staged = stage(self.program)
        self.workspace = np.full(self.staged.size, np.nan)
        parameters = [np.ravel(p.value) for p in self.program.parameters]
        self._put("parameters", np.concatenate(parameters))
        self._run("prepare")
        self._look_up("start_pieces", 0.0)
        self._start()

    def __call__(
        self, t: float, q: Array, qd: Array, inputs: Mapping[str, float] | None = None, z: Sequence[float] = ()
    ) -> Values:
        """Evaluation at t, s, q and qd, (n,), rad or m (per s), and z, (f,); inputs default to zero."""
        program, given, n = self.program, inputs or {}, len(q)
        self._put("time", t)
        self._look_up("pieces", t)
        self._put("states", state_vector(self.model, q, qd, z))
        self._put("inputs", [given.get(entry.name, entry.start) for entry in program.inputs])
        self._switch(t)
        self._run("outputs")
        derivatives = self._get("derivatives")
        outputs = dict(zip((o.name for o in program.outputs), self._get("outputs").tolist(), strict=True))
        return Values(
            derivatives[:n],
            np.array([outputs[f"{c.symbol}_ddot"] for c in self.model.mechanism.coordinates]),
            derivatives[len(derivatives) - len(z) :],
            outputs,
            dict(zip((v.name for v in program.start_values), self._get("start_values").tolist(), strict=True)),
        )

    def _look_up(self, block: str, t: float) -> None:
        """The pieces of tables that hold at t, s."""
        lines = self._get("table_arguments").reshape(-1, 2)
        found = [
            k.table.piece(begin + rate * t) for k, (begin, rate) in zip(self.program.lookups, lines, strict=True)
        ]
        self._put(block, np.array(found).ravel())

    def _switch(self, t: float) -> None:
        """Time events that have come, then relations as their indicators say; evaluates the dynamics."""
        times = (self._get("event_times") <= t).astype(float)
        relations = np.zeros(self.staged.blocks["indicators"].size)
        for _ in range(len(relations) + 1):
            self._put("switches", np.concatenate([times, relations]))
            self._run("dynamics")
            relations = (self._get("indicators") > 0.0).astype(float)

    def _start(self) -> None:
        """The start states are their parameters: nothing is found anew."""
        given, found = self.staged.given, len(self.staged.phases)
        if given:
            self._put("start_states", self.workspace[given])
            found += 1
        for step in self.staged.group("start")[found:]:
            self._step(step)

    def _run(self, group: str) -> None:
        for step in self.staged.stages:
            if step.group == group:
                self._step(step)

    def _step(self, step: Stage) -> None:
        results = step.function.call([self._block(block) for block in step.inputs])
        for block, result in zip(step.outputs, results, strict=True):
            self._block(block)[:] = np.asarray(result).ravel(order="F")
        if isinstance(step.system, ConstrainedSystem):
            self._solve_constrained(step.system)
        elif isinstance(step.system, TreeSystem):
            self._solve_tree(step.system)
        elif step.system is not None and step.system.columns > 0:
            n, columns = step.system.n, step.system.columns
            A = self._block(step.system.matrix).reshape(n, n, order="F")
            B = self._block(step.system.right).reshape(n, columns, order="F")
            self._block(step.system.right)[:] = np.linalg.solve(A, B).ravel(order="F")

    def _solve_tree(self, system: TreeSystem) -> None:
        """By the mass matrix."""
        blocks = (self._block(b) for b in (system.axes, system.inertias, system.arms, system.armatures))
        M = mass_matrix(system.parents, system.ends, *blocks)
        self._solve_with(M, system, system.right, system.wanted)

    def _solve_constrained(self, system: ConstrainedSystem) -> None:
        self._solve_with(self._matrix(system.matrix, system.n), system, system.solution, system.multipliers)

    def _solve_with(
        self, M: Array, system: ConstrainedSystem | TreeSystem, solution: Block, multipliers: Block
    ) -> None:
        n, m, F = system.n, system.m, self._matrix(system.right, system.n)
        C, W = self._block(system.jacobian).reshape(m, n, order="F"), self._block(system.wanted)
        W = W.reshape(m, system.columns, order="F")
        unknown = np.linalg.solve(np.block([[M, -C.T], [C, np.zeros((m, m))]]), np.vstack([F, W]))
        self._block(solution)[:] = unknown[:n].ravel(order="F")
        self._block(multipliers)[:] = unknown[n:].ravel(order="F")

    def _matrix(self, block: Block, rows: int) -> Array:
        return self._block(block).reshape(rows, -1, order="F")

    def _block(self, block: Block) -> Array:
        return self.workspace[block.offset : block.offset + block.size]

    def _put(self, name: str, values: Any) -> None:
        self._block(self.staged.blocks[name])[:] = values

    def _get(self, name: str) -> Array:
        return self._block(self.staged.blocks[name]).copy()


def mass_matrix(
    parents: Sequence[int], ends: Sequence[int], axes: Array, inertias: Array, arms: Array, armatures: Array
) -> Array:
    """The sum of Jᵀ I J over the bodies of a tree, shape (n, n); blocks as in sources/algebra/tree_solve.h."""
    M, motions, n = np.diag(armatures), [], len(armatures)
    for b, (parent, own) in enumerate(zip(parents, inertias.reshape(-1, 10), strict=True)):
        J = motions[parent].copy() if parent >= 0 else np.zeros((6, n))
        J[3:] -= _skew(arms[3 * b : 3 * b + 3]) @ J[:3]
        for k in range(ends[b - 1] if b else 0, ends[b]):
            J[:, k] += axes[6 * k : 6 * k + 6]
        motions.append(J)
        m, s, xx, xy, xz, yy, yz, zz = own[0], own[1:4], *own[4:]
        turning = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        M = M + J.T @ np.block([[turning, _skew(s)], [-_skew(s), m * np.eye(3)]]) @ J
    return M


def _skew(a: Array) -> Array:
    return np.cross(np.eye(3), a)


def state_vector(model: System, q: Array, qd: Array, z: Sequence[float] = ()) -> Array:
    """Values of the program's states; the dependent velocities may not be among them."""
    symbols = [c.symbol for c in model.mechanism.coordinates]
    with_friction = [c.symbol for c in model.mechanism.coordinates if c.friction is not None]
    values = dict(zip(symbols, q, strict=True)) | {f"{s}_dot": v for s, v in zip(symbols, qd, strict=True)}
    further = [f"{s}_z" for s in with_friction]
    internal = model.problem.model.internal
    begin = [*np.zeros(len(further)), *internal.start]
    values |= dict(zip([*further, *internal.names], z if len(z) else begin, strict=True))
    return np.array([values[state.name] for state in model.program.states])
