"""Integrators that march step by step: Radau's, SciPy's, and the papers' Runge–Kutta method with fixed step."""

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
_FINEST = 1e-13  # relative tolerance: with a smaller one SciPy warns, for rounding is as large
_ABSOLUTE = 1e-3  # absolute tolerance by the relative one, rad or m and per s: elastic angles are small
_WHOLE = 1e-6  # of a fixed step: an interval longer by less has no further step


class Stalled(SolveError):
    """An integrator gave up: t, s, and y, shape (k,), are how far it came."""

    def __init__(self, method: str, t: float, y: Array, message: str) -> None:
        self.t, self.y = t, y
        super().__init__(f"{method} stopped at t = {t:.9g} s: {message}")


@dataclass(frozen=True)
class Integrator:
    """Method and accuracy.

    method     one of METHODS
    tolerance  relative; absolute it is a thousandth of it, in rad or m and per s, for elastic angles are small
    step       s, of RK4
    longest    s, of SciPy's methods: on a smooth motion their steps grow until the stabilisation's decay is all
               that holds them, and what they let through there is more than small signals bear; Radau's damp it
    """

    method: str
    tolerance: float
    step: float
    longest: float = np.inf

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SolveError(f"expected a method out of {', '.join(METHODS)}, got {self.method!r}")

    def integrate(
        self, rate: Rate, span: tuple[float, float], y: Array, record: Record, pace: Pace = STEADY
    ) -> tuple[float, Array]:
        """When it ends, s, and the end state, shape (k,), of ẏ = rate(t, y) over span, s.

        pace    longest steps over time
        record  called after each step with its begin and end, s, the state there, and the interpolant between
                them; it may say at what time within the step the integration ends
        Raises Stalled where the integrator gives up.
        """
        return (_fixed if self.method == "RK4" else _adaptive)(self, rate, span, y, record, pace)


Interpolant = Callable[[float], Array]
Record = Callable[[float, float, Array, Callable[[], Interpolant]], float | None]


def _adaptive(
    settings: Integrator, rate: Rate, span: tuple[float, float], y: Array, record: Record, pace: Pace
) -> tuple[float, Array]:
    # LSODA takes no other longest step while it runs, so it starts anew in each interval
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
        interpolant = cache(solver.dense_output)  # evaluates the rate some more
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
            # the method's own step: one of its order, where the interpolant is one less
            return event, _runge_kutta(rate, before, y, slope, event - before)
        y, slope = following, next_slope
    return end, y


def _runge_kutta(rate: Rate, t: float, y: Array, k1: Array, h: float) -> Array:
    k2 = rate(t + h / 2, y + h / 2 * k1)
    k3 = rate(t + h / 2, y + h / 2 * k2)
    k4 = rate(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _hermite(span: tuple[float, float], ends: tuple[Array, Array], slopes: tuple[Array, Array]) -> Interpolant:
    """Cubic through both ends with their slopes: order 4, like the method."""
    (t0, t1), (y0, y1), (f0, f1) = span, ends, slopes
    h = t1 - t0

    def at(t: float) -> Array:
        s = (t - t0) / h
        blend = s * s * (3 - 2 * s)
        return (1 - blend) * y0 + blend * y1 + h * s * (1 - s) * ((1 - s) * f0 - s * f1)

    return at
