"""Simulation of a mechanism with the reference solver, an independent Python solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ...core.errors import SolveError
from ...core.progress import Progress, silent
from ...core.trajectory import Alternatives, Array, Singular, Trajectory, coincide, output_grid
from ...mechanism import Mechanism
from ...reference.forces.joint_loads import all_links
from ...reference.integration.events import Events
from ...reference.integration.integrators import Integrator, Interpolant, Stalled
from ...reference.integration.leap import LENGTH, PLACE, leap
from ...reference.integration.motion import FormulatedModel
from ...reference.integration.zero_lengths import ZeroLengths
from ...reference.kinematics.segment import Segment
from ...reference.solve.solver import InitialValueProblem
from .effort import check_effort
from .signals import Moment, RequestedForces, signals
from .watch import SingularityMonitor, branch_lost

_SHORTEST = 0.3  # The step across a singular position is at least this fraction of its planned length.
_ERRORS = 100.0  # A run's global error is assumed to be this multiple of the solver's relative tolerance.
_LOOKS = 1000  # Event indicators are evaluated at least this many times in a run.
# If an output time precedes an event by at most this fraction of the end time, it has the values after the event.
_SAME_INSTANT = 1e-9
# In two correct runs, the times of a state event differ by at most this fraction of the end time.
_EVENT_ERROR = 1e-7
# Two products that represent the same time can differ by this relative rounding error.
_EQUAL = 4.0 * np.finfo(float).eps
_REPORTED = 0.01  # Progress is reported each time that the run has advanced by this fraction of its duration.


@dataclass(frozen=True)
class RunSettings:
    """Solver, times and signals of a simulation; None selects the description's setting.

    Attributes
    ----------
    method : str, optional
        RK4 (fixed `step`) | DOP853 | Radau | BDF | LSODA (relative `tolerance`).
    tolerance : float, optional
        Relative tolerance of the solver.
    stop, step, output_step : float, optional
        End time, fixed step size, and interval of the output times, s.
    loads : sequence of str, optional
        Links whose joint reactions are computed, or "all". Default: the links in `outputs.loads` of the
        description.
    wrenches : bool
        Whether the wrenches of closures and the forces of supports are signals
        `<closure>_closure_<component>` and `<support>_support_<component>`, N and N·m, world axes.
    multipliers : bool
        Whether the Lagrange multiplier of each constraint equation is a signal `<equation>_force`. The
        unit is N, or N·m for an equation in rad.
    """

    method: str | None = None
    tolerance: float | None = None
    stop: float | None = None
    step: float | None = None
    output_step: float | None = None
    loads: Literal["all"] | Sequence[str] | None = None
    wrenches: bool = False
    multipliers: bool = False


def simulate(
    problem: InitialValueProblem, settings: RunSettings = RunSettings(), progress: Progress = silent
) -> Trajectory:
    """Simulate a mechanism from t = 0 to the end time with the reference solver.

    The integration restarts at each time at which the right-hand side or one of its derivatives is
    discontinuous. Bristles of friction models are initially undeformed.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations, initial state and inputs. If the description sets the dependent coordinates to "auto", the
        solver chooses them again in every state. With `gpme_reduced`, the solver chooses them only once, in
        the initial state.
    settings : RunSettings
        Solver, times and signals.
    progress : callable
        Callback with the current activity and the completed fraction, called about a hundred times.

    Returns
    -------
    Trajectory
        Signals at the output times. If an event occurs at an output time, the signals have the values
        after the event.

        - Coordinates `<coordinate>`, `<coordinate>_dot` and `<coordinate>_ddot`.
        - Bristle deflections `<coordinate>_z`.
        - Points `<point>_x` … `<point>_vz`.
        - With constraints, the norms `violation_position` of Φ and `violation_velocity` of Φ̇, and the
          efforts `<coordinate>_effort` of driven joints and of a fixed base.
        - Joint reactions `<link>_load_fx` … `<link>_load_nz`; for revolute and prismatic joints
          `<link>_load_axial` and `<link>_load_normal` (see `evaluation.joint_loads`).
        - Knife-edge forces `<name>_force` along the normals, N.
        - Measured quantities of force elements, such as lengths, and the description's `outputs`.

        The field `extra` contains:

        - `tolerance`: relative tolerance of the solver;
        - `min_det` and `min_det_time`, with constraints: smallest |det C_d|, and the time at which it
          occurs;
        - `friction_residual`, with friction: largest relative residual of the friction efforts; see
          `Evaluation`.

        The field `note` lists the times of near-singular positions. The field `alternatives` contains the
        signals before and after each event that nearly coincides with an output time.

    Raises
    ------
    SolveError
        If C_d of a fixed partition becomes singular, a redundant constraint is violated, the motion
        cannot be continued, or a requested name is unknown. The message gives the time and the cause.
    """
    described, model = problem.mechanism.chain.simulation, problem.model
    begun = time.perf_counter()
    integrator = Integrator(
        settings.method or described.method,
        settings.tolerance or described.tolerance,
        settings.step or described.step,
        model.decay_time,
    )
    motion = FormulatedModel(model, problem.form)
    joints = model.joint_loads(_wanted_loads(problem.mechanism, settings.loads))
    wanted = RequestedForces(joints, settings.wrenches, settings.multipliers)
    times = output_grid(settings.stop or described.stop, settings.output_step or described.output_step)
    run = _Run(motion, times, integrator, progress)
    # An overflow needs no NumPy warning, because a SolveError reports the overflow later.
    with np.errstate(over="ignore", invalid="ignore"):
        run.march(integrator, motion.states(problem.initial_state.q, problem.initial_state.qd))
    found, extra = signals(motion, run.moments(), wanted)
    alternatives = run.alternatives(lambda moment: signals(motion, [moment], wanted)[0])
    wall = time.perf_counter() - begun
    extra["tolerance"] = integrator.tolerance
    return Trajectory(
        "reference",
        times,
        found,
        wall,
        run.steps,
        run.watch.note,
        extra,
        events=tuple(run.events.found),
        singular=tuple(run.watch.singular),
        alternatives=alternatives,
    )


def _separate(begins: list[float]) -> list[float]:
    """Return increasing times that begin with 0, without the first time if the second time is also 0."""
    return begins[1:] if len(begins) > 1 and coincide(begins[1], 0.0) else begins


def _wanted_loads(mechanism: Mechanism, loads: Literal["all"] | Sequence[str] | None) -> Sequence[str]:
    wanted = mechanism.chain.outputs.loads if loads is None else loads
    return all_links(mechanism) if wanted == "all" else wanted


@dataclass(frozen=True)
class _Side:
    """Time segment and state, shape (size,), immediately before or after an event at time t, s."""

    t: float
    segment: Segment
    y: Array


class _Passed(Exception):
    """Exception that reports a singular configuration within or shortly after an integration step."""

    def __init__(self, singular: Singular) -> None:
        super().__init__()
        self.singular = singular


class _Run:
    """One integration of the equations of motion, with the states at the output times."""

    def __init__(self, motion: FormulatedModel, times: Array, integrator: Integrator, progress: Progress) -> None:
        self.motion, self.times = motion, times
        self.watch = SingularityMonitor(
            motion, float(np.diff(times).max(initial=0.0)), float(times[-1]), integrator.tolerance
        )
        self.events = Events(motion, float(times[-1]) / _LOOKS)
        self.lengths = ZeroLengths(motion)
        self.steps = 0
        self._is_adaptive = integrator.method != "RK4"
        end = float(times[-1])
        self._pace = motion.model.pace(end)
        begins = _separate([0.0, *motion.model.stops(end)])
        self._begins = [begin for begin in begins if begin < end and not coincide(begin, end)]
        self._bounds = [0.0, *self._begins[1:], end]
        self._last_stop = begins[-1]
        # States immediately before and after each event that nearly coincides with an output time.
        self._sides: list[_Side] = []
        # Times, s, and states at the beginnings of all integration steps since the last event.
        self._steps: list[tuple[float, Array]] = []
        self._segments = [Segment(0.0)] * len(times)
        self._values = np.empty((len(times), motion.size))
        self._done = 0
        self._has_samples = bool(motion.model.forces.sample_times(end))
        self._progress, self._reported = progress, 0.0

    def march(self, integrator: Integrator, y: Array) -> None:
        """Integrate from the initial state y to the end time.

        The integration stops and restarts at each discontinuity of the right-hand side. The state y has the
        layout that `FormulatedModel` defines.
        """
        segment: Segment | None = None
        t = 0.0
        for end, begin in zip(self._bounds[1:], self._begins, strict=True):
            segment, y = self._continued(t, y, begin, segment)
            t, y = self._integrated(integrator, segment, (t, end), y)
            while t < end:
                segment, y = self._continued(t, y, begin, segment, sampling=False)
                t, y = self._integrated(integrator, segment, (t, end), y)
        self._values[self._done :], self._done = y, len(self.times)
        segment, y = self._continued(t, y, self._last_stop, segment)
        self._look_ahead(segment, t, y)

    def _continued(
        self, t: float, y: Array, begin: float, last: Segment | None, *, sampling: bool = True
    ) -> tuple[Segment, Array]:
        """Return the segment and the state after an event, and assign both to all later output times.

        The event occurs at time t, s, in the state y, shape (size,), at the end of the segment `last`. In
        the returned segment, all time events up to time `begin`, s, have occurred.
        """
        before = y
        settled, y = self._sampled(t, y, begin, last) if sampling else (last, y)
        segment = self.events.segment(t, y, begin, settled)
        self._enter(segment, t, y)
        if last is not None:
            self._keep_sides(_Side(t, last, before), _Side(t, segment, y))
        return segment, y

    def _keep_sides(self, before: _Side, after: _Side) -> None:
        """Record segment and state before and after an event that nearly coincides with an output time.

        For a time event exactly at an output time, nothing is recorded, because all solvers then return
        the state after the event.
        """
        t = after.t
        distance = abs(float(self.times[self._nearest(t)]) - t)
        is_shared = coincide(after.segment.begin, t) and distance <= _EQUAL * t
        is_event = before.segment != after.segment or not np.array_equal(before.y, after.y)
        if is_event and distance <= _EVENT_ERROR * float(self.times[-1]) and not is_shared:
            self._sides += [before, after]

    def _nearest(self, t: float) -> int:
        """Return the index of the output time that is nearest to time t, s."""
        after = min(max(int(np.searchsorted(self.times, t)), 1), len(self.times) - 1)
        return after if self.times[after] - t < t - self.times[after - 1] else after - 1

    def _look_ahead(self, segment: Segment, t: float, y: Array) -> None:
        """Record the state after a state event that would follow shortly after the end of the run.

        Nothing is recorded if no such event occurs.

        Another solver may find this event shortly before the end time.
        """
        with suppress(SolveError):
            later = self.events.settled(t, y + _EVENT_ERROR * t * self.motion.rate(segment)(t, y), segment)
            if later != segment:
                self._sides.append(_Side(t, later, y))

    def _sampled(self, t: float, y: Array, begin: float, segment: Segment | None) -> tuple[Segment | None, Array]:
        """Update the sampled controllers at time t, s, and return the resulting segment and state.

        A new output of a controller may change switching conditions on which the sample of another
        controller depends. Samples and switching conditions are therefore computed in turn until no
        output changes.
        """
        if not self._has_samples:
            return segment, y
        settled = self.events.segment(t, y, begin, segment)
        for _ in range(len(y)):
            before, y = y, self.motion.held(t, y, settled)
            if np.array_equal(y, before):
                break
            settled = self.events.segment(t, y, begin, settled)
        return settled, self.motion.advanced(t, y, settled)

    def _integrated(
        self, integrator: Integrator, segment: Segment, span: tuple[float, float], y: Array
    ) -> tuple[float, Array]:
        """Integrate to the end of the time span, or to an earlier event or singular configuration.

        A singular configuration is crossed in one large step. If Radau fails, the integration is repeated
        with DOP853.
        """
        done, self._steps = self._done, [(span[0], y)]
        try:
            record = partial(self._record, segment)
            return integrator.integrate(self.motion.rate(segment), span, y, record, self._pace)
        except _Passed as passed:
            return self._leapt(integrator, segment, span[1], passed.singular)
        except SolveError as error:
            if integrator.method == "Radau":
                self._done = done
                self.watch.back()
                return self._integrated(replace(integrator, method="DOP853"), segment, span, y)
            if isinstance(error, Stalled):
                raise SolveError(f"{self.watch.explained(segment, error.t, error.y)} ({error})") from None
            raise

    def _leapt(
        self, integrator: Integrator, segment: Segment, end: float, singular: Singular
    ) -> tuple[float, Array]:
        """Cross a singular configuration in one large step; return time, s, and state after the step.

        The large step begins at an earlier recorded state, before the singular configuration. If an event
        occurs within the step, the step ends there.

        Raises
        ------
        SolveError
            If the motion would jump to another branch, that is, the velocities would be discontinuous.
        """
        self.watch.back()
        self.watch.singular.append(singular)
        t, y, length = self._before(segment, singular)
        wanted = max(singular.t - PLACE * length, t)
        self._done = min(self._done, int(np.searchsorted(self.times, t, side="right")))
        rate, record = self.motion.rate(segment), partial(self._record, segment)
        if t < wanted:
            approach = replace(integrator, method="DOP853")
            t, y = approach.integrate(rate, (t, wanted), y, record, self._pace)
        if t < wanted:
            return t, y
        y = self.motion.settled(t, y, segment, _ERRORS * integrator.tolerance)
        at = self.watch.located(segment, t, y, 2.0 * PLACE * length)
        step = leap(rate, t, y, min(t + max((at - t) / PLACE, _SHORTEST * length), end))
        if not step.is_continuous(y, self.motion.velocities, self.motion.form.choice.unit[self.motion.rates]):
            raise SolveError(branch_lost(singular))
        self.watch.singular[-1] = replace(singular, crossed=(t, step.end))
        step = replace(step, y=self.motion.settled(step.end, step.y, segment, _ERRORS * integrator.tolerance))
        event = self._record(segment, t, step.end, step.y, lambda: step.interpolant)
        return (step.end, step.y) if event is None else (event, step.interpolant(event))

    def _before(self, segment: Segment, singular: Singular) -> tuple[float, Array, float]:
        """Return the latest recorded state from which a large step can cross a singular configuration.

        Returns
        -------
        t, y, length : float, ndarray, float
            Time, s, and state at the beginning of the large step, and the length of the step, s.
        """
        for t, y in reversed(self._steps):
            length = LENGTH * self.watch.turning(segment, t, y)
            if t + PLACE * length <= singular.t:
                break
        return t, y, length

    def _enter(self, segment: Segment, t: float, y: Array) -> None:
        """Assign a time segment and its initial state y to all output times from time t, s, on.

        If an output time and an event coincide within rounding, the output time belongs to the
        segment after the event and has the state y. With a state from before the event, a contact
        that closes at the event would exert a tensile force. The initial time belongs to the first
        segment.
        """
        first = max(self._first_from(t, segment.begin), t > 0.0)
        self._segments[first:] = [segment] * (len(self.times) - first)
        self._values[first : self._done] = y

    def _first_from(self, t: float, begin: float) -> int:
        """Return the index of the first output time that is not before an event at time t, s.

        The argument `begin` is the time of the last time event, s. If `begin` equals t, the event at t is
        a time event.
        """
        if not coincide(begin, t):
            return int(np.searchsorted(self.times, t - _SAME_INSTANT * float(self.times[-1])))
        nearest = self._nearest(t)
        return nearest if coincide(t, float(self.times[nearest])) else int(np.searchsorted(self.times, t))

    def moments(self) -> list[Moment]:
        return [
            Moment(*self.motion.moment(t, y, segment))
            for t, y, segment in zip(self.times.tolist(), self._values, self._segments, strict=True)
        ]

    def alternatives(self, evaluate: Callable[[Moment], Mapping[str, Array]]) -> Alternatives:
        """Return the signals before and after each event that nearly coincides with an output time.

        The function `evaluate` returns the signals at one moment. The signals before or after an event are
        omitted if the equations cannot be evaluated there.
        """
        times: list[float] = []
        found: list[Mapping[str, Array]] = []
        for side in self._sides:
            t = float(self.times[self._nearest(side.t)])
            with suppress(SolveError), np.errstate(all="ignore"):
                y = side.y + (t - side.t) * self.motion.rate(side.segment)(side.t, side.y)
                found.append(evaluate(Moment(*self.motion.moment(t, y, side.segment))))
                times.append(t)
        names = found[0] if found else ()
        return Alternatives(
            np.array(times), {name: np.concatenate([values[name] for values in found]) for name in names}
        )

    def _record(
        self, segment: Segment, before: float, after: float, y: Array, interpolant: Callable[[], Interpolant]
    ) -> float | None:
        """Record an integration step, and return the time of the first event within the step, s.

        The result is None if no event occurs within the step.
        """
        self.steps += 1
        event = self.events.first(segment, before, after, interpolant)
        if event is not None:
            after, y = event, interpolant()(event)
        passed = self.watch.step(segment, before, after, y, interpolant)
        if passed is not None:
            raise _Passed(passed)
        self.lengths.step(segment, before, after, interpolant)
        self._steps.append((after, y))
        if self._is_adaptive:
            check_effort(self.motion.model.mechanism, self._steps, float(self.times[-1]))
        self._take(before, after, interpolant)
        self._report(after / float(self.times[-1]))
        return event

    def _report(self, fraction: float) -> None:
        if fraction >= self._reported + _REPORTED or fraction == 1.0:
            self._reported = fraction
            self._progress("reference solver", fraction)

    def _take(self, before: float, after: float, interpolant: Callable[[], Interpolant]) -> None:
        """Interpolate the state at each output time within the step that ends at the time `after`, s."""
        end = int(np.searchsorted(self.times, after, side="right"))
        if end > self._done:
            at = interpolant()
            for k in range(self._done, end):
                self._values[k] = at(max(float(self.times[k]), before))
            self._done = end
