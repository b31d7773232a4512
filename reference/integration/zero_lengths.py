"""Detection of two-point force elements whose length passes through zero within a step.

The force of such an element reverses its direction and is undefined at zero length.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import MEETING
from ..kinematics.extent import units_of_change
from ..kinematics.segment import Segment
from .integrators import Interpolant
from .motion import FormulatedModel

_LOOKS = 3  # The rates of change of lengths are sampled this many times in a step, including both ends.
_LOCATED = 1e-12  # The time at which a length is smallest is located with this absolute error, s.


class ZeroLengths:
    """Monitor of the lengths of all two-point force elements in one run."""

    def __init__(self, motion: FormulatedModel) -> None:
        self._motion, self._lines = motion, motion.model.mechanism.lines
        positions = motion.model.reader.quantities.position
        self._lengths = [positions[f"{line.name}.length"] for line in self._lines]

    def step(self, segment: Segment, before: float, after: float, interpolant: Callable[[], Interpolant]) -> None:
        """Raise SolveError if a two-point force element reaches zero length between two times.

        The times `before` and `after` are in s.
        """
        if not self._lines:
            return
        at, times = interpolant(), np.linspace(before, after, _LOOKS)
        states = np.array([at(t) for t in times.tolist()])
        rates = self._motion.moment(times, states, segment)[0].x_dot[:, self._lengths]
        with np.errstate(invalid="ignore"):
            # A zero length has the rate nan, for which all comparisons are false.
            nearest = (rates[:-1] < 0.0) & ~(rates[1:] < 0.0)
        for i, k in np.argwhere(nearest).tolist():
            self._check(segment, k, (float(times[i]), float(times[i + 1])), at)

    def _check(self, segment: Segment, k: int, span: tuple[float, float], at: Interpolant) -> None:
        def length(t: float) -> float:
            return float(self._motion.moment(t, at(t), segment)[0].x[self._lengths[k]])

        t = float(minimize_scalar(length, bounds=span, method="bounded", options={"xatol": _LOCATED}).x)
        if length(t) <= MEETING * self._extent(segment, t, at(t)):
            raise SolveError(
                f"the length of line {self._lines[k].name} passes through zero at t = {t:.5g} s, where its force"
                " has no direction; expected ends that stay apart: move one of its points, or limit the motion"
                " by an end stop"
            )

    def _extent(self, segment: Segment, t: float, y: Array) -> float:
        posture = self._motion.moment(t, y, segment)[0].posture
        return units_of_change(self._motion.model.mechanism, posture)[0]
