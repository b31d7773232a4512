"""Reference trajectories."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ...core.errors import SolveError
from ...core.progress import Progress, silent
from ...core.trajectory import Array, Singular, Trajectory, output_grid
from ...mechanism import Mechanism
from ...reference.forces.joint_loads import all_links
from ...reference.integration.events import Events
from ...reference.integration.integrators import Integrator, Interpolant, Stalled
from ...reference.integration.leap import LENGTH, PLACE, leap
from ...reference.integration.motion import FormulatedModel
from ...reference.integration.zero_lengths import ZeroLengths
from ...reference.kinematics.segment import Segment
from ...reference.solve.model import SAME_TIME
from ...reference.solve.solver import InitialValueProblem
from .signals import Moment, signals
from .watch import SingularityMonitor, branch_lost

_SHORTEST = 0.3  # of the length of a leap, where the singular position is nearer than it was thought
_ERRORS = 100.0  # of the tolerance: what a run makes of it
_LOOKS = 1000  # of a run, at least, at what changes at events
_SAME_INSTANT = 1e-9  # of the run: an output time that is so near to an event is at the event
_REPORTED = 0.01  # of the run, between two reports of progress


@dataclass(frozen=True)
class RunSettings:
    """Solver, times and signals of a reference run; None stands for the description's setting.

    Attributes
    ----------
    method : str, optional
        RK4 (fixed `step`) | DOP853 | Radau | BDF | LSODA (relative `tolerance`).
    tolerance : float, optional
        Relative tolerance of the solver.
    stop, step, output_step : float, optional
        End of the run, fixed step, and interval of the output times, s.
    loads : sequence of str, optional
        Links whose joint loads are wanted, or "all"; default the description's outputs.
    multipliers : bool
        Whether λ of each constraint equation is wanted: `<row>_force`, N, or N·m for an equation in rad.
    """

    method: str | None = None
    tolerance: float | None = None
    stop: float | None = None
    step: float | None = None
    output_step: float | None = None
    loads: Literal["all"] | Sequence[str] | None = None
    multipliers: bool = False


def simulate(
    problem: InitialValueProblem, settings: RunSettings = RunSettings(), progress: Progress = silent
) -> Trajectory:
    """Motion from t = 0 to `stop`.

    problem     equations, initial state and inputs; dependent coordinates that are "auto" are chosen anew in each
                state (`gpme_reduced`: at the start and kept)
    settings    solver, times and signals
    progress    called with the activity and the fraction done, at most about a hundred times

    Integration stops at each time where the right-hand side or one of its derivatives jumps, and starts anew.
    Friction begins with undeformed bristles, z = 0.
    Signals: `<coordinate>`, `<coordinate>_dot`, `<coordinate>_ddot`, with friction `<coordinate>_z`; `<point>_x` …
    `<point>_vz`; with constraints `violation_position`, `violation_velocity` (norms of Φ, Φ̇) and
    `<coordinate>_effort` of the joints and a fixed base; joint loads `<link>_load_fx` … `<link>_load_nz`, and of
    revolute and prismatic joints `<link>_load_axial`, `<link>_load_normal` (see `evaluation.joint_loads`);
    `<name>_force` of the knife edges, N, along their normals; what force elements measure, and what the
    description's `outputs` asks for. At a switching time they have the values after the switch.
    `extra`: `tolerance` that the method had; with constraints the smallest |det C_d| at the output times and its
    time, `min_det` and `min_det_time`; with friction the largest `friction_residual` (see `Evaluation`).
    `note` says where the rows came near to a singular position.
    Raises SolveError for a singular C_d of a fixed partition, a row that is left out and opens, or an end of the
    motion, naming the time and what ends there, and for unknown names.
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
    times = output_grid(settings.stop or described.stop, settings.output_step or described.output_step)
    run = _Run(motion, times, integrator.tolerance, progress)
    with np.errstate(over="ignore", invalid="ignore"):  # a motion that diverges is reported as a SolveError
        run.march(integrator, motion.states(problem.initial_state.q, problem.initial_state.qd))
    found, extra = signals(motion, run.moments(), joints, settings.multipliers)
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
    )


def _wanted_loads(mechanism: Mechanism, loads: Literal["all"] | Sequence[str] | None) -> Sequence[str]:
    wanted = mechanism.chain.outputs.loads if loads is None else loads
    return all_links(mechanism) if wanted == "all" else wanted


