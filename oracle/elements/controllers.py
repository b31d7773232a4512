"""Controllers: PI, PID, first-order filters and rate limiters, continuous or sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..expressions.jets import value
from ..expressions.setting import Setting
from ..expressions.sides import Condition
from ..expressions.state import Numbers, State
from ..forces.commands import Command
from ..forces.load import Load

MEASURES = ("output",)
_WORDS = ("saturates", "is below its limit again")


class _Controller:
    """Controller with its outputs; it exerts no force."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self._table, self._setting, self._name = table, setting, table["name"]
        self._signals: dict[str, Callable[[State], float]] = {}
        if table["drives"] is not None:
            setting.driven[table["drives"]] = f"{self._name}.output"

    def act(self, state: State, load: Load) -> None:
        """Do nothing, because a controller acts through the element that uses its output."""

    def signals(self, state: State) -> dict[str, float]:
        """Return the output signals of the controller by name: its output, terms and states."""
        return {f"{self._name}_{key}": measure(state) for key, measure in self._signals.items()}

    def _publish(self, key: str, measure: Callable[[State], float]) -> None:
        self._signals[key] = measure
        self._setting.names.forces[f"{self._name}.{key}"] = measure

    def _number(self, key: str) -> float:
        return float(self._table[key])

    def _command(self, key: str) -> Command:
        return Command(self._table, key, self._setting)

    def _begin(self, key: str) -> Callable[[State], float]:
        """Return a function that computes the initial value of an expression.

        The argument of the function can be any state, because the result does not depend on the state.
        """
        found = self._setting.language.compile(f"start({self._table[key]})", f"initial {key} of {self._name}")
        return lambda state: float(value(found(Numbers(state, self._setting.names))))


class _Continuous(_Controller):
    """Controller whose states are integrated."""

    def _state(self, key: str, begin: float, rate: Callable[[State], float]) -> None:
        slot = self._setting.remember(begin, rate)
        self._publish(key, lambda state: float(state.memory[slot]))

    def _part(self, key: str, state: State) -> float:
        """Return the signal `key` of the controller at one state, or 0 if the controller has no such signal."""
        return self._setting.names.force(f"{self._name}.{key}", state) if key in self._signals else 0.0

    def _clipped(self, state: State, number: float, low: float | None, high: float | None) -> float:
        """Return a number limited to an interval; an event occurs when the number crosses a limit."""
        for way, limit in ((1.0, high), (-1.0, low)):
            if limit is not None:
                label = f"controller {self._name}"
                beyond = Condition(label, _WORDS, way * (number - limit), False)
                if state.sides.decide((label, way), beyond):
                    return float(limit)
        return number


class _Sampled(_Controller):
    """Controller whose signals change only at sampling instants."""

    def _hold(self, begins: Mapping[str, float]) -> None:
        """Register signals of the controller that change only at sampling instants.

        The argument `begins` contains the initial value of each signal.
        """
        self._slots = {key: self._setting.remember(begin, lambda state: 0.0) for key, begin in begins.items()}
        for key in begins:
            self._publish(key, self._held(key))
        self._setting.samplers.append((self._number("sample"), self._sample))

    def _held(self, key: str) -> Callable[[State], float]:
        """Return a function that yields the value of a controller's signal in a given state.

        The value was computed at the latest sampling instant. If a sample is due, the function first
        lets the controller take this sample.
        """

        def held(state: State) -> float:
            state.take(self._sample)
            return float(state.memory[self._slots[key]])

        return held

    def _sample(self, state: State) -> None:
        """Take a sample: replace the controller's signals in `state.memory` by their new values."""
        before = {key: float(state.memory[slot]) for key, slot in self._slots.items()}
        for key, number in self._next(state, before).items():
            state.memory[self._slots[key]] = number

    def _next(self, state: State, before: Mapping[str, float]) -> dict[str, float]:
        """Return the controller's signals just after a sampling instant.

        The argument `before` contains the signals just before this instant.
        """
        raise NotImplementedError


