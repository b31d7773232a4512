"""A compiled model-exchange FMU, evaluated at single states."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model
from numpy.typing import NDArray

from ...errors import SolveError

Array = NDArray[np.float64]


class Instance:
    """One instance of an FMU; use it in a `with` statement."""

    def __init__(self, fmu: Path) -> None:
        self.description = fmpy.read_model_description(str(fmu))
        self._folder = fmpy.extract(str(fmu))
        self._messages: list[str] = []
        self._fmu: Any = FMU2Model(
            guid=self.description.guid,
            unzipDirectory=self._folder,
            modelIdentifier=self.description.modelExchange.modelIdentifier,
            instanceName=self.description.modelName,
        )
        # states are given, whether they fulfil the constraints or not, and so may the start be at this time
        variables = self.description.modelVariables
        self._switches = [v.valueReference for v in variables if v.name == "projection" and v.type == "Integer"]
        self._fmu.instantiate()
        self._fresh = True

    def __enter__(self) -> Instance:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)

    def derivatives(self, t: float, x: Array) -> Array:
        """ẋ at time t, s, and states x, shape (n_x,).

        Raises SolveError if the FMU cannot evaluate itself there.
        """
        values = (fmpy.fmi2.fmi2Real * len(x))()
        self._at(t, x, lambda: self._fmu.getDerivatives(values, len(x)))
        return np.array(values, dtype=float)

    def values(self, names: Sequence[str], t: float, x: Array) -> Array:
        """Real variables by name, at time t, s, and states x, shape (n_x,).

        Raises SolveError if the FMU cannot evaluate itself there.
        """
        references = {v.name: v.valueReference for v in self.description.modelVariables}
        return np.array(self._at(t, x, lambda: self._fmu.getReal([references[name] for name in names])))

    def _at(self, t: float, x: Array, read: Callable[[], Any]) -> Any:
        try:
            self._start(t)
            self._fmu.setContinuousStates((fmpy.fmi2.fmi2Real * len(x))(*x), len(x))
            return read()
        except FMICallException as error:
            raise SolveError(f"fmu-native at t = {t:.9g} s: {error}") from None

    def _start(self, t: float) -> None:
        if not self._fresh:
            self._fmu.reset()
        self._fresh = False
        self._fmu.setupExperiment(startTime=t)
        self._fmu.setInteger(self._switches, [0] * len(self._switches))
        self._fmu.enterInitializationMode()
        self._fmu.exitInitializationMode()
        self._fmu.newDiscreteStates()
        self._fmu.enterContinuousTimeMode()
