"""Detection of violated redundant constraints and of singular positions during a run.

Near a singular position, or near the boundary of a function's domain, the step sizes of the
integrator decrease towards zero. The monitor detects this decrease before the integrator fails, and
reports the cause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from ...core.errors import SolveError
from ...core.trajectory import Array, Singular
from ...reference.integration.integrators import Interpolant
from ...reference.integration.motion import FormulatedModel
from ...reference.kinematics.quantities import KinematicState
from ...reference.kinematics.segment import Segment
from ...reference.solve.manifold import Manifold
from ..start.left_out import LeftOut

# If this many successive steps are each no longer than the previous step, the step size possibly tends to zero.
_SHRINKING = 15
_SHRUNK = 1e-5  # A step size below this fraction of the longest step in the run possibly tends to zero.
_POINTS = 1000  # Redundant constraints are checked at least this many times in a run.
# Minima of the Jacobian's smallest singular value are located only below this fraction of its maximum in the run.
_FALLING = 0.3
# A step may contain a singular position if the relative change of the constraint Jacobian exceeds this value.
# The change of a Jacobian in a step is divided by the sum of the smallest singular values at the step's ends.
_TURNED = 0.7
# A motion has diverged if a velocity, rad/s or m/s, exceeds this value, which is about the speed of light.
_FASTEST = 3e8
# The slope of a singular value at an end of a step is a difference quotient over this fraction of the step.
_EDGE = 1e-3
# A state is near a singularity if the smallest singular value is below this fraction of its maximum in the run.
_CLOSE = 0.1
# A singularity explains short steps if the least singular value is below this fraction of its maximum in the run.
_VERY_CLOSE = 1e-2
_SHORT = 1e-2  # Near a singularity, a step counts as short if it is below this fraction of the longest step.
_AHEAD = 0.1  # The search for a singular position extends ahead in time by this fraction of the longest step.
# A position is singular if the smallest singular value is below this fraction of its maximum in the run.
_SINGULAR = 1e-4
# Integration errors raise a zero singular value up to this times √tolerance times its maximum in the run.
_ERRORS_ROOT = 3.0
# Messages name a constraint if its coefficient in a normalised linear dependence exceeds this value.
_INVOLVED = 0.1
# The Jacobian's rate of change is computed from a displacement that moves points by about this distance, m.
_PART = 1e-4
# The time at which the smallest singular value has its minimum is located with this absolute error, s.
_LOCATED = 1e-9
_TINY = 1e-300  # For a constant Jacobian, this lower bound of a denominator prevents division by zero.


@dataclass(frozen=True)
class _Passed:
    """Scaled constraint Jacobian at the end of an integration step, with its smallest singular value."""

    t: float
    rows: Array
    value: float
    segment: Segment
    interpolant: Interpolant | None


class SingularityMonitor:
    """Monitor that checks each integration step for violated redundant constraints and singular positions.

    Parameters
    ----------
    motion : FormulatedModel
        Equations of motion in the chosen formulation.
    longest : float
        Maximum time between two checks of redundant constraints, s.
    stop : float
        End time of the run, s.
    tolerance : float
        Relative tolerance of the integrator.

    Attributes
    ----------
    singular : list of Singular
        Near-singular positions found so far.
    """

    def __init__(self, motion: FormulatedModel, longest: float, stop: float, tolerance: float) -> None:
        self._motion, self._left = motion, LeftOut(motion.model, motion.form.choice)
        self._longest, self._stop = min(longest, stop / _POINTS), stop
        # A position error of size ε can change the Jacobian's smallest singular value by about √ε.
        self._singular = max(_SINGULAR, _ERRORS_ROOT * tolerance**0.5)
        self._recent: deque[float] = deque(maxlen=_SHRINKING)  # Sizes of the most recent integration steps, s.
        self._step = 0.0  # Longest integration step so far, s.
        self._largest = 0.0
        self._sizes = np.zeros((0, 1))
        self._passed: list[_Passed] = []
        self.singular: list[Singular] = []

    def step(
        self, segment: Segment, before: float, after: float, y: Array, at: Callable[[], Interpolant]
    ) -> Singular | None:
        """Check an integration step within a time segment.

        Parameters
        ----------
        segment : Segment
            Time segment: period without events, in which no switching condition changes.
        before, after : float
            Beginning and end of the step, s.
        y : ndarray, shape (size,)
            State at the end of the step.
        at : callable
            Function that returns the interpolant of the step.

        Returns
        -------
        Singular or None
            Singular position within the step, or shortly after the step; None if no such position exists.

        Raises
        ------
        SolveError
            If a redundant constraint is violated, or if the step sizes tend to zero.
        """
        self._bound(after, y)
        if self._left.rows:
            self._look(segment, before, after, at())
        found = self._measure(segment, after, y, at) if self._left.active else None
        self._recent.append(after - before)
        self._step = max(self._step, after - before)
        if self._shrinking():
            if self._is_end(segment, after, y):
                raise SolveError(self.explained(segment, after, y))
            self._recent.clear()
            found = found or (self._ahead(segment, after, y) if self._left.active else None)
        return found

    def turning(self, segment: Segment, t: float, y: Array) -> float:
        """Return the time, s, in which the constraint Jacobian changes by 100 % of its norm.

        The time is estimated from the velocities of state y at time t, s.
        """
        state = self._motion.moment(t, y, segment)[0]
        speed = float(np.abs(state.qd / self._motion.form.choice.unit).max()) or 1.0
        part = _PART / speed
        rows, later = self._rows(state), self._rows(self._moved(state, part))
        return part * float(np.linalg.norm(rows)) / max(float(np.linalg.norm(later - rows)), _TINY)

    def located(self, segment: Segment, t: float, y: Array, longest: float) -> float:
        """Return the time at which the constraint Jacobian is closest to singular, s.

        The motion is extrapolated from state y at time t, s, with constant accelerations. The search covers
        the interval from t to t + `longest`, s.
        """
        state, z = self._motion.moment(t, y, segment)
        qdd = self._motion.model.rates(state, self._motion.form, z).qdd
        return t + self._soonest(state, qdd, longest)[0]

    def back(self) -> None:
        """Discard the record of recent steps, because the run is repeated from an earlier time."""
        self._recent.clear()
        self._passed, self._step = [], 0.0

    def explained(self, segment: Segment, t: float, y: Array) -> str:
        """Return the reason, as text, why a run cannot continue after the state y, shape (size,), at time t, s.

        The reason is a singular position, or a coordinate that accelerates without bound.
        """
        state, z = self._motion.moment(t, y, segment)
        ends = f"the motion ends at t = {t:.5g} s: "
        if self._left.active and self._smallest(state) < _CLOSE * self._largest:
            return f"{ends}{self._becoming_singular(state)}"
        qdd = self._motion.model.rates(state, self._motion.form, z).qdd
        k = int(np.argmax(np.abs(qdd) / self._motion.form.choice.unit))
        coordinate, ending = self._motion.model.mechanism.coordinates[k], self._motion.model.nearest_end(state)
        why = f"; {ending} reaches the end of its domain, keep its argument inside" if ending else ""
        return f"{ends}{coordinate.name} accelerates without bound, with {qdd[k]:.3g} {coordinate.unit}/s²{why}"

    def _bound(self, t: float, y: Array) -> None:
        """Raise SolveError if a rate exceeds the speed of light.

        A diverging motion would otherwise require arbitrarily many steps.
        """
        rates = y[self._motion.model.mechanism.n :][: len(self._motion.rates)]
        k = int(np.argmax(np.abs(rates))) if len(rates) else -1
        if k < 0 or abs(rates[k]) < _FASTEST:
            return
        coordinate = self._motion.model.mechanism.coordinates[int(self._motion.rates[k])]
        raise SolveError(
            f"the motion ends at t = {t:.5g} s: the rate of {coordinate.name} grows without bound, to"
            f" {rates[k]:.3g} {coordinate.unit}/s; check its drive, or reduce the step size of RK4"
        )

    def _shrinking(self) -> bool:
        """Whether the step sizes tend to zero, or remain very small near a singular position."""
        recent = self._recent
        if len(recent) < _SHRINKING:
            return False
        at_singular = bool(self._passed) and self._passed[-1].value < _VERY_CLOSE * self._largest
        # Steps before switching times are also short, so a single short step does not indicate a singularity.
        to_nothing = recent[-5] < _SHRUNK * self._step and all(b <= a for a, b in pairwise(recent))
        return to_nothing or (at_singular and max(recent) < _SHORT * self._step)

    def _is_end(self, segment: Segment, t: float, y: Array) -> bool:
        """Whether the motion ends at this state, after the step sizes have become very small.

        The motion ends at the boundary of a function's domain. The motion also ends at a singular
        position, unless the constraints can be fulfilled a little later. In all other cases, the
        motion continues, and the steps are short only because the tolerance requires short steps.
        """
        state = self._motion.moment(t, y, segment)[0]
        if not self._left.active or self._smallest(state) > _CLOSE * self._largest:
            return bool(self._motion.model.nearest_end(state))
        later = _AHEAD * self._step
        ahead = self._motion.model.state(t + later, state.q + later * state.qd, 0 * state.qd, segment, state.lag)
        return not Manifold(self._motion.model, state, self._left.active).nearest(ahead).fulfilled

    @property
    def note(self) -> str:
        """Note about near-singular positions of the run; the text is empty if the run has no such positions."""
        return _near_singular([passed.t for passed in self.singular]) if self.singular else ""

    def _look(self, segment: Segment, before: float, after: float, at: Interpolant) -> None:
        for t in np.linspace(before, after, int(np.ceil((after - before) / self._longest)) + 1)[1:].tolist():
            opened = self._left.opened(self._motion.moment(t, at(t), segment)[0])
            if opened:
                raise SolveError(str(opened))

    def _measure(self, segment: Segment, after: float, y: Array, at: Callable[[], Interpolant]) -> Singular | None:
        """Return the singular position in the recent steps, or None if none is found.

        The position is a minimum of the Jacobian's smallest singular value σ over time. The minimum is
        searched for in two cases: σ at one step end is less than at the preceding and following step ends,
        or the Jacobian has changed strongly in the last step.

        A change counts as strong if its norm exceeds 70 % of the sum of σ at both ends of the step. If the
        norm is less than this sum, the Jacobian stays regular (Weyl's inequality).
        """
        rows = self._at_end(segment, after, y)
        value = _smallest(rows)
        self._largest = max(self._largest, value)
        before = self._passed[-1:]
        turned = any(np.linalg.norm(rows - p.rows) > _TURNED * (value + p.value) for p in before)
        close = min(value, *(passed.value for passed in before), np.inf) < _FALLING * self._largest
        here = _Passed(after, rows, value, segment, at() if close or turned else None)
        self._passed = [*self._passed[-2:], here]
        values = [passed.value for passed in self._passed]
        if turned and self._dips(before[0].t, here):
            return self._seek([(before[0].t, here)])
        if len(values) == 3 and values[1] < min(_FALLING * self._largest, values[0], values[2]):
            return self._seek([(self._passed[k].t, self._passed[k + 1]) for k in (0, 1)])
        return None

    def _seek(self, steps: list[tuple[float, _Passed]]) -> Singular | None:
        """Return the singular position within the given steps, or None if none is found.

        The position is singular if the smallest singular value of the Jacobian has a minimum close to zero.
        """
        found = [(*self._minimum(*step), step[1]) for step in steps]
        t, least, step = min(found, key=lambda minimum: minimum[1])
        if least >= self._singular * self._largest or self._is_known(t):
            return None
        y = step.interpolant(t) if step.interpolant else None
        return Singular(t, () if y is None else self._dependent(self._motion.moment(t, y, step.segment)[0]))

    def _is_known(self, t: float) -> bool:
        return bool(self.singular) and t <= self.singular[-1].t + self._longest

    def _ahead(self, segment: Segment, t: float, y: Array) -> Singular | None:
        """Return a singular position shortly after this state, or None if none is found.

        The search assumes that the motion continues at its current velocities.
        """
        state = self._motion.moment(t, y, segment)[0]
        later, value = self._soonest(state, 0.0 * state.qd, _AHEAD * self._step)
        if value >= _VERY_CLOSE * self._largest or self._is_known(t + later):
            return None
        return Singular(t + later, self._dependent(self._moved(state, later)))

    def _soonest(self, state: KinematicState, qdd: Array, longest: float) -> tuple[float, float]:
        """Return the minimum of the Jacobian's smallest singular value shortly after a state.

        Returns
        -------
        delay, value : float
            Time from the state to the minimum, s, and smallest singular value at the minimum.
        """
        found = minimize_scalar(
            lambda later: self._smallest(self._moved(state, later, qdd)),
            bounds=(0.0, longest),
            method="bounded",
            options={"xatol": _LOCATED},
        )
        return float(found.x), float(found.fun)

    def _moved(self, state: KinematicState, later: float, qdd: Array | float = 0.0) -> KinematicState:
        position = state.q + later * (state.qd + 0.5 * later * qdd)
        return self._motion.model.state(state.t + later, position, state.qd, state.segment, state.lag)

    def _dips(self, begin: float, step: _Passed) -> bool:
        """Whether the Jacobian's smallest singular value has a minimum within a step.

        The slopes of the singular value at both ends of the step decide.
        """
        edge = _EDGE * (step.t - begin)
        first, second, last = (self._within(step, t) for t in (begin, begin + edge, step.t - edge))
        return second < first and last < step.value

    def _within(self, step: _Passed, t: float) -> float:
        assert step.interpolant is not None
        return self._smallest(self._motion.moment(t, step.interpolant(t), step.segment)[0])

    def _minimum(self, begin: float, step: _Passed) -> tuple[float, float]:
        """Return the time within a step at which the Jacobian is closest to singular, s.

        The second result is the Jacobian's smallest singular value at that time.
        """
        if step.interpolant is None:
            return step.t, step.value
        found = minimize_scalar(
            lambda t: self._within(step, t), bounds=(begin, step.t), method="bounded", options={"xatol": _LOCATED}
        )
        return float(found.x), float(found.fun)

    def _at_end(self, segment: Segment, t: float, y: Array) -> Array:
        """Return the scaled constraint Jacobian at the end of a step.

        If the integrator has already evaluated the Jacobian at that time, this Jacobian is reused. The
        reused Jacobian is not exact, because the integrator evaluates it before the last correction of the
        state.
        """
        at, C = self._motion.latest
        if at == t and len(self._sizes):
            return self._comparable(C)
        return self._rows(self._motion.moment(t, y, segment)[0])

    def _rows(self, state: KinematicState) -> Array:
        constraints = self._motion.model.constraints
        if not len(self._sizes):
            sizes = constraints.sizes(state).C[self._left.active] * self._motion.form.choice.unit
            lengths = np.linalg.norm(sizes, axis=1, keepdims=True)
            self._sizes = np.where(lengths > 0, lengths, 1.0)
        return self._comparable(constraints(state).C)

    def _comparable(self, C: Array) -> Array:
        """Return the Jacobian of the independent constraints with dimensionless entries.

        Each column is multiplied by the coordinate change that displaces points by about 1 m. Each row is
        divided by the norm of the row in the initial position.
        """
        return np.asarray(C[self._left.active] * self._motion.form.choice.unit / self._sizes)

    def _smallest(self, state: KinematicState) -> float:
        return _smallest(self._rows(state))

    def _dependent(self, state: KinematicState) -> tuple[str, ...]:
        """Return the names of the constraints whose Jacobian rows are nearly linearly dependent."""
        left, values, _ = np.linalg.svd(self._rows(state))
        nearest = left[:, values <= max(_VERY_CLOSE * self._largest, float(values[-1]))]
        names = self._motion.model.constraints.names
        shares = zip(self._left.active, np.linalg.norm(nearest, axis=1).tolist(), strict=True)
        return tuple(names[k] for k, share in shares if share > _INVOLVED)

    def _becoming_singular(self, state: KinematicState) -> str:
        """Return a message that names the nearly dependent constraints at a state and suggests a remedy."""
        names = ", ".join(self._dependent(state))
        missed = next(filter(None, (self._missed(state, t) for t in (self._stop, state.t))), "")
        if not missed:
            return (
                f"the constraint equations {names} become singular; the integrator cannot pass this position,"
                f" although they can be fulfilled later; {_near_singular([state.t])}: change the dimensions,"
                " add a constraint that makes the motion unique, or end the run earlier"
            )
        return (
            f"the constraint equations {names} become singular, at the limit of the joints' motion{missed};"
            " change the prescribed motion, or the dimensions"
        )

    def _missed(self, state: KinematicState, t: float) -> str:
        """Return a message about the constraint with the largest violation at time t, s.

        The method searches for a position that fulfils all constraints. If the search fails, the
        violation at the last position of the search is reported. If the search succeeds, the message
        is empty.
        """
        model = self._motion.model
        nearest = Manifold(model, state, self._left.active).nearest(
            model.state(t, state.q, 0 * state.qd, lag=state.lag)
        )
        if nearest.fulfilled:
            return ""
        Phi = np.abs(model.constraints(nearest.state).Phi)
        k = max(self._left.active, key=lambda row: Phi[row])
        name = model.constraints.names[k]
        missed = f"at t = {t:.6g} s the nearest position violates {name} by {Phi[k]:.3g}"
        return f"; beyond this limit they cannot be fulfilled: {missed}"


def branch_lost(singular: Singular) -> str:
    """Return the error message for a singular position beyond which the motion would jump to another branch."""
    return (
        f"the motion cannot be continued across t = {singular.t:.9g} s: the constraint equations"
        f" {', '.join(singular.constraints)} are linearly dependent there, and the velocities would jump to"
        " another branch; change the dimensions, add a constraint, or end the run earlier"
    )


def _near_singular(times: list[float]) -> str:
    listed = ", ".join(f"{t:.4g}" for t in times)
    return f"near-singular at t = {listed} s, where the motion may continue in more than one way"


def _smallest(rows: Array) -> float:
    return float(np.linalg.svd(rows, compute_uv=False)[-1])
