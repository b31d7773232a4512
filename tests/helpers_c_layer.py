"""Builds the C layer with hand-written models, and drives it through FMPy."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model, FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from scipy.linalg import expm

import gpmelica.fmu

SOURCES = Path(gpmelica.fmu.__file__).parent / "sources"
DATA = Path(__file__).parent / "data"
HEADERS = Path(fmpy.__file__).parent / "c-code"
STATES = ("q1", "q2", "v1", "v2")  # of oscillator.c
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{HEADERS}"]
STRICT += [f"-I{room}" for room in SOURCES.iterdir()]


def zig() -> list[str] | None:
    """The command of ziglang's C compiler, if it is installed."""
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def compiler() -> list[str] | None:
    """The command of a C compiler: CC, cc, gcc, clang or ziglang's; None if there is none."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return [name]
    return zig()


def compile_c(command: list[str], target: Path, sources: list[Path], *flags: str) -> Path:
    """Compiles sources into target without a warning; AssertionError with the compiler's words otherwise."""
    line = [*command, *STRICT, *flags, *map(str, sources), "-o", str(target), "-lm"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def layer(model: str) -> list[Path]:
    """The fixed sources and the hand-written model's."""
    return [*sorted(SOURCES.glob("*/*.c")), DATA / f"{model}.c"]


def value_references(model: str) -> dict[str, int]:
    """Name -> value reference, read from the model's variable table."""
    names = re.findall(r'^    \{"(.+?)", VARIABLE_', (DATA / f"{model}.c").read_text(), re.MULTILINE)
    return {name: i for i, name in enumerate(names)}


class Fmu:
    """One instance through FMPy's low-level interface, with variables by name and the logged messages kept."""

    def __init__(self, library: Path, model: str, *, co_simulation: bool = True) -> None:
        self.references = value_references(model)
        self.messages: list[str] = []
        kind = FMU2Slave if co_simulation else FMU2Model
        self.fmi = kind(
            guid=f"{{{model}}}",
            modelIdentifier=model,
            unzipDirectory=str(library.parent),
            libraryPath=str(library),
            instanceName="instance",
        )
        self.callbacks = fmi2CallbackFunctions(
            fmi2CallbackLoggerTYPE(self._log), defaultCallbacks.allocateMemory, defaultCallbacks.freeMemory
        )
        self.fmi.instantiate(callbacks=self.callbacks)

    def _log(self, environment: int, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode())

    def start(
        self,
        start_time: float = 0.0,
        tolerance: float | None = None,
        stop_time: float | None = None,
        **parameters: float,
    ) -> Fmu:
        """Initialises a run with these parameters and settings."""
        self.fmi.setupExperiment(tolerance=tolerance, startTime=start_time, stopTime=stop_time)
        self.set(**parameters)
        self.fmi.enterInitializationMode()
        self.fmi.exitInitializationMode()
        return self

    def set(self, **values: float) -> None:
        """Sets real variables from floats, integer ones from ints."""
        for name, value in values.items():
            setter = self.fmi.setInteger if isinstance(value, int) else self.fmi.setReal
            setter([self.references[name]], [value])

    def get(self, *names: str) -> np.ndarray:
        """Values of real variables, shape (len(names),)."""
        return np.array(self.fmi.getReal([self.references[name] for name in names]))

    def count(self, name: str) -> int:
        """The value of an integer variable."""
        return int(self.fmi.getInteger([self.references[name]])[0])

    def run(self, points: np.ndarray) -> None:
        """Communication steps from point to point; points, s."""
        for t, t_next in pairwise(points):
            self.fmi.doStep(t, t_next - t)

    def vector(self, function: str, n: int) -> np.ndarray:
        """Result of getDerivatives, getContinuousStates or getNominalsOfContinuousStates, shape (n,)."""
        values = np.empty(n)
        getattr(self.fmi, function)(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), n)
        return values

    def set_states(self, x: np.ndarray) -> None:
        """fmi2SetContinuousStates; x, shape (n,)."""
        values = np.ascontiguousarray(x, dtype=float)
        self.fmi.setContinuousStates(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), len(values))

    def free(self) -> None:
        """Frees the instance, not the library, which others may use."""
        self.fmi.fmi2FreeInstance(self.fmi.component)


Make = Callable[..., Fmu]


def oscillator(t: float, x: np.ndarray, force: float) -> np.ndarray:
    """States after time t of the oscillator with default parameters and a constant force; x, shape (4,)."""
    mass_inverse = np.linalg.inv([[3.0, 1.0], [1.0, 1.0]])
    a = np.zeros((5, 5))
    a[:2, 2:4] = np.eye(2)
    a[2:4, :4] = mass_inverse @ np.hstack([-30.0 * np.eye(2), -0.4 * np.eye(2)])
    a[2:4, 4] = mass_inverse @ [force, 0.0]
    return (expm(a * t) @ [*x, 1.0])[:4]


def exact(t: float, t_on: float = 0.37, u: float = 0.0) -> np.ndarray:
    """States of the oscillator at time t with its default start; the force of 5 N comes at t_on."""
    x = oscillator(min(t, t_on), np.array([0.1, 0, 0, 0]), u)
    return oscillator(t - t_on, x, 5.0 + u) if t > t_on else x


def nonlinear(t: float) -> np.ndarray:
    """Exact states of singular.c at time t, shape (2,)."""
    return np.array([1 / (1 + t**2), np.sin(t)])


def fails(fmu: Fmu, call: Callable[[], object], match: str) -> None:
    """The call returns fmi2Error and logs one message like `match`."""
    fmu.messages.clear()
    with pytest.raises(FMICallException, match="status 3"):
        call()
    assert len(fmu.messages) == 1
    assert re.search(match, fmu.messages[0]), fmu.messages[0]
