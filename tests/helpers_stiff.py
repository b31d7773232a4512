"""Runs that stiffness or a Jacobian changes: co-simulation by each method, model exchange by SciPy's solvers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers_backends import Array, Compiled, Fmu
from scipy.integrate import solve_ivp

AUTOMATIC, RK4, DORMAND_PRINCE, ROSENBROCK, BDF = range(5)
COUNTERS = ("evaluations", "steps", "rejected_steps", "jacobians")


@dataclass(frozen=True)
class StiffRun:
    """values of the names at communication points, shape (N, k); counts by COUNTERS; s per simulated second."""

    values: Array
    counts: dict[str, int]
    seconds: float

    def error(self, exact: StiffRun) -> float:
        """Largest difference, relative to the range of each name."""
        return float((np.abs(self.values - exact.values) / np.ptp(exact.values, axis=0)).max())


def co_simulate(
    compiled: Compiled,
    names: Sequence[str],
    *,
    step: float,
    stop: float,
    tolerance: float | None = None,
    **settings: float,
) -> StiffRun:
    """A run with equal communication steps, s; settings as the FMU's parameters."""
    points = np.linspace(0.0, stop, round(stop / step) + 1)
    with Fmu(compiled) as fmu:
        fmu.start(settings, tolerance=tolerance)
        begin = time.perf_counter()
        values = fmu.run(points, names)
        seconds = (time.perf_counter() - begin) / stop
        return StiffRun(values, {name: fmu.count(f"solver_{name}") for name in COUNTERS}, seconds)


class Exchanged:
    """An FMU for model exchange as a right-hand side with a Jacobian; use it in a `with` statement."""

    def __init__(self, compiled: Compiled) -> None:
        self.fmu = Fmu(compiled, "me")
        rates = [v for v in compiled.description.modelVariables if v.derivative is not None]
        self.rates = [v.valueReference for v in rates]
        self.states = [v.derivative.valueReference for v in rates]
        self.fmu.start().enter_continuous_time()
        self.sweeps = 0

    def __enter__(self) -> Exchanged:
        return self

    def __exit__(self, *exception: object) -> None:
        self.fmu.free()

    def start(self) -> Array:
        """The states at the start."""
        return self.fmu.vector("getContinuousStates", len(self.states))

    def slopes(self, t: float, x: Array) -> Array:
        """ẋ."""
        return self.fmu.slopes(t, x)

    def jacobian(self, t: float, x: Array) -> Array:
        """∂ẋ/∂x, a directional derivative for each column."""
        self.fmu.fmi.setTime(t)
        self.fmu.set_states(x)
        self.sweeps += len(self.states)
        columns = [self.fmu.fmi.getDirectionalDerivative(self.rates, [state], [1.0]) for state in self.states]
        return np.array(columns).T


@dataclass(frozen=True)
class ExchangedRun:
    """The states at the end, evaluations and directional derivatives of the FMU, s in total."""

    end: Array
    evaluations: int
    sweeps: int
    seconds: float


def exchange(
    compiled: Compiled, method: str, *, exact: bool, stop: float, tolerance: float = 1e-6
) -> ExchangedRun:
    """A run of SciPy's solver up to `stop`, s, with the FMU's Jacobian (exact) or the solver's own differences."""
    with Exchanged(compiled) as model:
        before = model.fmu.count("solver_evaluations")
        options: dict[str, Any] = {"jac": model.jacobian} if exact else {}
        begin = time.perf_counter()
        found = solve_ivp(
            model.slopes, (0.0, stop), model.start(), method, rtol=tolerance, atol=1e-3 * tolerance, **options
        )
        seconds = time.perf_counter() - begin
        assert found.success, found.message
        evaluations = model.fmu.count("solver_evaluations") - before
        return ExchangedRun(found.y[:, -1], evaluations, model.sweeps, seconds)
