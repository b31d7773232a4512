"""Equations of motion M q̈ + h = Q of a mechanism with its constraints, ready for evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.trajectory import Array, coincide
from ...language.pace import Pace, merged
from ...mechanism import Body, Mechanism
from ..constraints.constraints import CompiledConstraints
from ..constraints.rows import Rows
from ..forces.element import Input
from ..forces.filters import Filters
from ..forces.friction import FrictionModel
from ..forces.generalised_forces import ForceModel, force_lengths, force_places
from ..forces.internal_states import InternalStates
from ..forces.joint_loads import CompiledJointLoads, closure_wrench
from ..kinematics.expression import stops
from ..kinematics.jet import Number
from ..kinematics.kinematics import Kinematics, Places, Posture
from ..kinematics.quantities import CompiledExpression, ExpressionCompiler, KinematicState, Quantities, Relation
from ..kinematics.segment import Segment
from ..kinematics.timely import Features, Timed, features
from .formulations import Gpme, ReducedGpme, StateEquations

Start = tuple[Array, Array]
_NONE = np.zeros(0)


@dataclass(frozen=True)
class Evaluation:
    """All results of the equations of motion at one state.

    There are n coordinates in the order of `mechanism.coordinates`, m constraint equations and f friction
    states.

    Attributes
    ----------
    M : ndarray, shape (n, n)
        Mass matrix, kg, kg·m or kg·m².
    h : ndarray, shape (n,)
        Velocity terms in M q̈ + h = Q + effort, N or N·m.
    Q : ndarray, shape (n,)
        Generalised forces of gravity, force elements and friction, N or N·m.
    Phi, Phi_dot, C, gamma : ndarray
        Constraint values and derivatives, shapes (m,), (m,), (m, n) and (m,); see `rows.Rows`.
    qdd : ndarray, shape (n,)
        Accelerations, rad/s² or m/s².
    effort : ndarray, shape (n,)
        Generalised constraint forces M q̈ + h − Q = Cᵀ λ, N or N·m.
    drive : ndarray, shape (n,)
        Constraint forces without those of closures and knife edges, N or N·m: efforts of the drives that
        realise the programmed constraints, and reactions of a fixed base.
    multipliers : ndarray, shape (m,)
        Multipliers λ, N for an equation in metres, N·m for one in radians, and N for a knife edge.
    contacts : ndarray, shape (k,)
        Multipliers of knife edges and closures. If every joint has a drive, the values are equal to the
        corresponding elements of `multipliers`. Otherwise, the values follow from inverse dynamics.
    rows : tuple of str
        Names of the m constraint equations.
    dependent : tuple of str
        Names of the dependent coordinates, one for each independent equation.
    friction : ndarray, shape (n,)
        Friction efforts, which are a part of Q, N or N·m.
    z_dot : ndarray, shape (f,)
        Time derivatives of the friction states, rad/s or m/s.
    friction_residual : float
        Relative residual |τ − μ·arm·f_n(τ)|/|τ| of the loop between friction efforts τ and joint
        reactions.
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
    """Time derivatives for an integrator.

    Attributes
    ----------
    qdd : ndarray, shape (…, n)
        Accelerations.
    z_dot : ndarray, shape (…, f)
        Derivatives of the friction states.
    C : ndarray, shape (…, m, n)
        Constraint Jacobian.
    """

    qdd: Array
    z_dot: Array
    C: Array


@dataclass(frozen=True)
class _Equations:
    """Equations of motion without friction, M q̈ + h = Q + Cᵀ λ and C q̈ = rhs, in one state or in many states."""

    M: Array
    h: Array
    Q: Array
    rows: Rows
    rhs: Array

    def system(self, t: Number) -> StateEquations:
        return StateEquations(t, self.M, (self.Q - self.h)[..., None], self.rows.C, self.rhs[..., None])


@dataclass(frozen=True)
class _Solution:
    """Solution of the equations of motion in one state; `Evaluation` describes its quantities."""

    qdd: Array
    multipliers: Array
    friction: Array
    z_dot: Array
    residual: float


