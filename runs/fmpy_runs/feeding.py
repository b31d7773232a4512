"""FMU instances with inputs over time, and nominal values of the states for the solver.

FMPy keeps inputs constant between its output times, which is an error of first order. Here, a model-
exchange FMU receives the inputs at every time that the solver sets. A co-simulation FMU receives input
derivatives (FMI 2.0) or answers to its requests (intermediate update of FMI 3.0). An FMU with neither
capability receives the values at the middle of each step, an error of second order. After the step, the
values at its end are set, so that outputs with feedthrough match their time.

Absolute tolerances of a solver follow from nominal values. FMUs of omc report 1 for every state,
regardless of their description: a thousand times too coarse for the crane's base. Therefore, the
nominal values of the model description are used, or known smaller magnitudes: for a telescope that
follows a star at 7e-5 rad/s, a nominal value of 1 rad/s is useless.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy

from .inputs import InputTable

_LEAST = 1e-6  # smallest magnitude of a state, relative to its nominal value


@contextmanager
def feeding(
    fmu: Path,
    description: Any,
    kind: str,
    table: InputTable | None,
    log: Callable[..., None],
    nominals: Mapping[str, float] | None = None,
) -> Iterator[Any]:
    """Provide an FMU instance for `fmpy.simulate_fmu` that receives inputs over time; None if FMPy's own suffices.

    The simulation must stop at the table's instants.

    Parameters
    ----------
    fmu : Path
        FMU file.
    description
        Model description, as read by FMPy.
    kind : str
        ModelExchange | CoSimulation.
    table : InputTable or None
        Inputs over time.
    log : callable
        Logger of the instance.
    nominals : mapping or None
        Magnitudes of states by name, in the states' units, used if smaller than the nominal values.
    """
    if table is None and kind == "CoSimulation":
        yield None
        return
    folder = fmpy.extract(str(fmu))
    feed = None if table is None else _Feed(description, table)
    asked = feed.asked() if feed and kind == "CoSimulation" and _asks(description) else {}
    instance = fmpy.instantiate_fmu(folder, description, kind, debug_logging=True, logger=log, **asked)
    try:
        if feed:
            feed.fmu = instance
            feed_it = _feed_steps if kind == "CoSimulation" else _feed_times
            feed_it(instance, feed, description)
        if kind == "ModelExchange":
            _tell_nominals(instance, description, nominals or {})
        yield instance
    finally:
        instance.freeInstance()
        shutil.rmtree(folder, ignore_errors=True)


def interpolates(description: Any) -> bool:
    """Whether the inputs of a co-simulation FMU can vary within a step, by derivatives or
    intermediate update.
    """
    return _takes_slopes(description) or _asks(description)


def _takes_slopes(description: Any) -> bool:
    return bool(getattr(description.coSimulation, "canInterpolateInputs", False))


def _asks(description: Any) -> bool:
    return bool(getattr(description.coSimulation, "providesIntermediateUpdate", False))


class _Feed:
    """Source of inputs for the instance `fmu`, from a table."""

    fmu: Any

    def __init__(self, description: Any, table: InputTable) -> None:
        references = {v.name: v.valueReference for v in description.modelVariables}
        self._references = [references[name] for name in table.values]
        self._functions = list(table.functions().values())
        self._set = "setReal" if description.fmiVersion == "2.0" else "setFloat64"
        self._since = 0.0

    def values(self, t: float, since: float) -> None:
        """Set the input values at time t, s, on the linear piece that contains `since`, s."""
        self._since = since
        getattr(self.fmu, self._set)(self._references, [f.at(t, since) for f in self._functions])

    def slopes(self, begin: float, end: float) -> None:
        """Set the input derivatives between two times, s, of one linear piece."""
        slopes = [(f.at(end, begin) - f.at(begin, begin)) / (end - begin) for f in self._functions]
        self.fmu.setRealInputDerivatives(self._references, [1] * len(slopes), slopes)

    def asked(self) -> dict[str, Any]:
        """Return options that let an instance of FMI 3.0 request its inputs within a step."""

        def answer(environment: Any, time: float, *_: Any) -> None:
            self.values(time, self._since)

        return {"intermediate_update": answer, "required_intermediate_variables": self._references}


def _feed_steps(instance: Any, feed: _Feed, description: Any) -> None:
    """Replace doStep by a function that sets the inputs before and after the step."""
    step, exact, with_slopes = instance.doStep, interpolates(description), _takes_slopes(description)

    def do_step(currentCommunicationPoint: float, communicationStepSize: float, **more: Any) -> Any:
        begin, end = currentCommunicationPoint, currentCommunicationPoint + communicationStepSize
        feed.values(begin if exact else (begin + end) / 2, begin)
        if with_slopes:
            feed.slopes(begin, end)
        answer = step(currentCommunicationPoint=begin, communicationStepSize=communicationStepSize, **more)
        feed.values(end, end)
        return answer

    instance.doStep = do_step


def _tell_nominals(instance: Any, description: Any, known: Mapping[str, float]) -> None:
    """Replace the nominal values of the states by those of the model description, or by smaller known magnitudes.

    A magnitude counts by at least 10⁻⁶ of the nominal value, because the solver finds no step size for
    rounding errors.
    """
    states = [unknown.variable.derivative for unknown in description.derivatives]
    described = [float(state.nominal or 1.0) for state in states]
    values = [
        min(most, max(known.get(state.name, most), _LEAST * most))
        for state, most in zip(states, described, strict=True)
    ]

    def nominals(array: Any, size: int) -> None:
        for i in range(size):
            array[i] = values[i]

    instance.getNominalsOfContinuousStates = nominals


def _feed_times(instance: Any, feed: _Feed, description: Any) -> None:
    """Replace setTime by a function that also sets the inputs; an event begins the next linear
    piece.
    """
    set_time, resume = instance.setTime, instance.enterContinuousTimeMode
    now = since = 0.0

    def set_time_and_inputs(time: float) -> Any:
        nonlocal now
        now = time
        answer = set_time(time)
        feed.values(time, since)
        return answer

    def enter_continuous_time_mode() -> Any:
        nonlocal since
        since = now
        answer = resume()
        feed.values(now, since)
        return answer

    instance.setTime, instance.enterContinuousTimeMode = set_time_and_inputs, enter_continuous_time_mode
