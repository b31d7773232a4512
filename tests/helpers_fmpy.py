"""An instance of an FMU, of either version of the standard, through FMPy's low-level interface."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from fmpy.fmi3 import FMU3Model, FMU3Slave
from numpy.typing import NDArray

Array = NDArray[np.float64]
_DOUBLES = ctypes.POINTER(ctypes.c_double)


class Instance:
    """`fmi` is FMPy's object; what the FMU logs is kept. Frees itself at the end of a `with` statement."""

    def __init__(self, fmi: Any) -> None:
        self.fmi = fmi
        self.messages: list[str] = []
        self.three = isinstance(fmi, (FMU3Model, FMU3Slave))

    def discrete_states(self) -> tuple[Any, ...]:
        """One event iteration: again, terminate, nominals and values changed, next event defined, its time."""
        return tuple(self.fmi.updateDiscreteStates() if self.three else self.fmi.newDiscreteStates())

    def enter_continuous_time(self) -> float:
        """After an event iteration that changes nothing; time of the next event, s, infinity if there is none."""
        *changes, defined, t = self.discrete_states()
        assert not any(changes)
        self.fmi.enterContinuousTimeMode()
        return t if defined else np.inf

    def vector(self, function: str, n: int) -> Array:
        """Result of a function that fills n numbers, such as getContinuousStates."""
        values = np.empty(n)
        getattr(self.fmi, function)(values.ctypes.data_as(_DOUBLES), n)
        return values

    def set_states(self, x: Sequence[float] | Array) -> None:
        """The continuous states, shape (n,)."""
        values = np.ascontiguousarray(x, dtype=float)
        self.fmi.setContinuousStates(values.ctypes.data_as(_DOUBLES), len(values))

    def slopes(self, t: float, x: Sequence[float] | Array) -> Array:
        """Their derivatives at a time, s, and states, shape (n,)."""
        self.fmi.setTime(t)
        self.set_states(x)
        return self.vector("getContinuousStateDerivatives" if self.three else "getDerivatives", len(x))

    def free(self) -> None:
        """Frees the instance, not the library, which others may use."""
        (self.fmi.fmi3FreeInstance if self.three else self.fmi.fmi2FreeInstance)(self.fmi.component)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.free()


class Instance2(Instance):
    """One of FMI 2.0; mode: me | cs; library: where it is not in the folder of the unpacked FMU."""

    def __init__(self, mode: str, guid: str, identifier: str, folder: Path, library: Path | None) -> None:
        super().__init__(
            (FMU2Slave if mode == "cs" else FMU2Model)(
                guid=guid,
                modelIdentifier=identifier,
                unzipDirectory=str(folder),
                libraryPath=None if library is None else str(library),
                instanceName="instance",
            )
        )
        self._callbacks = fmi2CallbackFunctions(
            fmi2CallbackLoggerTYPE(self._log), defaultCallbacks.allocateMemory, defaultCallbacks.freeMemory
        )
        self.instantiate()

    def _log(self, environment: int, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode())

    def instantiate(self) -> None:
        """A new instance; the one before it must have been freed."""
        self.fmi.instantiate(callbacks=self._callbacks)
