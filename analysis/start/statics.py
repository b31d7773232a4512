"""Static equilibrium, and the initial state of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import qr

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...description.types.following import StartDependence
from ...description.types.start_search import (
    BALANCED,
    CLOSE,
    DOWNHILL,
    EQUILIBRIUM,
    PATIENCE,
    PROGRESS,
    RANK,
    SETTLED,
    SMALLEST,
)
from ...mechanism import Mechanism
from ...reference.constraints.closures import Conditions
from ...reference.constraints.redundancy import without_rounding
from ...reference.kinematics.extent import units_of_change
from ...reference.kinematics.kinematics import Kinematics
from ...reference.kinematics.places import check_lengths
from ...reference.kinematics.segment import Segment
from ...reference.solve.model import ReferenceModel, Start
from ...reference.solve.projection import project_start
from ...reference.solve.solver import InitialValueProblem
from .assembly import assemble, moving
from .turned import check_turned
from .velocities import allowed_velocities

_STEP = 1e-6  # Central differences for the stiffness matrix change each coordinate by this increment, rad or m.
_MANY = 16  # Forces are evaluated for this many increments at once, a compromise between speed and memory.
_TINY = 1e-300  # A denominator is at least this value, which prevents division by zero.


def free_coordinates(mechanism: Mechanism, q: Array) -> tuple[int, ...]:
    """Return the indices of the coordinates that the search for a static equilibrium may change.

    Elastic coordinates, a base on flexible supports, and joints that are not locked are free. The key
    `statics.locked` names the links with locked joints.

    Without this key, joint coordinates with springs are free. Joint coordinates without springs are
    locked, except those that the loop closures determine from the other coordinates. QR decomposition
    of the closure Jacobian with column pivoting selects these exceptions. Spring-damper closures count
    as constraints in the directions with nonzero stiffness.

    Parameters
    ----------
    mechanism : Mechanism
        Bodies, joints and closures.
    q : ndarray, shape (n,)
        Positions with closed loops, rad or m.
    """
    locked = mechanism.chain.statics.locked
    loose = [k for k, c in enumerate(mechanism.coordinates) if c.role == "joint" and c.stiffness is None]
    following = _following(mechanism, q, loose) if locked is None else []

    def is_free(k: int) -> bool:
        coordinate = mechanism.coordinates[k]
        if coordinate.role == "base":
            return not mechanism.base_fixed
        if coordinate.role == "elastic":
            return True
        return k not in loose or k in following if locked is None else coordinate.owner not in locked

    return tuple(filter(is_free, range(mechanism.n)))


def _following(mechanism: Mechanism, q: Array, loose: list[int]) -> list[int]:
    """Return the coordinates among `loose` that the loop closures determine.

    The argument `loose` contains the indices of joint coordinates without springs.
    """
    if not mechanism.closures or not loose:
        return []
    posture = Kinematics(mechanism)(q, np.zeros(mechanism.n))
    stiff = [s != 0 for c in mechanism.closures for s in c.stiffness or (1.0,) * len(c.conditions)]
    conditions, unit = Conditions(mechanism, mechanism.closures), units_of_change(mechanism, posture)[1]
    C = without_rounding(conditions.rows(posture).C, conditions.sizes(posture).C, unit)[stiff] * unit
    return [loose[k] for k in _pivots(C[:, loose])]


def described_state(mechanism: Mechanism) -> Start:
    """Return the positions and rates (q, qd) of the description, shape (n,) each.

    The coordinates and rates of the base are zero.
    """
    q = np.array([c.position for c in mechanism.coordinates], dtype=float)
    qd = np.array([c.velocity for c in mechanism.coordinates], dtype=float)
    return q, qd


def start_state(model: ReferenceModel) -> Start:
    """Return the initial positions and rates (q0, qd0), shape (n,) each, as `simulation.start` requests.

    Described positions and rates are changed as little as possible to close the loops. If requested,
    the static equilibrium is then determined. The rates also fulfil knife edges and velocity-level
    programmed constraints. With `constraints.projection`, the positions are finally projected onto the
    programmed constraints, which removes rounding errors.

    Parameters
    ----------
    model : ReferenceModel
        Equations of the mechanism without an initial state.

    Raises
    ------
    SolveError
        If a loop cannot be closed, if the velocities violate constraints, or if no equilibrium is
        found.
    """
    mechanism = model.mechanism
    q, qd = _assembled(model, *described_state(mechanism))
    if mechanism.chain.simulation.start == "statics":
        q = equilibrium_near(model, q)
    check_turned(mechanism, q)
    qd = allowed_velocities(mechanism, q, qd)
    return project_start(mechanism, q, qd) if mechanism.chain.constraints.projection else (q, qd)


def _assembled(model: ReferenceModel, q: Array, qd: Array) -> Start:
    q = assemble(model.mechanism, q)
    check_lengths(model.mechanism, q)
    return q, qd


def equilibrium(model: ReferenceModel) -> Array:
    """Return the static equilibrium of the free coordinates at t = 0, shape (n,), rad or m.

    The equilibrium solves Q + Cᵀ λ = 0 with the Jacobian C of the loops. Programmed constraints and
    knife edges do not act, and FMU inputs are zero. Newton's method with central differences starts
    from the described positions with closed loops. The step is shortened and directed towards lower
    energy in three cases: the step is too long, the stiffness is not positive definite, or the forces at
    the end of the step oppose the step. The search therefore avoids unstable equilibria. Directions in
    which the force is zero up to rounding do not contribute to a step.

    Parameters
    ----------
    model : ReferenceModel
        Equations of the mechanism without an initial state.

    Raises
    ------
    SolveError
        If a loop cannot be closed, or the search does not converge; the message names the coordinate with the
        largest unbalanced force.
    """
    return equilibrium_near(model, _assembled(model, *described_state(model.mechanism))[0])


def equilibrium_near(model: ReferenceModel, q: Array) -> Array:
    """Return the coordinates of the static equilibrium near q, shape (n,), rad or m.

    All loops must be closed at the given coordinates q. Raises SolveError if there is no equilibrium;
    see `equilibrium`.
    """
    balance, q = _Balance(model, q), q.copy()
    if not balance.free:
        return q
    acting, left = balance.acting(q), list[float]()
    for _ in range(EQUILIBRIUM.most_steps):
        step, residual = balance.step(q, acting)
        left.append(residual)
        if len(left) > PATIENCE and min(left[-PATIENCE:]) > PROGRESS * max(left[-PATIENCE:]):
            break
        q[balance.free] += step
        if np.abs(step).max() < SETTLED * max(1.0, np.abs(q).max()):
            break
    check_lengths(model.mechanism, q)
    balance.check(q, max(acting, balance.acting(q)), len(left))
    return q


def resistance(model: ReferenceModel, q: Array) -> float:
    """Return the smallest stiffness eigenvalue, divided by the largest magnitude of an eigenvalue.

    The stiffness matrix is evaluated in the equilibrium q, for motions of the free coordinates that
    keep the loops closed. The equilibrium is stable if the result is positive beyond rounding errors.
    If no such motion exists, the result is 1. The argument `model` is the model that is used in the
    search for the initial state. This model has no initial state.
    """
    balance = _Balance(model, q)
    values = np.linalg.eigvalsh(balance.stiffness_along(q))
    return float(values[0] / max(np.abs(values).max(), _TINY)) if len(values) else 1.0


class _Balance:
    """Static equilibrium of the free coordinates, which are coupled by loop closures."""

    def __init__(self, model: ReferenceModel, q: Array) -> None:
        self.mechanism, self._model = model.mechanism, model
        self.free = list(free_coordinates(self.mechanism, q))
        self._rest = np.zeros(self.mechanism.n)

    def _at(self, q: Array) -> tuple[Array, Array, Array]:
        """Return static forces, closure Jacobian and closure residuals at positions q.

        Returns
        -------
        Q, C, Phi : ndarray, shapes (f,), (m, f) and (m,)
            Generalised forces Q on the f free coordinates for zero velocities, N or N·m; Jacobian C
            and residuals Phi of the m closure conditions.
        """
        state = self._model.state(0.0, q, self._rest)
        loops = self._model.constraints.loops
        rows, unit = loops.rows(state.posture), units_of_change(self.mechanism, state.posture)[1]
        C = without_rounding(rows.C, loops.sizes(state.posture).C, unit)
        return self._model.forces(state).total[self.free], C[:, self.free], rows.Phi

    def _balanced(self, q: Array) -> tuple[Array, Array]:
        """Return the unbalanced forces Q + Cᵀ λ, shape (f,), and the multipliers λ, shape (m,).

        The mechanism has f free coordinates and m closure conditions. The multipliers minimise the
        norm of the unbalanced forces.
        """
        forces, C, _ = self._at(q)
        multipliers = -np.linalg.pinv(C.T, rcond=RANK) @ forces
        return forces + multipliers @ C, multipliers

    def _stiffness(self, q: Array, multipliers: Array) -> Array:
        """Return −∂(Q + Cᵀ λ)/∂q for fixed multipliers λ, in the free coordinates, shape (f, f)."""

        def pulls(at: Array) -> Array:
            state = self._model.state(np.zeros(len(at)), at, np.zeros_like(at), Segment(0.0))
            # Jacobian rows that are only rounding errors have no effect, because their multipliers are zero.
            bound = multipliers @ self._model.constraints.loops.rows(state.posture).C
            return np.asarray((self._model.forces(state).total + bound)[:, self.free])

        shifts = np.eye(len(q))[self.free] * _STEP
        parts = np.array_split(shifts, len(shifts) // _MANY + 1)
        return np.vstack([pulls(q - part) - pulls(q + part) for part in parts]).T / (2 * _STEP)

    def step(self, q: Array, acting: float) -> tuple[Array, float]:
        """Return a step of the free coordinates towards a stable equilibrium, and the unbalanced force.

        The step has two components: one closes the loops, and the other lies in the null space of the closure
        Jacobian.

        Returns
        -------
        step : ndarray, shape (f,)
            Change of the free coordinates, rad or m.
        residual : float
            Largest unbalanced force before the step, N or N·m.
        """
        residual, multipliers = self._balanced(q)
        stiffness = self._stiffness(q, multipliers)
        _, C, Phi = self._at(q)
        closing, along = -np.linalg.pinv(C, rcond=RANK) @ Phi, _null_space(C)
        left, step = along.T @ (residual - stiffness @ closing), np.asarray(closing)
        for way in _downhill(along.T @ stiffness @ along, left, acting):
            step = closing + along @ way
            if np.abs(way).max() < CLOSE or not self._is_uphill(q, step, along @ way, float(left @ way)):
                break
        return step, float(np.abs(residual).max())

    def _is_uphill(self, q: Array, step: Array, way: Array, work: float) -> bool:
        """Whether a step passes an energy minimum, so that the forces at its end oppose the step.

        Parameters
        ----------
        q, step : ndarray, shapes (n,) and (f,)
            Positions before the step, and the step, rad or m.
        way : ndarray, shape (f,)
            Part of the step that keeps the loops closed.
        work : float
            Work, N·m, that the forces before the step do along `way`. The forces at the end count as
            opposing if their work along `way` is below a fixed negative fraction of `work`.
        """
        end = q.copy()
        end[self.free] += step
        return bool(self._balanced(end)[0] @ way < DOWNHILL.opposed * work)

    def stiffness_along(self, q: Array) -> Array:
        """Return the symmetric stiffness matrix of all motions that keep the loops closed.

        The shape is (f − r, f − r), where f is the number of free coordinates and r is the rank of the
        closure Jacobian.
        """
        along = _null_space(self._at(q)[1])
        stiffness = along.T @ self._stiffness(q, self._balanced(q)[1]) @ along
        return np.asarray((stiffness + stiffness.T) / 2)

    def _softest(self, q: Array, worst: int) -> int:
        """Return the index of the free coordinate that moves most in the mechanism's softest motion.

        The softest motion is the motion with the smallest stiffness that all loops allow. If the
        loops allow no motion, or if a stiffness is infinite or NaN, the result is the argument
        `worst`.
        """
        along, stiffness = _null_space(self._at(q)[1]), self.stiffness_along(q)
        if not along.size or not np.isfinite(stiffness).all():
            return worst
        return int(np.argmax(np.abs(along @ np.linalg.eigh(stiffness)[1][:, 0])))

    def acting(self, q: Array) -> float:
        """Return the largest of the applied forces, the elastic forces and the total weight, N or N·m.

        A force of 1 N and a moment of 1 N·m count as equal, as if each force had a moment arm of 1 m.
        """
        forces = self._model.forces(self._model.state(0.0, q, self._rest))
        mass = sum(float(body.mass) for body in self.mechanism.bodies)
        weight = mass * float(np.linalg.norm(self.mechanism.gravity))
        return max(weight, float(np.abs(forces.elastic).max()), float(np.abs(forces.applied).max()))

    def check(self, q: Array, acting: float, steps: int) -> None:
        """Raise SolveError if an unbalanced force at q exceeds 10⁻⁹ times the largest acting force.

        Parameters
        ----------
        q : ndarray, shape (n,)
            Positions, rad or m.
        acting : float
            Largest acting force or moment, N or N·m.
        steps : int
            Number of steps taken, for the message.
        """
        residual = np.abs(self._balanced(q)[0])
        worst = int(np.argmax(residual))
        if not residual[worst] <= BALANCED * acting:
            c, softest = (self.mechanism.coordinates[self.free[k]] for k in (worst, self._softest(q, worst)))
            why = ", because the forces no longer decrease" if steps < EQUILIBRIUM.most_steps else ""
            raise SolveError(
                f"no static equilibrium found in {steps} steps{why}: the unbalanced force on {c.name} is"
                f" {residual[worst]:.3g} {c.effort_unit}; {softest.name} has the least stiffness: give it a"
                ' spring, lock its joint in [statics], or set simulation.start = "description"'
            )


def _null_space(C: Array) -> Array:
    _, values, directions = np.linalg.svd(C)
    rank = int(np.count_nonzero(values > RANK * values.max(initial=_TINY)))
    return np.asarray(directions[rank:].T)


def _downhill(stiffness: Array, left: Array, acting: float) -> Iterator[Array]:
    """Yield a Newton step, then ever shorter downhill steps (Levenberg 1944).

    Steps that exceed the maximum length are skipped. If the stiffness is not positive definite, the
    eigenvalues are replaced by their absolute values. In this case, a step has no component along
    eigenvectors in whose direction the force is only rounding error.
    """
    if not len(left):
        return
    values, vectors = np.linalg.eigh((stiffness + stiffness.T) / 2)
    smallest = max(SMALLEST * float(np.abs(values).max()), _TINY)
    if values[0] <= smallest:
        along = vectors.T @ left
        left = vectors @ np.where(np.abs(along) < SMALLEST * acting, 0.0, along)
        stiffness = vectors * np.maximum(np.abs(values), smallest) @ vectors.T
    spring, softest = 0.0, DOWNHILL.softest * float(np.abs(left).max()) / EQUILIBRIUM.longest
    for _ in range(DOWNHILL.most_springs):
        step = np.linalg.solve(stiffness + spring * np.eye(len(left)), left)
        if np.abs(step).max() <= EQUILIBRIUM.longest:
            yield np.asarray(step, dtype=np.float64)
        spring = max(DOWNHILL.stiffer * spring, softest)


def following(problem: InitialValueProblem, searching: ReferenceModel) -> StartDependence:
    """Return the rules by which the initial state is determined again if parameters change.

    An unstable equilibrium is not determined again. In this case, the result contains no free
    coordinates.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations with the initial state for the default parameters.
    searching : ReferenceModel
        Model that was used in the search for the initial state. This model has no initial state.
    """
    mechanism, model, state = problem.mechanism, problem.model, problem.initial_state
    described, rests = described_state(mechanism), mechanism.chain.simulation.start == "statics"
    free = list(free_coordinates(mechanism, assemble(mechanism, described[0]))) if rests else []
    resists = resistance(searching, state.q) if free else 1.0
    if resists < -DOWNHILL.indifferent:
        free = []
    constraints = model.constraints
    unit = units_of_change(mechanism, state.posture)[1]
    C = without_rounding(constraints(state).C, constraints.sizes(state).C, unit) * unit
    loops = list(range(len(constraints.names)))[constraints.closure_rows]
    by_rates = sorted({*loops, *np.flatnonzero(constraints.orders == 1).tolist()})
    closing = np.flatnonzero(moving(mechanism)).tolist()
    q, qd = (tuple(part.tolist()) for part in described)
    return StartDependence(
        described=(q, qd),
        moving=tuple(closing),
        assembly=_independent(C, loops, closing),
        free=tuple(free),
        settled=tuple(k for k in free if _settles(mechanism, k) or not C[loops, k].any()),
        equilibrium=_independent(C, loops, free),
        velocities=_independent(C, by_rates, closing),
        is_indifferent=bool(free) and resists <= SMALLEST,
    )


def _settles(mechanism: Mechanism, k: int) -> bool:
    """Whether a coordinate belongs to the base, to a beam, or to a joint with a spring."""
    coordinate = mechanism.coordinates[k]
    return coordinate.role != "joint" or coordinate.stiffness is not None


def _independent(C: Array, rows: Sequence[int], columns: Sequence[int]) -> tuple[int, ...]:
    """Return a maximal set of linearly independent rows of the submatrix of C with the given rows and columns.

    The result contains the indices of these rows in C.
    """
    if not rows or not columns:
        return ()
    return tuple(sorted(rows[k] for k in _pivots(C[np.ix_(rows, columns)].T)))


def _pivots(A: Array) -> list[int]:
    triangle, order = qr(A, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return list(order[: np.count_nonzero(sizes > RANK * sizes.max(initial=_TINY))])
