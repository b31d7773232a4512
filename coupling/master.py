"""Simulation master of a coupled system.

The master computes initial values, controls the length of the communication steps, handles events
and records the results.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import SolveError
from ..core.progress import Progress, silent
from ..core.trajectory import Array
from . import courses as polynomials
from .loops import consistent_outputs
from .network import Network
from .noise import NoiseLevels
from .participant import PartFailed, slopes_of
from .ports import RoundingSizes, positions
from .stepping import (
    HERMITE,
    MEAN,
    PIN,
    SEQUENTIAL,
    EarlyReturn,
    EndedInside,
    NotConverged,
    Present,
    Step,
    Stepper,
)

_EVENT_PASSES = 100  # At one event, the evaluation of all FMUs is repeated at most this number of times.
# A coupling is unstable if inputs are wrong by half of their range in more than this number of steps in a row.
_LOST = 30
# The communication step is at least this fraction of the simulated time, unless the step ends at an event.
_SHORTEST = 1e-9
# Without rigid connections, Newton iterations have at most this relative tolerance, to limit noise in the outputs.
_ITERATION = 1e-9
# Newton iterations have at least this relative tolerance, because rounding errors prevent smaller residuals.
_ROUNDING = 1e-11
# If a signal's range is known, the divisor of its error is at least this fraction of the signal's magnitude.
_LEAST = 1e-3
# Until a signal's range is known, the divisor of its error is at least this fraction of the signal's magnitude.
_LEAST_YET = 0.1
# If FMUs are rigidly connected, the first step is at least about this fraction of the nominal communication step.
_PINNED = 0.2
# Two rigidly connected positions may initially differ by at most this fraction of max(position, 1 m or 1 rad).
_OPEN = 1e-8
# Two rigidly connected velocities may initially differ by this fraction of max(velocity, 1 m/s or 1 rad/s).
_MOVING = 1e-6


@dataclass(frozen=True)
class Settings:
    """Settings for the simulation of a coupled system.

    Parameters
    ----------
    start, stop : begin and end of the simulation, s
    tolerance : admissible error, relative to the range of each signal
    step : fixed communication step, s; None if the tolerance controls the step length
    nominal : upper limit of the first communication step, s. With the sequential method and without
        a fixed step, every multiple of this time is a communication point.
    order : degree of the polynomials by which the sequential method extrapolates inputs
    scales : ranges (largest minus smallest value) of the n_y outputs, shape (n_y,); None if they
        are unknown
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
    """Results of the simulation of a coupled system with n_y outputs and n_u inputs.

    A pin is a rigid connection of two positions by a pair of opposite forces.

    Parameters
    ----------
    times : communication points, s
    values : outputs and pin forces at each communication point, after events, shape (n_y + pins,)
    pieces : polynomial coefficients of outputs and pin forces for each step, shape (n_y + pins, 4)
    given : polynomial coefficients of the inputs for each step, shape (n_u, 4)
    events : times of events, s
    rejected : number of rejected steps
    wall_s : elapsed real time, s
    seconds : elapsed real time of each FMU, s, by name
    missed : number of shortest steps that were accepted with an error above the tolerance, because
        an output or its slope jumps
    noise : largest error of each output and pin force that shorter steps do not reduce, shape (n_y
        + pins,); zero without noise
    late : number of events inside a step that other FMUs could notice only at the end of the step
    ended_by : name of the FMU that has asked to end the simulation early, or an empty text
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
    noise: Array = field(default_factory=lambda: np.zeros(0))
    late: int = 0
    ended_by: str = ""

    def sample(self, grid: Array) -> Array:
        """Return the n_y outputs and all pin forces at k given times, shape (n_y + pins, k).

        A pin is a rigid connection of two positions by a pair of opposite forces.

        Parameters
        ----------
        grid : times within the simulation, s, shape (k,); at the time of an event, the values
            before the event are returned
        """
        times = np.array(self.times)
        piece = np.clip(np.searchsorted(times, grid, side="left") - 1, 0, len(self.pieces) - 1)
        s = (grid - times[piece]) / (times[piece + 1] - times[piece])
        powers = np.vander(s, 4, increasing=True)
        return np.asarray(np.einsum("kij,kj->ik", np.array(self.pieces)[piece], powers))


class Master:
    """Simulation of a coupled system.

    Each group of mutually dependent FMUs has its own coupling method.
    """

    def __init__(self, network: Network, steppers: Sequence[Stepper], settings: Settings) -> None:
        self._network, self._steppers, self._settings = network, steppers, settings
        parts = network.parts
        self._shortens = not network.needs_equal_steps and all(p.abilities.restores for p in parts)
        # An FMU repeats a communication step only if the step is rejected or if an event occurs inside the step.
        may_fail = settings.step is None or any(stepper.iterates for stepper in steppers)
        self._repeats = self._shortens and (may_fail or any(p.abilities.returns_early for p in parts))
        self._saves = {
            k
            for stepper in steppers
            for k in stepper.group.parts
            if parts[k].abilities.restores and (self._repeats or stepper.iterates)
        }
        self._periods: list[float] = [p.abilities.period for p in parts if p.abilities.period is not None]
        self._low, self._high = np.full(network.n_y, np.inf), np.full(network.n_y, -np.inf)
        self._rises = np.zeros(network.n_y)
        self._memory = np.array([float(p.abilities.memory) for p in parts for _ in p.outputs])
        self._sizes: Array | None = None
        self._zeros = np.zeros(network.n_y + len(network.pins))
        self._rounding = RoundingSizes(network.signals, settings.stop - settings.start)
        self._shortest = _SHORTEST * (settings.stop - settings.start)
        self._noise = NoiseLevels(network.n_y + len(network.pins), self._shortest)
        self._extrapolated = [int(k) for s in steppers if s.method == SEQUENTIAL for k in s.group.feedback]
        self._lost = 0
        # If an FMU failure has caused the last rejection of a step, this attribute contains the exception.
        self._failure: PartFailed | None = None
        self._not_finite = ""
        # If the algebraic loops have only one known initial solution, the second solution is None.
        self.second: Array | None = None

    def run(self, progress: Progress = silent) -> Record:
        """Simulate the coupled system from the start to the stop time.

        Raises
        ------
        SolveError : if a step of the shortest length fails, if the coupling is unstable, or if an
            FMU ends the simulation at the initial time. If an FMU fails, the error contains the
            message of the FMU.
        ClaimFailed : if an FMU does not have a capability that it declares
        """
        begun = clock.perf_counter()
        s = self._settings
        present = self.initial()
        self._record = Record([s.start], [present.values])
        h = s.step or self._first(present)
        count = 0
        while not (finished := present.t >= s.stop - 1e-12 * max(1.0, abs(s.stop))) and not self._record.ended_by:
            end = self._next_point(present.t, h)
            used, error = self._attempt(present, end)
            if used is not None:
                h = self._longer(used, h, error) if s.step is None else s.step
                # Outputs can change quickly after an event, so the next step is as short as the first step.
                if s.step is None and present.last is None:
                    h = min(h, self._first(present))
                count += 1
                if count % 64 == 0:
                    progress("coupling", (present.t - s.start) / (s.stop - s.start))
            elif not self._record.ended_by:
                self._record.rejected += 1
                h = self._shorter(end - present.t, error, present.t)
        if not self._record.pieces:
            self._check_running()
        # An FMU may request the end of the simulation, but at the final time this request is not reported.
        if finished:
            self._record.ended_by = ""
        self._record.missed, self._record.noise = self._noise.jumps, self._noise.levels
        self._record.wall_s = clock.perf_counter() - begun
        for stepper in self._steppers:
            for part, seconds in stepper.seconds.items():
                self._record.seconds[self._network.parts[part].name] = seconds
        return self._record

    def initial(self) -> Present:
        """Initialise all FMUs, and return initial values that satisfy all connections.

        Raises
        ------
        SolveError : if an algebraic loop has no solution, if the positions or the velocities of a
            rigid connection differ, or if a value is not finite
        """
        network, s = self._network, self._settings
        inputs = network.starts
        for part, columns in zip(network.parts, network.columns, strict=True):
            part.start(s.start, inputs[columns])
        values, self.second = consistent_outputs(network)
        for part in network.parts:
            part.begin()
        self._check_running()
        values = self._finite(self._read(values), s.start)
        self._check_pins(values)
        return self._restarted(s.start, values)

    def _check_running(self) -> None:
        """Raise SolveError if an FMU has asked to end the simulation before the first step."""
        if ended := self._ended():
            raise SolveError(
                f"coupling: {ended} asks to end the simulation at the initial time; check its start values"
            )

    def _ended(self) -> str:
        """Return the name of the first FMU that has asked to end the simulation, or an empty text."""
        return next((part.name for part in self._network.parts if part.ended), "")

    def _read(self, before: Array) -> Array:
        found = before.copy()
        for part, rows in zip(self._network.parts, self._network.rows, strict=True):
            found[rows] = part.outputs_now()
        return found

    def _finite(self, values: Array, t: float, step: Step | None = None) -> Array:
        """Return the values of all signals unchanged; raise SolveError if a value is infinite or NaN.

        If a step has computed the values, the error names the signal that first became invalid.
        """
        lost = ~np.isfinite(values)
        if lost.any():
            raise SolveError(f"coupling: {self._first_lost(lost, step)} is not finite at t = {t:.9g} s")
        return values

    def _first_lost(self, lost: NDArray[np.bool_], step: Step | None) -> str:
        """Return the name of a signal whose value is infinite or NaN.

        If an FMU has finite inputs but invalid outputs, one of its outputs is chosen, because the
        error began there.

        Parameters
        ----------
        lost : whether each of the outputs and forces of rigid connections is invalid, shape (n_y + pins,)
        step : the step that computed the values, or None for values outside of steps
        """
        first = np.flatnonzero(lost)
        for columns, rows in zip(self._network.columns, self._network.rows, strict=True):
            if step is not None and lost[rows].any() and np.isfinite(step.given[columns]).all():
                first = rows.start + np.flatnonzero(lost[rows])
        return self._network.label(int(first[0]))

    def _check_pins(self, values: Array) -> None:
        """Raise SolveError if positions or velocities of the two sides of a pin differ at the start.

        Velocities are checked if both parts have outputs for them.
        """
        velocity_of = {position: velocity for velocity, position in positions(self._network).items()}
        for pin, (first, second) in zip(self._network.pins, self._network.pairs.tolist(), strict=True):
            name = f"the rigid connection of {'.'.join(pin.first)} and {'.'.join(pin.second)}"
            a, b = values[first], values[second]
            if abs(a - b) > _OPEN * max(1.0, abs(a), abs(b)):
                raise SolveError(
                    f"coupling: the positions of both ends of {name} differ by {abs(a - b):.6g} at the start:"
                    f" {a:.9g} and {b:.9g}; give initial states in which these positions agree"
                )
            if first in velocity_of and second in velocity_of:
                self._check_velocities(name, velocity_of[first], velocity_of[second], values)

    def _check_velocities(self, pin: str, first: int, second: int, values: Array) -> None:
        """Raise SolveError if two velocity outputs, given by their indices, differ at the start."""
        network, a, b = self._network, values[first], values[second]
        if abs(a - b) <= _MOVING * max(1.0, abs(a), abs(b)):
            return
        unit = network.signals[first].unit or "without unit"
        raise SolveError(
            f"coupling: the two sides of {pin} have different velocities at the start: {network.label(first)} is"
            f" {a:.9g} and {network.label(second)} is {b:.9g} ({unit}), so the first step would be an impact; give"
            " initial states in which both velocities agree"
        )

    def _restarted(self, t: float, values: Array) -> Present:
        self._see(values)
        slopes = self._slopes()
        self._see_slopes(slopes)
        return Present(t, values, slopes, [t], [values])

    def _slopes(self) -> Array:
        """Return the time derivatives of the outputs at the start or after an event, shape (n_y + pins,).

        The result has zeros for the pin forces. The evaluation is repeated, because derivatives of
        one FMU's outputs may depend on derivatives of another FMU's outputs.
        """
        network = self._network
        found = np.zeros(network.n_y + len(network.pins))
        for _ in range(len(network.parts) + 1):
            given = network.factor * found[network.source]
            for part, columns, rows in zip(network.parts, network.columns, network.rows, strict=True):
                if part.abilities.gives_slopes:
                    found[rows] = slopes_of(part, given[columns])
        return found

    def _next_point(self, t: float, h: float) -> float:
        """Return the time of the next communication point, s, at most h after the present time.

        With a fixed step, the communication points are multiples of the step, counted from the
        initial time. Every sample time of an FMU is also a communication point.
        """
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
        """Try a step that ends at `end`; return its length, s, and its error relative to the tolerance.

        The length is None if the step is rejected.
        """
        saved = {k: self._network.parts[k].save() for k in self._saves}
        try:
            return self._located(present, end, saved)
        finally:
            for k, state in saved.items():
                self._network.parts[k].free(state)

    def _located(self, present: Present, end: float, saved: Mapping[int, Any]) -> tuple[float | None, float]:
        """Make a step to `end` or to an earlier event; return its length, s, and relative error.

        The error is divided by the tolerance. The length is None if the step is rejected.
        """
        self._failure = None
        for _ in range(60):
            step = self._step(present, end, saved)
            scale = self._scale()
            try:
                for stepper in self._steppers:
                    stepper.step(present, step, scale, self._iteration_tolerance(stepper))
            except EarlyReturn as early:
                self._restore(saved)
                end = max(early.time, present.t + 1e-13 * max(1.0, abs(present.t)))
                continue
            except EndedInside:
                self._record.ended_by = self._ended()
                return None, math.inf
            except PartFailed as failure:
                if not self._repeats:
                    raise
                self._failure = failure
                self._restore(saved)
                return None, math.inf
            except NotConverged:
                self._see_lost(step)
                self._restore(saved)
                return None, math.inf
            self._watch(step, scale)
            error = 0.0
            if self._settings.step is None:
                limits = np.maximum(self._settings.tolerance * scale, self._noise.admissible)
                errors = self._errors(present, step)
                error = float(np.max(errors / limits, initial=0.0))
                if not error <= 1.0 and self._may_reject(step.h):
                    self._restore(saved)
                    return None, error
                self._noise.note(step.h, errors, limits)
            self._accept(present, step)
            return step.h, error
        raise SolveError(f"coupling: the search for an event time near t = {present.t:.9g} s does not converge")

    def _see_lost(self, step: Step) -> None:
        """Record the name of a signal that became infinite or NaN in a failed iteration.

        If all signals are finite, the recorded name is an empty string.
        """
        lost = np.any(~np.isfinite(step.courses), axis=1)
        self._not_finite = self._first_lost(lost, step) if lost.any() else ""

    def _step(self, present: Present, end: float, saved: Mapping[int, Any]) -> Step:
        n = self._network
        courses = polynomials.constant(present.values)
        step = Step(present.t, end - present.t, courses, np.zeros((n.n_u, 4)), saved, present.values.copy())
        step.predicted, step.slopes = courses.copy(), np.zeros_like(present.values)
        step.returns = self._repeats
        return step

    def _restore(self, saved: Mapping[int, Any]) -> None:
        for k, state in saved.items():
            self._network.parts[k].restore(state)

    def _accept(self, present: Present, step: Step) -> None:
        values, n_y = step.values, self._network.n_y
        values[n_y:] = polynomials.ends(step.courses[n_y:])
        for stepper in self._steppers:
            values = stepper.corrected(step, values)
        self._finite(values, step.end, step)
        record = self._record
        record.pieces.append(step.courses)
        record.given.append(step.given)
        record.times.append(step.end)
        record.late += step.late
        if step.events or step.late:
            values = self._after_event(values, step)
            record.events.append(step.end)
        present.t, present.values = step.end, values
        record.values.append(values)
        record.ended_by = self._ended()
        if not record.ended_by:
            self._go_on(present, step)

    def _go_on(self, present: Present, step: Step) -> None:
        """Prepare the next step after an accepted step.

        If the step ended at an event, the values from before the event are not used for
        predictions.
        """
        values = present.values
        if step.events or step.late:
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

    def _after_event(self, values: Array, step: Step) -> Array:
        """Return the outputs and pin forces after an event, shape (n_y + pins,).

        All FMUs handle the event repeatedly until no output changes any more.
        """
        network = self._network
        for _ in range(_EVENT_PASSES):
            inputs = network.inputs_at(values)
            for k in range(len(network.parts)):
                if network.parts[k].abilities.period is None and not network.parts[k].ended:
                    network.parts[k].settle(inputs[network.columns[k]])
            after = self._finite(self._read(values), step.end)
            if np.allclose(after, values, rtol=1e-12, atol=0.0):
                return after
            before, values = values, after
        worst = int(np.argmax(np.abs(values - before)))
        raise SolveError(
            f"coupling: outputs still change after {_EVENT_PASSES} evaluations of all FMUs at the event at"
            f" t = {step.end:.9g} s; {network.label(worst)} changes most"
        )

    def _see_slopes(self, slopes: Array) -> None:
        """Update the largest value of |slope| · (nominal step) of each output.

        Errors of an output are divided by at least this value. The value is zero for outputs of
        FMUs without states.
        """
        rises = np.abs(slopes[: self._network.n_y]) * self._memory * self._settings.nominal
        if (rises > self._rises).any():
            self._rises = np.maximum(self._rises, rises)
            self._sizes = None

    def _see(self, values: Array) -> None:
        seen = values[: self._network.n_y]
        if (seen < self._low).any() or (seen > self._high).any():
            self._low, self._high = np.fmin(self._low, seen), np.fmax(self._high, seen)
            self._sizes = None

    def _scale(self) -> Array:
        """Return the typical sizes of the outputs and pin forces, by which errors are divided.

        The method also updates the sizes below which signals are only rounding errors.
        """
        if self._sizes is not None:
            return self._sizes
        magnitude = np.maximum(np.abs(self._low), np.abs(self._high))
        spread, rounding = self._high - self._low, self._rounding.at(magnitude)
        if self._settings.scales is None:
            found = np.maximum(np.maximum(spread, _LEAST_YET * magnitude), self._rises)
        else:
            spread = np.maximum(spread, self._settings.scales)
            found = np.maximum(spread, _LEAST * magnitude)
        self._zeros[: len(rounding)] = np.where(spread <= rounding, rounding, 0.0)
        known, found = found > self._rounding.negligible(magnitude), np.maximum(found, rounding)
        nominal = self._rounding.nominal(magnitude)
        for rows in self._network.alike:
            floor = 1e-3 * found[rows].max() if known[rows].any() else nominal[rows]
            found[rows] = np.maximum(found[rows], floor)
        self._sizes = np.append(found, np.ones(len(self._network.pins)))
        return self._sizes

    def _iteration_tolerance(self, stepper: Stepper) -> float:
        """Return the relative tolerance of the iteration in a step.

        The tolerance also determines the weight of the velocity gaps, i.e. of the velocity differences
        at rigid connections (pins). In short steps, a smaller tolerance would increase this weight. A
        large weight amplifies rounding errors.
        """
        if self._settings.step is not None:
            return _ITERATION
        if stepper.method == PIN:
            return min(1e-3 * self._settings.tolerance, 1e-6)
        return min(max(1e-5 * self._settings.tolerance, _ROUNDING), _ITERATION)

    def _errors(self, present: Present, step: Step) -> Array:
        """Return the estimated errors of outputs and pin forces in a step, shape (n_y + pins,).

        The estimate is the difference of the predicted and the computed value at the end of the
        step, or the interpolation error within the step. The estimate is zero for outputs that do
        not limit the step, and for signals that contain only rounding errors.
        """
        found = np.zeros(len(present.values))
        off = np.abs(polynomials.ends(step.courses - step.predicted))
        for stepper in self._steppers:
            rows, feedback = stepper.resolved, stepper.group.feedback
            if stepper.method == SEQUENTIAL:
                found[rows] = _interpolation_errors(present, step, rows)
                found[feedback] = np.maximum(found[feedback], off[feedback])
            elif stepper.group.loops and present.last is not None:
                found[rows] = off[rows] / 20.0
        return np.where(found <= self._zeros, 0.0, found)

    def _watch(self, step: Step, scale: Array) -> None:
        """Raise SolveError if extrapolated inputs differ from the computed inputs in many successive steps.

        Only differences above half of the input's range are considered.
        """
        rows = self._extrapolated
        off = polynomials.ends(step.courses[rows] - step.predicted[rows]) / scale[rows]
        self._lost = 0 if np.abs(off).max(initial=0.0) < 0.5 else self._lost + 1
        # Infinite or NaN inputs raise an error later, when the communication step is accepted.
        if self._lost > _LOST:
            raise SolveError(
                f"coupling: the coupling is unstable at t = {step.end:.9g} s: in many successive steps, an"
                " extrapolated input was wrong by more than half of the range of its values; let all FMUs save and"
                " restore their states, shorten --step, or lower --order"
            )

    def _may_reject(self, h: float) -> bool:
        return self._shortens and h > 2 * self._shortest

    def _exponent(self) -> float:
        """Return the exponent 1/p of the error in the formula for the step length.

        The estimated error is proportional to the p-th power of the step length.
        """
        orders = {HERMITE: 4.0, PIN: 4.0, MEAN: 4.0, SEQUENTIAL: self._settings.order + 1.0}
        return 1.0 / min((orders[s.method] for s in self._steppers if s.group.loops), default=4.0)

    def _first(self, present: Present) -> float:
        """Return the length of the first step, s, which is so short that signals hardly change.

        With rigid connections (pins), the step is at least about a fifth of the nominal step. In a
        shorter step, rounding errors would dominate the distances between the connected points.
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
        """Return the largest step length, s, that is at most h and equals nominal·2^(k/4) for an integer k.

        Only a few step lengths are used, because a stored Jacobian is valid for one step length.
        """
        nominal = self._settings.nominal
        return float(nominal * 2.0 ** (math.floor(4 * math.log2(h / nominal) + 1e-6) / 4))

    def _longer(self, used: float, h: float, error: float) -> float:
        s = self._settings
        # A step that an event or a sample time has shortened does not reduce the planned length of the next step.
        if used < 0.99 * h and error <= 1.0:
            return h
        factor = 0.9 * max(error, 1e-6) ** -self._exponent()
        most = (s.stop - s.start) / 10
        if self._periods:
            most = min(most, *self._periods)
        if factor < 1.25 and error <= 1.0:
            return min(used, most)
        return self._rung(min(max(used * min(max(factor, 0.3), 2.0), self._shortest), most))

    def _shorter(self, h: float, error: float, t: float) -> float:
        if h < self._shortest or not self._shortens:
            if self._failure:
                raise self._failure
            if self._not_finite:
                raise SolveError(
                    f"coupling: {self._not_finite} is not finite after t = {t:.9g} s, even in the shortest step;"
                    " correct its FMU or the inputs of the FMU"
                )
            raise SolveError(
                f"coupling: the iteration of a step of {h:.3g} s finds no solution at t = {t:.9g} s;"
                " shorten --step, or model a stiff connection within one FMU"
            )
        factor = 0.5 if not np.isfinite(error) else min(max(0.9 * error ** -self._exponent(), 0.1), 0.84)
        return self._rung(h * factor)


def _interpolation_errors(present: Present, step: Step, rows: list[int]) -> Array:
    """Return the estimated interpolation errors of outputs within a step.

    The error of a cubic Hermite polynomial is h⁴/384 times the fourth derivative, where h is the
    step length. The fourth derivative follows from the third derivatives of the polynomials in this
    step and in the previous step.
    """
    if present.last is None:
        return np.zeros(len(rows))
    courses, length = present.last
    return np.asarray(np.abs(step.courses[rows, 3] - courses[rows, 3] * (step.h / length) ** 3) / 64.0)