class Regulator(_Continuous):
    """Continuous PI or PID controller, with limits and back-calculation."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        super().__init__(table, setting)
        self._measured, self._setpoint = self._command("measured"), self._command("setpoint")
        self._limits = table["lower"], table["upper"]
        self._publish("output", self._output)
        if any(limit is not None for limit in self._limits):
            self._publish("unlimited", self._unlimited)
        if table["derivative_time"] is not None:
            self._first = self._begin("measured")
            self._publish("derivative", self._derivative)
            self._state("lag", 0.0, self._lag_rate)
        if table["integral_time"] is not None:
            self._state("integral", table["integral_start"], self._integral_rate)

    def _unlimited(self, state: State) -> float:
        error = self._number("setpoint_weight") * self._setpoint(state) - self._measured(state)
        return self._number("gain") * error + self._part("integral", state) + self._part("derivative", state)

    def _output(self, state: State) -> float:
        return self._clipped(state, self._unlimited(state), *self._limits)

    def _lag_rate(self, state: State) -> float:
        behind = self._measured(state) - (self._first(state) + self._part("lag", state))
        return behind / (self._number("derivative_time") / self._number("derivative_filter"))

    def _derivative(self, state: State) -> float:
        return -self._number("gain") * self._number("derivative_time") * self._lag_rate(state)

    def _integral_rate(self, state: State) -> float:
        error = self._setpoint(state) - self._measured(state)
        excess = self._output(state) - self._unlimited(state)
        return self._number("gain") * error / self._number("integral_time") + excess / _tracking(self._table)


class SampledRegulator(_Sampled):
    """Sampled PI or PID controller, with limits and back-calculation."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        super().__init__(table, setting)
        self._measured, self._setpoint = self._command("measured"), self._command("setpoint")
        quantities = {"output": 0.0}
        if table["lower"] is not None or table["upper"] is not None:
            quantities["unlimited"] = 0.0
        if table["derivative_time"] is not None:
            self._first = self._begin("measured")
            quantities |= {"derivative": 0.0, "lag": 0.0}
        if table["integral_time"] is not None:
            quantities["integral"] = table["integral_start"]
        self._hold(quantities)

    def _next(self, state: State, before: Mapping[str, float]) -> dict[str, float]:
        y, r, h, gain = self._measured(state), self._setpoint(state), self._number("sample"), self._number("gain")
        found = dict(before)
        if "lag" in before:
            constant = self._number("derivative_time") / self._number("derivative_filter")
            filtered = self._first(state) + before["lag"]
            after = (constant * filtered + h * y) / (constant + h)
            found["derivative"] = -gain * self._number("derivative_time") * (after - filtered) / h
            found["lag"] = after - self._first(state)
        wanted = gain * (self._number("setpoint_weight") * r - y)
        wanted += before.get("integral", 0.0) + found.get("derivative", 0.0)
        found["output"] = _within(self._table["lower"], wanted, self._table["upper"])
        if "unlimited" in before:
            found["unlimited"] = wanted
        if "integral" in before:
            excess = found["output"] - wanted
            found["integral"] += h * (
                gain * (r - y) / self._number("integral_time") + excess / _tracking(self._table)
            )
        return found


class Follower(_Continuous):
    """Continuous first-order filter of a signal, or a rate limiter.

    A rate limiter is a first-order filter whose output slope is limited to ±`rate`.
    """

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        super().__init__(table, setting)
        self._signal, self._first = self._command("signal"), _first(table, self._begin)
        self._publish("output", self._output)
        self._publish("slope", self._slope)
        self._state("offset", 0.0, self._slope)

    def _output(self, state: State) -> float:
        return self._first(state) + self._part("offset", state)

    def _slope(self, state: State) -> float:
        slope = (self._signal(state) - self._output(state)) / self._number("time_constant")
        limit = self._table["rate"]
        return slope if limit is None else self._clipped(state, slope, -limit, limit)


class SampledFollower(_Sampled):
    """Sampled first-order filter or rate limiter."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        super().__init__(table, setting)
        self._signal, self._first = self._command("signal"), _first(table, self._begin)
        self._hold({"slope": 0.0, "output": 0.0, "offset": 0.0})

    def _next(self, state: State, before: Mapping[str, float]) -> dict[str, float]:
        first, h, constant = self._first(state), self._number("sample"), self._table["time_constant"] or 0.0
        previous, most = first + before["offset"], self._table["rate"]
        output = (constant * previous + h * self._signal(state)) / (constant + h)
        if most is not None:
            output = _within(previous - h * most, output, previous + h * most)
        return {"slope": (output - previous) / h, "output": output, "offset": output - first}


def _within(low: float | None, number: float, high: float | None) -> float:
    """Return the number limited to the interval from `low` to `high`; a limit of None has no effect."""
    if low is not None:
        number = max(number, float(low))
    if high is not None:
        number = min(number, float(high))
    return number


def _tracking(table: Mapping[str, Any]) -> float:
    """Return the tracking time constant of the anti-windup, s.

    The default is the integral time.
    """
    return float(table["integral_time"] if table["anti_windup_time"] is None else table["anti_windup_time"])


def _first(table: Mapping[str, Any], begin: Callable[[str], Callable[[State], float]]) -> Callable[[State], float]:
    """Return a function that computes the initial output of a filter.

    The argument of the function can be any state, because the result does not depend on the state.
    """
    start = table["start"]
    return begin("signal") if start is None else lambda state: float(start)


def of(table: Mapping[str, Any], setting: Setting) -> _Controller:
    """Return the controller that a description table defines."""
    if table["type"] in ("pi", "pid"):
        return (Regulator if table["sample"] is None else SampledRegulator)(table, setting)
    return (Follower if table["sample"] is None else SampledFollower)(table, setting)
