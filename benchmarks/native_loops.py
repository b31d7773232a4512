"""Times the native FMU in C loops."""

from __future__ import annotations

import ctypes
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import fmpy
import numpy as np
from crane import Array, Crane
from fmpy.fmi2 import FMU2Model

from gpmelica.fmu.compilers import compiler
from gpmelica.fmu.compilers.platforms import here

_HERE = Path(__file__).parent
_FUNCTIONS = ("fmi2SetTime", "fmi2SetContinuousStates", "fmi2GetDerivatives")


def compile_loops(crane: Crane, folder: Path) -> ctypes.CDLL:
    """loops.c by the compiler that built the FMU, with the same optimisation."""
    found, library = compiler.find(), f"loops{here('2.0').suffix}"
    for name, text in crane.sources.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    shutil.copy(_HERE / "loops.c", folder)
    compiler.compile_object(found, "loops.c", "loops.o", ["-O2", "-fPIC", "-Iinclude"], folder=folder)
    compiler.link(found, ["loops.o"], library, folder=folder)
    return ctypes.CDLL(str(folder / library))


class NativeLoops:
    """A crane's FMU in continuous-time mode, at q and qd of shape (count, n); use it in a `with` statement."""

    def __init__(self, crane: Crane, loops: ctypes.CDLL, q: Array, qd: Array) -> None:
        self._loops, self._states = loops, np.hstack([q, qd])
        self.derivatives = np.empty(2 * crane.n)
        self._folder = fmpy.extract(str(crane.fmu))
        self._fmu = _running(crane, self._folder)

    def __enter__(self) -> NativeLoops:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)

    def evaluations(self, calls: int) -> float:
        """Seconds of so many evaluations."""
        functions = [ctypes.cast(getattr(self._fmu.dll, name), ctypes.c_void_p) for name in _FUNCTIONS]
        component = ctypes.c_void_p(self._fmu.component)
        rows, n = self._states.shape
        table, result = _pointer(self._states), _pointer(self.derivatives)
        return _seconds(lambda: self._loops.evaluate(*functions, component, table, rows, n, result, calls))


def _running(crane: Crane, folder: str) -> Any:
    description = fmpy.read_model_description(str(crane.fmu))
    fmu = FMU2Model(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="timed",
    )
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.newDiscreteStates()
    fmu.enterContinuousTimeMode()
    return fmu


def _pointer(values: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


def _seconds(call: Callable[[], int]) -> float:
    begin = time.perf_counter()
    code = call()
    seconds = time.perf_counter() - begin
    if code != 0:
        raise RuntimeError(f"a timed call failed with code {code}")
    return seconds
