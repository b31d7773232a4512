"""Implementation of one communication step of one group of coupled FMUs, for each coupling method.

A course is the polynomial of a signal over the step. A course has four coefficients in ascending
powers of the relative time. The relative time is 0 at the beginning and 1 at the end of the step. A
pin is a rigid connection: a pair of positions of two FMUs that must be equal. The pin force is the
unknown force that makes the positions equal. A law is an FMU without states that returns forces,
such as a spring. The coupled system has n_y outputs and n_u inputs in total.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.errors import SolveError
from ..core.trajectory import Array
from . import courses as polynomials
from .network import CoupledGroup, Network
from .newton import Solver
from .participant import slopes_of
from .redundancy import PinBasis

SEQUENTIAL, HERMITE, MEAN, PIN = "sequential", "hermite", "mean_force", "pin"
METHODS = (SEQUENTIAL, HERMITE, MEAN, PIN)
# Two test steps have the ratio of the golden section, so that hardly any vibration period divides both steps.
# A test step that is a multiple of a vibration's period does not show the vibration.
GOLDEN = (3.0 - 5.0**0.5) / 2.0
_ROUNDING = 1e-12
_MOST_EVENTS = 100  # An FMU may have at most this number of events in one communication step.
# This limit for the weight of velocity errors in rigid connections prevents the amplification of rounding errors.
_ROUNDED = 2e3
# The iteration for rigid connections ends if positions differ by at most this fraction of the positions' range.
_GAP = 1e-11


class EarlyReturn(Exception):
    """Exception for an FMU that stops at an event before the end of the communication step.

    The attribute `time` is the time at which the FMU stops, s.
    """

    def __init__(self, time: float) -> None:
        super().__init__(time)
        self.time = time


class EndedInside(Exception):
    """Exception for an FMU that ends the simulation inside a step that cannot be repeated."""


class NotConverged(Exception):
    """Exception for a communication step whose iteration finds no solution."""


@dataclass
class Present:
    """Values of all signals at the present and at earlier communication points since the last event.

    A pin is a rigid connection of two positions by a pair of opposite forces. The system has n_y
    outputs.

    Parameters
    ----------
    t : present time, s
    values : outputs and pin forces, shape (n_y + pins,)
    slopes : time derivatives of the outputs, shape (n_y + pins,); zero for the pin forces and for
        FMUs that do not provide derivatives
    times : earlier communication points and the present one, in ascending order, s
    history : outputs and pin forces at `times`
    last : polynomials of the previous step, and the length of that step, s; None at the start or
        after an event
    """

    t: float
    values: Array
    slopes: Array
    times: list[float] = field(default_factory=list)
    history: list[Array] = field(default_factory=list)
    last: tuple[Array, float] | None = None

    def predicted(self, h: float, degree: int) -> Array:
        """Return polynomials that extrapolate the last values over the next step of length h, s.

        The polynomials have at most the given degree.
        """
        points = min(degree + 1, len(self.times))
        times = tuple(round((time - self.t) / h, 12) for time in self.times[-points:])
        return polynomials.through(times, np.array(self.history[-points:]).T)

    def continued(self, h: float) -> Array:
        """Return the polynomials of the previous step, extrapolated over the next step of length h, s.

        At the start or after an event, the polynomials are straight lines with the present values
        and slopes.
        """
        if self.last is not None:
            courses, length = self.last
            return polynomials.part(courses, 1.0, round(h / length, 12))
        found = polynomials.constant(self.values)
        found[:, 1] = self.slopes * h
        return found


@dataclass
class Step:
    """Data of one attempt to make a communication step; each polynomial has four coefficients.

    A pin is a rigid connection of two positions by a pair of opposite forces. The system has n_y
    outputs and n_u inputs.

    Parameters
    ----------
    t, h : beginning and length of the step, s
    courses : polynomials of outputs and pin forces, shape (n_y + pins, 4); first a prediction, then
        the computed result
    given : polynomials of the inputs as passed to the FMUs, shape (n_u, 4)
    saved : states of the FMUs at the beginning of the step, by index of the FMU
    values : outputs and pin forces, shape (n_y + pins,); the outputs of an FMU are updated when
        the FMU is advanced
    events : indices of the FMUs that have an event at the end of the step
    predicted : predicted polynomials of outputs and pin forces, shape (n_y + pins, 4)
    returns : whether all FMUs can return to the beginning of the step
    late : number of events inside the step that other FMUs notice only at the end of the step
    slopes : time derivatives of the outputs at the end of the step, shape (n_y + pins,)
    """

    t: float
    h: float
    courses: Array
    given: Array
    saved: Mapping[int, Any]
    values: Array
    events: set[int] = field(default_factory=set)
    predicted: Array = field(default_factory=lambda: np.zeros((0, 4)))
    slopes: Array = field(default_factory=lambda: np.zeros(0))
    returns: bool = True
    late: int = 0

    @property
    def end(self) -> float:
        """Time at the end of the step, s."""
        return self.t + self.h

    def beginning(self, part: float) -> Step:
        """Return a new attempt at a shorter step, which covers only the first section of this step.

        The argument `part` is the length of the section, as a fraction of the step.
        """
        courses, given, predicted = (
            polynomials.part(old, 0.0, part) for old in (self.courses, self.given, self.predicted)
        )
        found = replace(self, h=part * self.h, courses=courses, given=given, predicted=predicted, events=set())
        found.values, found.slopes = self.values.copy(), self.slopes.copy()
        return found


class Stepper:
    """Object that advances one group of FMUs by communication steps with one coupling method.

    Parameters
    ----------
    network : all FMUs and their connections
    group : the FMUs that this object advances together
    method : `sequential`, `hermite`, `mean_force` or `pin`
    order : degree of extrapolation of the sequential method
    position_of : mapping from the index of a velocity output to the index of its position output
    """

    def __init__(
        self, network: Network, group: CoupledGroup, method: str, order: int, position_of: Mapping[int, int]
    ) -> None:
        self.network, self.group, self.method, self.order = network, group, method, order
        self._position_of = position_of
        self._laws = {k for k in group.parts if method == MEAN and not network.parts[k].abilities.memory}
        slopes = np.array([network.parts[network.owner(int(k))].abilities.gives_slopes for k in group.feedback])
        self._sloped = group.feedback[slopes.astype(bool)] if len(slopes) else group.feedback
        self.solver = Solver(fixed_point=method == HERMITE)
        self._columns, self._rows = (
            np.array(indices(slices, group.parts), dtype=np.intp) for slices in (network.columns, network.rows)
        )
        self._connection = connection_of(network, group)
        self._corrects = method == SEQUENTIAL and group.loops
        self._begins_unknown = method == PIN and bool(self._connection.any())
        self._forced = np.setdiff1d(self._rows, [*position_of.values()])
        self._held = [int(k) for k in self._rows if network.signals[k].discrete]
        self._pairs = network.pairs[group.pins - network.n_y]
        self._rates = self._paired_rates()
        self._basis = PinBasis([network.pins[k - network.n_y] for k in group.pins], self._pairs[:, 0])
        self.seconds = dict.fromkeys(group.parts, 0.0)

    def _paired_rates(self) -> Any:
        """Return the indices of the two velocity outputs at each rigid connection (pin), shape (pins, 2).

        Pin forces may be linear in time or constant during a step. Linear forces make positions and
        velocities agree at the end of the step; constant forces make only positions agree. If an
        FMU accepts only constant inputs or does not provide the velocities, the forces must be
        constant. If the forces must be constant, the array is empty.
        """
        rate_of = {position: rate for rate, position in self._position_of.items()}
        takes = all(self.network.parts[k].abilities.takes_courses for k in self.group.parts)
        if not takes or not all(int(row) in rate_of for row in self._pairs.ravel()):
            return self._pairs[:0]
        return np.array([[rate_of[int(row)] for row in pair] for pair in self._pairs], dtype=np.intp).reshape(
            -1, 2
        )

    @cached_property
    def resolved(self) -> list[int]:
        """Indices of the outputs that the coupling method computes with its full order of accuracy.

        For the method `mean_force`, these are the positions; for `pin`, the positions and
        velocities. Accelerations are excluded, because the approximated forces jump between steps.
        """
        rows = [int(k) for k in self._rows if k not in self._held]
        if self.method not in (MEAN, PIN):
            return rows
        motion = {*self._position_of.values(), *(self._position_of if self.method == PIN else ())}
        memory = [k for k in rows if self.network.parts[self.network.owner(k)].abilities.memory]
        return [k for k in memory if k in motion] or memory

    @property
    def iterates(self) -> bool:
        """Whether each step is repeated until the inputs of all FMUs agree with the connected outputs."""
        return self.method != SEQUENTIAL and self.group.loops

    def step(self, present: Present, step: Step, scale: Array, tolerance: float) -> None:
        """Advance a group of coupled FMUs over one communication step.

        Parameters
        ----------
        present : values at the beginning of the step
        step : communication step; receives the computed polynomials of outputs, inputs and pin
            forces
        scale : typical sizes of the n_y outputs and the forces of rigid connections (pins), shape
            (n_y + pins,)
        tolerance : admissible residual of the iteration, relative to `scale`

        Raises
        ------
        EarlyReturn : if an FMU stops at an event before the end of the step
        EndedInside : if an FMU ends the simulation inside the step, and some FMU cannot return to
            the beginning of the step
        NotConverged : if the iteration finds no solution
        PartFailed : if an FMU cannot advance
        """
        self._basis.update(present.values)
        if self._begins_unknown and present.last is None:
            self._find_slopes(present, step, scale, tolerance)
        self._solve(present, step, scale, tolerance)

    def _solve(self, present: Present, step: Step, scale: Array, tolerance: float) -> None:
        self._predict(present, step)
        if not self.iterates:
            self._sweep(present, step)
            return
        z = self._read(step.courses, present)
        kept = step.courses.copy()

        def residual(unknowns: Array) -> Array:
            step.courses[:] = kept
            self._write(step, present, unknowns)
            self._restore(step)
            self._sweep(present, step)
            return self._mismatch(step, present, unknowns, scale, limit / tolerance)

        limit = min(tolerance, _GAP) if len(self.group.pins) else tolerance
        r = residual(z)
        if not self.solver.solve(residual, z, r, self._sizes(scale, step.h), limit, step.h):
            raise NotConverged
        self._finish(present, step)

    def _find_slopes(self, present: Present, step: Step, scale: Array, tolerance: float) -> None:
        """Find the slopes of the outputs at the start or after an event by two trial steps.

        Slopes are unknown at these times, because they depend on the forces of rigid connections
        (pins). The trial steps have the lengths h/2 and h, where h is the length of the real step.
        The slopes at their ends are extrapolated to the beginning. The error is of second order in
        h. Slopes of positions are excluded, because velocities do not depend on forces.
        """
        ends = []
        # The last trial step has the length of the communication step, because its Jacobian matrix is used later.
        for part in (0.5, 1.0):
            trial = step.beginning(part)
            self._solve(present, trial, scale, tolerance)
            ends.append(trial.slopes[self._forced])
        present.slopes[self._forced] = 2.0 * ends[0] - ends[1]

    def response(self, present: Present, step: Step, scale: Array) -> Array:
        """Return the derivatives of computed connection forces with respect to assumed connection forces.

        The result has the shape (n, n) for n connection forces. All forces are mean values over one
        step. The FMUs move under the assumed forces, and force laws (FMUs without states) compute
        forces from this motion. With a spring of stiffness c between two masses m₁ and m₂, the matrix
        has the eigenvalue −(ωh)²/4. Here, h is the step length, ω² = c/m, and m = m₁m₂/(m₁ + m₂).
        """
        self._predict(present, step)
        kept = step.courses.copy()

        def answer(z: Array) -> Array:
            step.courses[:] = kept
            self._write(step, present, z)
            self._restore(step)
            self._sweep(present, step)
            return self._read(step.courses, present)

        z = self._read(step.courses, present)
        base, columns = answer(z), []
        for k, size in enumerate(self._sizes(scale, step.h)):
            nudged = z.copy()
            nudged[k] += 1e-3 * size
            columns.append((answer(nudged) - base) / (1e-3 * size))
        return np.array(columns).T

    def _predict(self, present: Present, step: Step) -> None:
        rows = self._rows
        full = present.predicted(step.h, self.order) if self.method == SEQUENTIAL else present.continued(step.h)
        step.courses[rows] = full[rows]
        for k in self._held:
            step.courses[k] = [present.values[k], 0.0, 0.0, 0.0]
        step.predicted[rows] = step.courses[rows]
        if self.method == MEAN:
            step.courses[rows] = polynomials.constant(polynomials.means(step.courses[rows]))
        step.courses[self.group.pins] = self._last_forces(present)

    def _last_forces(self, present: Present) -> Array:
        """Return the forces of rigid connections in the previous step, as initial guess for the next step."""
        found = polynomials.constant(present.values[self.group.pins])
        if present.last is not None and len(self._rates):
            found = polynomials.part(present.last[0][self.group.pins], 1.0, 1.0)
        return found

    def _restore(self, step: Step) -> None:
        for part in self.group.parts:
            self.network.parts[part].restore(step.saved[part])

    def _sweep(self, present: Present, step: Step) -> None:
        for part in self.group.parts:
            begun = clock.perf_counter()
            try:
                self._advance(part, present, step)
            finally:
                self.seconds[part] += clock.perf_counter() - begun

    def _advance(self, part: int, present: Present, step: Step) -> None:
        """Advance one FMU over the step and store the polynomials of its outputs.

        Raises
        ------
        EarlyReturn : if the FMU stops at an event, and all FMUs can return to the beginning of the
            step
        EndedInside : if the FMU ends the simulation inside the step, and some FMU cannot return to
            the beginning of the step
        """
        network = self.network
        participant = network.parts[part]
        if participant.abilities.period is not None:
            self._sample(part, step)
            return
        if part in self._laws:
            given = polynomials.constant(self._mean_inputs(part, present, step))
        else:
            given = held(network.given(part, step.courses), participant.abilities)
        step.given[network.columns[part]] = given
        reached, event = participant.advance(step.t, step.h, given)
        if not _passed(reached, step.end):
            if participant.ended and (not step.returns or _passed(step.t, reached)):
                raise EndedInside
            if step.returns:
                raise EarlyReturn(reached)
            self._resume(part, reached, step, given)
        if event:
            step.events.add(part)
        step.courses[network.rows[part]] = self._courses(part, present, step)

    def _resume(self, part: int, reached: float, step: Step, given: Array) -> None:
        """Handle events of one FMU inside the step, and advance the FMU to the end of the step.

        The method is called if some FMU cannot return to the beginning of the step.

        Raises
        ------
        SolveError : if the FMU has too many events in the step
        EndedInside : if the FMU ends the simulation
        """
        participant = self.network.parts[part]
        for _ in range(_MOST_EVENTS):
            if _passed(reached, step.end):
                return
            if participant.ended:
                raise EndedInside
            step.late += 1
            begin = round((reached - step.t) / step.h, 12)
            rest = polynomials.part(given, begin, 1.0 - begin)
            participant.settle(rest[:, 0])
            if participant.ended:
                raise EndedInside
            reached, _event = participant.advance(reached, step.end - reached, rest)
        raise SolveError(
            f"coupling: {participant.name} has more than {_MOST_EVENTS} events in the step from t = {step.t:.9g} s"
            f" to {step.end:.9g} s; shorten --step"
        )

    def _sample(self, part: int, step: Step) -> None:
        """Evaluate a sampled FMU if the step ends at a sample time.

        The outputs of a sampled FMU are constant between sample times.
        """
        participant, period = self.network.parts[part], self.network.parts[part].abilities.period
        assert period is not None
        count = round(step.end / period)
        given = polynomials.constant(polynomials.ends(self.network.given(part, step.courses)))
        step.given[self.network.columns[part]] = given
        if abs(step.end - count * period) <= 1e-9 * period:
            participant.advance((count - 1) * period, period, given)
            step.events.add(part)
        step.values[self.network.rows[part]] = participant.outputs_now()

    def _courses(self, part: int, present: Present, step: Step) -> Array:
        """Return interpolating polynomials of the outputs of one FMU over the step, shape (outputs, 4).

        The polynomials match values and slopes at both ends. If the FMU provides no slopes, the
        polynomials instead match values at earlier communication points.
        """
        h = step.h
        rows, participant = self.network.rows[part], self.network.parts[part]
        end = step.values[rows] = participant.outputs_now()
        if part in self._laws:
            return polynomials.constant(end)
        if participant.abilities.gives_slopes:
            rises = polynomials.end_rises(step.given[self.network.columns[part]])
            slopes = slopes_of(participant, rises / h)
            step.slopes[rows] = slopes
            found = polynomials.hermite(present.values[rows], present.slopes[rows] * h, end, slopes * h)
            if self.method == PIN:
                self._replace_velocities(found, rows, present, end, slopes * h, h)
        else:
            points = min(3, len(present.times))
            times = (*(round((time - present.t) / h, 12) for time in present.times[-points:]), 1.0)
            found = polynomials.through(
                times, np.stack([*(v[rows] for v in present.history[-points:]), end], axis=1)
            )
        for row in self._held:
            if rows.start <= row < rows.stop:
                found[row - rows.start] = [present.values[row], 0.0, 0.0, 0.0]
        return found

    def _replace_velocities(
        self, courses: Array, rows: slice, present: Present, end: Array, rises: Array, h: float
    ) -> None:
        """Replace the polynomials of velocities so that their mean value equals (change of position)/h.

        The slopes at the beginning of the step are not used, because the forces of rigid
        connections jump between steps.
        """
        own = [
            (v - rows.start, x - rows.start) for v, x in self._position_of.items() if rows.start <= v < rows.stop
        ]
        if own:
            velocity, position = np.array(own).T
            begin = present.values[rows]
            means = (end[position] - begin[position]) / h
            courses[velocity] = polynomials.with_means(begin[velocity], end[velocity], rises[velocity], means)

    def _mean_inputs(self, part: int, present: Present, step: Step) -> Array:
        """Return the inputs of a force law (FMU without states): mean positions and velocities of a step.

        A mean velocity is the change of the position divided by the length of the step.
        """
        network = self.network
        columns = network.columns[part]
        found = []
        for k in range(columns.start, columns.stop):
            row = int(network.source[k])
            position = self._position_of.get(row)
            if position is None:
                mean = 0.5 * (present.values[row] + step.courses[row].sum())
            else:
                mean = (step.courses[position].sum() - present.values[position]) / step.h
            found.append(network.factor[k] * mean + network.offset[k])
        return np.array(found)

    def _read(self, courses: Array, present: Present) -> Array:
        feedback, sloped = courses[self.group.feedback], courses[self._sloped]
        if self.method == MEAN:
            wires = [polynomials.means(feedback)]
        else:
            wires = [polynomials.ends(feedback), polynomials.end_rises(sloped)]
        pins = self._basis.reduced(courses[self.group.pins])
        return np.concatenate([polynomials.means(pins), pins[: self._n_rates, 1], *wires])

    def _write(self, step: Step, present: Present, z: Array) -> None:
        rows, n, size = self.group.feedback, self._n_pin, self._basis.size
        forces = polynomials.constant(z[:size])
        if self._n_rates:
            forces[:, 1] = z[size:n]
            forces[:, 0] -= 0.5 * forces[:, 1]
        step.courses[self.group.pins] = self._basis.full(forces)
        end = z[n : n + len(rows)]
        if self.method == MEAN:
            step.courses[rows] = polynomials.constant(end)
            return
        begin, rise = step.courses[rows, 0], step.courses[rows, 1]
        final = 2.0 * (end - begin) - rise
        # NumPy's searchsorted requires sorted arrays, and both index arrays are sorted.
        sloped = np.searchsorted(rows, self._sloped)
        final[sloped], rise[sloped] = z[n + len(rows) :], present.slopes[self._sloped] * step.h
        step.courses[rows] = polynomials.hermite(present.values[rows], rise, end, final)

    def _mismatch(self, step: Step, present: Present, z: Array, scale: Array, weight: float) -> Array:
        """Return the residual of the iteration, in which each element is divided by a typical signal size.

        The first elements are differences of positions and velocities at rigid connections (pins).
        The other elements are differences between inputs and connected outputs, multiplied by
        `weight`.
        """
        rows, n = self.group.feedback, self._n_pin
        new = self._read(step.courses, present)[n:]
        wires = [rows] if self.method == MEAN else [rows, self._sloped]
        sizes = np.maximum(scale[np.concatenate(wires)], 1e-3 * np.abs(z[n:]))
        return np.concatenate([self._gaps(step, scale, weight), weight * (new - z[n:]) / sizes])

    @property
    def _n_pin(self) -> int:
        """Number of unknowns that describe the forces of rigid connections (pins) in a step."""
        return self._basis.size + self._n_rates

    @property
    def _n_rates(self) -> int:
        """Number of unknown time derivatives of pin forces; 0 if the forces are constant in a step.

        A pin is a rigid connection of two positions by a pair of opposite forces.
        """
        return self._basis.size if len(self._rates) else 0

    def _gaps(self, step: Step, scale: Array, weight: float) -> Array:
        """Return dimensionless position gaps and velocity gaps at the end of the step.

        A gap is the difference of two positions, or of their velocities, at a rigid connection
        (pin). The first elements are the position gaps. They are divided by the largest typical
        size of the positions. If pin forces vary within the step, the remaining elements are the
        velocity gaps. Velocity gaps are multiplied by half the step length, to have the unit of a
        position. In a very short step, the iteration would ignore velocity gaps because of this
        small factor. The next step would then close the gaps by a jump. In a short step, the
        velocity gaps are therefore divided by the largest typical size of the velocities, and
        multiplied by `weight`.
        """
        ends = polynomials.ends(step.courses)
        size = np.max(scale[self._pairs[:, 0]], initial=0.0)
        position = self._basis.reduced(ends[self._pairs[:, 0]] - ends[self._pairs[:, 1]])
        if not len(self._rates):
            return np.asarray(position / size)
        velocity = self._basis.reduced(ends[self._rates[:, 0]] - ends[self._rates[:, 1]])
        fastest, half = np.max(scale[self._rates[:, 0]], initial=0.0), 0.5 * step.h / size
        factor = min(max(half, weight / fastest), _ROUNDED * half)
        return np.concatenate([position / size, factor * velocity])

    def _sizes(self, scale: Array, h: float) -> Array:
        rows = [np.ones(self._n_pin), scale[self.group.feedback]]
        return np.concatenate(rows if self.method == MEAN else [*rows, scale[self._sloped]])

    def corrected(self, step: Step, values: Array) -> Array:
        """Return the outputs at the end of a sequential step, corrected for the extrapolation of inputs.

        The extrapolated inputs differ from the connected outputs. The correction solves a linear
        system with the derivatives of outputs with respect to inputs, so that inputs and outputs
        agree.

        Parameters
        ----------
        step : data of the present step, in which all FMUs have already been advanced
        values : n_y outputs and all forces of rigid connections (pins), shape (n_y + pins,)

        Raises
        ------
        SolveError : if the linear equations are singular
        """
        gains = gains_of(self.network, self.group) if self._corrects else None
        self._corrects = gains is not None
        if gains is None or not gains.any():
            return values
        found, connection = values.copy(), self._connection
        columns, rows = self._columns, self._rows
        miss = self.network.inputs_at(values)[columns] - polynomials.ends(step.given[columns])
        try:
            found[rows] += gains @ np.linalg.solve(np.eye(len(columns)) - connection @ gains, miss)
        except np.linalg.LinAlgError:
            raise SolveError(
                f"coupling: the loop of connections has no unique solution at t = {step.end:.9g} s; break"
                " the loop by an FMU whose output is a state"
            ) from None
        return found

    def _finish(self, present: Present, step: Step) -> None:
        """Evaluate the force laws (FMUs without states) at the end of the step.

        The iteration evaluates the force laws only in the middle of the step.
        """
        if not self._laws:
            return
        network = self.network
        straight = polynomials.linear(
            network.inputs_at(present.values), network.inputs_at(polynomials.ends(step.courses))
        )
        for part in self._laws:
            participant, columns = network.parts[part], network.columns[part]
            participant.restore(step.saved[part])
            participant.advance(step.t, step.h, held(straight[columns], participant.abilities))
            step.values[network.rows[part]] = participant.outputs_now()
            if participant.abilities.gives_slopes:
                rises = network.factor[columns] * step.slopes[network.source[columns]]
                step.slopes[network.rows[part]] = slopes_of(participant, rises)


def _passed(reached: float, t: float) -> bool:
    """Return whether the time `reached` is equal to or later than t, s, apart from rounding errors."""
    return reached >= t - _ROUNDING * max(1.0, abs(t))


def held(courses: Array, abilities: Any) -> Array:
    """Return the polynomials of the inputs, or constants if an FMU accepts only constant inputs.

    For an FMU with states, each constant is the mean of the polynomial over the step. For an FMU
    without states, it is the value at the end of the step.
    """
    if abilities.takes_courses:
        return courses
    return polynomials.constant(polynomials.means(courses) if abilities.memory else polynomials.ends(courses))


def indices(slices: Any, parts: Any) -> list[int]:
    """Return all signal indices of the given FMUs, in the order of these FMUs."""
    return [k for part in parts for k in range(slices[part].start, slices[part].stop)]


def connection_of(network: Network, group: CoupledGroup) -> Array:
    """Return the derivatives of a group's inputs with respect to its outputs, shape (inputs, outputs).

    Each element of the matrix is the factor of the connection between an input and an output. The
    element is zero if no connection exists.
    """
    columns, rows = indices(network.columns, group.parts), indices(network.rows, group.parts)
    place = {row: k for k, row in enumerate(rows)}
    found = np.zeros((len(columns), len(rows)))
    for k, column in enumerate(columns):
        row = int(network.source[column])
        if network.driven[column] and row in place:
            found[k, place[row]] = network.factor[column]
    return found


def gains_of(network: Network, group: CoupledGroup) -> Array | None:
    """Return the derivatives of a group's outputs with respect to its inputs, shape (outputs, inputs).

    The result is None if an FMU does not provide directional derivatives.
    """
    parts = [network.parts[part] for part in group.parts]
    found = np.zeros((sum(len(part.outputs) for part in parts), sum(len(part.inputs) for part in parts)))
    row = column = 0
    for part in parts:
        block = part.gains()
        if block is None:
            return None
        rows, columns = block.shape
        found[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    return found
