"""Static equilibrium and the state that a run starts from."""

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

_STEP = 1e-6  # rad or m, of the differences in the stiffness matrix
_MANY = 16  # differences at once: most of the gain, little memory
_TINY = 1e-300  # keeps quotients finite where all values are zero


def free_coordinates(mechanism: Mechanism, q: Array) -> tuple[int, ...]:
    """Coordinates that find their equilibrium: elastic ones, those of a base on supports, and joints not locked.

    Locked are the joints of the links in `statics.locked`. Without that key, joint coordinates without a spring
    are held, except for those that follow the others through the loops: as many as the closures' conditions have
    rank in them, chosen by column-pivoted QR at q, shape (n,), where the loops are closed. So as many joints are
    held as the loops have degrees of freedom. Spring-damper closures count with the directions of a stiffness.
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
    """The loose joint coordinates that the others move through the closures."""
    if not mechanism.closures or not loose:
        return []
    posture = Kinematics(mechanism)(q, np.zeros(mechanism.n))
    stiff = [s != 0 for c in mechanism.closures for s in c.stiffness or (1.0,) * len(c.conditions)]
    conditions, unit = Conditions(mechanism, mechanism.closures), units_of_change(mechanism, posture)[1]
    C = without_rounding(conditions.rows(posture).C, conditions.sizes(posture).C, unit)[stiff] * unit
    return [loose[k] for k in _pivots(C[:, loose])]


def described_state(mechanism: Mechanism) -> Start:
    """(q, qd), each of shape (n,), as the description gives them; the base at its zero position."""
    q = np.array([c.position for c in mechanism.coordinates], dtype=float)
    qd = np.array([c.velocity for c in mechanism.coordinates], dtype=float)
    return q, qd


def start_state(model: ReferenceModel) -> Start:
    """(q0, qd0), each of shape (n,), as `simulation.start` says: positions in equilibrium or as described.

    The model has no start yet.
    Both come from the described ones by the smallest change that closes the loops and keeps them closed;
    velocities also obey knife edges and programmed constraints of order 1; with `constraints.projection`, rounding
    is taken from the programmed constraints, too.
    Raises SolveError if a loop cannot be closed, if velocities are not allowed, or without an equilibrium.
    """
    mechanism = model.mechanism
    q, qd = _assembled(model, *described_state(mechanism))
    if mechanism.chain.simulation.start == "statics":
        q = _equilibrium_near(model, q)
    check_turned(mechanism, q)
    qd = allowed_velocities(mechanism, q, qd)
    return project_start(mechanism, q, qd) if mechanism.chain.constraints.projection else (q, qd)


def _assembled(model: ReferenceModel, q: Array, qd: Array) -> Start:
    q = assemble(model.mechanism, q)
    check_lengths(model.mechanism, q)
    return q, qd


def equilibrium(model: ReferenceModel) -> Array:
    """q0, shape (n,), where the free coordinates are in balance at t = 0 and rest: Q + Cᵀ λ = 0, C of the loops.

    The model has no start yet. Programmed constraints and knife edges do not act, FMU inputs are zero. Newton's
    method from the assembled position, with central differences. Where a step would be long, the stiffness is not
    positive definite, or forces at the step's end oppose it, it takes shorter steps downhill instead: away from
    unstable equilibria, and no steps along indifferent coordinates.
    Raises SolveError if a loop cannot be closed, or with the worst coordinate if there is no convergence.
    """
    return _equilibrium_near(model, _assembled(model, *described_state(model.mechanism))[0])


def _equilibrium_near(model: ReferenceModel, q: Array) -> Array:
    """Equilibrium that steps from q, shape (n,), lead to."""
    balance = _Balance(model, q)
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
    """Least stiffness, by the largest, of all motions that loops allow, in the free coordinates' equilibrium q.

    The model has no start yet. Above 0 it is stable, but for rounding; without such motions it is 1.
    """
    balance = _Balance(model, q)
    values = np.linalg.eigvalsh(balance.stiffness_along(q))
    return float(values[0] / max(np.abs(values).max(), _TINY)) if len(values) else 1.0


class _Balance:
    """Forces on the free coordinates at rest, and the closures that tie these together."""

    def __init__(self, model: ReferenceModel, q: Array) -> None:
        self.mechanism, self._model = model.mechanism, model
        self.free = list(free_coordinates(self.mechanism, q))
        self._rest = np.zeros(self.mechanism.n)

    def _at(self, q: Array) -> tuple[Array, Array, Array]:
        """Q and C of the free coordinates, shape (f,), N or N·m, and (m, f), and Φ of the closures, shape (m,).

        At rest h vanishes.
        """
        state = self._model.state(0.0, q, self._rest)
        loops = self._model.constraints.loops
        rows, unit = loops.rows(state.posture), units_of_change(self.mechanism, state.posture)[1]
        C = without_rounding(rows.C, loops.sizes(state.posture).C, unit)
        return self._model.forces(state).total[self.free], C[:, self.free], rows.Phi

    def _balanced(self, q: Array) -> tuple[Array, Array]:
        """Q + Cᵀ λ, shape (f,), as near to zero as λ, shape (m,), can bring it; and λ."""
        forces, C, _ = self._at(q)
        multipliers = -np.linalg.pinv(C.T, rcond=RANK) @ forces
        return forces + multipliers @ C, multipliers

    def _stiffness(self, q: Array, multipliers: Array) -> Array:
        """−∂(Q + Cᵀ λ)/∂q of the free coordinates, shape (f, f)."""

        def pulls(at: Array) -> Array:
            state = self._model.state(np.zeros(len(at)), at, np.zeros_like(at), Segment(0.0))
            # rows that are zero but for rounding have no multiplier
            bound = multipliers @ self._model.constraints.loops.rows(state.posture).C
            return np.asarray((self._model.forces(state).total + bound)[:, self.free])

        shifts = np.eye(len(q))[self.free] * _STEP
        parts = np.array_split(shifts, len(shifts) // _MANY + 1)
        return np.vstack([pulls(q - part) - pulls(q + part) for part in parts]).T / (2 * _STEP)

    def step(self, q: Array, acting: float) -> tuple[Array, float]:
        """Change of the free coordinates towards a stable equilibrium, shape (f,), rad or m.

        One part closes the loops, the other one keeps them closed: it lies in the null space of C.
        And the largest force that is left before it, N or N·m.
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
        """Whether forces at the step's end oppose the way, shape (f,), by half the work promised, N·m."""
        end = q.copy()
        end[self.free] += step
        return bool(self._balanced(end)[0] @ way < DOWNHILL.opposed * work)

    def stiffness_along(self, q: Array) -> Array:
        """Return the symmetric stiffness along motions that loops allow, shape (f − rank, f − rank)."""
        along = _null_space(self._at(q)[1])
        stiffness = along.T @ self._stiffness(q, self._balanced(q)[1]) @ along
        return np.asarray((stiffness + stiffness.T) / 2)

    def _softest(self, q: Array, worst: int) -> int:
        """Return the free coordinate that moves most in the softest motion; `worst` if loops allow none."""
        along, stiffness = _null_space(self._at(q)[1]), self.stiffness_along(q)
        if not along.size or not np.isfinite(stiffness).all():
            return worst
        return int(np.argmax(np.abs(along @ np.linalg.eigh(stiffness)[1][:, 0])))

    def acting(self, q: Array) -> float:
        """The largest force or moment that acts, the whole weight (on a lever of 1 m) included; N or N·m."""
        forces = self._model.forces(self._model.state(0.0, q, self._rest))
        mass = sum(float(body.mass) for body in self.mechanism.bodies)
        weight = mass * float(np.linalg.norm(self.mechanism.gravity))
        return max(weight, float(np.abs(forces.elastic).max()), float(np.abs(forces.applied).max()))

    def check(self, q: Array, acting: float, steps: int) -> None:
        """Raises SolveError if forces in q are not in balance, to 1e-9 of those that act, after so many steps."""
        residual = np.abs(self._balanced(q)[0])
        worst = int(np.argmax(residual))
        if not residual[worst] <= BALANCED * acting:
            c, softest = (self.mechanism.coordinates[self.free[k]] for k in (worst, self._softest(q, worst)))
            why = "forces hardly become smaller any more, and" if steps < EQUILIBRIUM.most_steps else "still"
            raise SolveError(
                f"no static equilibrium found in {steps} steps: {why} {residual[worst]:.3g} {c.effort_unit}"
                f" are left on {c.name}; {softest.name} resists least: give it a spring, lock its joint in"
                ' [statics], or set simulation.start = "description"'
            )


