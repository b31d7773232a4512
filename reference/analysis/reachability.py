"""Whether the task can be done at all: waypoints within reach, constraints that agree with each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import Problem, SolveError
from ...generator.description.tables.task import Path
from ...generator.mechanism import Mechanism
from ..constraints.choice import RowChoice
from ..constraints.redundancy import rank_of
from ..kinematics.quantities import State
from ..solve.manifold import elsewhere, onto
from ..solve.model import Model
from ..solve.solver import row_choice
from .contradictions import contradiction

Array = NDArray[np.float64]
_REACHED = 1e-6  # m
_ITERATIONS = 200
_LOOP = 100.0  # weight of an open loop against a missed waypoint


def unreachable(mechanism: Mechanism, q0: ArrayLike) -> list[Problem]:
    """Waypoints that the joints cannot reach, and constraint rows that contradict each other.

    q0   shape (n,), rad or m: start configuration; base and elastic coordinates stay as they are in it
    Loops stay closed.
    Each waypoint is sought by damped Gauss–Newton steps (Levenberg–Marquardt) from where the one before it was
    reached, and from a few other configurations if that ends in a local minimum.
    """
    q = np.asarray(q0, dtype=float)
    model = Model(mechanism, start=(q, np.zeros(mechanism.n)))
    problems = [
        problem
        for index, entry in enumerate(mechanism.programmed)
        if entry.path is not None
        for problem in _waypoints(model, entry.path, f"programmed[{index}].path", q)
    ]
    return problems + list(_rows(model, q))


def _waypoints(model: Model, path: Path, where: str, q: Array) -> Iterator[Problem]:
    search = _Search(model, path)
    for k, waypoint in enumerate(path.waypoints):
        found, distance = search.nearest(np.array(waypoint), q)
        if distance <= _REACHED:
            q = found
        else:
            yield Problem(
                f"{where}.waypoints[{k}]",
                f"cannot be reached: the closest is {distance:.3g} m away; move the waypoint or the path's frame,"
                " or change the start configuration",
            )


class _Search:
    """Brings a point near to a waypoint by moving the joints."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model = model
        self._joints = [k for k, c in enumerate(model.mechanism.coordinates) if c.role == "joint"]
        self._own = ["xyz".index(component) for component in path.components]
        self._point = model.quantities.point(path.point)
        self._rotation, self._origin = path.frame.rotation.T, path.frame.offset

    def nearest(self, waypoint: Array, q: Array) -> tuple[Array, float]:
        """The best configuration found, shape (n,), and its distance, m."""
        rng = np.random.default_rng(0)
        best = self._descend(waypoint, q)
        for spread in (0.1, 0.3, 1.0, 1.0, 3.0, 3.0):
            if best[1] <= _REACHED:
                break
            other = q.copy()
            other[self._joints] += spread * rng.uniform(-1.0, 1.0, len(self._joints))
            best = min(best, self._descend(waypoint, other), key=lambda result: result[1])
        return best

    def _descend(self, waypoint: Array, q: Array) -> tuple[Array, float]:
        damping = 1e-3
        gap, jacobian = self._gap(waypoint, q)
        for _ in range(_ITERATIONS):
            square = jacobian @ jacobian.T + damping**2 * np.eye(len(gap))
            trial = q.copy()
            trial[self._joints] -= jacobian.T @ np.linalg.solve(square, gap)
            trial_gap, trial_jacobian = self._gap(waypoint, trial)
            if trial_gap @ trial_gap < gap @ gap:
                q, gap, jacobian, damping = trial, trial_gap, trial_jacobian, damping / 3
            else:
                damping *= 4
            if np.linalg.norm(gap) <= 0.01 * _REACHED or damping > 1e8:
                break
        return q, float(np.linalg.norm(gap))

    def _gap(self, waypoint: Array, q: Array) -> tuple[Array, Array]:
        """Prescribed components of the way to go, in the path's frame, m, and their Jacobian by the joints.

        What the loops lack stands below, m or rad.
        """
        state = self._model.state(0.0, q, np.zeros(len(q)))
        loops = self._model.constraints.loops.rows(state.posture)
        position = self._rotation @ (state.x[self._point] - self._origin)
        jacobian = self._rotation @ state.jacobian[self._point]
        gap = np.concatenate([(position - waypoint)[self._own], _LOOP * loops.Phi])
        return gap, np.concatenate([jacobian[self._own], _LOOP * loops.C])[:, self._joints]


def _rows(model: Model, q: Array) -> Iterator[Problem]:
    """Rows that are left out and should not be, drives that do not do, redundant rows that are trouble."""
    start = model.state(0.0, q, np.zeros(len(q)))
    model.constraints(start)  # rows without a value there are no matter of choice
    try:
        choice = row_choice(model, start)
    except SolveError as error:
        key = "actuated" if "actuated" in str(error) else "redundant"
        yield Problem(f"constraints.{key}", str(error))
        return
    if choice.groups:
        yield from _singular(model, start, choice) or _contradicting(model, start, choice)


def _singular(model: Model, start: State, choice: RowChoice) -> list[Problem]:
    """A problem if rows are redundant at the start alone: a run would lose them."""
    here, names = choice.rank.rank, model.constraints.names
    rank = rank_of(model.constraints(elsewhere(model, onto(model, start)[0])).C).rank
    if rank <= here:
        return []
    redundant = ", ".join(names[k] for group in choice.groups for k in group)
    text = (
        f"the start is a singular position: the {len(names)} constraint rows have rank {here} there and {rank}"
        f" elsewhere; at the start {redundant} depend on each other; start in another position"
    )
    return [Problem("simulation.start", text)]


def _contradicting(model: Model, start: State, choice: RowChoice) -> list[Problem]:
    found = contradiction(model, start, choice)
    if not found:
        return []
    text = (
        f"the constraint rows {', '.join(found.names)} depend on each other and contradict each other in their"
        f" {found.what} at t = {found.t:.4g} s, by {found.left:.3g}; remove one, or change what they demand"
    )
    return [Problem("programmed" if model.mechanism.programmed else "closures", text)]
