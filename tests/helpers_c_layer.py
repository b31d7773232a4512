"""Builds the C layer with hand-written models, and drives it through FMPy."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from helpers_fmpy import Array, Instance
from scipy.linalg import expm

import gpmelica.fmu

SOURCES = Path(gpmelica.fmu.__file__).parent / "sources"
DATA = Path(__file__).parent / "data"
HEADERS = Path(fmpy.__file__).parent / "c-code"
STATES = ("q1", "q2", "v1", "v2")  # of oscillator.c
ARRAYS = {"m1": 2}  # variables of the models that are arrays in FMI 3.0: number of elements
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


def flat(model: str) -> dict[str, str]:
    """The fixed sources of both versions, the hand-written model's and the standard's headers, as in an FMU."""
    own = [*SOURCES.glob("*/*.[ch]"), DATA / f"{model}.c"]
    paths = {path.name: path for path in own} | {
        f"include/{path.name}": path for path in HEADERS.glob("fmi[23]*.h")
    }
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


def value_references(model: str) -> dict[str, int]:
    """Name -> value reference, read from the model's variable table."""
    names = re.findall(r'^    \{"(.+?)", VARIABLE_', (DATA / f"{model}.c").read_text(), re.MULTILINE)
    return {name: i for i, name in enumerate(names)}


class Fmu(Instance):
    """An instance of a hand-written model by FMI 2.0."""

    def __init__(self, library: Path, model: str, *, co_simulation: bool = True) -> None:
        self.references = value_references(model)
        super().__init__("cs" if co_simulation else "me", f"{{{model}}}", model, library.parent, library)

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

    def get(self, *names: str) -> Array:
        """Values of real variables, shape (len(names),)."""
        return np.array(self.fmi.getReal([self.references[name] for name in names]))

    def count(self, name: str) -> int:
        """The value of an integer variable."""
        return int(self.fmi.getInteger([self.references[name]])[0])

    def run(self, points: Sequence[float] | Array) -> None:
        """Communication steps from point to point; points, s."""
        for t, t_next in pairwise(points):
            self.fmi.doStep(float(t), float(t_next - t))


class Fmu3(Instance):
    """An instance of a hand-written model by FMI 3.0; `options` as FMPy's instantiate takes them."""

    def __init__(
        self, library: Path, model: str, *, co_simulation: bool = True, logging: bool = True, **options: Any
    ) -> None:
        self.references = value_references(model)
        mode, folder = "cs" if co_simulation else "me", _unpacked(library, model)
        super().__init__(mode, f"{{{model}}}", model, folder, fmi="3.0", loggingOn=logging, **options)

    def start(self, tolerance: float | None = None, stop_time: float | None = None, **values: float) -> Fmu3:
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

    def get(self, *names: str) -> Array:
        """Values of floats, arrays one element after the other."""
        size = sum(ARRAYS.get(name, 1) for name in names)
        return np.array(self.fmi.getFloat64([self.references[name] for name in names], size))

    run = Fmu.run


def _unpacked(library: Path, model: str) -> Path:
    """A folder with the library where FMPy looks for it."""
    folder = library.parent / f"{model}_fmi3"
    target = folder / "binaries" / fmpy.platform_tuple / f"{model}{fmpy.sharedLibraryExtension}"
    if not target.exists():
        target.parent.mkdir(parents=True)
        shutil.copy(library, target)
    return folder


Make = Callable[..., Any]  # model, options → Fmu or Fmu3


def oscillator(t: float, x: Sequence[float] | Array, *force: float, k: float = 30.0, c: float = 0.4) -> Array:
    """States of the oscillator at time t, its own force off; x at t = 0, shape (4,).

    force: Taylor coefficients of the input, lowest order first, none: zero. They are a chain of integrators.
    """
    inverse, m = np.linalg.inv([[3.0, 1.0], [1.0, 1.0]]), len(force)
    a = np.zeros((4 + m, 4 + m))
    a[:2, 2:4] = np.eye(2)
    a[2:4, :2], a[2:4, 2:4] = -k * inverse, -c * inverse
    a[2:4, 4:5] = inverse[:, :1]
    for i in range(m - 1):
        a[4 + i, 5 + i] = 1.0
    return np.asarray(expm(a * t) @ [*x, *force])[:4]


START = (0.1, 0.0, 0.0, 0.0)


def exact(t: float, t_on: float = 0.37) -> Array:
    """States of the oscillator at time t with its default start; the force of 5 N comes at t_on."""
    return oscillator(t - t_on, oscillator(t_on, START), 5.0) if t > t_on else oscillator(t, START)


def nonlinear(t: float) -> Array:
    """Exact states of singular.c at time t, shape (2,)."""
    return np.array([1 / (1 + t**2), np.sin(t)])


def fails(fmu: Fmu | Fmu3, call: Callable[[], object], match: str, *, discarded: bool = False) -> None:
    """The call is an error, or discarded, and logs one message like `match`, in 3.0 in the status's category."""
    fmu.messages.clear()
    with pytest.raises(FMICallException, match=f"status {2 if discarded else 3}"):
        call()
    category = f"^logStatus{'Discard' if discarded else 'Error'}: .*" if fmu.three else ""
    assert len(fmu.messages) == 1
    assert re.search(category + match, fmu.messages[0], re.DOTALL), fmu.messages[0]
