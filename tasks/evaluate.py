"""Equations of motion evaluated at one state by all backends."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.trajectory import Array
from ..fmu.backends import native
from ..generator import modelica
from ..mechanism import signal_names
from ..runs import rumoca as rumoca_backend
from ..runs.fmpy_runs.instance import Instance
from ..runs.fmpy_runs.states import State, signals


def evaluate(model: System, state: State) -> dict[str, Any]:
    """Return coordinate names, and the accelerations that each backend computes at one state.

    For the reference solver, the result also contains the terms of the equations of motion. The result
    is JSON-ready.
    """
    truth = analysis.evaluate(model.problem, state.t, state.q, state.qd, state.z)
    backends: dict[str, Any] = {
        "reference": {
            **{name: getattr(truth, name).tolist() for name in ("M", "h", "Q", "Phi", "C", "gamma", "qdd")},
            "friction_residual": truth.friction_residual,
        },
        "native": {"qdd": _native(model, state).tolist()},
    }
    if rumoca_backend.available():
        backends["modelica-rumoca"] = {"qdd": RumocaEvaluator(model)(state).tolist()}
    return {"coordinates": [c.name for c in model.mechanism.coordinates], "backends": backends}


def _native(model: System, state: State) -> Array:
    with TemporaryDirectory() as folder, Instance(_compiled(model, folder)) as instance:
        coordinates, known = model.mechanism.coordinates, signals(model, state)
        x = np.array([known[entry.name] for entry in model.native_program.states])
        return instance.values(signal_names(coordinates, "acceleration"), state.t, x)


def _compiled(model: System, folder: str) -> Path:
    # Optimised compilation takes longer than one evaluation.
    return native.build_bare(model, Path(folder), optimised=False)


class RumocaEvaluator:
    """Accelerations at any state from the Modelica source, which is compiled only once."""

    def __init__(self, model: System) -> None:
        self._model = model
        text = model.modelica(start_values=model.start_values())
        self._compiled = rumoca_backend.CompiledModel(text, modelica.experiment(model.name))

    def __call__(self, state: State) -> Array:
        """Return the accelerations q̈, shape (n,)."""
        accelerations = signal_names(self._model.mechanism.coordinates, "acceleration")
        known = signals(self._model, state)
        start = {f"{entry.name}_start": known[entry.name] for entry in self._model.program.states}
        return self._compiled.values(accelerations, state.t, start)
