"""Checks in each step of a run: redundant constraints, and the distance of the others from a singular position.

An integrator that comes to a singular position, or to where a function ends, does not get there: its steps shrink
by a factor each. That is noticed before it gives up, and said in words.
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

_SHRINKING = 15  # steps in a row, each no longer than the one before
_SHRUNK = 1e-5  # of the longest step
_POINTS = 1000  # of a run, at least, where rows that are left out are looked at
_FALLING = 0.3  # of the largest so far, the rows' smallest singular value: a minimum below is sought
_TURNED = (
    0.7  # of both ends' smallest singular values: rows that change by less in a step do not get singular in it
)
_FASTEST = 3e8  # rad/s or m/s
_EDGE = 1e-3  # of a step, at its ends: there the sign of the smallest singular value's rate is evaluated
_CLOSE = 0.1  # the same: what ends there does so by it
_VERY_CLOSE = 1e-2  # the same: short steps are not for anything else
_SHORT = 1e-2  # of the longest step
_AHEAD = 0.1  # of the longest step, where rows are to be fulfilled beyond a singular position
_SINGULAR = 1e-4  # the same: the position counts as singular
_ERRORS_ROOT = 3.0  # the same, by the root of the tolerance: what the run's errors hide
_INVOLVED = 0.1  # of a combination of rows that vanishes
_PART = 1e-4  # rad or of the extent, of a motion along which the rows' change is measured
_LOCATED = 1e-9  # s, accuracy of the time at which rows are nearest to singular
_TINY = 1e-300  # keeps a quotient finite where rows do not change


@dataclass(frozen=True)
class _Passed:
    """End of a step of a time segment: the rows and their smallest singular value."""

    t: float
    rows: Array
    value: float
    segment: Segment
    interpolant: Interpolant | None


class SingularityMonitor:
    """One run's: `step` for each step, in order.

    longest   s, between two looks at the rows that are left out
    stop      s, when the run is to end
    tolerance of the integrator, relative
    singular  positions at which the rows came near to depending on each other
    """

    def __init__(self, motion: FormulatedModel, longest: float, stop: float, tolerance: float) -> None:
        self._motion, self._left = motion, LeftOut(motion.model, motion.form.choice)
        self._longest, self._stop = min(longest, stop / _POINTS), stop
        # an error of positions makes of a singular configuration one that is as far from it as its root
        self._singular = max(_SINGULAR, _ERRORS_ROOT * tolerance**0.5)
        self._recent: deque[float] = deque(maxlen=_SHRINKING)  # lengths of steps, s
        self._step = 0.0  # the longest one
        self._largest = 0.0
        self._sizes = np.zeros((0, 1))
        self._passed: list[_Passed] = []
        self.singular: list[Singular] = []

    def step(
        self, segment: Segment, before: float, after: float, y: Array, at: Callable[[], Interpolant]
    ) -> Singular | None:
        """Look at a step from `before` to `after`, s, of a time segment; y at its end.

        Returns the singular position that has been passed, or that is right ahead, if there is one.
        Raises SolveError where a row that is left out opens, or where the steps shrink to nothing.
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
        """Time in which the rows change by their own size, s, at the state y, shape (size,), at t, s."""
        state = self._motion.moment(t, y, segment)[0]
        speed = float(np.abs(state.qd / self._motion.form.choice.unit).max()) or 1.0
        part = _PART / speed
        rows, later = self._rows(state), self._rows(self._moved(state, part))
        return part * float(np.linalg.norm(rows)) / max(float(np.linalg.norm(later - rows)), _TINY)

    def located(self, segment: Segment, t: float, y: Array, longest: float) -> float:
        """Time at which rows are nearest to singular soon, s, by position, velocity and acceleration at t, s.

        longest  s, from t on
        """
        state, z = self._motion.moment(t, y, segment)
        qdd = self._motion.model.rates(state, self._motion.form, z).qdd
        return t + self._soonest(state, qdd, longest)[0]

    def back(self) -> None:
        """The run goes on from an earlier time, by steps of another method."""
        self._recent.clear()
        self._passed, self._step = [], 0.0

    def explained(self, segment: Segment, t: float, y: Array) -> str:
        """Why a run ends at the state y, shape (size,), at t, s: rows become singular, or what has no bound."""
        state, z = self._motion.moment(t, y, segment)
        ends = f"the motion ends at t = {t:.5g} s: "
        if self._left.active and self._smallest(state) < _CLOSE * self._largest:
            return f"{ends}{self._becoming_singular(state)}"
        qdd = self._motion.model.rates(state, self._motion.form, z).qdd
        k = int(np.argmax(np.abs(qdd) / self._motion.form.choice.unit))
        coordinate, ending = self._motion.model.mechanism.coordinates[k], self._motion.model.nearest_end(state)
        why = f"; {ending} comes to the end of its domain, keep it within" if ending else ""
        return f"{ends}{coordinate.name} accelerates without bound, {qdd[k]:.3g} {coordinate.unit}/s² there{why}"

    def _bound(self, t: float, y: Array) -> None:
        """No machine moves faster than light; steps through such a motion would go on for ever."""
        rates = y[self._motion.model.mechanism.n :][: len(self._motion.rates)]
        k = int(np.argmax(np.abs(rates))) if len(rates) else -1
        if k < 0 or abs(rates[k]) < _FASTEST:
            return
        coordinate = self._motion.model.mechanism.coordinates[int(self._motion.rates[k])]
        raise SolveError(
            f"the motion ends at t = {t:.5g} s: {coordinate.name} accelerates without bound, its rate is"
            f" {rates[k]:.3g} {coordinate.unit}/s; see what drives it, or how long the steps of RK4 are"
        )

    def _shrinking(self) -> bool:
        """Whether steps go to nothing: one after the other, or at a singular position all of the last ones."""
        recent = self._recent
        if len(recent) < _SHRINKING:
            return False
        at_singular = bool(self._passed) and self._passed[-1].value < _VERY_CLOSE * self._largest
        # several of them: the one before a switch is cut short
        to_nothing = recent[-5] < _SHRUNK * self._step and all(b <= a for a, b in pairwise(recent))
        return to_nothing or (at_singular and max(recent) < _SHORT * self._step)

    def _is_end(self, segment: Segment, t: float, y: Array) -> bool:
        """Whether a function ends, or rows are singular and cannot be fulfilled a little later.

        If they can, the motion may get through; without a cause, the integrator has its own reasons.
        """
        state = self._motion.moment(t, y, segment)[0]
        if not self._left.active or self._smallest(state) > _CLOSE * self._largest:
            return bool(self._motion.model.nearest_end(state))
        later = _AHEAD * self._step
        ahead = self._motion.model.state(t + later, state.q + later * state.qd, 0 * state.qd, segment, state.lag)
        return not Manifold(self._motion.model, state, self._left.active).nearest(ahead).fulfilled

    @property
    def note(self) -> str:
        """Note for the reader of the run about singular positions."""
        return _near_singular([passed.t for passed in self.singular]) if self.singular else ""

    def _look(self, segment: Segment, before: float, after: float, at: Interpolant) -> None:
        """At the rows that are left out, through a step."""
        for t in np.linspace(before, after, int(np.ceil((after - before) / self._longest)) + 1)[1:].tolist():
            opened = self._left.opened(self._motion.moment(t, at(t), segment)[0])
            if opened:
                raise SolveError(str(opened))

    def _measure(self, segment: Segment, after: float, y: Array, at: Callable[[], Interpolant]) -> Singular | None:
        """Return the distance of the constraints from a singular position; search between three step ends.

        So is one within the step, if it is a long one: rows get singular only if they change by about as much as
        their smallest singular values at both ends (Weyl's inequality).
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
        """Singular position where the smallest singular value is least in steps, each from its begin, s."""
        found = [(*self._minimum(*step), step[1]) for step in steps]
        t, least, step = min(found, key=lambda minimum: minimum[1])
        if least >= self._singular * self._largest or self._is_known(t):
            return None
        y = step.interpolant(t) if step.interpolant else None
        return Singular(t, () if y is None else self._dependent(self._motion.moment(t, y, step.segment)[0]))

    def _is_known(self, t: float) -> bool:
        return bool(self.singular) and t <= self.singular[-1].t + self._longest

    def _ahead(self, segment: Segment, t: float, y: Array) -> Singular | None:
        """Singular position that the motion comes to at once, by its velocities at the state y at t, s."""
        state = self._motion.moment(t, y, segment)[0]
        later, value = self._soonest(state, 0.0 * state.qd, _AHEAD * self._step)
        if value >= _VERY_CLOSE * self._largest or self._is_known(t + later):
            return None
        return Singular(t + later, self._dependent(self._moved(state, later)))

    def _soonest(self, state: KinematicState, qdd: Array, longest: float) -> tuple[float, float]:
        """When rows are nearest to singular after a state, s, and their smallest singular value there."""
        found = minimize_scalar(
            lambda later: self._smallest(self._moved(state, later, qdd)),
            bounds=(0.0, longest),
            method="bounded",
            options={"xatol": _LOCATED},
        )
        return float(found.x), float(found.fun)

    def _moved(self, state: KinematicState, later: float, qdd: Array | float = 0.0) -> KinematicState:
        """The state after a short time, s, at the same accelerations."""
        position = state.q + later * (state.qd + 0.5 * later * qdd)
        return self._motion.model.state(state.t + later, position, state.qd, state.segment, state.lag)

    def _dips(self, begin: float, step: _Passed) -> bool:
        """Whether the smallest singular value falls at the step's begin, s, and rises at its end."""
        edge = _EDGE * (step.t - begin)
        first, second, last = (self._within(step, t) for t in (begin, begin + edge, step.t - edge))
        return second < first and last < step.value

    def _within(self, step: _Passed, t: float) -> float:
        """The rows' smallest singular value within a step, at t, s."""
        assert step.interpolant is not None
        return self._smallest(self._motion.moment(t, step.interpolant(t), step.segment)[0])

    def _minimum(self, begin: float, step: _Passed) -> tuple[float, float]:
        """Time within a step from `begin`, s, at which rows are nearest to singular, s, and how near."""
        if step.interpolant is None:
            return step.t, step.value
        found = minimize_scalar(
            lambda t: self._within(step, t), bounds=(begin, step.t), method="bounded", options={"xatol": _LOCATED}
        )
        return float(found.x), float(found.fun)

    def _at_end(self, segment: Segment, t: float, y: Array) -> Array:
        """The rows at the end of a step, at t, s.

        Where the integrator evaluated its rates there, C is known but for the step's last correction.
        """
        at, C = self._motion.latest
        if at == t and len(self._sizes):
            return self._comparable(C)
        return self._rows(self._motion.moment(t, y, segment)[0])

    def _rows(self, state: KinematicState) -> Array:
        """Return the kept constraints, scaled to be comparable."""
        constraints = self._motion.model.constraints
        if not len(self._sizes):
            sizes = constraints.sizes(state).C[self._left.active] * self._motion.form.choice.unit
            lengths = np.linalg.norm(sizes, axis=1, keepdims=True)
            self._sizes = np.where(lengths > 0, lengths, 1.0)
        return self._comparable(constraints(state).C)

    def _comparable(self, C: Array) -> Array:
        """Rows of C that are kept in units of what they were made of at first, by coordinates that are lengths."""
        return np.asarray(C[self._left.active] * self._motion.form.choice.unit / self._sizes)

    def _smallest(self, state: KinematicState) -> float:
        return _smallest(self._rows(state))

    def _dependent(self, state: KinematicState) -> tuple[str, ...]:
        """Names of the rows whose combinations are nearest to zero."""
        left, values, _ = np.linalg.svd(self._rows(state))
        nearest = left[:, values <= max(_VERY_CLOSE * self._largest, float(values[-1]))]
        names = self._motion.model.constraints.names
        shares = zip(self._left.active, np.linalg.norm(nearest, axis=1).tolist(), strict=True)
        return tuple(names[k] for k, share in shares if share > _INVOLVED)

    def _becoming_singular(self, state: KinematicState) -> str:
        """Return a sentence on the constraints that become singular, and on the gap that remains."""
        names = ", ".join(self._dependent(state))
        missed = next(filter(None, (self._missed(state, t) for t in (self._stop, state.t))), "")
        if not missed:
            return (
                f"the rows {names} become singular there; the integrator does not get through, although they can"
                f" be fulfilled later on; {_near_singular([state.t])}: change the dimensions or add a row, so that"
                " there is one way only, or end the run before"
            )
        return (
            f"the rows {names} become singular there, at the limit of what the joints can do{missed}; change what"
            " they demand, or the dimensions"
        )

    def _missed(self, state: KinematicState, t: float) -> str:
        """Return by how much the nearest position misses the constraints at t, s; empty if it fulfils them."""
        model = self._motion.model
        nearest = Manifold(model, state, self._left.active).nearest(
            model.state(t, state.q, 0 * state.qd, lag=state.lag)
        )
        if nearest.fulfilled:
            return ""
        Phi = np.abs(model.constraints(nearest.state).Phi)
        k = max(self._left.active, key=lambda row: Phi[row])
        name = model.constraints.names[k]
        missed = f"at t = {t:.6g} s the nearest position misses {name} by {Phi[k]:.3g}"
        return f"; beyond it they cannot be fulfilled, {missed}"


def branch_lost(singular: Singular) -> str:
    """Message where a run cannot keep the branch of the motion across a singular configuration."""
    return (
        f"the motion cannot be continued across t = {singular.t:.9g} s: the constraint equations"
        f" {', '.join(singular.constraints)} depend on each other there, and its velocities change abruptly, so it"
        " would leave its branch; change the dimensions or add a constraint, or end the run before"
    )


def _near_singular(times: list[float]) -> str:
    listed = ", ".join(f"{t:.4g}" for t in times)
    return f"near-singular at t = {listed} s, where the motion may go on in more than one way"


def _smallest(rows: Array) -> float:
    """Singular value."""
    return float(np.linalg.svd(rows, compute_uv=False)[-1])
