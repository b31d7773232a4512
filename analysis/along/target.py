"""Prescribed positions of points, for plots of the motion against the programmed constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array, Trajectory
from ...description.types.origin import of_point
from ...language import expressions
from ...mechanism import Mechanism, ProgrammedTask, signal_names
from ...reference.constraints.constraints import programmed
from ...reference.constraints.rows import Rows, stack
from ...reference.kinematics.quantities import KinematicState
from ...reference.kinematics.segment import Segment
from ...reference.solve.solver import InitialValueProblem

_ITERATIONS = 50  # maximum number of Newton steps of the projection
_CLOSE = 1e-10  # largest Newton correction of a converged projection, m


def programmed_target(problem: InitialValueProblem, trajectory: Trajectory) -> dict[str, Array]:
    """Return the prescribed positions of points at the times of a trajectory.

    A point is included if position-level programmed constraints depend on its position and on no other
    moving quantity. Its prescribed position is the one nearest to the actual position that fulfils all
    these constraints (minimum-norm Newton iteration). Free components therefore equal those of the
    actual motion.

    Returns
    -------
    dict
        Positions, shape (N, 3), m, in world axes, by point; NaN if the iteration does not converge.
    """
    mechanism, entries = problem.mechanism, dict[str, list[ProgrammedTask]]()
    for entry in mechanism.programmed:
        point = _only_point(mechanism, entry)
        if point is not None:
            entries.setdefault(point, []).append(entry)
    return {point: _Projection(problem, point, own, trajectory).path() for point, own in entries.items()}


def _only_point(mechanism: Mechanism, entry: ProgrammedTask) -> str | None:
    """Return the only point whose position the constraint depends on, or None."""
    if entry.path is not None:
        return entry.path.point
    if entry.expression is None:
        return None
    used = {name for name in expressions.running_names(entry.expression) if "." in name}
    owners = {name.partition(".")[0] for name in used}
    if entry.order or len(owners) != 1 or not used <= {f"{p}.{axis}" for p in mechanism.points for axis in "xyz"}:
        return None
    return owners.pop()


class _Projection:
    """Projection of one point of a trajectory onto its programmed constraints."""

    def __init__(
        self, problem: InitialValueProblem, point: str, entries: Sequence[ProgrammedTask], trajectory: Trajectory
    ) -> None:
        mechanism = problem.mechanism
        first = trajectory.columns(signal_names(mechanism.coordinates, "position"))[0]
        self._model = problem.model
        # A path has position constraints, which come first, and orientation constraints, which are omitted.
        self._groups = [programmed(entry, self._model.quantities, self._model.reader)[0] for entry in entries]
        self._own = self._model.quantities.point(point)
        self._times = trajectory.time
        self._actual = trajectory.columns(of_point(point, "position", axis).name for axis in "xyz")
        still = self._model.state(0.0, first, np.zeros(mechanism.n))
        # With an identity Jacobian, C contains the derivatives with respect to the kinematic quantities.
        self._template = replace(still, jacobian=np.eye(len(still.x)))

    def path(self) -> Array:
        """Return the projected positions, shape (N, 3), m."""
        return np.array([self._nearest(t, r) for t, r in zip(self._times.tolist(), self._actual, strict=True)])

    def _nearest(self, t: float, actual: Array) -> Array:
        position, gap = actual.copy(), np.inf
        try:
            for _ in range(_ITERATIONS):
                rows = self._at(t, position)
                gradient = rows.C[:, self._own]
                # Foot point: the point nearest to the actual one that fulfils the linearised constraints.
                change = actual - np.linalg.pinv(gradient) @ (rows.Phi + gradient @ (actual - position)) - position
                position = position + change
                gap = float(np.linalg.norm(change))
                if gap < _CLOSE:
                    return position
        except (SolveError, np.linalg.LinAlgError):
            pass  # the point has left the constraint's domain
        return np.full(3, np.nan)

    def _at(self, t: float, position: Array) -> Rows:
        x = self._template.x.copy()
        x[self._own] = position
        state: KinematicState = replace(self._template, t=t, segment=Segment(t), x=x)
        return stack([group.rows(state) for group in self._groups])
