"""Repeated runs of one co-simulation FMU instance (FMI 2.0) with different parameters.

FMPy's `simulate_fmu` creates a new instance for each run and reads each variable separately. Here, the
instance is reset, and all recorded variables are read by one call per output step. A reset instance
produces bitwise the same results as a new one. After a failed run, the instance is discarded.
"""

from __future__ import annotations

import ctypes
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import fmpy
import numpy as np

from ...core.errors import SolveError, UnknownNameError
from ...core.trajectory import Array, output_grid
from ...language.suggest import unknown
from .opening import logger, read_fmu

_DOUBLES = ctypes.POINTER(ctypes.c_double)
_WARNING = 1  # In FMI 2.0, a status code above the code of a warning means a failure.


@dataclass(frozen=True)
class Span:
    """End time, s, and output interval, s, of a run, and relative tolerance of the FMU's solver."""

    stop: float
    output_step: float
    tolerance: float

    def grid(self) -> Array:
        """Return the output times, shape (N,), s."""
        return output_grid(self.stop, self.output_step)


class Repeated:
    """Context manager for repeated runs of one FMU.

    Parameters
    ----------
    fmu : Path
        FMU file.
    names : sequence of str
        Variables to record, which may be parameters.
    span : Span
        Time span of each run.
    commands : mapping or None
        Names of FMU outputs by name of an FMU input. During a run, each of these inputs is constant.
        Its value is the initial value of the output.
    """

    def __init__(
        self, fmu: Path, names: Sequence[str], span: Span, commands: Mapping[str, str] | None = None
    ) -> None:
        self.names, self.grid = tuple(names), span.grid()
        self._span = span
        self._description = read_fmu(fmu)
        self._references = {v.name: v.valueReference for v in self._description.modelVariables if v.type == "Real"}
        self._recorded = (ctypes.c_uint * len(names))(*map(self._reference, names))
        pairs = (commands or {}).items()
        self._commands = {self._reference(name): self._reference(begin) for name, begin in pairs}
        self._folder = tempfile.mkdtemp(prefix="gpmelica-fmu-")
        self._tidied = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        fmpy.extract(str(fmu), self._folder, lambda name: not name.startswith("sources/"))
        self._messages: list[str] = []
        self._instance: Any = None
        self._values = np.empty((len(self.grid), len(names)))
        begin, row = self._values.ctypes.data, self._values.strides[0]
        self._rows = [ctypes.cast(begin + k * row, _DOUBLES) for k in range(len(self.grid))]

    def __enter__(self) -> Repeated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._discard()
        self._tidied()

    def run(self, parameters: Mapping[str, float]) -> Array:
        """Run the FMU and return the recorded variables at the output times, shape (N, len(names)).

        Parameters
        ----------
        parameters : mapping
            Parameter values by name, in the parameters' units. Parameters that are not given keep their
            default values.

        Raises
        ------
        SolveError
            If the run fails; the message contains the FMU's message and the time.
        UnknownNameError
            If the FMU has no such parameter.
        """
        references = [self._reference(name) for name in parameters]
        self._messages.clear()
        now = 0.0
        try:
            instance = self._begun(references, list(parameters.values()))
            for reached in self._steps(instance):
                now = reached
        except BaseException as error:
            self._discard()
            if isinstance(error, Exception) and not isinstance(error, MemoryError):
                said = self._messages[0] if self._messages else f"{error!s:.500}"
                where = "" if "t =" in said else f"t = {now:.9g} s: "
                raise SolveError(f"{where}{said}") from None
            raise
        if self._messages or not np.isfinite(self._values).all():
            self._discard()
            raise SolveError(self._messages[0] if self._messages else self._not_finite())
        return self._values.copy()

    def _begun(self, references: list[int], values: list[float]) -> Any:
        if self._instance is None:
            log = logger(self._messages)
            made = fmpy.instantiate_fmu(
                self._folder, self._description, "CoSimulation", debug_logging=True, logger=log
            )
            self._instance = made
        else:
            self._instance.reset()
        instance, span = self._instance, self._span
        instance.setupExperiment(tolerance=span.tolerance, startTime=0.0, stopTime=span.stop)
        if references:
            instance.setReal(references, values)
        instance.enterInitializationMode()
        if self._commands:
            instance.setReal([*self._commands], instance.getReal([*self._commands.values()]))
        instance.exitInitializationMode()
        return instance

    def _steps(self, instance: Any) -> Iterator[float]:
        """Simulate the FMU, record its variables, and yield each output time, s, when it is reached."""
        component, grid = instance.component, self.grid.tolist()
        step, get = instance.dll["fmi2DoStep"], instance.dll["fmi2GetReal"]
        step.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
        get.argtypes = [ctypes.c_void_p, type(self._recorded), ctypes.c_size_t, _DOUBLES]
        count, recorded, rows = len(self.names), self._recorded, self._rows
        _checked(get(component, recorded, count, rows[0]))
        for k in range(1, len(grid)):
            status = step(component, grid[k - 1], grid[k] - grid[k - 1], 1)
            if status <= _WARNING:
                status = get(component, recorded, count, rows[k])
            _checked(status)
            yield grid[k]

    def _reference(self, name: str) -> int:
        if name not in self._references:
            raise UnknownNameError(unknown("variable", name, self._references))
        return int(self._references[name])

    def _not_finite(self) -> str:
        row, column = np.argwhere(~np.isfinite(self._values))[0]
        return f"t = {self.grid[row]:.9g} s: {self.names[column]} is not finite"

    def _discard(self) -> None:
        if self._instance is not None:
            self._instance.freeInstance()
        self._instance = None


def _checked(status: int) -> None:
    if status > _WARNING:
        raise SolveError(f"a function of the FMU failed with FMI status {status} and no message")
