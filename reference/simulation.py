"""Reference trajectories."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SolveError
from ..generator.mechanism import Mechanism
from ..trajectory import Trajectory, output_grid
from .gpme import Partition
from .integrators import Integrator, Interpolant
from .loads import Input
from .model import Evaluation, Model, Start
from .quantities import State
from .statics import start_state

Array = NDArray[np.float64]
Progress = Callable[[float], None]


def simulate(
    mechanism: Mechanism,
    *,
    start: Start | None = None,
    method: str | None = None,
    tolerance: float | None = None,
    stop: float | None = None,
    step: float | None = None,
    output_step: float | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """Motion from t = 0 to `stop`; what is not given comes from the description.

    start       (q0, qd0), each of shape (n,), rad or m (per s); default `start_state(mechanism)`
    method      RK4 (fixed `step`, s) | DOP853 | Radau | BDF | LSODA (relative `tolerance`)
    inputs      FMU inputs by symbol: numbers or functions of time in s; default zero
    dependent   dependent coordinates, or "auto": chosen at the start and kept
    progress    called with the fraction done, at most about a hundred times

    Integration stops at each time where the right-hand side or one of its derivatives jumps, and starts anew.
    Signals: `<coordinate>`, `<coordinate>_dot`, `<coordinate>_ddot`; `<point>_x` … `<point>_vz`; with constraints
    `violation_position`, `violation_velocity` (norms of Φ, Φ̇) and `<coordinate>_effort` of the joints and a fixed
    base. At a switching time they have the values after the switch. `extra`: with constraints, the smallest
    |det C_d| over the output times and its time, `min_det` and `min_det_time`.
    Raises SolveError for a singular C_d or an integrator that gives up, naming the time, and for unknown names.
    """
    settings = mechanism.chain.simulation
    integrator = Integrator(method or settings.method, tolerance or settings.tolerance, step or settings.step)
    begun = time.perf_counter()
    q0, qd0 = (np.array(part, dtype=np.float64) for part in start or start_state(mechanism))
    model = Model(mechanism, start=(q0, qd0), inputs=inputs)
    partition = model.partition(model.state(0.0, q0, qd0), dependent)
    times = output_grid(stop or settings.stop, output_step or settings.output_step)
    run = _Run(model, partition, times, progress)
    with np.errstate(over="ignore", invalid="ignore"):  # a motion that diverges is reported as a SolveError
        run.march(integrator, np.concatenate([q0, qd0]))
    signals, extra = _signals(model, partition, run.states())
    return Trajectory("reference", times, signals, time.perf_counter() - begun, run.steps, extra=extra)


class _Run:
    """One integration with its results on the output grid."""

    def __init__(self, model: Model, partition: Partition, times: Array, progress: Progress | None) -> None:
        self.model, self.partition, self.times = model, partition, times
        self.steps = 0
        end = float(times[-1])
        self._bounds = np.array([0.0, *model.stops(end), end])
        # An output time that is a stop, but for rounding, belongs to the segment after it.
        segments = np.searchsorted(self._bounds, times + 1e-9 * end, side="right") - 1
        self._since = self._bounds[np.minimum(segments, len(self._bounds) - 2)]
        self._values = np.empty((len(times), 2 * model.mechanism.n))
        self._done = 0
        self._progress, self._reported = progress, 0.0

    def march(self, integrator: Integrator, y: Array) -> None:
        """Integrate all segments from y = (q0, qd0), shape (2n,)."""
        for begin, end in zip(self._bounds[:-1].tolist(), self._bounds[1:].tolist(), strict=True):
            y = integrator.integrate(self._rate(begin), (begin, end), y, self._record)
        self._values[self._done :] = y

    def states(self) -> list[State]:
        """The states at the output times."""
        n = self.model.mechanism.n
        return [
            self.model.state(t, y[:n], y[n:], since)
            for t, y, since in zip(self.times.tolist(), self._values, self._since.tolist(), strict=True)
        ]

    def _rate(self, since: float) -> Callable[[float, Array], Array]:
        n = self.model.mechanism.n

        def rate(t: float, y: Array) -> Array:
            state = self.model.state(t, y[:n], y[n:], since)
            return np.concatenate([y[n:], self.model.accelerations(state, self.partition)])

        return rate

    def _record(self, before: float, after: float, interpolant: Callable[[], Interpolant]) -> None:
        self.steps += 1
        self._take(before, after, interpolant)
        self._report(after / float(self.times[-1]))

    def _report(self, fraction: float) -> None:
        if self._progress and (fraction >= self._reported + 0.01 or fraction == 1.0):
            self._reported = fraction
            self._progress(fraction)

    def _take(self, before: float, after: float, interpolant: Callable[[], Interpolant]) -> None:
        """Fill in the output times up to `after`."""
        end = int(np.searchsorted(self.times, after, side="right"))
        if end > self._done:
            at = interpolant()
            for k in range(self._done, end):
                self._values[k] = at(max(float(self.times[k]), before))
            self._done = end


@dataclass(frozen=True)
class _Sample:
    state: State
    evaluation: Evaluation
    determinant: float


def _signals(
    model: Model, partition: Partition, states: Sequence[State]
) -> tuple[dict[str, Array], dict[str, float]]:
    samples = []
    for state in states:
        evaluation = model.evaluate(state, partition)
        samples.append(_Sample(state, evaluation, partition.determinant(evaluation.C)))
    signals = _coordinate_signals(model.mechanism, samples) | _point_signals(model, samples)
    if not model.constraints.names:
        return signals, {}
    return signals | _constraint_signals(model.mechanism, samples), _regularity(partition, samples)


def _coordinate_signals(mechanism: Mechanism, samples: Sequence[_Sample]) -> dict[str, Array]:
    parts = {
        "": np.array([sample.state.q for sample in samples]),
        "_dot": np.array([sample.state.qd for sample in samples]),
        "_ddot": np.array([sample.evaluation.qdd for sample in samples]),
    }
    return {
        c.symbol + suffix: values[:, k]
        for k, c in enumerate(mechanism.coordinates)
        for suffix, values in parts.items()
    }


def _point_signals(model: Model, samples: Sequence[_Sample]) -> dict[str, Array]:
    x = np.array([sample.state.x for sample in samples])
    x_dot = np.array([sample.state.x_dot for sample in samples])
    signals = {}
    for name in model.mechanism.points:
        own = model.quantities.point(name)
        for axis, k in zip("xyz", own, strict=True):
            signals[f"{name}_{axis}"], signals[f"{name}_v{axis}"] = x[:, k], x_dot[:, k]
    return signals


def _constraint_signals(mechanism: Mechanism, samples: Sequence[_Sample]) -> dict[str, Array]:
    driven = {"joint", "base"} if mechanism.base_fixed else {"joint"}
    effort = np.array([sample.evaluation.effort for sample in samples])
    return {
        "violation_position": np.array([np.linalg.norm(sample.evaluation.Phi) for sample in samples]),
        "violation_velocity": np.array([np.linalg.norm(sample.evaluation.Phi_dot) for sample in samples]),
        **{f"{c.symbol}_effort": effort[:, k] for k, c in enumerate(mechanism.coordinates) if c.role in driven},
    }


def _regularity(partition: Partition, samples: Sequence[_Sample]) -> dict[str, float]:
    """The smallest |det C_d| and its time; SolveError if det C_d changes sign, for it was zero in between."""
    determinants = np.array([sample.determinant for sample in samples])
    crossed = np.flatnonzero(determinants[1:] * determinants[:-1] < 0)
    if len(crossed):
        raise SolveError(partition.singular(samples[crossed[0]].state.t))
    k = int(np.argmin(np.abs(determinants)))
    return {"min_det": float(abs(determinants[k])), "min_det_time": samples[k].state.t}
