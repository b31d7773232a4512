"""The oracle and the reference solver in the same states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gpmelica.analysis.system import System
from gpmelica.core.trajectory import Trajectory
from gpmelica.oracle.equations.model import Model as OracleModel
from gpmelica.oracle.equations.solution import Solver
from gpmelica.oracle.runs.signals import Signals
from gpmelica.oracle.runs.simulate import simulate
from gpmelica.runs.attempts import Attempt
from gpmelica.tasks.second_opinion import given

Array = NDArray[np.float64]


class Oracle:
    """The oracle of a prepared description."""

    def __init__(self, model: System) -> None:
        self.model = OracleModel(*given(model))
        self.solver = Solver(self.model)
        self.signals = Signals(self.model, self.solver)

    @staticmethod
    def attempts_of(run: Trajectory) -> tuple[Attempt, ...]:
        """Return a run as the oracle's attempt."""
        return (Attempt("oracle", 1e-6, run),)

    def outputs(
        self, t: float, q: Array, qd: Array, z: Array, inputs: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """All outputs in a state; z has friction states, then offset and rate of each filter."""
        f = len(self.model.bristles)
        qd = self.solver.consistent(t, q, qd, z[f:])
        return self.signals(self.model.state(t, q, qd, z[f:], inputs), z[:f], z[f:])


def oracle_run(model: System) -> Trajectory:
    """Return the oracle's run in this process."""
    return simulate(*given(model))


def relative_errors(model: System, exact: Mapping[str, float], found: Mapping[str, float]) -> dict[str, float]:
    """Differences of outputs, each divided by the largest magnitude of its unit."""
    largest: dict[str, float] = defaultdict(lambda: 1e-300)
    for name, unit in model.units.items():
        largest[unit] = max(largest[unit], abs(exact[name]))
    length = model.solvability.extent
    largest["rad/s"], largest["m/s"] = max(largest["rad/s"], 1e-3), max(largest["m/s"], 1e-3 * length)
    largest["1"] = max(largest["1"], 1e-6 * max(1.0, length))
    for unit in ("m/s", "m/s2"):
        turning = unit.replace("m", "rad")
        largest[unit] = max(largest[unit], 1e-3 * length * largest[turning])
        largest[turning] = max(largest[turning], 1e-3 * largest[unit] / length)
    weight = 1e-3 * sum(float(body.mass) for body in model.mechanism.bodies) * largest["m/s2"]
    largest["N"], largest["N.m"] = max(largest["N"], weight), max(largest["N.m"], length * weight)
    return {name: abs(found[name] - exact[name]) / largest[unit] for name, unit in model.units.items()}
