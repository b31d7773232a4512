"""How long one evaluation of a model-exchange FMU takes."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model

_BATCH, _BATCHES = 1000, 15


def evaluation_time(fmu: Path) -> float:
    """Time of the derivatives at a new state, s: the best of several batches, without Python's own time.

    The FMU is one of FMI 2.0 with model exchange; the states are its start and another one close to it.
    """
    description = fmpy.read_model_description(str(fmu), validate=False)
    with TemporaryDirectory() as folder:
        fmpy.extract(str(fmu), folder)
        identifier = description.modelExchange.modelIdentifier
        model = FMU2Model(
            guid=description.guid, unzipDirectory=folder, modelIdentifier=identifier, instanceName="timed"
        )
        model.instantiate()
        try:
            model.setupExperiment()
            model.enterInitializationMode()
            model.exitInitializationMode()
            model.newDiscreteStates()
            model.enterContinuousTimeMode()
            return _timed(model, description.numberOfContinuousStates)
        finally:
            model.terminate()
            model.freeInstance()


def _timed(model: Any, size: int) -> float:
    states, values = (ctypes.c_double * size)(), (ctypes.c_double * size)()
    model.fmi2GetContinuousStates(model.component, states, size)
    start = np.array(states)
    moved = [(ctypes.c_double * size)(*(start + shift)) for shift in (0.0, 1e-9)]
    set_states = model.fmi2SetContinuousStates

    def batch(read: Any) -> float:
        begin = time.perf_counter()
        for i in range(_BATCH):
            set_states(model.component, moved[i & 1], size)
            read(model.component, values, size)
        return time.perf_counter() - begin

    # the same calls without a computation are what Python takes
    computing, idle = (
        min(batch(read) for _ in range(_BATCHES))
        for read in (model.fmi2GetDerivatives, model.fmi2GetContinuousStates)
    )
    return (computing - idle) / _BATCH
