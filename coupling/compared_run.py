"""Result of one run in a comparison of coupling methods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparedRun:
    """Error and time of a run by one coupling method and step, for a work–precision figure.

    Parameters
    ----------
    method : coupling method
    order : degree of extrapolation of the sequential method, otherwise None
    step : fixed communication step, or mean step of a run whose tolerance controls the step, s; None
        without a result of such a run
    tolerance : admissible relative error that controls the step; None for a fixed step
    steps : number of communication steps; None without a result
    error : error of the worst signal, relative to its range; None without a result
    wall_s : elapsed real time, s; None without a result
    reference : what the error was measured against
    failure : reason why the run has no result, or an empty text
    """

    method: str
    order: int | None
    step: float | None
    tolerance: float | None
    steps: int | None
    error: float | None
    wall_s: float | None
    reference: str
    failure: str = ""

    @property
    def label(self) -> str:
        """Name of the curve that the run belongs to."""
        order = "" if self.order is None else f", order {self.order}"
        return f"{self.method}{order}" + ("" if self.tolerance is None else ", automatic step")
