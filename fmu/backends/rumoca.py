"""The Modelica text run by rumoca, a Modelica compiler that shares nothing with the native backend."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BuildError, MissingToolError, SolveError
from ...trajectory import Trajectory, output_grid

Array = NDArray[np.float64]
_INSTANT = 1e-9  # s: nothing but the start
_PROBES = (0.005, 0.05)  # of the horizon: two short runs tell the cost of the start and of going on


def available() -> bool:
    """Whether rumoca is installed."""
    return importlib.util.find_spec("rumoca") is not None


def version() -> str:
    """Version of the installed rumoca."""
    return str(_rumoca().version())


class CompiledModel:
    """A Modelica model in rumoca's memory; `name` is the class to run, such as `Crane.Experiment`.

    Raises BuildError with the compiler's message if it refuses the text, MissingToolError without rumoca.
    """

    def __init__(self, text: str, name: str) -> None:
        rumoca = _rumoca()
        self.name = name
        try:
            self._model = rumoca.Session().loads(text, model=name)
        except rumoca.RumocaError as error:
            raise BuildError(f"rumoca refuses the Modelica text of {name}: {error}") from None
        structure = self._model.structure()
        self.equations, self.unknowns = int(structure.n_equations), int(structure.n_unknowns)

    def values(self, names: Sequence[str], t: float, parameters: Mapping[str, float]) -> Array:
        """Values of variables at time t, s, right after initialisation; shape (len(names),)."""
        result = self._run((t, t + _INSTANT), _INSTANT, 1e-3, parameters, 60.0)
        return np.array([result[name][0] for name in names], dtype=float)

    def simulate(
        self, names: Sequence[str], *, stop: float, output_step: float, tolerance: float, budget: float
    ) -> Trajectory:
        """Trajectory over as much of [0, stop] as takes about `budget` seconds of wall time.

        tolerance is relative; the trajectory's note says when the horizon is shorter.
        """
        begin = time.perf_counter()
        horizon, result = self._longest_affordable(stop, output_step, tolerance, budget)
        grid = output_grid(horizon, output_step)
        recorded = np.asarray(result.time)
        rows = np.searchsorted(recorded, grid + 1e-9 * horizon, side="right") - 1
        if np.abs(recorded[rows] - grid).max() > 1e-9 * max(horizon, 1.0):
            reached = f"t = {recorded[-1]:.9g} s instead of {horizon:.9g} s"
            raise SolveError(f"modelica-rumoca: the run stopped at {reached}")
        return Trajectory(
            name="modelica-rumoca",
            time=grid,
            signals={name: np.asarray(result[name], dtype=float)[rows] for name in names},
            wall_s=time.perf_counter() - begin,
            note="" if horizon == stop else f"first {horizon:.6g} s of {stop:.6g} s",
        )

    def _longest_affordable(
        self, stop: float, output_step: float, tolerance: float, budget: float
    ) -> tuple[float, Any]:
        """Horizon and result of a run that takes about the budget, by the cost of two short ones."""
        short, longer = (max(part * stop, output_step) for part in _PROBES)
        costs = [self._cost(short, tolerance, budget)]
        if costs[0] > budget / 3:  # no longer one: how much of it does the start alone take?
            going_on = max(costs[0] - self._cost(_INSTANT, tolerance, budget), 0.1 * costs[0])
            affordable = short * max(budget / going_on, 1.0)
        else:
            costs.append(self._cost(longer, tolerance, budget))
            rate = max(costs[1] - costs[0], 0.01 * costs[1]) / max(longer - short, output_step)
            affordable = (budget - costs[0]) / rate
        horizon = min(stop, max(round(affordable / output_step), 1) * output_step)
        return horizon, self._run((0.0, horizon), output_step, tolerance, {}, 20.0 * budget)

    def _cost(self, horizon: float, tolerance: float, budget: float) -> float:
        begin = time.perf_counter()
        self._run((0.0, horizon), horizon, tolerance, {}, 20.0 * budget)
        return time.perf_counter() - begin

    def _run(
        self, span: tuple[float, float], dt: float, tolerance: float, parameters: Mapping[str, float], wall: float
    ) -> Any:
        rumoca = _rumoca()
        config = rumoca.SimConfig(solver="bdf", rtol=tolerance, atol=tolerance * 1e-3, max_wall_seconds=wall)
        try:
            return self._model.simulate(t=span, dt=dt, config=config, params=dict(parameters))
        except rumoca.RumocaError as error:
            raise SolveError(f"modelica-rumoca: {error}") from None


def _rumoca() -> Any:
    if not available():
        raise MissingToolError("rumoca is not installed; get it with: pip install 'gpmelica[check]'")
    return importlib.import_module("rumoca")
