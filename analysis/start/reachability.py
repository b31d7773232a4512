"""Checks that the joints can reach all waypoints, and that constraints do not contradict each other."""

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

_REACHED = 1e-6  # A waypoint is reached if the norm of the errors, m and rad, is at most this value.
# The search for a waypoint ends if the norm of the errors, m and rad, is at most this value.
_CLOSE = 0.01 * _REACHED
_ITERATIONS = 200  # A Levenberg–Marquardt search ends after this many steps from one initial guess.
_LOOP = 100.0  # The least-squares sum multiplies closure residuals by this weight, and waypoint errors by 1.
# Further initial guesses change joint coordinates randomly by up to these values, rad or m.
_SPREADS = (0.1, 0.3, 1.0, 1.0, 3.0, 3.0)
_FIRST_DAMPING = 1e-3  # The Levenberg–Marquardt method begins with this damping.
# A Levenberg–Marquardt search ends above this damping, because its steps would be only rounding errors.
_MOST_DAMPING = 1e8
# A small rotation angle, rad, is the norm of the changes in direction cosines, multiplied by this factor.
_ACROSS = 0.5**0.5


def unreachable(problem: InitialValueProblem) -> list[Problem]:
    """Return error messages for waypoints that the joints cannot reach, and for contradictory constraints.

    Only joints move, and loops stay closed. The search for each waypoint uses damped Gauss-Newton steps
    (Levenberg-Marquardt). The search begins in the configuration of the previous waypoint. After a
    local minimum, the search is repeated from a few other configurations.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations with their initial state.
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
    with_what = ", base and beams in their initial position" * any(
        c.role != "joint" for c in model.mechanism.coordinates
    )
    target, orientation = Target(path), Orientation(path) if path.orientations is not None else None
    for k, t in enumerate(target.visits):
        wanted = _Pose(target.motion(t, t)[0], None if orientation is None else orientation.motion(t, t)[0])
        found, distance = search.nearest(wanted, q)
        if distance <= _REACHED:
            q = found
        else:
            yield Problem(
                f"{where}.waypoints[{k}]",
                f"cannot be reached by the joints{with_what}: the closest configuration is"
                f" {search.missing(wanted, found)} away; move the waypoint or the path's frame, or change the"
                " initial configuration",
            )


@dataclass(frozen=True)
class _Pose:
    """Prescribed position and orientation of the guided point's frame at a waypoint.

    The position, shape (3,), m, is given in the path's frame. The axes of the frame, shape (3, 3),
    are given in world axes; None if the path prescribes no orientation.
    """

    position: Array
    axes: Array | None


class _Search:
    """Search for joint coordinates that bring a point of a body to a waypoint of a path."""

    def __init__(self, model: ReferenceModel, path: Path) -> None:
        self._model = model
        self._joints = [k for k, c in enumerate(model.mechanism.coordinates) if c.role == "joint"]
        self._own = ["xyz".index(component) for component in path.components]
        self._point = model.quantities.point(path.point)
        self._rotation, self._origin = path.frame.rotation.T, path.frame.offset
        self._axes = model.quantities.axes(path.point) if path.orientations is not None else None

    def nearest(self, waypoint: _Pose, q: Array) -> tuple[Array, float]:
        """Return the configuration closest to the waypoint, shape (n,), and its distance from the waypoint.

        The distance is the norm of position error, m, and orientation error, rad.
        """
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
        """Return the distance of a configuration from a waypoint as text for error messages."""
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
            # Normal equations would square the condition number of the damped least-squares system.
            damped = np.vstack([jacobian, damping * np.eye(len(self._joints))])
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
        """Return the residual between a configuration and a waypoint, and the residual's Jacobian.

        The Jacobian is with respect to the joint coordinates. The residual contains, in this order:

        - position errors in the path's frame, m, for the prescribed components;
        - differences of direction cosines, divided by √2, if axes are prescribed; the norm of all these
          differences is 2 sin(α/2) for an orientation error α;
        - weighted closure residuals of the loops, m or rad.
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
    """Yield an error message for each contradiction between constraints.

    A message is also yielded if the drives cannot fulfil the constraints.
    """
    model, q = problem.model, problem.initial_state.q
    start = model.state(0.0, q, np.zeros(len(q)))
    model.constraints(start)  # This evaluation raises an error if a constraint is undefined in the initial state.
    try:
        choice = problem.rows
    except SolveError as error:
        key = "actuated" if "actuated" in str(error) else "redundant"
        yield Problem(f"constraints.{key}", str(error))
        return
    if choice.groups:
        yield from _left_out(model, start, choice)


def _left_out(model: ReferenceModel, start: KinematicState, choice: RowChoice) -> Iterator[Problem]:
    """Yield an error message if redundant constraints contradict the independent constraints."""
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
    """Return the message for constraints that no joint can fulfil, or that contradict each other."""
    at = f"at t = {opened.t:.4g} s, by {opened.residual:.3g}"
    groups = [[model.constraints.names[k] for k in group] for group in choice.groups]
    names = [name for group in groups if set(group) & set(opened.names) for name in group]
    if set(names) == set(opened.names) and len(names) == sum(1 for group in groups if set(group) & set(names)):
        return (
            f"no joint can change {', '.join(names)}, whose {opened.what} are violated {at}; remove the"
            " constraint, change its target, or add a joint that fulfils it"
        )
    return (
        f"the constraint equations {', '.join(names)} are linearly dependent and contradict each other in their"
        f" {opened.what} {at}; remove one, or change their targets"
    )


def _singular(model: ReferenceModel, choice: RowChoice, found: SingularStart) -> str:
    names = model.constraints.names
    redundant = ", ".join(names[k] for group in choice.groups for k in group)
    opened = (
        f"; {', '.join(found.opened.names)} would be omitted as redundant, and violated by"
        f" {found.opened.residual:.3g} in positions that fulfil the others"
        if found.opened
        else ""
    )
    return (
        f"the initial position is singular: the {len(names)} constraint equations have rank {found.here} there and"
        f" {max(found.rank, found.here)} elsewhere; initially {redundant} are linearly dependent or have a zero"
        f" gradient{opened}; choose another initial position, or write the equation without a square that vanishes"
    )
