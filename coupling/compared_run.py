"""Result of one run in a comparison of coupling methods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparedRun:
    """Error and computing time of a run with one coupling method and one step length.

    Parameters
    ----------
    method : name of the coupling method
    order : degree of extrapolation of the sequential method; None for other methods
    step : communication step, s. If a tolerance controls the step, the value is the mean step, or
        None if the run failed.
    tolerance : admissible relative error that controls the step; None for a fixed step
    steps : number of communication steps; None if the run failed
    error : largest error of a signal, relative to the range of the signal; None if the run failed
    wall_s : elapsed real time, s; None if the run failed
    reference : name of the reference result from which the error was computed
    failure : reason why the run failed, or an empty text
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
        """Label of the coupling method in the figures and tables of the comparison."""
        order = "" if self.order is None else f", order {self.order}"
        return f"{self.method}{order}" + ("" if self.tolerance is None else ", automatic step")
