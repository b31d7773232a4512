"""Simulation of the Modelica source by rumoca.

This Modelica compiler is independent of the native backend.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import BuildError, MissingToolError, SolveError
from ..core.trajectory import Array, Trajectory, output_grid, rows_at

_INSTANT = 1e-9  # A run of this duration, s, serves only to evaluate the variables at one time.


def available() -> bool:
    """Whether rumoca is installed."""
    return importlib.util.find_spec("rumoca") is not None


def version() -> str:
    return str(_rumoca().version())


class CompiledModel:
    """Modelica model compiled by rumoca.

    Parameters
    ----------
    text : str
        Modelica source.
    name : str
        Class to simulate, such as `Crane.Experiment`.

    Raises
    ------
    BuildError
        If rumoca rejects the source, with the compiler's message.
    MissingToolError
        If rumoca is not installed.
    """

    def __init__(self, text: str, name: str) -> None:
        rumoca = _rumoca()
        self.name = name
        try:
            self._model = rumoca.Session().loads(text, model=name)
        except rumoca.RumocaError as error:
            raise BuildError(f"rumoca rejects the Modelica source of {name}: {error}") from None
        structure = self._model.structure()
        self.equations, self.unknowns = int(structure.n_equations), int(structure.n_unknowns)

    def values(self, names: Sequence[str], t: float, parameters: Mapping[str, float]) -> Array:
        """Initialise the model at time t, s, and return the values of variables, shape (len(names),)."""
        result = self._run((t, t + _INSTANT), _INSTANT, 1e-3, parameters, 60.0)
        return np.array([result[name][0] for name in names], dtype=float)

    def simulate(
        self, names: Sequence[str], *, stop: float, output_step: float, tolerance: float, budget: float
    ) -> Trajectory:
        """Simulate from 0 to `stop`, s, with a relative tolerance.

        The wall-clock time is limited to `budget`, s.
        """
        begin = time.perf_counter()
        result = self._run((0.0, stop), output_step, tolerance, {}, budget)
        grid = output_grid(stop, output_step)
        recorded = np.asarray(result.time)
        rows = rows_at(grid, recorded, 1e-9 * stop)
        if np.abs(recorded[rows] - grid).max() > 1e-9 * max(stop, 1.0):
            raise SolveError(
                f"modelica-rumoca: the run stopped at t = {recorded[-1]:.9g} s instead of {stop:.9g} s"
            )
        return Trajectory(
            name="modelica-rumoca",
            time=grid,
            signals={name: np.asarray(result[name], dtype=float)[rows] for name in names},
            wall_s=time.perf_counter() - begin,
        )

    def _run(
        self, span: tuple[float, float], dt: float, tolerance: float, parameters: Mapping[str, float], wall: float
    ) -> Any:
        rumoca = _rumoca()
        config = rumoca.SimConfig(solver="bdf", rtol=tolerance, atol=tolerance * 1e-3, max_wall_seconds=wall)
        try:
            return self._model.simulate(t=span, dt=dt, config=config, params=dict(parameters))
        except rumoca.RumocaError as error:
            raise SolveError(f"modelica-rumoca failed: {error}") from None


def _rumoca() -> Any:
    if not available():
        raise MissingToolError("rumoca is not installed; run pip install 'gpmelica[check]'")
    return importlib.import_module("rumoca")
