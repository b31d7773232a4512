"""Decay rate of a run's constraint violation, compared with the rate that the stabilisation predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...core.trajectory import Trajectory
from ...mechanism import Mechanism
from .decay import Decay, baumgarte_roots, straight_part

# The fast exponential term of a constraint violation counts as zero after this many time constants.
_TIME_CONSTANTS = 10.0


@dataclass(frozen=True)
class Stabilisation:
    """Constraint stabilisation of a mechanism, and the effect of the stabilisation on one run.

    Attributes
    ----------
    mechanism
        Mechanism whose parameters have numerical values.
    run
        Run with the signal `violation_position`, if the mechanism has constraints.
    """

    mechanism: Mechanism
    run: Trajectory

    @property
    def name(self) -> str:
        """Name of the characteristic root with the slowest decay."""
        return "position feedback" if self._is_reduced else "slow root of Baumgarte"

    @property
    def slow_root(self) -> float:
        """Real part of the characteristic root with the slowest decay, 1/s."""
        return self._roots[0]

    @property
    def settled(self) -> float:
        """Time, s, after which the rapidly decaying part of a constraint violation has vanished.

        This part belongs to the fast characteristic root.
        """
        fast = self._roots[1] if "violation_position" in self.run.signals else 0.0
        return float(self.run.time[0]) + (_TIME_CONSTANTS / -fast if fast else 0.0)

    @cached_property
    def decay(self) -> Decay | None:
        """Exponential function that is fitted to the decaying constraint violation ‖Φ‖ of the run.

        The fit begins when the part of the violation that belongs to the fast characteristic root has
        vanished. The result is None if no part of the violation decays exponentially.
        """
        values = self.run.signals.get("violation_position")
        return None if values is None else straight_part(self.run.time, values, self.settled)

    @property
    def _is_reduced(self) -> bool:
        return self.mechanism.formulation == "gpme_reduced"

    @property
    def _roots(self) -> tuple[float, float]:
        if self._is_reduced:
            return -float(self.mechanism.kappa), 0.0
        return baumgarte_roots(float(self.mechanism.alpha), float(self.mechanism.beta))
