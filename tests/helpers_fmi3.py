"""The C layer's hand-written models by FMI 3.0 through FMPy, with variables by name and the messages kept."""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Model, FMU3Slave
from helpers_c_layer import value_references

ARRAYS = {"m1": 2}  # variables of the models that are arrays in FMI 3.0: number of elements


def unpacked(library: Path, model: str) -> Path:
    """A folder with the library where FMPy looks for it."""
    folder = library.parent / f"{model}_fmi3"
    target = folder / "binaries" / fmpy.platform_tuple / f"{model}{fmpy.sharedLibraryExtension}"
    if not target.exists():
        target.parent.mkdir(parents=True)
        shutil.copy(library, target)
    return folder


class Fmu3:
    """One instance; `options` as FMPy's instantiate takes them."""

    def __init__(
        self, library: Path, model: str, *, co_simulation: bool = True, logging: bool = True, **options: Any
    ) -> None:
        self.references = value_references(model)
        self.messages: list[str] = []
        self.fmi: Any = (FMU3Slave if co_simulation else FMU3Model)(
            guid=f"{{{model}}}",
            modelIdentifier=model,
            unzipDirectory=str(unpacked(library, model)),
            instanceName="instance",
        )
        self.instantiate = lambda: self.fmi.instantiate(loggingOn=logging, logMessage=self._log, **options)
        self.instantiate()

    def _log(self, environment: int, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(f"{category.decode()}: {message.decode()}")

    def start(
        self,
        tolerance: float | None = None,
        stop_time: float | None = None,
        **values: float,
    ) -> Fmu3:
        """Initialises a run from time 0 with these parameters and settings."""
        self.set(**values)
        self.fmi.enterInitializationMode(tolerance=tolerance, startTime=0.0, stopTime=stop_time)
        self.fmi.exitInitializationMode()
        return self

    def set(self, **values: float | Sequence[float]) -> None:
        """Sets floats, arrays of floats, and integers from ints."""
        for name, value in values.items():
            if isinstance(value, int):
                self.fmi.setInt32([self.references[name]], [value])
            else:
                self.fmi.setFloat64([self.references[name]], np.atleast_1d(value).tolist())

    def get(self, *names: str) -> np.ndarray:
        """Values of floats, arrays one element after the other."""
        size = sum(ARRAYS.get(name, 1) for name in names)
        return np.array(self.fmi.getFloat64([self.references[name] for name in names], size))

    def run(self, points: Sequence[float] | np.ndarray) -> None:
        """Communication steps from point to point; points, s."""
        for t, t_next in pairwise(points):
            self.fmi.doStep(float(t), float(t_next - t))

    def vector(self, function: str, n: int) -> np.ndarray:
        """Result of a function that fills n numbers, such as getContinuousStates."""
        values = np.empty(n)
        getattr(self.fmi, function)(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), n)
        return values

    def set_states(self, x: Sequence[float] | np.ndarray) -> None:
        """fmi3SetContinuousStates; x, shape (n,)."""
        values = np.ascontiguousarray(x, dtype=float)
        self.fmi.setContinuousStates(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(values))

    def free(self) -> None:
        """Frees the instance, not the library, which others may use."""
        self.fmi.fmi3FreeInstance(self.fmi.component)


Make3 = Callable[..., Fmu3]


def fails(fmu: Fmu3, call: Callable[[], object], match: str, *, discarded: bool = False) -> None:
    """The call returns fmi3Error, or fmi3Discard, and logs one message like `match` in the status's category."""
    fmu.messages.clear()
    with pytest.raises(FMICallException, match=f"status {2 if discarded else 3}"):
        call()
    category = "logStatusDiscard" if discarded else "logStatusError"
    assert len(fmu.messages) == 1
    assert re.search(f"^{category}: .*{match}", fmu.messages[0], re.DOTALL), fmu.messages[0]
