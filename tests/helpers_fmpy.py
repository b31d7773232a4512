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
_KINDS = {("2.0", "me"): FMU2Model, ("2.0", "cs"): FMU2Slave, ("3.0", "me"): FMU3Model, ("3.0", "cs"): FMU3Slave}


class Instance:
    """`fmi` is FMPy's object; what the FMU logs is kept. Frees itself at the end of a `with` statement.

    mode: me | cs; library: where it is not in the folder of the unpacked FMU; options: FMPy's, of FMI 3.0
    """

    def __init__(
        self,
        mode: str,
        guid: str,
        identifier: str,
        folder: Path,
        library: Path | None = None,
        fmi: str = "2.0",
        **options: Any,
    ) -> None:
        self.messages: list[str] = []
        self.three = fmi == "3.0"
        elsewhere = {} if library is None else {"libraryPath": str(library)}
        self.fmi = _KINDS[fmi, mode](
            guid=guid, modelIdentifier=identifier, unzipDirectory=str(folder), instanceName="instance", **elsewhere
        )
        callbacks = fmi2CallbackFunctions(
            fmi2CallbackLoggerTYPE(self._log), defaultCallbacks.allocateMemory, defaultCallbacks.freeMemory
        )
        three = {"loggingOn": True, "logMessage": self._log} | options
        self._options = three if self.three else {"callbacks": callbacks}
        self.instantiate()

    def _log(self, *said: Any) -> None:
        category, message = (text.decode() for text in said[-2:])
        self.messages.append(f"{category}: {message}" if self.three else message)

    def instantiate(self) -> None:
        """A new instance; the one before it must have been freed."""
        self.fmi.instantiate(**self._options)

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
        """Return the derivatives of the states at a time, s, and states, shape (n,)."""
        self.fmi.setTime(t)
        self.set_states(x)
        return self.vector("getContinuousStateDerivatives" if self.three else "getDerivatives", len(x))

    def saved(self) -> bytes:
        """The state, serialised."""
        fmi, three = self.fmi, self.three
        state = (fmi.getFMUState if three else fmi.getFMUstate)()
        data = (fmi.serializeFMUState if three else fmi.serializeFMUstate)(state)
        (fmi.freeFMUState if three else fmi.freeFMUstate)(state)
        return bytes(data)

    def restore(self, data: bytes) -> None:
        """A state that was saved, here or elsewhere."""
        fmi, three = self.fmi, self.three
        state = (fmi.deserializeFMUState if three else fmi.deSerializeFMUstate)(data)
        (fmi.setFMUState if three else fmi.setFMUstate)(state)
        (fmi.freeFMUState if three else fmi.freeFMUstate)(state)

    def free(self) -> None:
        """Frees the instance, not the library, which others may use."""
        (self.fmi.fmi3FreeInstance if self.three else self.fmi.fmi2FreeInstance)(self.fmi.component)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.free()