class ReferenceModel:
    """Model of a mechanism in the reference solver, compiled for many evaluations.

    The state of the mechanism is not stored in the model; it is an argument of each evaluation.

    Parameters
    ----------
    mechanism : Mechanism
        Bodies, force elements and tasks as numbers.
    start : tuple of ndarray or None
        Initial coordinates and velocities (q0, qd0), shape (n,) each, that `start(x)` refers to.
        With None, the currently evaluated state is used.
    inputs : mapping, optional
        FMU inputs by symbol: numbers, or functions of time in s. Missing inputs are zero.

    Attributes
    ----------
    forces : ForceModel
        Force elements.
    constraints : CompiledConstraints
        Constraint equations.
    filters : Filters
        Input filters.
    internal : InternalStates
        State variables of input filters and elements.
    friction : FrictionModel
        Joint friction with bristle states.
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
        self.internal = InternalStates(mechanism, self.filters)
        self._armature = np.diag([float(c.armature or 0.0) for c in mechanism.coordinates])
        self._inertia = np.array([np.zeros((4, 4)), *map(pseudo_inertia, mechanism.bodies)])
        self.reader = ExpressionCompiler(
            mechanism, self.quantities, None if start is None else self.state(0.0, *start)
        )
        self.forces = ForceModel(mechanism, self.reader, len(mechanism.points), inputs)
        self.filters.drive(self.reader)
        self.constraints = CompiledConstraints(mechanism, self.quantities, self.reader)
        self.outputs = _outputs(mechanism, self.reader)
        self._feedback = tuple(float(x) for x in (mechanism.alpha, mechanism.beta, mechanism.kappa))
        self.friction = FrictionModel(mechanism)
        self._friction_loads = self.joint_loads(self.friction.loaded)
        self._known_features: dict[float, list[tuple[str, Features]]] = {}

    @property
    def decay_time(self) -> float:
        """Shortest time constant of the constraint stabilisation, s.

        The value is infinite without stabilisation or without constraints.
        """
        alpha, beta, kappa = self._feedback
        fastest = max(kappa, alpha + math.sqrt(max(alpha**2 - beta**2, 0.0)))
        return 1.0 / fastest if fastest and self.constraints.names else math.inf

    def state(
        self, t: Number, q: Array, qd: Array, segment: Segment | None = None, lag: Array | None = None
    ) -> KinematicState:
        """Return the kinematic state at time t, s, with coordinates q and velocities qd of shape (n,).

        Many states have t of shape (N,), and q and qd of shape (N, n).

        Parameters
        ----------
        segment : Segment, optional
            Current time segment. By default, the segment begins at t, and all switching conditions are
            evaluated at the given state.
        lag : ndarray, optional
            Internal state variables, see `KinematicState`; by default their initial values.
        """
        posture = self._kinematics(q, qd)
        places = self._places.motion(posture)
        present = Segment(t) if segment is None else segment
        own = np.broadcast_to(self.internal.start, (*q.shape[:-1], self.internal.size)) if lag is None else lag
        found = self.quantities.state(t, present, q, qd, posture, places)
        return self.filters.followed(replace(found, lag=np.asarray(own, dtype=float)))

    def internal_rates(self, state: KinematicState) -> Array:
        """Return the time derivatives of the internal state variables, shape (…, s)."""
        return np.concatenate([self.filters.rates(state), self.forces.rates(state)], axis=-1)

    def mass(self, posture: Posture) -> tuple[Array, Array]:
        """Return the mass matrix M, shape (…, n, n), and the velocity terms h, shape (…, n).

        The sums below are over all bodies; H is the pseudo-inertia of a body. M_ij = Σ tr(T_i H T_jᵀ) and
        h_i = Σ tr(T_i H (Σ_mn T_mn q̇_m q̇_n)ᵀ). Indices of the body transform T denote partial derivatives
        with respect to coordinates. The rotor inertia of drives (armature) is added to the diagonal of M.
        """
        shape = (*posture.datum.shape[:-1], self.mechanism.n, -1)
        TH = (posture.T.swapaxes(-3, -2) @ self._inertia).swapaxes(-3, -2)
        T_q_H = posture.derivative(TH).reshape(shape)
        M = T_q_H @ posture.T_q.reshape(shape).swapaxes(-2, -1) + self._armature
        return M, (T_q_H @ posture.T_bias.reshape(*shape[:-2], -1, 1))[..., 0]

    def further(self, z: Array | None) -> tuple[Array | None, Array | None]:
        """Split a vector into friction states, shape (f,), and internal states, shape (s,).

        Both parts are None if the vector is None.
        """
        f = len(self.friction.coordinates)
        return (None, None) if z is None else (z[:f], z[f:])

    def rates(self, state: KinematicState, form: Gpme, z: Array | None = None) -> Rates:
        """Return the accelerations and the derivatives of the friction states z.

        The friction states have shape (…, f), rad or m, and are zero by default.

        Raises
        ------
        SolveError
            If the constraint Jacobian C_d of the dependent coordinates is singular.
        NotVectorisable
            If q and q̇ contain many states and the equations can be evaluated for one state only.
        """
        given = self._equations(state, form.reduced)
        if not self.friction.coordinates:
            qdd = form.accelerations(given.system(state.t))[..., 0]
            return Rates(qdd, np.zeros_like(qdd[..., :0]), given.rows.C)
        solution = self._solution_with_friction(state, form, z, given)
        return Rates(solution.qdd, solution.z_dot, given.rows.C)

    def evaluate(self, state: KinematicState, form: Gpme, z: Array | None = None) -> Evaluation:
        """Return all results of the equations of motion in a state.

        The friction states z have shape (f,) and are zero by default.

        Raises
        ------
        SolveError
            If the constraint Jacobian C_d of the dependent coordinates is singular.
        """
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
        """Return the compiled joint reactions of the links; raises SolveError for an unknown link."""
        return CompiledJointLoads(self.mechanism, links, self._inertia, self.constraints)

    def loads_at(self, joints: CompiledJointLoads, state: KinematicState, found: Evaluation) -> Array:
        """Return joint reactions fx fy fz nx ny nz at a state, shape (links, 6), N and N·m.

        Moments refer to the origins of the links, and components to the axes of the links.
        """
        affine = joints.affine(state.posture, self.forces.wrenches(state))
        loads = affine.at(found.qdd, found.contacts)
        return joints.local(state.posture, loads)

    def closure_wrenches(self, state: KinematicState, found: Evaluation) -> dict[str, Array]:
        """Return the force, N, and moment, N·m, of each closure, shape (6,), by name of the closure.

        Force and moment act on the body that carries frame b of the closure. The moment refers to the
        origin of frame b; components are in world axes.
        """
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
            rhs = rows.gamma + kappa**2 * rows.Phi
        else:
            rhs = rows.gamma - 2 * alpha * rows.Phi_dot - beta**2 * rows.Phi
        return _Equations(M, h, Q, rows, rhs)

    def consistent(self, state: KinematicState, form: Gpme) -> KinematicState:
        """Return a state that fulfils the velocity constraints if the formulation requires it.

        Only the formulation `gpme_reduced` changes velocities, and only the dependent ones. The new
        velocities fulfil C q̇ = ν − κΦ. The constant κ belongs to the constraint stabilisation. The vector
        −ν is the time derivative of the constraint values for q̇ = 0.

        Raises
        ------
        SolveError
            If the constraint Jacobian C_d of the dependent coordinates is singular.
        """
        if not isinstance(form, ReducedGpme) or not self.constraints.names:
            return state
        rows = self.constraints(self.state(state.t, state.q, np.zeros_like(state.qd), state.segment, state.lag))
        qd = form.velocities(state.t, rows.C, -rows.Phi_dot - self._feedback[2] * rows.Phi, state.qd)
        return self.state(state.t, state.q, qd, state.segment, state.lag)

    def _solution_with_friction(
        self, state: KinematicState, form: Gpme, z: Array | None, given: _Equations
    ) -> _Solution:
        """Return the solution of the equations of motion with joint friction.

        Friction efforts depend on joint reactions, and joint reactions depend on friction efforts. The
        reactions are affine in the friction efforts, so that a small system of equations is solved.
        """
        M, C, units, many = given.M, given.rows.C, self.friction.units, state.q.shape[:-1]
        force = np.zeros((*state.q.shape, 1 + units.shape[1]))
        force[..., 0], force[..., 1:] = given.Q - given.h, units
        rhs = np.zeros((*given.rhs.shape, 1 + units.shape[1]))
        rhs[..., 0] = given.rhs
        qdd, multipliers = form.solve(StateEquations(state.t, M, force, C, rhs))
        contacts = form.choice.drives.contacts(C, M @ qdd - force, multipliers)
        bristles = self.friction.bristles(state.qd, np.zeros((*many, units.shape[1])) if z is None else z)
        loads = self._friction_loads.affine(state.posture, self.forces.wrenches(state))
        found = self.friction.efforts(state.posture, bristles.mu, loads, qdd, contacts)
        qdd, multipliers = (x[..., 0] + (x[..., 1:] @ found.tau[..., None])[..., 0] for x in (qdd, multipliers))
        return _Solution(qdd, multipliers, found.tau @ units.T, bristles.z_dot, float(found.residual.max()))

    def relations(self) -> list[Relation]:
        """Return all switching conditions whose event times are not known in advance, in a fixed order.

        A condition that occurs in several expressions is listed once.
        """
        readings = [*self.constraints.readings, *self.forces.readings]
        found = [relation for reading in readings for relation in reading.relations()] + self.forces.relations()
        return list({relation.key: relation for relation in found}.values())

    def nearest_end(self, state: KinematicState) -> str:
        """Return a text that names the function whose argument is closest to the end of its domain.

        The text also names the expression that contains the function. The text is empty if no argument is
        close to the end of a domain.
        """
        readings = [*self.constraints.readings, *self.forces.readings]
        found = [end for reading in readings for end in reading.ends(state)]
        return min(found)[1] if found else ""

    def pace(self, end: float) -> Pace:
        """Return the longest integration steps that resolve the expressions of time in [0, end], s."""
        return merged([found.pace for _, found in self._features(end)])

    def unresolved(self, end: float) -> list[str]:
        """Return the labels of expressions that change too fast to be sampled reliably.

        The time interval [0, end], s, is examined. An integrator can step over a change of these
        expressions.
        """
        return [label for label, found in self._features(end) if not found.pace.is_resolved]

    def wandering(self, end: float) -> list[str]:
        """Return the labels of expressions with short pulses whose times depend on the motion.

        Pulses in the time interval [0, end], s, are considered.
        """
        return [label for label, found in self._features(end) if found.wanders]

    def _features(self, end: float) -> list[tuple[str, Features]]:
        """Return the label and the short features (such as pulses) of each expression in [0, end], s.

        The features are computed once for each `end`.
        """
        if end not in self._known_features:
            self._known_features[end] = [(label, features(timed, end)) for label, timed in self._timed()]
        return self._known_features[end]

    def _timed(self) -> Iterator[tuple[str, Timed]]:
        start = self.reader.start
        for reading in (*self.constraints.readings, *self.forces.readings):
            initial = {} if start is None else reading.atoms(start)
            yield reading.label, Timed(reading.node, initial)

    def stops(self, end: float) -> list[float]:
        """Return the sorted times in (0, end], s, at which an integrator has to stop and restart."""
        times = [*self.constraints.stops(), *self.forces.stops()]
        times += [time for reading in self.outputs.values() for time in stops(reading.node)]
        times += self.forces.sample_times(end)
        groups: list[list[float]] = []
        for time in sorted(t for t in times if t > 0.0 and (t <= end or coincide(t, end))):
            if groups and coincide(time, groups[-1][0]):
                groups[-1].append(time)
            else:
                groups.append([time])
        # The last of several almost equal switching times is used, so that all switches have occurred by then.
        return [group[-1] for group in groups]


def _outputs(mechanism: Mechanism, reader: ExpressionCompiler) -> dict[str, CompiledExpression]:
    chain = mechanism.chain
    return {
        name: reader.reading(f"output {name}", chain.expression(output.expression), eventful=False)
        for name, output in chain.outputs.expressions.items()
    }


def pseudo_inertia(body: Body) -> Array:
    """Return the pseudo-inertia of a body in its frame, shape (4, 4), in kg, kg·m and kg·m².

    See Jarzębowska et al. 2023, equation (10).
    """
    com, inertia = np.asarray(body.com, dtype=float), np.asarray(body.inertia, dtype=float)
    H = np.empty((4, 4))
    H[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia + body.mass * np.outer(com, com)
    H[:3, 3] = H[3, :3] = body.mass * com
    H[3, 3] = body.mass
    return H
