"""Whether the task can be done at all: waypoints within reach, constraints that agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.errors import Problem, SolveError
from ...core.trajectory import Array
from ...description.tables.task import Path
from ...reference.constraints.choice import RowChoice
from ...reference.constraints.paths import Orientation, Target
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import ReferenceModel
from ...reference.solve.solver import InitialValueProblem
from .contradictions import ManifoldWalk, SingularStart
from .left_out import Opening

_REACHED = 1e-6  # m and rad
_CLOSE = 0.01 * _REACHED  # m and rad: the search ends well within the distance that counts as reached
_ITERATIONS = 200  # steps after which a search without convergence is given up
_LOOP = 100.0  # weight of an open loop against a missed waypoint
_SPREADS = (0.1, 0.3, 1.0, 1.0, 3.0, 3.0)  # rad or m: of random starts, near first, then over a whole turn
_FIRST_DAMPING = 1e-3  # of Levenberg and Marquardt's steps, in units of the Jacobian
_MOST_DAMPING = 1e8  # the same: with more of it steps are below rounding
_ACROSS = 0.5**0.5  # of the Frobenius norm of what a small turn changes, 1


def unreachable(problem: InitialValueProblem) -> list[Problem]:
    """Waypoints that the joints alone cannot reach, and constraint rows that contradict each other.

    problem  equations with their initial state; base and elastic coordinates stay as they are in it
    Loops stay closed.
    Each waypoint is sought by damped Gauss–Newton steps (Levenberg–Marquardt) from where the one before it was
    reached, and from a few other configurations if that ends in a local minimum.
    """
    q = problem.initial_state.q
    missed = [
        waypoint
        for index, entry in enumerate(problem.mechanism.programmed)
        if entry.path is not None
        for waypoint in _waypoints(problem.model, entry.path, f"programmed[{index}].path", q)
    ]
    return missed + list(_rows(problem))


def _waypoints(model: ReferenceModel, path: Path, where: str, q: Array) -> Iterator[Problem]:
    search = _Search(model, path)
    with_what = ", base and beams as at the start" * any(c.role != "joint" for c in model.mechanism.coordinates)
    target, orientation = Target(path), Orientation(path) if path.orientations is not None else None
    for k, t in enumerate(target.visits):
        wanted = _Pose(target.motion(t, t)[0], None if orientation is None else orientation.motion(t, t)[0])
        found, distance = search.nearest(wanted, q)
        if distance <= _REACHED:
            q = found
        else:
            yield Problem(
                f"{where}.waypoints[{k}]",
                f"cannot be reached by the joints{with_what}: the closest is {search.missing(wanted, found)} away;"
                " move the waypoint or the path's frame, or change the start configuration",
            )


@dataclass(frozen=True)
class _Pose:
    """Pose prescribed for a point: position in the path's frame, shape (3,), m, and axes in the world, (3, 3)."""

    position: Array
    axes: Array | None


class _Search:
    """Brings a point near to a waypoint by moving the joints."""

    def __init__(self, model: ReferenceModel, path: Path) -> None:
        self._model = model
        self._joints = [k for k, c in enumerate(model.mechanism.coordinates) if c.role == "joint"]
        self._own = ["xyz".index(component) for component in path.components]
        self._point = model.quantities.point(path.point)
        self._rotation, self._origin = path.frame.rotation.T, path.frame.offset
        self._axes = model.quantities.axes(path.point) if path.orientations is not None else None

    def nearest(self, waypoint: _Pose, q: Array) -> tuple[Array, float]:
        """The best configuration found, shape (n,), and its distance, m and rad together."""
        rng = np.random.default_rng(0)
        best = self._descend(waypoint, q)
        for spread in _SPREADS:
            if best[1] <= _REACHED:
                break
            other = q.copy()
            other[self._joints] += spread * rng.uniform(-1.0, 1.0, len(self._joints))
            best = min(best, self._descend(waypoint, other), key=lambda result: result[1])
        return best

    def missing(self, waypoint: _Pose, q: Array) -> str:
        """Return the distance of a configuration from a waypoint, in words."""
        gap = self._gap(waypoint, q)[0]
        count = len(self._own)
        words = [f"{np.linalg.norm(gap[:count]):.3g} m"]
        if waypoint.axes is not None:
            half = min(float(np.linalg.norm(gap[count : count + 9])) / 2.0, 1.0)
            words.append(f"{2.0 * np.arcsin(half):.3g} rad")
        return " and ".join(words)

    def _descend(self, waypoint: _Pose, q: Array) -> tuple[Array, float]:
        damping = _FIRST_DAMPING
        gap, jacobian = self._gap(waypoint, q)
        for _ in range(_ITERATIONS):
            damped = np.vstack([jacobian, damping * np.eye(len(self._joints))])  # least squares: sizes may be any
            trial = q.copy()
            trial[self._joints] -= np.linalg.lstsq(damped, np.append(gap, np.zeros(len(self._joints))))[0]
            trial_gap, trial_jacobian = self._gap(waypoint, trial)
            if trial_gap @ trial_gap < gap @ gap:
                q, gap, jacobian, damping = trial, trial_gap, trial_jacobian, damping / 3
            else:
                damping *= 4
            if np.linalg.norm(gap) <= _CLOSE or damping > _MOST_DAMPING:
                break
        return q, float(np.linalg.norm(gap))

    def _gap(self, waypoint: _Pose, q: Array) -> tuple[Array, Array]:
        """Prescribed components of the way to go, in the path's frame, m, and their Jacobian by the joints.

        Below, where the axes are prescribed, the difference of direction cosines, of length 2 sin(α/2): it has no
        singular place. Then what the loops lack, m or rad.
        """
        state = self._model.state(0.0, q, np.zeros(len(q)))
        loops = self._model.constraints.loops.rows(state.posture)
        position = self._rotation @ (state.x[self._point] - self._origin)
        jacobian = self._rotation @ state.jacobian[self._point]
        turning: tuple[Array, Array] = np.zeros(0), jacobian[:0]
        if self._axes is not None and waypoint.axes is not None:
            turning = (
                _ACROSS * (state.x[self._axes] - waypoint.axes).ravel(),
                _ACROSS * state.jacobian[self._axes.ravel()],
            )
        gap = np.concatenate([(position - waypoint.position)[self._own], turning[0], _LOOP * loops.Phi])
        return gap, np.concatenate([jacobian[self._own], turning[1], _LOOP * loops.C])[:, self._joints]


