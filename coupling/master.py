"""The master: initial values, communication steps with control of their length, events, and what is recorded."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.errors import SolveError
from ..core.progress import Progress, silent
from ..core.trajectory import Array
from . import courses as polynomials
from .network import Network
from .stepping import HERMITE, MEAN, PIN, SEQUENTIAL, EarlyReturn, NotConverged, Present, Step, Stepper

_EVENT_PASSES = 100
_LOST = 30  # steps in a row in which predicted inputs are off by more than half of their range
_SHORTEST = 1e-9  # of the run: no step is shorter but those to an event
_ITERATION = 1e-9
_LEAST, _LEAST_YET = 1e-3, 0.1  # least size of a signal over its magnitude; if ranges of the run are not known
_PINNED = 0.2  # least first step over the nominal one, if there are pins
_OPEN = 1e-8  # gap of a pin at the start: of the positions, and at least of 1 m or 1 rad


@dataclass(frozen=True)
class Settings:
    """Settings of a run of a coupled system.

    Parameters
    ----------
    start, stop : s
    tolerance : admissible error, relative to the range of each signal
    step : fixed communication step, s; None for control by the tolerance
    nominal : communication step to begin with, and the largest one that sampled signals ask for, s
    order : degree of extrapolation of the sequential method
    scales : ranges of the outputs, if known, shape (n_y,)
    """

    start: float
    stop: float
    tolerance: float = 1e-4
    step: float | None = None
    nominal: float = 1e-2
    order: int = 2
    scales: Array | None = None


@dataclass
class Record:
    """Results of a run of a coupled system.

    Parameters
    ----------
    times : communication points, s
    pieces : courses of the outputs in each step, shape (n_y + pins, 4)
    given : courses of the inputs in each step, shape (n_u, 4)
    values : outputs and pin forces at the communication points, after events
    missed : steps of the shortest length whose error is above the tolerance
    late : events inside a step that other parts see at its end
    """

    times: list[float]
    values: list[Array]
    pieces: list[Array] = field(default_factory=list)
    given: list[Array] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    rejected: int = 0
    wall_s: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    missed: int = 0
    late: int = 0

    def sample(self, grid: Array) -> Array:
        """Outputs at times of the run, s, shape (k,), before an event at that time; shape (n_y + pins, k)."""
        times = np.array(self.times)
        piece = np.clip(np.searchsorted(times, grid, side="left") - 1, 0, len(self.pieces) - 1)
        s = (grid - times[piece]) / (times[piece + 1] - times[piece])
        powers = np.vander(s, 4, increasing=True)
        return np.asarray(np.einsum("kij,kj->ik", np.array(self.pieces)[piece], powers))


class Master:
    """A run of a coupled system, by the methods of its groups."""

    def __init__(self, network: Network, steppers: Sequence[Stepper], settings: Settings) -> None:
        self._network, self._steppers, self._settings = network, steppers, settings
        parts = network.parts
        self._restores = all(p.abilities.restores for p in parts)
        self._saves = {
            k
            for stepper in steppers
            for k in stepper.group.parts
            if parts[k].abilities.restores and (self._restores or stepper.iterates)
        }
        self._periods: list[float] = [p.abilities.period for p in parts if p.abilities.period is not None]
        self._low, self._high = np.full(network.n_y, np.inf), np.full(network.n_y, -np.inf)
        self._rises = np.zeros(network.n_y)
        self._memory = np.array([float(p.abilities.memory) for p in parts for _ in p.outputs])
        self._sizes: Array | None = None
        self._lost = 0

    # ---- Run -----------------------------------------------------------------------------------------------

    def run(self, progress: Progress = silent) -> Record:
        """Run from start to stop.

        Raises
        ------
        SolveError : if no step is short enough, or the coupling grows without bound
        """
        begun = clock.perf_counter()
        s = self._settings
        present = self.initial()
        self._record = Record([s.start], [present.values])
        h = s.step or self._first(present)
        count = 0
        while present.t < s.stop - 1e-12 * max(1.0, abs(s.stop)):
            end = self._next_point(present.t, h)
            used, error = self._attempt(present, end)
            if used is not None:
                h = self._longer(used, h, error) if s.step is None else s.step
                if s.step is None and present.last is None:  # an event
                    h = min(h, self._first(present))
                count += 1
                if count % 64 == 0:
                    progress("coupling", (present.t - s.start) / (s.stop - s.start))
            else:
                self._record.rejected += 1
                h = self._shorter(end - present.t, error, present.t)
        self._record.wall_s = clock.perf_counter() - begun
        for stepper in self._steppers:
            for part, seconds in stepper.seconds.items():
                self._record.seconds[self._network.parts[part].name] = seconds
        return self._record

    def initial(self) -> Present:
        """Initial values: outputs that fulfil the connections, with loops solved.

        Raises
        ------
        SolveError : if a loop has no solution, a pin is open, or a value is not finite
        """
        network, s = self._network, self._settings
        inputs = network.starts
        for part, columns in zip(network.parts, network.columns, strict=True):
            part.start(s.start, inputs[columns])
        values = consistent_outputs(network)
        for part in network.parts:
            part.begin()
        values = self._finite(self._read(values), s.start)
        self._check_pins(values)
        return self._restarted(s.start, values)

    def _read(self, before: Array) -> Array:
        found = before.copy()
        for part, rows in zip(self._network.parts, self._network.rows, strict=True):
            found[rows] = part.outputs_now()
        return found

    def _finite(self, values: Array, t: float) -> Array:
        """Return the values of outputs and pin forces, all of which must be finite."""
        if not np.isfinite(values).all():
            label = self._network.label(int(np.argmin(np.isfinite(values))))
            raise SolveError(f"coupling: at t = {t:.9g} s {label} is not finite")
        return values

    def _check_pins(self, values: Array) -> None:
        for pin, (first, second) in zip(self._network.pins, self._network.pairs, strict=True):
            a, b = values[first], values[second]
            if abs(a - b) > _OPEN * max(1.0, abs(a), abs(b)):
                raise SolveError(
                    f"coupling: the pin of {'.'.join(pin.first)} and {'.'.join(pin.second)} is open by"
                    f" {abs(a - b):.6g} at the start, where they are {a:.9g} and {b:.9g}; give initial states in"
                    " which the positions agree"
                )

    def _restarted(self, t: float, values: Array) -> Present:
        self._see(values)
        slopes = self._slopes()
        self._see_slopes(slopes)
        return Present(t, values, slopes, [t], [values])

    def _slopes(self) -> Array:
        """Slopes of the outputs at a start or after an event, which depend on each other through the parts."""
        network = self._network
        found = np.zeros(network.n_y + len(network.pins))
        for _ in range(len(network.parts) + 1):
            given = network.factor * found[network.source]
            for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
                if part.abilities.gives_slopes:
                    found[rows] = part.slopes_now(given[columns])
        return found

    # ---- One step ------------------------------------------------------------------------------------------

    def _next_point(self, t: float, h: float) -> float:
        """Next communication point, s: of the grid n·h for a fixed step, and never beyond a sample time."""
        s = self._settings
        end = t + h
        if s.step is not None and h >= s.step:
            end = s.start + s.step * (math.floor((t - s.start) / s.step + 1e-6) + 1)
        for period in self._periods:
            sample = period * (math.floor(t / period + 1e-6) + 1)
            if end > sample - 1e-6 * period:
                end = sample
        if s.step is None and any(stepper.method == SEQUENTIAL for stepper in self._steppers):
            end = min(end, s.start + s.nominal * (math.floor((t - s.start) / s.nominal + 1e-6) + 1))
        rest = s.stop - t
        if end - t > rest * (1 - 1e-9):
            return s.stop
        return t + 0.5 * rest if s.step is None and end - t > 0.5 * rest and not self._periods else end

    def _attempt(self, present: Present, end: float) -> tuple[float | None, float]:
        """Try a step; return its length and its error relative to the tolerance, or None if it is rejected."""
        saved = {k: self._network.parts[k].save() for k in self._saves}
        try:
            return self._located(present, end, saved)
        finally:
            for k, state in saved.items():
                self._network.parts[k].free(state)

    def _located(self, present: Present, end: float, saved: Mapping[int, Any]) -> tuple[float | None, float]:
        """Step to `end`, or to the first event before it."""
        for _ in range(60):
            step = self._step(present, end, saved)
            scale = self._scale()
            try:
                for stepper in self._steppers:
                    stepper.step(present, step, scale, self._iteration_tolerance())
            except EarlyReturn as early:
                self._restore(saved)
                end = max(early.time, present.t + 1e-13 * max(1.0, abs(present.t)))
                continue
            except NotConverged:
                self._restore(saved)
                return None, math.inf
            error = self._error(present, step, scale)
            if not error <= 1.0 and self._may_reject(present, step):
                self._restore(saved)
                return None, error
            self._accept(present, step)
            return step.h, error
        raise SolveError(f"coupling: the time of an event near t = {present.t:.9g} s does not settle")

    def _step(self, present: Present, end: float, saved: Mapping[int, Any]) -> Step:
        n = self._network
        courses = polynomials.constant(present.values)
        step = Step(present.t, end - present.t, courses, np.zeros((n.n_u, 4)), saved)
        step.predicted, step.slopes = courses.copy(), np.zeros_like(present.values)
        step.returns = self._restores
        return step

    def _restore(self, saved: Mapping[int, Any]) -> None:
        for k, state in saved.items():
            self._network.parts[k].restore(state)

    def _accept(self, present: Present, step: Step) -> None:
        ends = self._finite(polynomials.ends(step.courses), step.end)
        values = self._read(ends)
        for stepper in self._steppers:
            values = stepper.corrected(step, values)
        self._finite(values, step.end)
        record = self._record
        record.pieces.append(step.courses)
        record.given.append(step.given)
        record.times.append(step.end)
        record.late += step.late
        if step.events or step.late:
            values = self._after_event(values, step)
            record.events.append(step.end)
            fresh = self._restarted(step.end, values)
            present.times, present.history, present.last = fresh.times, fresh.history, None
            present.slopes = fresh.slopes
        else:
            self._see(values)
            self._see_slopes(step.slopes)
            present.times.append(step.end)
            present.history.append(values)
            del present.times[:-4], present.history[:-4]
            present.last, present.slopes = (step.courses, step.h), step.slopes
        present.t, present.values = step.end, values
        record.values.append(values)

    def _after_event(self, values: Array, step: Step) -> Array:
        """Values after an event: settled parts, and whatever their new outputs change."""
        network = self._network
        for _ in range(_EVENT_PASSES):
            inputs = network.inputs_at(values)
            for k in range(len(network.parts)):
                if network.parts[k].abilities.period is None:
                    network.parts[k].settle(inputs[network.columns[k]])
            after = self._finite(self._read(values), step.end)
            if np.allclose(after, values, rtol=1e-12, atol=0.0):
                return after
            before, values = values, after
        worst = int(np.argmax(np.abs(values - before)))
        raise SolveError(
            f"coupling: the event at t = {step.end:.9g} s does not settle in {_EVENT_PASSES} passes; the largest"
            f" change is that of {network.label(worst)}"
        )

    # ---- Error and step length -----------------------------------------------------------------------------

    def _see_slopes(self, slopes: Array) -> None:
        """Note the largest change in a nominal step of each signal with memory, which its range is at least."""
        rises = np.abs(slopes[: self._network.n_y]) * self._memory * self._settings.nominal
        if np.any(rises > self._rises):
            self._rises = np.maximum(self._rises, rises)
            self._sizes = None

    def _see(self, values: Array) -> None:
        seen = values[: self._network.n_y]
        if np.any(seen < self._low) or np.any(seen > self._high):
            self._low, self._high = np.fmin(self._low, seen), np.fmax(self._high, seen)
            self._sizes = None

    def _scale(self) -> Array:
        """Sizes of outputs and pin forces: their ranges up to now, at least a part of their magnitude."""
        if self._sizes is not None:
            return self._sizes
        magnitude = np.maximum(np.abs(self._low), np.abs(self._high))
        least = _LEAST if self._settings.scales is not None else _LEAST_YET
        found = np.maximum(np.maximum(self._high - self._low, least * magnitude), self._rises)
        if self._settings.scales is not None:
            found = np.maximum(found, self._settings.scales)
        for rows in self._network.alike:
            floor = 1e-3 * float(found[rows].max())
            found[rows] = np.maximum(found[rows], floor or 1.0)
        self._sizes = np.append(found, np.ones(len(self._network.pins)))
        return self._sizes

    def _iteration_tolerance(self) -> float:
        return _ITERATION if self._settings.step else min(1e-3 * self._settings.tolerance, 1e-6)

    def _error(self, present: Present, step: Step, scale: Array) -> float:
        """Estimated error of a step, relative to the tolerance, from corrector minus predictor."""
        found = [0.0]
        for stepper in self._steppers:
            rows = stepper.resolved
            if rows and stepper.method != MEAN:
                found.append(self._group_error(stepper, present, step, rows, scale))
        return float(np.max(found)) / self._settings.tolerance

    def _group_error(self, stepper: Stepper, present: Present, step: Step, rows: list[int], scale: Array) -> float:
        end = polynomials.ends(step.courses[rows])
        if stepper.method == SEQUENTIAL:
            feedback = stepper.group.feedback
            if not len(feedback):
                return 0.0
            off = np.abs(polynomials.ends(step.courses[feedback]) - polynomials.ends(step.predicted[feedback]))
            off = off / scale[feedback]
            self._watch(float(np.max(off)), step.end)
            return float(np.max(off))
        if not stepper.group.loops or present.last is None:
            return 0.0
        return float(np.max(np.abs(end - polynomials.ends(step.predicted[rows])) / scale[rows])) / 20.0

    def _watch(self, off: float, t: float) -> None:
        """Raise SolveError if predicted inputs miss the real ones for long."""
        self._lost = self._lost + 1 if not off < 0.5 else 0
        if self._lost > _LOST or not np.isfinite(off):
            raise SolveError(
                f"coupling: at t = {t:.9g} s the inputs extrapolated over a step have missed the real ones by more"
                " than half of their range for many steps, so the coupling is unstable; let all FMUs save and"
                " restore their states, shorten --step, or lower --order"
            )

    def _may_reject(self, present: Present, step: Step) -> bool:
        s = self._settings
        if s.step is not None or not self._restores:
            return False
        if step.h <= 2 * _SHORTEST * (s.stop - s.start):
            self._record.missed += 1
            return False
        return True

    def _exponent(self) -> float:
        """Power of the step that the estimated error goes with, inverted."""
        orders = {HERMITE: 4.0, PIN: 4.0, MEAN: 4.0, SEQUENTIAL: self._settings.order + 1.0}
        return 1.0 / min((orders[s.method] for s in self._steppers if s.group.loops), default=4.0)

    def _first(self, present: Present) -> float:
        """First step, s: signals change by a small part of their size in it.

        It is no shorter than a part of the nominal step if there are pins, whose gaps would drown in rounding.
        """
        s = self._settings
        scale = self._scale()[: self._network.n_y]
        fastest = float(
            np.max(np.abs(present.slopes[: self._network.n_y]) / np.maximum(scale, 1e-12), initial=0.0)
        )
        wished = s.tolerance ** self._exponent() / fastest if fastest > 0.0 else s.nominal
        least = _PINNED * s.nominal if self._network.pins else 1e-6 * (s.stop - s.start)
        return self._rung(min(s.nominal, max(0.1 * wished, least)))

    def _rung(self, h: float) -> float:
        """Largest length of a step of the form nominal·2^(k/4) up to h, so that Jacobians fit again."""
        nominal = self._settings.nominal
        return float(nominal * 2.0 ** (math.floor(4 * math.log2(h / nominal) + 1e-6) / 4))

    def _longer(self, used: float, h: float, error: float) -> float:
        s = self._settings
        if used < 0.99 * h and error <= 1.0:  # cut by an event or a sample time
            return h
        factor = 0.9 * max(error, 1e-6) ** -self._exponent()
        most = (s.stop - s.start) / 10
        if self._periods:
            most = min(most, *self._periods)
        if factor < 1.25 and error <= 1.0:
            return min(used, most)
        least = _SHORTEST * (s.stop - s.start)
        return self._rung(min(max(used * min(max(factor, 0.3), 2.0), least), most))

    def _shorter(self, h: float, error: float, t: float) -> float:
        s = self._settings
        if h < _SHORTEST * (s.stop - s.start) or not self._restores:
            raise SolveError(
                f"coupling: the iteration of a step of {h:.3g} s finds no solution at t = {t:.9g} s;"
                " shorten --step, or put a stiff connection into a part of its own"
            )
        factor = 0.5 if not np.isfinite(error) else min(max(0.9 * error ** -self._exponent(), 0.1), 0.84)
        return self._rung(h * factor)


def consistent_outputs(network: Network) -> Array:
    """Outputs at the start that fulfil all connections, shape (n_y + pins,), loops solved by Newton's method.

    Raises
    ------
    SolveError : if a loop has no solution, or does not determine one
    """
    values = np.zeros(network.n_y + len(network.pins))

    def evaluated(inputs: Array) -> Array:
        found = np.zeros_like(values)
        for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
            found[rows] = part.try_inputs(inputs[columns])
        return network.inputs_at(found)

    u = evaluated(network.starts)
    for _ in range(len(network.parts) + 2):  # systems without loops need no more passes than parts
        new = evaluated(u)
        if np.allclose(new, u, rtol=1e-13, atol=1e-300):
            break
        u = new
    else:
        if not np.all(np.isfinite(u)):
            column = int(np.flatnonzero(~np.isfinite(u))[0])
            label = network.label(int(network.source[column]))
            raise SolveError(f"coupling: {label} is not finite at the start; correct the initial states")
        u = _newton(evaluated, u, network)
    for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
        values[rows] = part.try_inputs(u[columns])
    return values


def _newton(evaluated: Any, u: Array, network: Network) -> Array:
    """Inputs that reproduce themselves; differences form the Jacobian."""
    for _ in range(30):
        r = evaluated(u) - u
        size = np.maximum(np.abs(u), 1e-6 * max(float(np.max(np.abs(u))), 1.0))
        if np.all(np.abs(r) <= 1e-10 * size):
            return u
        jacobian = np.empty((len(u), len(u)))
        for k in range(len(u)):
            nudged = u.copy()
            nudged[k] += 1e-6 * size[k]
            jacobian[:, k] = (evaluated(nudged) - nudged - r) / (1e-6 * size[k])
        if np.linalg.cond(jacobian) > 1e12 or not np.all(np.isfinite(jacobian)):
            break
        u = u - np.linalg.solve(jacobian, r)
    names = ", ".join(".".join(network.inputs[k]) for k in np.flatnonzero(np.abs(evaluated(u) - u) > 1e-9))
    raise SolveError(
        f"coupling: the loop of {names or 'the inputs'} has no unique solution at the start;"
        " give start values, or break the loop by a state"
    )
