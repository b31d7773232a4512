"""Search for the initial state of the native FMU if the user has modified parameters.

The search has three phases. Each phase is an evaluation stage whose linear system yields a Newton step
(fmu/sources/core/equations.h):

    assembly     The smallest displacement x that closes the loops follows from [1 Cᵀ; C 0] [x; μ] =
                 [0; −Φ] with multipliers μ. Displacements of prismatic joints are divided by the
                 mechanism's extent.
    equilibrium  In static equilibrium, the applied forces F and the constraint forces are balanced:
                 F + Cᵀ λ = 0 and Φ = 0. The columns of this system's Jacobian are directional
                 derivatives, because generated code for the whole Jacobian would grow with n².
    velocities   The velocities change as little as possible to satisfy the velocity constraints.

In each phase, the C code adds up the Newton steps in a workspace block. The derivatives of the initial
state are computed from one further Newton step at the solution. In this step, the sum of the earlier
steps counts as constant. By the implicit function theorem, the derivatives are exact.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import casadi as ca

from ...description.types.start_search import ASSEMBLY, EQUILIBRIUM, VELOCITIES, SearchStage
from ...generator.program.program import EquationSystem, HeldVariable, Start, StateVariable
from ...language.ir import Expr
from .casadi_eval import SX, Evaluator, needed
from .staged import Block, Label, Phase, Stage, Staged, StagedSystem
from .tape import with_own_registers

# The signs belong to 4 q_i² = 1 ± R_11 ± R_22 ± R_33 for the rotation matrix R of a unit quaternion q.
_SIGNS = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))

Known: TypeAlias = Mapping[str, SX]
Argument: TypeAlias = tuple[SX, Block]


class StartStages:
    """Builder of the evaluation stages that search for the initial state of a model.

    Parameters
    ----------
    program, staged : EquationSystem, Staged
        Equations of the model, and the list of stages to which the builder adds new stages.
    known : mapping
        CasADi expressions, by name, of all variables that depend on parameters only.
    arguments : sequence
        CasADi symbols and the workspace blocks that contain their values.
    """

    def __init__(
        self, program: EquationSystem, staged: Staged, known: Known, arguments: Sequence[Argument]
    ) -> None:
        assert program.start is not None
        self._program, self._start, self._staged = program, program.start, staged
        self._finder, self._arguments = Finder(program, program.start, known), list(arguments)
        self._blocks: dict[str, Block] = {}

    def add(self) -> None:
        searches = {ASSEMBLY: self._assembled, EQUILIBRIUM: self._balanced, VELOCITIES: self._kept}
        q, qd = self._finder.given(0), self._finder.given(1)
        for stage in self._start.stages:
            q, qd = searches[stage](q, qd)
        self._states(q, qd)

    def _assembled(self, q: list[SX], qd: list[SX]) -> tuple[list[SX], list[SX]]:
        start, finder = self._start, self._finder
        begin = self._changed(q, self._block("assembly_begin", len(start.moving)))
        scale = finder.scale(begin)
        q = self._changed(begin, scale * self._block("assembly_found", len(start.moving)))
        step = self._phase(ASSEMBLY, *finder.closing(q, scale), self._rows(start.assembly))
        return self._changed(q, scale * step[: len(start.moving)]), qd

    def _balanced(self, q: list[SX], qd: list[SX]) -> tuple[list[SX], list[SX]]:
        start = self._start
        guess = self._block("equilibrium_found", len(start.free) + len(start.equilibrium))
        left = self._finder.balance(self._freed(q, guess), guess[len(start.free) :])
        names = (*(start.coordinates[k] for k in start.free), *self._rows(start.equilibrium))
        step = self._phase(EQUILIBRIUM, None, -left, left, names)
        return self._freed(q, guess + step), qd

    def _kept(self, q: list[SX], qd: list[SX]) -> tuple[list[SX], list[SX]]:
        start, scale = self._start, self._finder.scale(q)
        qd = self._changed(qd, self._block("velocities_begin", len(start.moving)))
        step = self._phase(VELOCITIES, *self._finder.keeping(q, qd, scale), self._rows(start.velocities))
        return q, self._changed(qd, scale * step[: len(start.moving)])

    def _place(self, name: str) -> int:
        before = itertools.takewhile(lambda parameter: parameter.name != name, self._program.parameters)
        return self._staged.blocks["parameters"].offset + sum(parameter.value.size for parameter in before)

    def _rows(self, rows: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._start.rows[i] for i in rows)

    def _changed(self, q: Sequence[SX], change: SX) -> list[SX]:
        """Return all coordinates, with `change` added to those that the initial-state search may
        move.
        """
        changes = dict(zip(self._start.moving, ca.vertsplit(change), strict=True))
        return [x + changes[k] if k in changes else x for k, x in enumerate(q)]

    def _freed(self, q: Sequence[SX], guess: SX) -> list[SX]:
        """Return all coordinates for a guess of the unknowns in the search for static equilibrium.

        The unknowns belong to the free coordinates, i.e. those that may move during the search. A
        coordinate is settled if it belongs to the base, to a beam, to a joint with a spring, or to a
        joint outside of all kinematic loops. The unknown of a settled coordinate is its value, because
        its equilibrium value does not depend on the start parameter. Every other unknown is the
        difference from the start value.
        """
        free, settled = self._start.free, self._start.settled
        values = dict(zip(free, ca.vertsplit(guess[: len(free)]), strict=True))
        return [values.get(k, 0.0) + (0.0 if k in settled else x) for k, x in enumerate(q)]

    def _block(self, name: str, size: int) -> SX:
        symbol = ca.SX.sym(name, size)
        self._blocks[name] = self._staged.allocate(size)
        self._staged.labels[self._blocks[name]] = Label(name)
        self._arguments.append((symbol, self._blocks[name]))
        return symbol

    def _phase(self, search: SearchStage, matrix: SX | None, right: SX, left: SX, names: tuple[str, ...]) -> SX:
        """Add the stage of a search phase and return the symbol of its Newton step.

        Parameters
        ----------
        search : SearchStage
            Phase of the search, with its limits.
        matrix : SX or None
            Matrix of the Newton system; None if the C code computes the Jacobian column by column.
        right : SX
            Right-hand side of the Newton system.
        left : SX
            Residual of the phase, which vanishes at the solution.
        names : tuple of str
            Names of the residual's elements, for messages.
        """
        name, n, staged = search.name, right.numel(), self._staged
        values = [*([] if matrix is None else [ca.vec(matrix)]), right, left]
        labels = [*([] if matrix is None else [Label("matrix")]), Label("right"), Label("left")]
        outputs = tuple(staged.allocate(value.numel()) for value in values)
        right_block, left_block = outputs[-2:]
        tangent = staged.allocate(n * n) if matrix is None else None
        system = StagedSystem(n, 1, tangent or outputs[0], right_block, False, staged.allocate(n), False, 0)
        found, begin = (self._blocks.get(f"{name}_{part}") for part in ("found", "begin"))
        free = len(self._start.free)
        stiffness, tried = (staged.allocate(free * free), staged.allocate(n)) if tangent else (None, None)
        stage = len(staged.group("start"))
        staged.phases.append(Phase(search, stage, found, begin, left_block, names, stiffness, tried))
        self._stage(name, values, outputs, labels, system, vanishes=search is not VELOCITIES)
        step = ca.SX.sym(f"{name}_step", n)
        staged.labels[right_block] = Label(f"{name}_step")
        self._arguments.append((step, right_block))
        return step

    def _stage(
        self,
        what: str,
        values: list[SX],
        outputs: tuple[Block, ...],
        labels: Sequence[Label],
        system: StagedSystem | None,
        *,
        vanishes: bool = False,
    ) -> None:
        function = with_own_registers(
            f"start_{len(self._staged.stages)}",
            [symbol for symbol, _ in self._arguments],
            [ca.densify(value) for value in values],
        )
        inputs = tuple(block for _, block in self._arguments)
        self._staged.stages.append(
            Stage(what, "", "start", function, inputs, outputs, system, tuple(labels), vanishes)
        )

    def _states(self, q: Sequence[SX], qd: Sequence[SX]) -> None:
        names = self._start.coordinates
        values = dict(zip(names, q, strict=True)) | {f"{x}_dot": v for x, v in zip(names, qd, strict=True)}
        bristles = {s.name: self._finder.known.get(f"{s.name}_start") for s in self._program.states}
        states: list[SX] = [values.get(name, given) for name, given in bristles.items()]
        self._staged.given += [self._place(f"{state.name}_start") for state in self._program.states]
        outputs = (self._staged.blocks["start_states"],)
        self._stage("start states", [ca.vertcat(*states)], outputs, self._staged.read(outputs), None)


def initial(start: Start, phase: SearchStage) -> list[float]:
    """Return the guess with which a phase of the search for the initial state begins.

    The guess is a vector of changes from the default values of the start parameters.

    In the phases assembly and velocities, the guess is the difference between the value in the
    description and the default value, for each moving coordinate or its rate. In the equilibrium
    phase, the guess is the described value for coordinates in `start.settled`, and zero for all other
    unknowns.
    """
    if phase is EQUILIBRIUM:
        return _equilibrium(start, start.described[0])
    described, defaults = start.described[phase.level], start.defaults[phase.level]
    return [described[k] - defaults[k] for k in start.moving]


def at_defaults(start: Start, phase: SearchStage) -> list[float]:
    """Return the solution of a phase of the initial-state search if all parameters have default values.

    Lagrange multipliers are set to zero. The list is empty for the phases assembly and velocities,
    because default parameters require no change in these phases.
    """
    return _equilibrium(start, start.defaults[0]) if phase is EQUILIBRIUM else []


def _equilibrium(start: Start, positions: Sequence[float]) -> list[float]:
    values = [positions[k] if k in start.settled else 0.0 for k in start.free]
    return [*values, *(0.0 for _ in start.equilibrium)]


def parameter_of(start: Start, phase: SearchStage) -> list[str]:
    """Return one start parameter's name for each coordinate that a phase of the search changes.

    In the velocity phase, these names belong to start parameters of rates. A rate that is not a state
    has no start parameter. For such a rate, the list contains the name that the parameter would have.
    """
    return [f"{start.coordinates[k]}{'_dot' * phase.level}_start" for k in start.moved(phase)]


class Finder:
    """Evaluator of the CasADi expressions that the search for the initial state needs at given coordinates.

    `known` maps names to CasADi expressions. The names are those of parameters, and of values that
    depend on parameters only.
    """

    def __init__(self, program: EquationSystem, start: Start, known: Known) -> None:
        self._program, self._start, self.known = program, start, known

    def given(self, level: int) -> list[SX]:
        """Return the start values of all coordinates (level 0) or of their rates (level 1).

        A rate without a start parameter has the value that the description gives.
        """
        names = [f"{symbol}{'_dot' * level}_start" for symbol in self._start.coordinates]
        described = self._start.described[level]
        return [self.known.get(name, ca.SX(x)) for name, x in zip(names, described, strict=True)]

    def at(self, q: Sequence[SX], qd: Sequence[SX], exprs: Sequence[Expr]) -> list[SX]:
        """Return the values of expressions at t = 0 for coordinates q and rates qd; all inputs are zero."""
        here = dict(self.known) | {"time": ca.SX(0)}
        here |= {entry.name: ca.SX(0) for entry in self._program.inputs}
        held = [variable for sampling in self._program.samplings for variable in sampling.held]
        variables: list[StateVariable | HeldVariable] = [*self._program.states, *held]
        for variable, value in zip(variables, self._values(here, [x.start for x in variables]), strict=True):
            here |= {variable.variable: value, variable.name: value}
        for symbol, x, v in zip(self._start.coordinates, q, qd, strict=True):
            here |= {symbol: x, f"{symbol}_dot": v}
        started = [value.expr for value in self._program.start_values]
        names = [value.name for value in self._program.start_values]
        here |= dict(zip(names, self._values(here, started), strict=True))
        return self._values(here, exprs)

    def _values(self, here: Known, exprs: Sequence[Expr]) -> list[SX]:
        evaluator = Evaluator(self._program, here, None)
        evaluator.prepare(needed(self._program, exprs, here))
        return [evaluator(expr) for expr in exprs]

    def closing(self, q: Sequence[SX], scale: SX) -> tuple[SX, SX, SX]:
        """Return the linear system of a Newton step that closes the loops, at coordinates q.

        Returns
        -------
        matrix, right, residual : SX
            Matrix and right-hand side of the Newton step, and the position residual of the constraints.
        """
        start, rest = self._start, [ca.SX(0)] * len(q)
        assert start.C is not None and start.Phi is not None
        turns = [expr for turn in start.turns for expr in (turn.R, turn.rates)]
        C, Phi, *turned = self.at(q, rest, [start.C, start.Phi, *turns])
        for turn, R, rates in zip(start.turns, turned[::2], turned[1::2], strict=True):
            Phi[turn.rows], C[turn.rows, :] = _rotation(R), rates
        return self._smallest(C, Phi, start.assembly, scale)

    def keeping(self, q: Sequence[SX], qd: Sequence[SX], scale: SX) -> tuple[SX, SX, SX]:
        """Return the linear system of the smallest velocity change that satisfies the velocity constraints.

        The system is evaluated at coordinates q and rates qd.

        Returns
        -------
        matrix, right, residual : SX
            Matrix and right-hand side of the velocity step, and the velocity residual of the
            constraints.
        """
        start = self._start
        assert start.C is not None and start.Phi_dot is not None
        C, rates = self.at(q, qd, [start.C, start.Phi_dot])
        return self._smallest(C, rates, start.velocities, scale)

    def balance(self, q: Sequence[SX], multipliers: SX) -> SX:
        """Return the residual of the equations of static equilibrium at coordinates q.

        The first elements are the forces on the free coordinates; the constraint residuals follow.
        """
        start, rest = self._start, [ca.SX(0)] * len(q)
        if not start.equilibrium:
            return ca.vertcat(*self.at(q, rest, [start.forces[k] for k in start.free]))
        assert start.C is not None and start.Phi is not None
        rows, free = list(start.equilibrium), list(start.free)
        C, Phi, *forces = self.at(q, rest, [start.C, start.Phi, *(start.forces[k] for k in free)])
        return ca.vertcat(ca.vertcat(*forces) + ca.mtimes(C[rows, free].T, multipliers), Phi[rows])

    def scale(self, q: Sequence[SX]) -> SX:
        """Return the scale of each moving coordinate: 1 for angles, the mechanism's extent in m for
        lengths.
        """
        angles = [self._start.is_angle[k] for k in self._start.moving]
        if len(set(angles)) == 1:
            return ca.SX.ones(len(angles), 1)
        places = self.at(q, [ca.SX(0)] * len(q), self._start.places)
        extent = _diameter(places)
        return ca.vertcat(*[ca.SX(1) if angle else extent for angle in angles])

    def _smallest(self, C: SX, gap: SX, rows: Sequence[int], scale: SX) -> tuple[SX, SX, SX]:
        moving, m = list(self._start.moving), len(rows)
        J, left = ca.mtimes(C[list(rows), moving], ca.diag(scale)), gap[list(rows)]
        matrix = ca.vertcat(ca.horzcat(ca.SX.eye(len(moving)), J.T), ca.horzcat(J, ca.SX.zeros(m, m)))
        return matrix, ca.vertcat(ca.SX.zeros(len(moving), 1), -left), left


def _rotation(R: SX) -> SX:
    """Return 4 tan(φ/4) times the unit axis of a rotation matrix with the rotation angle φ.

    The vector is a smooth function of the matrix for rotations below half a turn;
    analysis/start/turned.py uses the same vector. It is computed from the unit quaternion p. The
    products 4 p_i p_j are linear in the elements of the matrix. The code uses the products with the
    largest component p_i, because rounding affects them least.
    """
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    squares = [1 + sum(sign * R[i, i] for i, sign in enumerate(signs)) for signs in _SIGNS]
    rows = ((squares[0], x, y, z), (x, squares[1], xy, xz), (y, xy, squares[2], yz), (z, xz, yz, squares[3]))
    chosen, largest = ca.vertcat(*rows[0]), squares[0]
    for row, square in zip(rows[1:], squares[1:], strict=True):
        chosen = ca.if_else(square > largest, ca.vertcat(*row), chosen)
        largest = ca.fmax(square, largest)
    way = ca.if_else(chosen[0] < 0, -4, 4)
    return way * chosen[1:] / (ca.norm_2(chosen) + ca.fabs(chosen[0]))


def _diameter(places: Sequence[SX]) -> SX:
    """Return the largest distance between any two of the points, m.

    The distance does not depend on the directions of the world axes, unlike the size of an
    axis-parallel box.
    """
    squares = [ca.sumsqr(b - a) for a, b in itertools.combinations(places, 2)]
    return ca.sqrt(functools.reduce(ca.fmax, squares, ca.SX(0)))
