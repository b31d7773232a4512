"""Laws of controllers: PI, PID, first-order filter and rate limiter.

The PID controller with the error e = r − y has the output u = K (b r − y) + I + D, limited to an
interval. The derivative part D = −K Td ẏ_f acts on the filtered measured quantity y_f, which obeys
ẏ_f = (y − y_f) N/Td. The integral part obeys İ = K e/Ti + (u − v)/Tt, where v is the output before
the limits (back-calculation; Åström and Murray, Feedback Systems, 2021, chapter 11). A sampled
controller integrates the integral part by the forward Euler method, and the filter by the backward
Euler method.
"""

from __future__ import annotations

from collections.abc import Callable

from ..description.elements.controllers import Controller
from ..language.differentiate import ZERO
from ..language.ir import Expr
from .law import Law, between


def act(controller: Controller, law: Law) -> None:
    """Publish the output of the controller, and set the derivatives of its states."""
    _LAWS[controller.type](law)


def _pid(law: Law) -> None:
    measured, setpoint, gain = law.command("measured"), law.command("setpoint"), law.number("gain")
    wanted = gain * (law.number("setpoint_weight") * setpoint - measured)
    if law.has("integral_time"):
        wanted = wanted + law.state("integral")
    if law.has("derivative_time"):
        wanted = wanted + _derivative(law, measured, gain)
    unlimited, output = _limited(law, wanted)
    if law.has("integral_time"):
        rate = gain * (setpoint - measured) / law.number("integral_time")
        if unlimited is not output:
            follow = law.number("anti_windup_time" if law.has("anti_windup_time") else "integral_time")
            rate = rate + (output - unlimited) / follow
        law.integrate("integral", rate, law.number("integral_start"))


def _derivative(law: Law, measured: Expr, gain: Expr) -> Expr:
    filtered = law.at_start(measured) + law.state("lag")
    time = law.number("derivative_time")
    rate = (measured - filtered) / _lag(law, time / law.number("derivative_filter"))
    law.integrate("lag", rate)
    return law.observe("derivative", -gain * time * rate)


def _limited(law: Law, wanted: Expr) -> tuple[Expr, Expr]:
    """Return a controller's output before and after the limits.

    Both are equal if the controller has no limits.
    """
    if not (law.has("lower") or law.has("upper")):
        output = law.observe("output", wanted)
        return output, output
    unlimited = law.observe("unlimited", wanted)
    lower, upper = (law.number(key) if law.has(key) else None for key in ("lower", "upper"))
    return unlimited, law.observe("output", between(lower, unlimited, upper))


def _filter(law: Law) -> None:
    _follow(law, lambda distance: distance / _lag(law, _time_constant(law)))


def _rate_limit(law: Law) -> None:
    rate = law.number("rate")
    _follow(law, lambda distance: between(-rate, distance / _lag(law, _time_constant(law)), rate))


def _time_constant(law: Law) -> Expr:
    return law.number("time_constant") if law.has("time_constant") else ZERO


def _follow(law: Law, rate: Callable[[Expr], Expr]) -> None:
    """Define the output and the state of a controller whose output follows its input signal.

    The function `rate` returns the time derivative of the output for a given difference between signal
    and output. The initial output is the number `start` of the description. Without this number, it is
    the initial value of the signal.
    """
    signal, offset = law.command("signal"), law.state("offset")
    before = (law.number("start") if law.has("start") else law.at_start(signal)) + offset
    slope = law.observe("slope", rate(signal - before))
    law.integrate("offset", slope)
    law.observe("output", before + law.number("sample") * slope if law.has("sample") else before)


def _lag(law: Law, time: Expr) -> Expr:
    """Return the effective time constant of a filter, s.

    The rate of the output is the difference between input and output, divided by this time constant.
    For a sampled filter, the sample time is added to the time constant. Each update of the sampled
    filter is then a step of the backward Euler method.
    """
    return time + law.number("sample") if law.has("sample") else time


_LAWS = {"pi": _pid, "pid": _pid, "filter": _filter, "rate_limit": _rate_limit}
