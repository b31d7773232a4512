"""Step-by-step integrators: Radau IIA, methods of SciPy, and a fixed-step Runge–Kutta method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import integrate

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...language.pace import STEADY, Pace
from .radau import Radau

Rate = Callable[[Any, Array], Array]

_ADAPTIVE = {"DOP853": integrate.DOP853, "Radau": Radau, "BDF": integrate.BDF, "LSODA": integrate.LSODA}
METHODS = ("RK4", *_ADAPTIVE)
# SciPy receives at least this relative tolerance, because SciPy warns about tolerances below 2.2e-14.
_FINEST = 1e-13
# The absolute tolerance, rad, m, rad/s or m/s, is this multiple of the relative tolerance.
# The absolute tolerance is smaller than the relative tolerance, because elastic angles are small.
_ABSOLUTE = 1e-3
# A remainder below this fraction of a step gets no step of its own; all steps become longer instead.
_WHOLE = 1e-6


class Stalled(SolveError):
    """Error of an integrator that cannot continue.

    The attributes `t`, s, and `y`, shape (k,), are the time and the state that the integrator has
    reached.
    """

    def __init__(self, method: str, t: float, y: Array, message: str) -> None:
        self.t, self.y = t, y
        super().__init__(f"{method} stopped at t = {t:.9g} s: {message}")


@dataclass(frozen=True)
class Integrator:
    """Integration method with its accuracy.

    Attributes
    ----------
    method : str
        One of METHODS.
    tolerance : float
        Relative tolerance. The absolute tolerance is a thousandth of this number, in rad, m, rad/s or
        m/s, because the angles of elastic links are small.
    step : float
        Step length of the method RK4, s.
    longest : float
        Longest step of the methods of SciPy, s. On a smooth motion, longer steps would reach the
        stability limit of the constraint stabilisation and make small signals inaccurate. The method
        Radau IIA needs no limit, because it damps stiff components.
    """

    method: str
    tolerance: float
    step: float
    longest: float = np.inf

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SolveError(f"expected one of the methods {', '.join(METHODS)}, found {self.method!r}")

    def integrate(
        self, rate: Rate, span: tuple[float, float], y: Array, record: Record, pace: Pace = STEADY
    ) -> tuple[float, Array]:
        """Integrate ẏ = rate(t, y) over a time span and return the final time, s, and state, shape (k,).

        Parameters
        ----------
        rate : callable
            Right-hand side of the differential equations.
        span : tuple of float
            Initial and final time, s.
        y : ndarray, shape (k,)
            Initial state.
        record : callable
            Function that is called after each step. The arguments are the beginning and the end of the
            step, s, the state at the end, and the interpolant. If the function returns a time within the
            step, the integration ends at this time.
        pace : Pace
            Longest admissible step as a function of time.

        Raises
        ------
        Stalled
            If the integrator cannot continue.
        """
        return (_fixed if self.method == "RK4" else _adaptive)(self, rate, span, y, record, pace)


Interpolant = Callable[[float], Array]
Record = Callable[[float, float, Array, Callable[[], Interpolant]], float | None]


def _adaptive(
    settings: Integrator, rate: Rate, span: tuple[float, float], y: Array, record: Record, pace: Pace
) -> tuple[float, Array]:
    # LSODA cannot change its longest step while it runs, so each time interval has its own solver.
    spans = [*pace.pieces(*span)] if settings.method == "LSODA" else [span]
    for part in spans:
        reached, y = _marched(settings, rate, part, y, record, pace)
        if reached < part[1]:
            break
    return reached, y


def _marched(
    settings: Integrator, rate: Rate, span: tuple[float, float], y: Array, record: Record, pace: Pace
) -> tuple[float, Array]:
    begin, end = span
    longest = np.inf if settings.method == "Radau" else settings.longest
    solver = _ADAPTIVE[settings.method](
        rate,
        begin,
        y,
        end,
        max_step=longest,
        rtol=max(settings.tolerance, _FINEST),
        atol=settings.tolerance * _ABSOLUTE,
    )
    while solver.status == "running":
        before = solver.t
        solver.max_step = min(longest, pace.end(before) - before)
        message = solver.step()
        if solver.status == "failed":
            raise Stalled(settings.method, solver.t, np.asarray(solver.y), message)
        # A step's interpolant is computed on demand, because the right-hand side may have to be evaluated.
        interpolant = cache(solver.dense_output)
        event = record(before, solver.t, np.asarray(solver.y), interpolant)
        if event is not None:
            return event, np.asarray(interpolant()(event))
    return end, np.asarray(solver.y)


def _fixed(
    settings: Integrator, rate: Rate, span: tuple[float, float], y: Array, record: Record, pace: Pace
) -> tuple[float, Array]:
    begin, end = span
    count = max(1, int(np.ceil((end - begin) / settings.step - _WHOLE)))
    times = np.array([*pace.refined(np.linspace(begin, end, count + 1).tolist())])
    slope = rate(begin, y)
    for before, after in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
        following = _runge_kutta(rate, before, y, slope, after - before)
        next_slope = rate(after, following)
        interpolant = partial(_hermite, (before, after), (y, following), (slope, next_slope))
        event = record(before, after, following, interpolant)
        if event is not None:
            # A Runge–Kutta step to the event is more accurate than the interpolant of the full step.
            return event, _runge_kutta(rate, before, y, slope, event - before)
        y, slope = following, next_slope
    return end, y


def _runge_kutta(rate: Rate, t: float, y: Array, k1: Array, h: float) -> Array:
    k2 = rate(t + h / 2, y + h / 2 * k1)
    k3 = rate(t + h / 2, y + h / 2 * k2)
    k4 = rate(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _hermite(span: tuple[float, float], ends: tuple[Array, Array], slopes: tuple[Array, Array]) -> Interpolant:
    """Return the cubic Hermite interpolant of a step from the states and derivatives at both ends of the step."""
    (t0, t1), (y0, y1), (f0, f1) = span, ends, slopes
    h = t1 - t0

    def at(t: float) -> Array:
        s = (t - t0) / h
        blend = s * s * (3 - 2 * s)
        return (1 - blend) * y0 + blend * y1 + h * s * (1 - s) * ((1 - s) * f0 - s * f1)

    return at