class _Passed(Exception):
    """A step has passed a singular configuration, or comes to it."""

    def __init__(self, singular: Singular) -> None:
        super().__init__()
        self.singular = singular


class _Run:
    """One integration with its results on the output grid."""

    def __init__(self, motion: FormulatedModel, times: Array, tolerance: float, progress: Progress) -> None:
        self.motion, self.times = motion, times
        self.watch = SingularityMonitor(
            motion, float(np.diff(times).max(initial=0.0)), float(times[-1]), tolerance
        )
        self.events = Events(motion, float(times[-1]) / _LOOKS)
        self.lengths = ZeroLengths(motion)
        self.steps = 0
        end = float(times[-1])
        self._pace = motion.model.pace(end)
        begins = np.array([0.0, *motion.model.stops(end)])
        self._bounds = np.append(begins[begins < end * (1.0 - SAME_TIME)], end)
        self._last_stop = float(begins[-1])
        self._steps: list[
            tuple[float, Array]
        ] = []  # begins of the steps since the last event, s, and states there
        self._segments = [Segment(0.0)] * len(times)
        self._values = np.empty((len(times), motion.size))
        self._done = 0
        self._progress, self._reported = progress, 0.0

    def march(self, integrator: Integrator, y: Array) -> None:
        """Integrate all segments from y, shape (size,); see `FormulatedModel`."""
        segment = None
        for begin, end in zip(self._bounds[:-1].tolist(), self._bounds[1:].tolist(), strict=True):
            t = begin
            while t < end:
                segment = self.events.segment(t, y, begin, segment)
                self._enter(segment, t)
                t, y = self._integrated(integrator, segment, (t, end), y)
        self._values[self._done :] = y
        self._enter(self.events.segment(t, y, self._last_stop, segment), t)

    def _integrated(
        self, integrator: Integrator, segment: Segment, span: tuple[float, float], y: Array
    ) -> tuple[float, Array]:
        """To the end of the span, to the next event or across the next singular configuration.

        Implicit steps that do not get there are taken back.
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
        """Time, s, and state after a singular configuration, which is crossed in one step.

        The motion goes back to before it first. An event on the way ends it.
        Raises SolveError where the step does not keep the branch of the motion.
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
        """Begin of the last step that leaves room for a leap, s, the state there, and the leap's length, s."""
        for t, y in reversed(self._steps):
            length = LENGTH * self.watch.turning(segment, t, y)
            if t + PLACE * length <= singular.t:
                break
        return t, y, length

    def _enter(self, segment: Segment, t: float) -> None:
        """Output times that are an event's, but for rounding, belong to the segment after it; not the start."""
        first = max(int(np.searchsorted(self.times, t - _SAME_INSTANT * float(self.times[-1]))), t > 0.0)
        self._segments[first:] = [segment] * (len(self.times) - first)

    def moments(self) -> list[Moment]:
        """The states at the output times."""
        return [
            Moment(*self.motion.moment(t, y, segment))
            for t, y, segment in zip(self.times.tolist(), self._values, self._segments, strict=True)
        ]

    def _record(
        self, segment: Segment, before: float, after: float, y: Array, interpolant: Callable[[], Interpolant]
    ) -> float | None:
        """Record a step; return the time of the event that ends it, or None."""
        self.steps += 1
        event = self.events.first(segment, before, after, interpolant)
        if event is not None:
            after, y = event, interpolant()(event)
        passed = self.watch.step(segment, before, after, y, interpolant)
        if passed is not None:
            raise _Passed(passed)
        self.lengths.step(segment, before, after, interpolant)
        self._steps.append((after, y))
        self._take(before, after, interpolant)
        self._report(after / float(self.times[-1]))
        return event

    def _report(self, fraction: float) -> None:
        if fraction >= self._reported + _REPORTED or fraction == 1.0:
            self._reported = fraction
            self._progress("reference solver", fraction)

    def _take(self, before: float, after: float, interpolant: Callable[[], Interpolant]) -> None:
        """Fill in the output times up to `after`."""
        end = int(np.searchsorted(self.times, after, side="right"))
        if end > self._done:
            at = interpolant()
            for k in range(self._done, end):
                self._values[k] = at(max(float(self.times[k]), before))
            self._done = end
