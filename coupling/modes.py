"""Vibration modes of the uncut machine, and the modes that the communication steps resolve.

The uncut machine is the whole mechanism before it was divided into parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_STEPS = 10.0  # smallest number of communication steps per period at which a vibration counts as resolved


@dataclass(frozen=True)
class ResolvedModes:
    """Vibration modes of the uncut machine in the initial state, and communication step of the run.

    The uncut machine is the whole mechanism before it was divided into parts.

    Parameters
    ----------
    frequencies : eigenfrequencies in ascending order, Hz
    step : largest communication step of the run, s
    """

    frequencies: Sequence[float]
    step: float

    @property
    def resolved(self) -> list[float]:
        """Eigenfrequencies, Hz, of the modes with at least 10 communication steps per period."""
        return [f for f in self.frequencies if _STEPS * f * self.step <= 1.0]

    def data(self) -> dict[str, Any]:
        """Return the eigenfrequencies and the highest resolved eigenfrequency, Hz, for `result.json`."""
        highest = self.resolved[-1] if self.resolved else None
        return {"frequencies": [*self.frequencies], "step": self.step, "highest_resolved": highest}

    def sentence(self) -> str:
        """Return a sentence that names the highest resolved mode and the next higher mode."""
        below, count = self.resolved, len(self.frequencies)
        text = f"steps of {self.step:.3g} s resolve {len(below)} of {count} vibration modes"
        if below:
            text += f", the highest with {below[-1]:.3g} Hz"
        if len(below) < count:
            text += f"; the next one has {self.frequencies[len(below)]:.3g} Hz"
        return text
