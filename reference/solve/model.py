"""The mechanism ready for evaluation: M q̈ + h = Q and its constraints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ...language.pace import Pace, merged
from ...mechanism import Body, Mechanism
from ..constraints.constraints import CompiledConstraints
from ..constraints.rows import Rows
from ..forces.element import Input
from ..forces.filters import Filters
from ..forces.friction import FrictionModel
from ..forces.generalised_forces import ForceModel, force_lengths, force_places
from ..forces.joint_loads import CompiledJointLoads, closure_wrench
from ..kinematics.expression import stops
from ..kinematics.jet import Number
from ..kinematics.kinematics import Kinematics, Places, Posture
from ..kinematics.quantities import CompiledExpression, ExpressionCompiler, KinematicState, Quantities, Relation
from ..kinematics.segment import Segment
from ..kinematics.timely import Features, Timed, features
from .formulations import Gpme, ReducedGpme, System

Start = tuple[Array, Array]
_NONE = np.zeros(0)
SAME_TIME = 1e-12  # of the time: what rounding makes of one time


@dataclass(frozen=True)
class Evaluation:
    """Everything at one state. n coordinates in the order of `mechanism.coordinates`, m rows, f friction states.

    M                   shape (n, n), kg, kg·m or kg·m²
    h                   shape (n,), N or N·m: M q̈ + h = Q + effort
    Q                   shape (n,), N or N·m: gravity, springs, dampers, supports, applied forces, friction
    Phi                 shape (m,), see `rows.Rows` for these four
    Phi_dot             shape (m,)
    C                   shape (m, n)
    gamma               shape (m,)
    qdd                 shape (n,), rad/s² or m/s²
    effort              shape (n,), N or N·m: M q̈ + h − Q = Cᵀ λ, what the constraints exert on each coordinate
    drive               shape (n,), N or N·m: effort without the part of closures and knife edges: what drives
                        realise the programmed constraints, and what holds a fixed base
    multipliers         shape (m,), λ: N or N·m where the row is in m or rad (knife edges: N)
    contacts            shape (k,), λ of knife edges and closures; others than in `multipliers` only where not all
                        joints are actuated
    rows                m names
    dependent           names of the dependent coordinates, as many as independent rows
    friction            shape (n,), N or N·m: friction efforts, part of Q
    z_dot               shape (f,), rad/s or m/s: rates of the friction states
    friction_residual   |τ − μ·arm·f_n(τ)|/|τ| that is left of the loop between friction τ and joint loads
    """

    M: Array
    h: Array
    Q: Array
    Phi: Array
    Phi_dot: Array
    C: Array
    gamma: Array
    qdd: Array
    effort: Array
    drive: Array
    multipliers: Array
    contacts: Array
    rows: tuple[str, ...]
    dependent: tuple[str, ...]
    friction: Array
    z_dot: Array
    friction_residual: float


@dataclass(frozen=True)
class Rates:
    """Derivatives for an integrator: q̈, shape (…, n), and ż, shape (…, f); and C, shape (…, m, n)."""

    qdd: Array
    z_dot: Array
    C: Array


@dataclass(frozen=True)
class _Equations:
    """M q̈ + h = Q + Cᵀ λ without friction, and C q̈ = wanted, in a state or in each of many."""

    M: Array
    h: Array
    Q: Array
    rows: Rows
    wanted: Array

    def system(self, t: Number) -> System:
        """Return the linear system for the accelerations without friction."""
        return System(t, self.M, (self.Q - self.h)[..., None], self.rows.C, self.wanted[..., None])


@dataclass(frozen=True)
class _Solution:
    """Solution of the equations of motion; see `Evaluation`."""

    qdd: Array
    multipliers: Array
    friction: Array
    z_dot: Array
    residual: float


class ReferenceModel:
    """A mechanism compiled for many evaluations; holds no state.

    start   (q0, qd0), each of shape (n,): what `start(x)` refers to; None: the state being evaluated
    inputs  FMU inputs by symbol: numbers, or functions of time in s; those without one are zero

    Its parts: `forces` of the force elements, `constraints`, `filters`, and `friction`, of joints with bristles.
    """

    def __init__(
        self, mechanism: Mechanism, *, start: Start | None = None, inputs: Mapping[str, Input] | None = None
    ) -> None:
        self.mechanism = mechanism
        self._kinematics = Kinematics(mechanism)
        places = [*mechanism.points.values(), *force_places(mechanism)]
        self._places = Places(places, self._kinematics.slots)
        self.quantities = Quantities(mechanism, places, force_lengths(mechanism, len(mechanism.points)))
        self.filters = Filters(mechanism, None if start is None else start[0], inputs or {})
        self._armature = np.diag([float(c.armature or 0.0) for c in mechanism.coordinates])
        self._inertia = np.array([np.zeros((4, 4)), *map(pseudo_inertia, mechanism.bodies)])
        self.reader = ExpressionCompiler(
            mechanism, self.quantities, None if start is None else self.state(0.0, *start)
        )
        self.forces = ForceModel(mechanism, self.reader, len(mechanism.points), inputs)
        self.constraints = CompiledConstraints(mechanism, self.quantities, self.reader)
        self.outputs = _outputs(mechanism, self.reader)
        self._feedback = tuple(float(x) for x in (mechanism.alpha, mechanism.beta, mechanism.kappa))
        self.friction = FrictionModel(mechanism)
        self._friction_loads = self.joint_loads(self.friction.loaded)
        self._known_features: dict[float, list[tuple[str, Features]]] = {}

    @property
    def decay_time(self) -> float:
        """In which the fastest root of the constraints' stabilisation decays by 1/e, s; infinite without one."""
        alpha, beta, kappa = self._feedback
        fastest = max(kappa, alpha + math.sqrt(max(alpha**2 - beta**2, 0.0)))
        return 1.0 / fastest if fastest and self.constraints.names else math.inf

    def state(
        self, t: Number, q: Array, qd: Array, segment: Segment | None = None, lag: Array | None = None
    ) -> KinematicState:
        """Kinematics at t, s; q and qd of shape (n,), or of many states (N, n), with t of shape (N,).

        segment  the present one; default, of one state: it begins at t, and relations are what they are there
        lag      states of the filters, see `KinematicState`; default: as they start, 0
        """
        posture = self._kinematics(q, qd)
        places = self._places.motion(posture)
        present = Segment(t) if segment is None else segment
        return self.filters.followed(self.quantities.state(t, present, q, qd, posture, places), lag)

    def mass(self, posture: Posture) -> tuple[Array, Array]:
        """M, shape (…, n, n), and h, (…, n): M_ij = Σ tr(T_i H T_jᵀ), h_i = Σ tr(T_i H (Σ_mn T_mn q̇_m q̇_n)ᵀ).

        Armature is on the diagonal of M.
        """
        shape = (*posture.datum.shape[:-1], self.mechanism.n, -1)
        TH = (posture.T.swapaxes(-3, -2) @ self._inertia).swapaxes(-3, -2)
        T_q_H = posture.derivative(TH).reshape(shape)
        M = T_q_H @ posture.T_q.reshape(shape).swapaxes(-2, -1) + self._armature
        return M, (T_q_H @ posture.T_bias.reshape(*shape[:-2], -1, 1))[..., 0]

    def further(self, z: Array | None) -> tuple[Array | None, Array | None]:
        """Return the states of friction, shape (f,), and of filters, (2k,), from a vector of both."""
        f = len(self.friction.coordinates)
        return (None, None) if z is None else (z[:f], z[f:] if self.filters.size else None)

    def rates(self, state: KinematicState, form: Gpme, z: Array | None = None) -> Rates:
        """q̈ and ż at z, shape (…, f), rad or m, default 0; raises SolveError where C_d is singular.

        Of many states Apart, too, where they have to be evaluated one by one.
        """
        given = self._equations(state, form.reduced)
        if not self.friction.coordinates:
            qdd = form.accelerations(given.system(state.t))[..., 0]
            return Rates(qdd, np.zeros_like(qdd[..., :0]), given.rows.C)
        solution = self._solution_with_friction(state, form, z, given)
        return Rates(solution.qdd, solution.z_dot, given.rows.C)

    def evaluate(self, state: KinematicState, form: Gpme, z: Array | None = None) -> Evaluation:
        """Everything in the state, at z, shape (f,), default 0; raises SolveError where C_d is singular."""
        given = self._equations(state, form.reduced)
        if self.friction.coordinates:
            solution = self._solution_with_friction(state, form, z, given)
        else:
            qdd, multipliers = form.solve(given.system(state.t))
            solution = _Solution(qdd[:, 0], multipliers[:, 0], np.zeros_like(given.h), _NONE, 0.0)
        Q, C = given.Q + solution.friction, given.rows.C
        effort = given.M @ solution.qdd + given.h - Q
        contacts = form.choice.drives.contacts(C, effort[:, None], solution.multipliers[:, None])[:, 0]
        return Evaluation(
            M=given.M,
            h=given.h,
            Q=Q,
            Phi=given.rows.Phi,
            Phi_dot=given.rows.Phi_dot,
            C=C,
            gamma=given.rows.gamma,
            qdd=solution.qdd,
            effort=effort,
            drive=effort - contacts @ C[self.constraints.contact_rows],
            multipliers=solution.multipliers,
            contacts=contacts,
            rows=self.constraints.names,
            dependent=form.partition(C).names,
            friction=solution.friction,
            z_dot=solution.z_dot,
            friction_residual=solution.residual,
        )

    def joint_loads(self, links: Sequence[str]) -> CompiledJointLoads:
        """Loads of the links' joints, compiled; raises SolveError for unknown links."""
        return CompiledJointLoads(self.mechanism, links, self._inertia, self.constraints)

    def loads_at(self, joints: CompiledJointLoads, state: KinematicState, found: Evaluation) -> Array:
        """Loads of shape (links, 6), fx fy fz nx ny nz, N and N·m: about the links' origins, in their axes."""
        affine = joints.affine(state.posture, self.forces.wrenches(state))
        loads = affine.at(found.qdd, found.contacts)
        return joints.local(state.posture, loads)

    def closure_wrenches(self, state: KinematicState, found: Evaluation) -> dict[str, Array]:
        """Force and moment of each closure on its body b, shape (6,); see `evaluation.closure_wrenches`."""
        loops, replacement = self.constraints.loops, self.forces.replacement
        closing = found.contacts[len(self.mechanism.nonholonomic) :]
        reactions = closing[:, None, None] * loops.wrenches(state.posture)
        parts = ((loops, reactions), (replacement.conditions, replacement.by_deformation(state)))
        return {
            closure.name: closure_wrench(state.posture, closure, wrenches[conditions.owner == i])
            for conditions, wrenches in parts
            for i, closure in enumerate(conditions.closures)
        }

    def _equations(self, state: KinematicState, reduced: bool) -> _Equations:
        M, h = self.mass(state.posture)
        Q, rows = self.forces(state).total, self.constraints(state)
        alpha, beta, kappa = self._feedback
        if reduced:
            wanted = rows.gamma + kappa**2 * rows.Phi
        else:
            wanted = rows.gamma - 2 * alpha * rows.Phi_dot - beta**2 * rows.Phi
        return _Equations(M, h, Q, rows, wanted)

    def consistent(self, state: KinematicState, form: Gpme) -> KinematicState:
        """The state with the velocities that the formulation gives to the dependent coordinates.

        Only `gpme_reduced` changes them: C q̇ = ν − κΦ. Raises SolveError where C_d is singular.
        """
        if not isinstance(form, ReducedGpme) or not self.constraints.names:
            return state
        rows = self.constraints(self.state(state.t, state.q, np.zeros_like(state.qd), state.segment, state.lag))
        qd = form.velocities(state.t, rows.C, -rows.Phi_dot - self._feedback[2] * rows.Phi, state.qd)
        return self.state(state.t, state.q, qd, state.segment, state.lag)

    def _solution_with_friction(
        self, state: KinematicState, form: Gpme, z: Array | None, given: _Equations
    ) -> _Solution:
        """q̈ and λ are affine in the friction efforts; so the loop of these with the joint loads is a small one."""
        M, C, units, many = given.M, given.rows.C, self.friction.units, state.q.shape[:-1]
        force = np.zeros((*state.q.shape, 1 + units.shape[1]))
        force[..., 0], force[..., 1:] = given.Q - given.h, units
        wanted = np.zeros((*given.wanted.shape, 1 + units.shape[1]))
        wanted[..., 0] = given.wanted
        qdd, multipliers = form.solve(System(state.t, M, force, C, wanted))
        contacts = form.choice.drives.contacts(C, M @ qdd - force, multipliers)
        bristles = self.friction.bristles(state.qd, np.zeros((*many, units.shape[1])) if z is None else z)
        loads = self._friction_loads.affine(state.posture, self.forces.wrenches(state))
        found = self.friction.efforts(state.posture, bristles.mu, loads, qdd, contacts)
        qdd, multipliers = (x[..., 0] + (x[..., 1:] @ found.tau[..., None])[..., 0] for x in (qdd, multipliers))
        return _Solution(qdd, multipliers, found.tau @ units.T, bristles.z_dot, float(found.residual.max()))

    def relations(self) -> list[Relation]:
        """Return the switching conditions with unknown event times, in a fixed order; each once.

        The same condition may stand in more than one expression.
        """
        readings = [*self.constraints.readings, *self.forces.readings]
        found = [relation for reading in readings for relation in reading.relations()] + self.forces.relations()
        return list({relation.key: relation for relation in found}.values())

    def nearest_end(self, state: KinematicState) -> str:
        """The function that is next to the end of its domain, and where it stands; empty if none is near."""
        readings = [*self.constraints.readings, *self.forces.readings]
        found = [end for reading in readings for end in reading.ends(state)]
        return min(found)[1] if found else ""

    def pace(self, end: float) -> Pace:
        """Longest steps that resolve what expressions of time do in [0, end], s."""
        return merged([found.pace for _, found in self._features(end)])

    def unresolved(self, end: float) -> list[str]:
        """Expressions that change too fast with time for `pace` to find what they do in [0, end], s."""
        return [label for label, found in self._features(end) if not found.pace.is_resolved]

    def wandering(self, end: float) -> list[str]:
        """Expressions with short pulses in [0, end], s, at times that depend on the motion."""
        return [label for label, found in self._features(end) if found.wanders]

    def _features(self, end: float) -> list[tuple[str, Features]]:
        """Labels of all expressions and their short features in [0, end], s; searched once."""
        if end not in self._known_features:
            self._known_features[end] = [(label, features(timed, end)) for label, timed in self._timed()]
        return self._known_features[end]

    def _timed(self) -> Iterator[tuple[str, Timed]]:
        """Labels of all expressions, and the expressions with initial values of their names."""
        start = self.reader.start
        for reading in (*self.constraints.readings, *self.forces.readings):
            initial = {} if start is None else reading.atoms(start)
            yield reading.label, Timed(reading.node, initial)

    def stops(self, end: float) -> list[float]:
        """Times in (0, end], s, increasing, where an integrator has to stop and start anew."""
        times = [*self.constraints.stops(), *self.forces.stops()]
        times += [time for reading in self.outputs.values() for time in stops(reading.node)]
        separate: list[float] = []
        for time in sorted(t for t in times if 0.0 < t <= end * (1.0 + SAME_TIME)):
            # Of times that differ by rounding the last one counts, by which all have happened.
            if separate and time - separate[-1] < SAME_TIME * end:
                separate.pop()
            separate.append(time)
        return separate


def _outputs(mechanism: Mechanism, reader: ExpressionCompiler) -> dict[str, CompiledExpression]:
    """Expressions that the description wants as outputs, by their names."""
    chain = mechanism.chain
    return {
        name: reader.reading(f"output {name}", chain.expression(wanted.expression), eventful=False)
        for name, wanted in chain.outputs.expressions.items()
    }


def pseudo_inertia(body: Body) -> Array:
    """Pseudo-inertia, (4, 4), body frame (Jarzębowska et al. 2023, equation (10)); kg, kg·m, kg·m²."""
    com, inertia = np.asarray(body.com, dtype=float), np.asarray(body.inertia, dtype=float)
    H = np.empty((4, 4))
    H[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia + body.mass * np.outer(com, com)
    H[:3, 3] = H[3, :3] = body.mass * com
    H[3, 3] = body.mass
    return H
