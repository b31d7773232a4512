"""Detection of noise: errors of steps that do not decrease with the step."""

from __future__ import annotations

import numpy as np

from ..core.trajectory import Array

_RECURRING = 8  # largest number of successive shortest steps with too large an error that jumps or kinks explain
_LEFT = 100.0  # a step that is this many times longer than the shortest one ends a series of shortest steps
_GROWING = 0.25  # the next step becomes longer if the error is below this fraction of the admissible error
_MARGIN = 4.0  # an error by noise in a long step may be this many times larger than in the shortest steps


class NoiseLevels:
    """Levels of noise in the outputs, learnt from the errors of the shortest steps.

    The error of a step decreases with the step. If it does not, the step falls to the shortest length. A
    jump or a kink that no part reports needs only the few shortest steps around its time. Errors that
    recur in more of the shortest steps are noise: the outputs of a part are not reproduced more accurately,
    for example because of the tolerance of its solver. Errors below the level of noise are admissible,
    so the steps become longer again.

    Parameters
    ----------
    count : number of outputs and pin forces
    shortest : length of the shortest step, s

    Attributes
    ----------
    levels : largest errors that are noise, shape (count,)
    """

    def __init__(self, count: int, shortest: float) -> None:
        self.levels, self._shortest = np.zeros(count), shortest
        self._exceeded, self._series = np.zeros(count, dtype=int), list[Array]()

    @property
    def jumps(self) -> int:
        """Number of shortest steps in which an output without noise had too large an error: a jump or a kink."""
        return int(np.max(self._exceeded[self.levels == 0.0], initial=0))

    @property
    def admissible(self) -> Array:
        """Errors of outputs and pin forces that noise explains, shape (count,)."""
        return _MARGIN * self.levels

    def note(self, h: float, errors: Array, limits: Array) -> None:
        """Take note of an accepted step of length h, s, and raise the levels if its series of steps shows noise.

        Parameters
        ----------
        h : length of the step, s
        errors : estimated errors of outputs and pin forces, shape (count,)
        limits : admissible errors, shape (count,)
        """
        if h > _LEFT * self._shortest:
            self._series.clear()
            return
        self._exceeded += errors > limits
        if (errors > _GROWING * limits).any():
            self._series.append(errors)
        if len(self._series) > _RECURRING:
            found = np.max(self._series, axis=0)
            self.levels = np.where(found > _GROWING * limits, np.maximum(self.levels, found), self.levels)
            self._series.clear()
