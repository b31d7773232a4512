"""Simulation with SciPy's integrators, which restart at events and discontinuities."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, Radau

from ...core.errors import SolveError
from ...core.trajectory import Array, Event, Trajectory, coincide, output_grid
from ..constraints.paths import PathOrientations, PathPositions
from ..equations.claims import Claims
from ..equations.model import Model, just_after
from ..equations.solution import Solver
from ..expressions.pace import Pace
from ..expressions.sides import Sides
from ..expressions.state import State
from .inputs import Input
from .jacobian import KeptJacobian
from .margins import Margins
from .signals import Signals

_METHODS: dict[str, Any] = {"LSODA": LSODA, "DOP853": DOP853, "Radau": Radau, "BDF": BDF}
# BDF replaces LSODA if LSODA needs more than 1500 steps within one hundredth of the simulated time.
_PART, _MANY = 0.01, 1500
# Switching conditions are evaluated at least this many times in each simulation.
_LOOKS = 1000
# If a condition may switch twice within a step, the conditions are evaluated this many times in the step.
_CLOSE_LOOKS = 4
_HALVINGS = 60  # The bisection that locates an event ends after at most this many halvings.
_MOST_EVENTS = 1000  # A simulation fails if more than this many events occur within 1 s of simulated time.
_SMALL = 1e-3  # The absolute tolerance is the relative tolerance times this value, rad, m, rad/s or m/s.
_FINEST = 3e-14  # Relative tolerances are at least this, because SciPy's integrators replace values below 2.2e-14.
# The independent solver multiplies the described tolerance by this factor, to be more accurate than other solvers.
_FINER = 0.1
# An output time that precedes a state event by at most this fraction of the end time gets values after the event.
_SAME_OUTPUT = 1e-9


@dataclass(frozen=True)
class Segment:
    """Time span of the integration, s, in which all switching conditions keep their truth values."""

    begin: float
    end: float
    kept: Mapping[Any, bool]

    @property
    def instant(self) -> float:
        """Time inside the segment, s: the midpoint, or in a very short segment a time just after its beginning."""
        return max(0.5 * (self.begin + self.end), just_after(self.begin))


def simulate(
    data: Mapping[str, Any],
    claims: Claims,
    inputs: Mapping[str, Input] | None = None,
    *,
    method: str | None = None,
    tolerance: float | None = None,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Trajectory:
    """Simulate the mechanism up to the description's end time, and return all outputs and events.

    Parameters
    ----------
    data : mapping
        Description as nested dictionaries.
    claims : Claims
        Initial state and choices of the model generator.
    inputs : mapping or None
        Input signals by name; a missing input keeps its initial value.
    method : str or None
        SciPy integrator; None for LSODA with a change to BDF if LSODA needs too many steps.
    tolerance : float or None
        Relative tolerance; None for a tenth of the description's tolerance.
    progress : callable
        Callback that receives the completed fraction of the simulation.

    Returns
    -------
    Trajectory
        Outputs at the output times, and events.

    Raises
    ------
    SolveError
        If the simulation cannot be continued.
    """
    settings = data["simulation"]
    model = Model(data, claims)
    run = Run(
        model,
        inputs or {},
        method,
        _FINER * settings["tolerance"] if tolerance is None else tolerance,
        output_grid(settings["stop"], settings["output_step"]),
        progress,
    )
    return run.trajectory()


class Run:
    """One simulation with its integrator, events and output samples."""

    def __init__(
        self,
        model: Model,
        inputs: Mapping[str, Input],
        method: str | None,
        tolerance: float,
        times: Array,
        progress: Callable[[float], None],
    ) -> None:
        self._model, self._solver, self._inputs = model, Solver(model), inputs
        self._signals = Signals(model, self._solver)
        self._tolerance, self._times, self._progress = tolerance, times, progress
        self._n, self._f = model.machine.n, len(model.bristles)
        self._events: list[Event] = []
        self._samples: list[dict[str, float]] = []
        self._steps, self._evaluations = 0, 0
        self._end = float(times[-1])
        self._pace = Pace(model.setting.expressions, self._end, model.initial)
        self._method = _METHODS[method or "LSODA"]
        self._may_change = method is None

    def trajectory(self) -> Trajectory:
        begun = clock.perf_counter()
        with np.errstate(over="ignore", invalid="ignore"):
            self._march()
        names = self._samples[0]
        signals = {name: np.array([sample[name] for sample in self._samples]) for name in names}
        wall, extra = clock.perf_counter() - begun, {"tolerance": self._tolerance}
        extra["evaluations"] = float(self._evaluations)
        return Trajectory(
            "oracle", self._times, signals, wall, self._steps, extra=extra, events=tuple(self._events)
        )

    def _march(self) -> None:
        y = self._initial()
        stops = self._stops()
        kept: dict[Any, bool] = {}
        for begin, end in pairwise(stops):
            t, y = begin, self._sampled(begin, y, end, kept)
            while t < end:
                kept = self._sides(t, y, end, kept)
                t, y = self._segment(Segment(t, end, kept), y)
        y = self._sampled(self._end, y, self._end, kept)
        kept = self._sides(self._end, y, self._end, kept)
        self._record(Segment(self._end, self._end, kept), self._end, lambda t: y)

    def _sampled(self, t: float, y: Array, end: float, kept: Mapping[Any, bool]) -> Array:
        """Return the state after all controllers that sample at time t, s, have taken their samples."""
        memory = len(self._model.setting.memory)
        if not self._model.setting.samplers:
            return y
        state, _, _ = self._state(Segment(t, end, kept), t, y)
        return np.concatenate([y[: len(y) - memory], self._model.sampled(state)])

    def _initial(self) -> Array:
        model = self._model
        qd = self._solver.consistent(0.0, model.q0, model.qd0, model.lag0)
        return np.concatenate([model.q0, qd, np.zeros(self._f), model.lag0])

    def _stops(self) -> list[float]:
        """Return the times at which the right-hand side or one of its derivatives may jump, s.

        The beginning and the end of the run are included.
        """
        expressions = (*self._model.setting.expressions, *self._model.outputs.values())
        found = [time for expression in expressions for time in expression.breaks]
        for group in self._model.programmed:
            if isinstance(group, PathPositions | PathOrientations):
                found += group.switches
        found += [time for given in self._inputs.values() for time in given.breaks]
        found += self._pace.stops
        for period, _ in self._model.setting.samplers:
            found += [k * period for k in range(int(self._end / period) + 1)]
        stops = [0.0]
        for time in sorted(time for time in found if 0.0 < time < self._end):
            if not coincide(time, stops[-1]) and not coincide(time, self._end):
                stops.append(time)
        return [*stops, self._end]

    def _segment(self, segment: Segment, y: Array) -> tuple[float, Array]:
        """Integrate until the end of a time segment or until the first event in the segment.

        The integration also ends early if the method changes from LSODA to BDF. The result consists of
        the final time, s, and the integrator's state vector at this time.
        """
        solver, begun, margins = self._started(segment, y), (segment.begin, self._steps), Margins()
        while solver.status == "running":
            before = float(solver.t)
            if before > begun[0] + _PART * self._end:
                begun = before, self._steps
            if self._may_change and self._method is LSODA and self._steps > begun[1] + _MANY:
                self._method = BDF
                return before, np.asarray(solver.y)
            message = solver.step()
            if solver.status == "failed":
                raise SolveError(f"the integrator failed at t = {solver.t:.9g} s: {message}")
            self._steps += 1
            at, after = solver.dense_output(), float(solver.t)
            event = self._first_event(segment, at, before, after, margins)
            if event is not None:
                self._record(segment, event, at, last=False)
                return event, np.asarray(at(event))
            self._record(segment, after, at, last=False)
            self._progress(after / self._end)
        return segment.end, np.asarray(solver.y)

    def _started(self, segment: Segment, y: Array) -> Any:
        sizes = np.full(len(y), _SMALL)
        options: dict[str, Any] = {"rtol": max(self._tolerance, _FINEST), "atol": self._tolerance * sizes}
        options["max_step"] = self._pace.longest(segment.instant)
        rates = partial(self._rates, segment)
        if self._method is LSODA:
            options["jac"] = KeptJacobian(rates, np.ones(len(y)))
        return self._method(rates, segment.begin, y, segment.end, **options)

    def _state(self, segment: Segment, t: float, y: Array) -> tuple[State, Array, Array]:
        """Split the integrator's state vector y.

        Return the state of the mechanism, the friction states, and the states of input filters and
        controllers.
        """
        n, f = self._n, self._f
        sides = Sides(segment.instant, segment.kept)
        inputs = {name: given.at(t, segment.instant) for name, given in self._inputs.items()}
        z, lag = y[2 * n : 2 * n + f], y[2 * n + f :]
        return self._model.state(t, y[:n], y[n : 2 * n], lag, inputs, sides), z, lag

    def _rates(self, segment: Segment, t: float, y: Array) -> Array:
        self._evaluations += 1
        state, z, _ = self._state(segment, t, y)
        found = self._solver(self._model.situation(state), z)
        return np.concatenate([state.motion.qd, found.qdd, found.z_dot, self._model.lag_rates(state)])

    def _sides(self, t: float, y: Array, end: float, last: Mapping[Any, bool]) -> dict[Any, bool]:
        """Return all switching conditions just after time t; record an event for each changed condition."""
        kept: dict[Any, bool] = {}
        while True:
            seen = self._conditions(Segment(t, end, kept), t, y).seen
            fresh = {key: found.is_true for key, found in seen.items() if key not in kept}
            if not fresh:
                break
            kept |= fresh
        for key, side in kept.items():
            if key in last and last[key] != side:
                found = seen[key]
                self._events.append(Event(t, found.label, side, found.words[not side]))
        recent = [event for event in self._events if event.t > t - 1.0]
        if len(recent) > _MOST_EVENTS:
            raise SolveError(
                f"more than {_MOST_EVENTS} events in 1 s of simulated time, up to t = {t:.9g} s;"
                f" last event: {recent[-1].label}"
            )
        return {**last, **kept}

    def _first_event(
        self, segment: Segment, at: Callable[[float], Array], before: float, after: float, margins: Margins
    ) -> float | None:
        """Return the time, s, of the first event in an integration step, or None if no event occurs."""
        if not segment.kept:
            return None
        last = self._conditions(segment, after, at(after))
        least = 1 if margins.are_clear(last.seen) else _CLOSE_LOOKS
        count = max(least, int(np.ceil((after - before) / self._end * _LOOKS)))
        times: list[float] = np.linspace(before, after, count + 1).tolist()
        for early, late in pairwise(times):
            found = last if late == after else self._conditions(segment, late, at(late))
            if found.have_switched:
                return self._located(segment, at, early, late)
        return None

    def _located(self, segment: Segment, at: Callable[[float], Array], early: float, late: float) -> float:
        """Find by bisection the first time in an interval at which a switching condition changes."""
        for _ in range(_HALVINGS):
            middle = 0.5 * (early + late)
            if not early < middle < late:
                break
            if self._conditions(segment, middle, at(middle)).have_switched:
                late = middle
            else:
                early = middle
        return late

    def _conditions(self, segment: Segment, t: float, y: Array) -> Sides:
        """Return all switching conditions at time t, s, for the states y of the integrator."""
        state, _, _ = self._state(segment, t, y)
        return self._model.conditions(state)

    def _record(self, segment: Segment, until: float, at: Callable[[float], Array], last: bool = True) -> None:
        """Append the outputs at all output times of an integration segment before `until`, s.

        The outputs at `until` itself are appended only if `last` is true. Otherwise, they belong to the
        next segment.
        """
        is_time_event = until == segment.end
        while len(self._samples) < len(self._times):
            t = float(self._times[len(self._samples)])
            follows = coincide(until, t) if is_time_event else t >= until - _SAME_OUTPUT * self._end
            if (t >= until or follows) and not last:
                return
            state, z, lag = self._state(segment, t, at(t))
            self._samples.append(self._signals(state, z, lag))
