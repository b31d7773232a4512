"""Compiled model-exchange FMU of FMI 2.0 or 3.0, evaluated at single states."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException

from ...core.errors import SolveError
from ...core.trajectory import Array
from .opening import check_variables, logger

_OFF = ("projection", "solver_finds_start")


class Instance:
    """Context manager of one model-exchange FMU instance.

    If a call fails, SolveError is raised with the FMU's message.

    Parameters
    ----------
    fmu : Path
        FMU file.
    parameters : mapping or None
        Parameter values by name; an FMU of FMI 2.0 has one parameter for each element of a vector.
    """

    def __init__(self, fmu: Path, parameters: Mapping[str, float] | None = None) -> None:
        self.description = fmpy.read_model_description(str(fmu))
        check_variables(parameters or {}, self.description)
        self._three = self.description.fmiVersion != "2.0"
        self._folder = fmpy.extract(str(fmu))
        self._messages: list[str] = []
        self._fmu: Any = fmpy.instantiate_fmu(
            self._folder,
            self.description,
            "ModelExchange",
            # In FMI 3.0, an FMU sends messages only with debug logging; the generated FMUs send only errors.
            debug_logging=True,
            logger=logger(self._messages),
        )
        variables = self.description.modelVariables
        self._references = {v.name: v.valueReference for v in variables}
        self._parameters = dict(parameters or {})
        # The caller prescribes the states, so the FMU must neither project states nor search for initial values.
        self._switches = [v.valueReference for v in variables if v.name in _OFF and v.type != "Real"]
        self._conditional = self.description.numberOfEventIndicators > 0
        self._fresh = True
        self._now = 0.0

    def __enter__(self) -> Instance:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)

    def derivatives(self, t: float, x: Array) -> Array:
        """Return ẋ at time t, s, and states x, shape (n_x,)."""
        values = (ctypes.c_double * len(x))()
        get = self._fmu.getContinuousStateDerivatives if self._three else self._fmu.getDerivatives
        self._at(t, x, lambda: get(values, len(x)))
        return np.array(values, dtype=float)

    def values(self, names: Sequence[str], t: float, x: Array) -> Array:
        """Return the values of the real variables `names` for a time t, s, and states x, shape (n_x,)."""
        return np.array(self._at(t, x, lambda: self._get(names)))

    def move(self, t: float, x: Array, inputs: Mapping[str, float]) -> None:
        """Set the time `t` (s), the states `x`, shape (n_x,), and the input values; then process an event.

        The state must fulfil the redundant constraints.
        """
        self._now = t
        self._calling(lambda: self._move(t, x, inputs))

    def read(self, names: Sequence[str]) -> Array:
        """Return the values of the given real variables at the state set by `move`, shape (len(names),)."""
        return np.array(self._calling(lambda: self._get(names)), dtype=float)

    def slopes(self, unknowns: Sequence[str], knowns: Sequence[str]) -> Array:
        """Return exact partial derivatives of variables at the state set by `move`.

        Parameters
        ----------
        unknowns : sequence of str
            State derivatives `der(x)` and outputs.
        knowns : sequence of str
            States, inputs and `time`.

        Returns
        -------
        ndarray, shape (len(unknowns), len(knowns))
            Partial derivatives ∂unknowns/∂knowns.
        """
        rows, columns = ([self._references[name] for name in names] for names in (unknowns, knowns))

        def found() -> list[Any]:
            return [self._fmu.getDirectionalDerivative(rows, [column], [1.0]) for column in columns]

        return np.array(self._calling(found), dtype=float).reshape(len(columns), len(rows)).T

    def _at(self, t: float, x: Array, read: Callable[[], Any]) -> Any:
        def there() -> Any:
            self._start(t)
            self._set_states(x)
            self._settle()
            return read()

        self._now = t
        return self._calling(there)

    def _calling(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except FMICallException as error:
            said = self._messages[-1] if self._messages else str(error)
            raise SolveError(f"fmu-native failed at t = {self._now:.9g} s: {said}") from None

    def _start(self, t: float) -> None:
        if not self._fresh:
            self._fmu.reset()
        self._fresh = False
        if self._three:
            self._fmu.setInt32(self._switches, [0] * len(self._switches))
            self._set(self._parameters)
            self._fmu.enterInitializationMode(startTime=t)
        else:
            self._fmu.setupExperiment(startTime=t)
            self._fmu.setInteger(self._switches, [0] * len(self._switches))
            self._set(self._parameters)
            self._fmu.enterInitializationMode()
        self._fmu.exitInitializationMode()
        self._event()

    def _move(self, t: float, x: Array, inputs: Mapping[str, float]) -> None:
        self._start(0.0)
        self._fmu.setTime(t)
        self._set_states(x)
        self._set(inputs)
        self._fmu.enterEventMode()
        self._event()

    def _settle(self) -> None:
        """Process an event if the FMU has event indicators.

        The FMU then evaluates its switching conditions for the current states. Between events, an FMU
        does not update the switching conditions.
        """
        if self._conditional:
            self._fmu.enterEventMode()
            self._event()

    def _event(self) -> None:
        (self._fmu.updateDiscreteStates if self._three else self._fmu.newDiscreteStates)()
        self._fmu.enterContinuousTimeMode()

    def _set_states(self, x: Array) -> None:
        self._fmu.setContinuousStates((ctypes.c_double * len(x))(*x), len(x))

    def _set(self, values: Mapping[str, float]) -> None:
        references = [self._references[name] for name in values]
        (self._fmu.setFloat64 if self._three else self._fmu.setReal)(references, list(values.values()))

    def _get(self, names: Sequence[str]) -> Any:
        references = [self._references[name] for name in names]
        return (self._fmu.getFloat64 if self._three else self._fmu.getReal)(references)
