"""One long step across a singular configuration, where integrators can lose the motion's branch.

The constraint Jacobian loses rank at the singular configuration, and several branches of the motion
meet there. Close to this configuration, small position errors divert the solution to another
branch. An integrator with error control takes short steps there. With a tight tolerance, some steps
lie so close to the singular configuration that the solution leaves the branch. One explicit step of
normal length continues the motion along its tangent, because no stage of the step lies close to the
singular time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

from ...core.errors import SolveError
from ...core.trajectory import Array
from .integrators import Interpolant, Rate

# The step across a singularity takes this fraction of the time in which the Jacobian changes by 100 %.
LENGTH = 0.1
# A step across a singularity is chosen so that the singularity is at this fraction of the step.
PLACE = 0.467
# While a run stays on one solution branch, Δv and ∫a dt differ by at most this fraction of the speed.
_JUMP = 0.1


@dataclass(frozen=True)
class Leap:
    """Step of the method DOP853 without error control.

    Attributes
    ----------
    begin, end : float
        Beginning and end of the step, s.
    y : ndarray, shape (k,)
        State at the end.
    slopes : ndarray, shape (2, k)
        Time derivatives of the state at the beginning and the end.
    interpolant : callable
        State as a function of time within the step.
    """

    begin: float
    end: float
    y: Array
    slopes: Array
    interpolant: Interpolant

    def is_continuous(self, before: Array, velocities: slice, unit: Array) -> bool:
        """Whether the change of the velocities agrees with the accelerations at both ends of the step.

        The two disagree if the step ends on another branch of the motion.

        Parameters
        ----------
        before : ndarray, shape (k,)
            State at the beginning of the step.
        velocities : slice
            Indices of the n velocities in the state.
        unit : ndarray, shape (n,)
            Scale of each velocity.
        """
        announced = 0.5 * (self.end - self.begin) * self.slopes.sum(axis=0)
        unexpected = (self.y - before - announced)[velocities] / unit
        speed = max(float(np.linalg.norm(y[velocities] / unit)) for y in (before, self.y))
        return float(np.linalg.norm(unexpected)) <= _JUMP * speed


def leap(rate: Rate, begin: float, y: Array, end: float) -> Leap:
    """Return one step of DOP853 from the state y, shape (k,), at time `begin` to time `end`, s.

    Raises
    ------
    SolveError
        If the right-hand side fails or the state becomes infinite.
    """
    solver = DOP853(rate, begin, y, end, first_step=end - begin, atol=np.inf)
    slope = np.array(solver.f)
    solver.step()
    if not np.isfinite(solver.y).all():
        raise SolveError(
            f"the motion has diverged at t = {end:.9g} s, in a step across a singular position; change the initial"
            " state so that the motion avoids this position"
        )
    return Leap(begin, end, np.asarray(solver.y), np.array([slope, solver.f]), solver.dense_output())
