"""Times the native FMU and its linear solver in C loops."""

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

from gpmelica.fmu.code.staged import System
from gpmelica.fmu.code.stages import stage
from gpmelica.fmu.compilers import compiler
from gpmelica.fmu.compilers.platforms import here

_HERE = Path(__file__).parent
_FUNCTIONS = ("fmi2SetTime", "fmi2SetContinuousStates", "fmi2GetDerivatives")


def compile_loops(crane: Crane, folder: Path) -> ctypes.CDLL:
    """loops.c with the FMU's own linear solver, by the compiler that built the FMU, with the same optimisation."""
    found, library = compiler.find(), f"loops{here('2.0').suffix}"
    for name, text in crane.sources.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    shutil.copy(_HERE / "loops.c", folder)
    objects = {name: f"{name}.o" for name in ("loops.c", "linear_solve.c")}
    for source, compiled in objects.items():
        compiler.compile_object(found, source, compiled, ["-O2", "-fPIC", "-Iinclude"], folder=folder)
    compiler.link(found, list(objects.values()), library, folder=folder)
    return ctypes.CDLL(str(folder / library))


class NativeLoops:
    """A crane's FMU in continuous-time mode, at q and qd of shape (count, n); use it in a `with` statement."""

    def __init__(self, crane: Crane, loops: ctypes.CDLL, q: Array, qd: Array) -> None:
        self._loops, self._states = loops, np.hstack([q, qd])
        self.derivatives = np.empty(2 * crane.n)
        self._systems = [(system, np.array(table)) for system, table in systems(crane, self._states)]
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

    def solves(self, calls: int, solve: bool = True) -> float:
        """Seconds of the linear systems of so many evaluations, copies included; or of the copies alone."""
        return sum(self._solves(system, table, calls, solve) for system, table in self._systems)

    def _solves(self, system: System, table: Array, calls: int, solve: bool) -> float:
        rows, size = table.shape
        work = np.empty(size + 2 * system.n)
        arguments = (_pointer(table), rows, system.n, system.columns, _pointer(work), calls, int(solve))
        return _seconds(lambda: self._loops.solve_systems(*arguments))


def systems(crane: Crane, states: Array) -> list[tuple[System, list[Array]]]:
    """The linear systems of an evaluation; for each, at every row of states, the numbers of A and then of B.

    Of a fixed partition, which has no others.
    """
    program = crane.model.native_program
    staged = stage(program)
    solving = [each.system for each in staged.stages if isinstance(each.system, System)]
    tables: list[list[Array]] = [[] for _ in solving]
    workspace = np.zeros(staged.size)
    blocks = {name: slice(block.offset, block.offset + block.size) for name, block in staged.blocks.items()}
    workspace[blocks["parameters"]] = np.concatenate([np.ravel(entry.value) for entry in program.parameters])
    for state in states:
        workspace[blocks["states"]] = state
        found = iter(tables)
        for each in staged.stages:
            results = each.function.call([workspace[b.offset : b.offset + b.size] for b in each.inputs])
            for block, result in zip(each.outputs, results, strict=True):
                workspace[block.offset : block.offset + block.size] = result.full().ravel(order="F")
            if isinstance(each.system, System):
                next(found).append(_solve(each.system, workspace))
    return list(zip(solving, tables, strict=True))


def _solve(system: System, workspace: Array) -> Array:
    """Puts the solution into the workspace; returns the numbers of the system."""
    n, columns = system.n, system.columns
    a = workspace[system.matrix.offset :][: n * n].copy()
    b = workspace[system.right.offset :][: n * columns]
    numbers = np.concatenate([a, b])
    b[:] = np.linalg.solve(a.reshape(n, n).T, b.reshape(columns, n).T).T.ravel()
    return numbers


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