def _null_space(C: Array) -> Array:
    """Orthonormal directions that C, shape (m, f), takes to zero: shape (f, f − rank)."""
    _, values, directions = np.linalg.svd(C)
    rank = int(np.count_nonzero(values > RANK * values.max(initial=_TINY)))
    return np.asarray(directions[rank:].T)


def _downhill(stiffness: Array, left: Array, acting: float) -> Iterator[Array]:
    """Newton's step, then ever shorter ones downhill, held by springs that become stiffer (Levenberg 1944).

    Those that are long are left out. Where the stiffness is not positive definite, its eigenvalues are taken as if
    they were, and there is no step along an eigenvector that only rounding pulls at.
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
    """Find how the start of a mechanism follows other numbers.

    problem    equations with the initial state for the mechanism's own numbers
    searching  model without a start, by which the initial state was found

    An equilibrium that is not stable does not follow.
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
    """Whether a coordinate is no mere joint, which would follow the others through a loop."""
    coordinate = mechanism.coordinates[k]
    return coordinate.role != "joint" or coordinate.stiffness is not None


def _independent(C: Array, rows: Sequence[int], columns: Sequence[int]) -> tuple[int, ...]:
    """Return a largest set of rows that are independent in the columns, by pivoted QR of the transpose."""
    if not rows or not columns:
        return ()
    return tuple(sorted(rows[k] for k in _pivots(C[np.ix_(rows, columns)].T)))


def _pivots(A: Array) -> list[int]:
    """Return as many columns of A as its rank, the best conditioned ones."""
    triangle, order = qr(A, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return list(order[: np.count_nonzero(sizes > RANK * sizes.max(initial=_TINY))])