def _rows(problem: InitialValueProblem) -> Iterator[Problem]:
    """Rows that are left out and should not be, drives that do not do, redundant rows that are trouble."""
    model, q = problem.model, problem.initial_state.q
    start = model.state(0.0, q, np.zeros(len(q)))
    model.constraints(start)  # rows without a value there are no matter of choice
    try:
        choice = problem.rows
    except SolveError as error:
        key = "actuated" if "actuated" in str(error) else "redundant"
        yield Problem(f"constraints.{key}", str(error))
        return
    if choice.groups:
        yield from _left_out(model, start, choice)


def _left_out(model: ReferenceModel, start: KinematicState, choice: RowChoice) -> Iterator[Problem]:
    """Problems of rows that are left out and are not implied by the others."""
    followed = ManifoldWalk(model, start, choice)
    opened = followed.contradiction()
    singular = followed.singular()
    if opened and (opened.t == 0.0 or not singular):
        yield Problem(_table(model, opened.names), _contradiction(model, choice, opened))
    elif singular:
        yield Problem("simulation.start", _singular(model, choice, singular))


def _table(model: ReferenceModel, names: Sequence[str]) -> str:
    chain = model.mechanism.chain
    programmed = {row for entry in chain.programmed for row in entry.rows}
    motions = {entry.name for entry in chain.motions}
    if programmed & set(names):
        return "programmed"
    return "motions" if motions & set(names) else "closures"


def _contradiction(model: ReferenceModel, choice: RowChoice, opened: Opening) -> str:
    """In words: rows without a motion that changes them, or rows against rows."""
    at = f"at t = {opened.t:.4g} s, by {opened.residual:.3g}"
    groups = [[model.constraints.names[k] for k in group] for group in choice.groups]
    names = [name for group in groups if set(group) & set(opened.names) for name in group]
    if set(names) == set(opened.names) and len(names) == sum(1 for group in groups if set(group) & set(names)):
        return (
            f"no joint can change {', '.join(names)}, whose {opened.what} are open {at}; remove what cannot be"
            " fulfilled, change what it demands, or add a joint that moves it"
        )
    return (
        f"the constraint rows {', '.join(names)} depend on each other and contradict each other in their"
        f" {opened.what} {at}; remove one, or change what they demand"
    )


def _singular(model: ReferenceModel, choice: RowChoice, found: SingularStart) -> str:
    names = model.constraints.names
    redundant = ", ".join(names[k] for group in choice.groups for k in group)
    opened = (
        f"; {', '.join(found.opened.names)} would be left out and open by {found.opened.residual:.3g} where the"
        " others still hold"
        if found.opened
        else ""
    )
    return (
        f"the start is a singular position: the {len(names)} constraint rows have rank {found.here} there and"
        f" {max(found.rank, found.here)} elsewhere; at the start {redundant} depend on each other or have no"
        f" derivative{opened}; start in another position, or write a row without a square that vanishes there"
    )
