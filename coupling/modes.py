"""Comparison of a mechanism's eigenfrequencies with the communication steps of a co-simulation.

The eigenfrequencies are those of the uncut mechanism, i.e. before it was cut into several FMUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# A vibration counts as resolved if each period contains at least this number of communication steps.
_STEPS = 10.0


@dataclass(frozen=True)
class ResolvedModes:
    """Vibration modes of the uncut mechanism in the initial state, and communication step of the run.

    The uncut mechanism is the whole mechanism as one FMU, before it was cut into several FMUs.

    Parameters
    ----------
    frequencies : eigenfrequencies in ascending order, Hz
    step : longest communication step of the run, s
    """

    frequencies: Sequence[float]
    step: float

    @property
    def resolved(self) -> list[float]:
        """Eigenfrequencies, Hz, of the modes with at least 10 communication steps per period."""
        return [f for f in self.frequencies if _STEPS * f * self.step <= 1.0]

    def data(self) -> dict[str, Any]:
        """Return the eigenfrequencies, Hz, and the largest communication step, s, for `result.json`.

        The data also contain the highest resolved eigenfrequency, which has at least 10
        communication steps per period.
        """
        highest = self.resolved[-1] if self.resolved else None
        return {"frequencies": [*self.frequencies], "step": self.step, "highest_resolved": highest}

    def sentence(self) -> str:
        """Return a sentence that names the highest resolved eigenfrequency and the next higher one.

        An eigenfrequency is resolved if each period has at least 10 communication steps.
        """
        below, count = self.resolved, len(self.frequencies)
        text = f"steps of {self.step:.3g} s resolve {len(below)} of {count} vibration modes"
        if below:
            text += f", the highest with {below[-1]:.3g} Hz"
        if len(below) < count:
            text += f"; the next one has {self.frequencies[len(below)]:.3g} Hz"
        return text
