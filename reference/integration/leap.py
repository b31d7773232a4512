"""One long step across a singular configuration, where an adaptive integrator would lose the branch of the motion.

There the constraints' Jacobian loses rank, and accelerations are small differences divided by its smallest
singular value. Along the branch they have a limit, but an error of the positions, however small, turns the
solution away to another branch, within a time that falls with the error. So an integrator with error control,
whose steps become short there, leaves the branch if its tolerance is fine. A step of an explicit method that is
as long as elsewhere, and whose stages keep away from the singular instant, does not see the turn: it continues
the motion along its tangent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

from ...core.errors import SolveError
from ...core.trajectory import Array
from .integrators import Interpolant, Rate

LENGTH = 0.1  # of the time in which the constraints' Jacobian changes by its own size
PLACE = 0.467  # of a leap: middle of the widest gap between the nodes of DOP853, where the singular instant is
_JUMP = 0.1  # of the speed: by so much velocities may deviate from what accelerations at both ends make of them


@dataclass(frozen=True)
class Leap:
    """Step of DOP853 without error control.

    Parameters:
        begin, end    s
        y             state at the end, shape (k,)
        slopes        rates at both ends, shape (2, k)
        interpolant   states between
    """

    begin: float
    end: float
    y: Array
    slopes: Array
    interpolant: Interpolant

    def is_continuous(self, before: Array, velocities: slice, unit: Array) -> bool:
        """Whether velocities change by what accelerations at both ends make of them.

        Another branch of the motion has another direction, which accelerations do not announce.

        Parameters:
            before      state at the begin, shape (k,)
            velocities  place of the n velocities among the states
            unit        of each velocity, shape (n,)
        """
        announced = 0.5 * (self.end - self.begin) * self.slopes.sum(axis=0)
        unexpected = (self.y - before - announced)[velocities] / unit
        speed = max(float(np.linalg.norm(y[velocities] / unit)) for y in (before, self.y))
        return float(np.linalg.norm(unexpected)) <= _JUMP * speed


def leap(rate: Rate, begin: float, y: Array, end: float) -> Leap:
    """Take one step from the state y, shape (k,), at `begin` to `end`, s.

    Raises SolveError where the rates cannot be found.
    """
    solver = DOP853(rate, begin, y, end, first_step=end - begin, atol=np.inf)
    slope = np.array(solver.f)
    solver.step()
    if not np.isfinite(solver.y).all():
        raise SolveError(f"the motion has diverged at t = {end:.9g} s")
    return Leap(begin, end, np.asarray(solver.y), np.array([slope, solver.f]), solver.dense_output())
