"""Time of one evaluation of a model-exchange FMU."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fmpy
import numpy as np

_BATCH, _BATCHES = 300, 50


def evaluation_time(fmu: Path) -> float:
    """CPU time of the derivatives at a new state, s: the best of several batches, without Python's own time.

    The FMU is one of FMI 2.0 or 3.0 with model exchange; the states are its start and another one close to it.
    """
    description = fmpy.read_model_description(str(fmu), validate=False)
    with TemporaryDirectory() as folder:
        fmpy.extract(str(fmu), folder)
        model = fmpy.instantiate_fmu(folder, description, "ModelExchange")
        try:
            _start(model, description.fmiVersion)
            return _timed(model, description)
        finally:
            model.terminate()
            model.freeInstance()


def _start(model: Any, fmi: str) -> None:
    if fmi == "2.0":
        model.setupExperiment()
    model.enterInitializationMode()
    model.exitInitializationMode()
    (model.newDiscreteStates if fmi == "2.0" else model.updateDiscreteStates)()
    model.enterContinuousTimeMode()


def _timed(model: Any, description: Any) -> float:
    size, two = description.numberOfContinuousStates, description.fmiVersion == "2.0"
    states, values = (ctypes.c_double * size)(), (ctypes.c_double * size)()
    get_states = model.fmi2GetContinuousStates if two else model.fmi3GetContinuousStates
    set_states = model.fmi2SetContinuousStates if two else model.fmi3SetContinuousStates
    get_derivatives = model.fmi2GetDerivatives if two else model.fmi3GetContinuousStateDerivatives
    get_states(model.component, states, size)
    start = np.array(states)
    moved = [(ctypes.c_double * size)(*(start + shift)) for shift in (0.0, 1e-9)]

    def batch(read: Any) -> float:
        begin = time.process_time()
        for i in range(_BATCH):
            set_states(model.component, moved[i & 1], size)
            read(model.component, values, size)
        return time.process_time() - begin

    # the same calls without a computation are what Python takes
    computing, idle = (min(batch(read) for _ in range(_BATCHES)) for read in (get_derivatives, get_states))
    return (computing - idle) / _BATCH
