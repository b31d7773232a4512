"""Detection of noise, i.e. of estimated output errors that shorter communication steps do not reduce."""

from __future__ import annotations

import numpy as np

from ..core.trajectory import Array

# A jump affects at most this number of the shortest steps; if more have large errors, the cause is noise.
_RECURRING = 8
# A series of short steps ends if a step is more than this many times longer than the shortest step.
_LEFT = 100.0
# An error counts as large if it exceeds this fraction of the admissible error.
_GROWING = 0.25
# In long steps, errors up to this many times the errors of the shortest steps are attributed to noise.
_MARGIN = 4.0


class NoiseLevels:
    """Levels of noise in the outputs, estimated from the errors of the shortest communication steps.

    An error that exceeds the tolerance shortens the step. If a shorter step does not reduce the
    error, the step falls to its lower limit. A jump of an output, or of its slope, needs only a few
    such steps. If such errors occur in more steps of the shortest length, they are noise. For
    example, the tolerance of the FMU's own solver limits the accuracy of its outputs. Errors below
    the level of noise are admissible, so the steps become longer again.

    Parameters
    ----------
    count : number of outputs and pin forces
    shortest : length of the shortest step, s

    Attributes
    ----------
    levels : largest error of each signal that counts as noise, shape (count,)
    """

    def __init__(self, count: int, shortest: float) -> None:
        self.levels, self._shortest = np.zeros(count), shortest
        self._exceeded, self._series = np.zeros(count, dtype=int), list[Array]()

    @property
    def jumps(self) -> int:
        """Number of steps of minimum length in which the error of an output exceeded the tolerance.

        Outputs with noise are ignored. For other outputs, such an error indicates a jump of the
        output or of its slope. Each output has its own count; the result is the largest count.
        """
        return int(np.max(self._exceeded[self.levels == 0.0], initial=0))

    @property
    def admissible(self) -> Array:
        """Largest errors that noise can cause in each of the `count` outputs and pin forces, shape (count,)."""
        return _MARGIN * self.levels

    def note(self, h: float, errors: Array, limits: Array) -> None:
        """Record the errors of an accepted step, and raise the noise levels if a series of steps shows noise.

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
