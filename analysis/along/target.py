"""Prescribed positions of points, for plots that compare the motion with the programmed constraints."""

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

_ITERATIONS = 50  # Newton's method ends after this many steps for each prescribed position.
_CLOSE = 1e-10  # Newton's method has converged if the correction of the position is below this distance, m.


def programmed_target(problem: InitialValueProblem, trajectory: Trajectory) -> dict[str, Array]:
    """Return the prescribed positions of points at the times of a trajectory.

    The result contains a point if two conditions are met: position-level programmed constraints
    depend on the point's position, and these constraints depend on no other moving quantity. The
    prescribed position is the position nearest to the actual position that fulfils all these
    constraints. Unconstrained components are therefore equal to those of the actual motion.

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
    """Return the point whose position is the only moving quantity in a programmed constraint.

    If the constraint also depends on other moving quantities, the result is None.
    """
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
    """Computation of the prescribed positions of one point at the times of a trajectory."""

    def __init__(
        self, problem: InitialValueProblem, point: str, entries: Sequence[ProgrammedTask], trajectory: Trajectory
    ) -> None:
        mechanism = problem.mechanism
        first = trajectory.columns(signal_names(mechanism.coordinates, "position"))[0]
        self._model = problem.model
        # The first group of a task's equations constrains positions; a second group constrains an orientation.
        self._groups = [programmed(entry, self._model.quantities, self._model.reader)[0] for entry in entries]
        self._own = self._model.quantities.point(point)
        self._times = trajectory.time
        self._actual = trajectory.columns(of_point(point, "position", axis).name for axis in "xyz")
        still = self._model.state(0.0, first, np.zeros(mechanism.n))
        # The constraint Jacobian C equals ∂Φ/∂x if the Jacobian of the quantities x is the identity matrix.
        self._template = replace(still, jacobian=np.eye(len(still.x)))

    def path(self) -> Array:
        """Return the prescribed position at each output time, shape (N, 3), m.

        The values are NaN at times at which the iteration does not converge.
        """
        return np.array([self._nearest(t, r) for t, r in zip(self._times.tolist(), self._actual, strict=True)])

    def _nearest(self, t: float, actual: Array) -> Array:
        position, gap = actual.copy(), np.inf
        try:
            for _ in range(_ITERATIONS):
                rows = self._at(t, position)
                gradient = rows.C[:, self._own]
                # The next position is the point on the linearised constraints nearest to the actual position.
                change = actual - np.linalg.pinv(gradient) @ (rows.Phi + gradient @ (actual - position)) - position
                position = position + change
                gap = float(np.linalg.norm(change))
                if gap < _CLOSE:
                    return position
        except (SolveError, np.linalg.LinAlgError):
            pass  # The constraint can be undefined at a position that Newton's method reaches.
        return np.full(3, np.nan)

    def _at(self, t: float, position: Array) -> Rows:
        x = self._template.x.copy()
        x[self._own] = position
        state: KinematicState = replace(self._template, t=t, segment=Segment(t), x=x)
        return stack([group.rows(state) for group in self._groups])
