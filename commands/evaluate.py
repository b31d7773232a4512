"""Everything at one state, by every backend (design section 6, `evaluate`)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import reference
from ..errors import DescriptionError, Problem
from ..fmu.backends import native
from ..fmu.backends import rumoca as rumoca_backend
from ..fmu.compilers.binaries import toolchains
from ..fmu.runs.instance import Instance
from ..generator import modelica
from ..generator.mechanism import signal_names
from ..input_files import read_text
from ..prepared import Prepared

Array = NDArray[np.float64]
_LARGEST = 1_000_000  # bytes of a state file


@dataclass(frozen=True)
class State:
    """t in s; q and qd of shape (n,), rad or m and per second; z of shape (f,), friction states, rad or m."""

    t: float
    q: Array
    qd: Array
    z: Array = field(default_factory=lambda: np.zeros(0))


def read_state(path: Path, n: int, f: int) -> State:
    """State file `{"t": 0.0, "q": […], "qd": […], "z": […]}` of n coordinates and f friction states.

    `z` may be left out; the bristles are then undeformed.

    Raises DescriptionError with all that is wrong with it.
    """
    try:
        data = json.loads(read_text(path, _LARGEST))
    except (ValueError, RecursionError) as error:
        raise DescriptionError(str(path), [Problem("", f"is not JSON: {error}")]) from None
    problems = _problems(data, n, f)
    if problems:
        raise DescriptionError(str(path), problems)
    q, qd, z = (np.array(data.get(key, [0.0] * f), float) for key in ("q", "qd", "z"))
    return State(float(data.get("t", 0.0)), q, qd, z)


def _problems(data: Any, n: int, f: int) -> list[Problem]:
    if not isinstance(data, dict):
        return [Problem("", 'expected an object {"t": 0.0, "q": […], "qd": […]}')]
    known = ("t", "q", "qd", "z")
    unknown = [Problem(key[:60], f"unknown key; known are {', '.join(known)}") for key in data if key not in known]
    lengths = {"q": n, "qd": n, "z": f}
    wrong = [
        Problem(key, f"expected a list of {size} finite number(s), got {str(data.get(key))[:60]}")
        for key, size in lengths.items()
        if not (key == "z" and key not in data) and not _is_vector(data.get(key), size)
    ]
    if not _is_vector([data.get("t", 0.0)], 1):
        wrong.append(Problem("t", f"expected a finite number, got {str(data['t'])[:60]}"))
    return unknown + wrong


def _is_vector(value: Any, size: int) -> bool:
    return isinstance(value, list) and len(value) == size and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    """Whether it is a finite double; integers may be too long for one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def evaluate(model: Prepared, state: State) -> dict[str, Any]:
    """Coordinates, and what each backend says: JSON-ready; see design section 6."""
    truth = reference.evaluate(model.mechanism, state.t, state.q, state.qd, state.z, start=model.start)
    backends: dict[str, Any] = {
        "reference": {
            "M": truth.M.tolist(),
            "h": truth.h.tolist(),
            "Q": truth.Q.tolist(),
            "Phi": truth.Phi.tolist(),
            "C": truth.C.tolist(),
            "gamma": truth.gamma.tolist(),
            "qdd": truth.qdd.tolist(),
            "friction_residual": truth.friction_residual,
        },
        "native": {"qdd": _native(model, state).tolist()},
    }
    if rumoca_backend.available():
        backends["modelica-rumoca"] = {"qdd": RumocaEvaluator(model)(state).tolist()}
    return {"coordinates": [c.name for c in model.mechanism.coordinates], "backends": backends}


def _native(model: Prepared, state: State) -> Array:
    with TemporaryDirectory() as folder:
        fmu = Path(folder) / f"{model.name}.fmu"
        native.build(native.generate(model.native_program, model.chain), fmu, toolchains("2.0"), {})
        with Instance(fmu) as instance:
            coordinates, known = model.mechanism.coordinates, _states(model, state)
            x = np.array([known[entry.name] for entry in model.native_program.states])
            return instance.values(signal_names(coordinates, "acceleration"), state.t, x)


def _states(model: Prepared, state: State) -> dict[str, float]:
    """Coordinates, rates and friction states by name; the program may not have all of them as states."""
    coordinates = model.mechanism.coordinates
    names = signal_names(coordinates, "position") + signal_names(coordinates, "velocity")
    names += signal_names([c for c in coordinates if c.friction is not None], "bristle")
    return dict(zip(names, [*state.q.tolist(), *state.qd.tolist(), *state.z.tolist()], strict=True))


class RumocaEvaluator:
    """q̈ of the Modelica text at any state; compiled once."""

    def __init__(self, model: Prepared) -> None:
        self._model = model
        text = model.modelica(start_values=model.start_values())
        self._compiled = rumoca_backend.CompiledModel(text, modelica.experiment(model.name))

    def __call__(self, state: State) -> Array:
        """q̈, shape (n,)."""
        accelerations = signal_names(self._model.mechanism.coordinates, "acceleration")
        known = _states(self._model, state)
        start = {f"{entry.name}_start": known[entry.name] for entry in self._model.program.states}
        return self._compiled.values(accelerations, state.t, start)
