"""An instance of an FMU that is fed with inputs over time, and whose solver gets the states' nominal values.

FMPy holds inputs between its output times, in both modes: an error of first order. Here a model-exchange FMU gets
them with every time that the solver sets. A co-simulation FMU gets their slopes (FMI 2.0) or is told their values
whenever it asks (intermediate update of FMI 3.0); one that can do neither gets the value in the middle of a step,
an error of second order. After the step it gets the value at its end, so that outputs with feedthrough belong to
the time they are read at.

A solver's absolute tolerances are made of nominal values. omc's FMUs say 1 for every state when they are asked,
whatever their description says: a thousand times too coarse for the crane's base. The description is right, where
nothing better is known: of a telescope that follows a star, 7e-5 rad/s, 1 rad/s says nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy

from .inputs import InputTable

_LEAST = 1e-6  # of a description's nominal value


@contextmanager
def feeding(
    fmu: Path,
    description: Any,
    kind: str,
    table: InputTable | None,
    log: Callable[..., None],
    nominals: Mapping[str, float] | None = None,
) -> Iterator[Any]:
    """An instance for `fmpy.simulate_fmu`, which must stop at the table's instants; None where FMPy's own will do.

    kind      ModelExchange | CoSimulation
    nominals  magnitudes of states by name, each in the state's unit, where they are less than the description's
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
    """Whether a co-simulation FMU's inputs can change within a step: by their slopes, or as it asks for them."""
    return _takes_slopes(description) or _asks(description)


def _takes_slopes(description: Any) -> bool:
    return bool(getattr(description.coSimulation, "canInterpolateInputs", False))


def _asks(description: Any) -> bool:
    return bool(getattr(description.coSimulation, "providesIntermediateUpdate", False))


class _Feed:
    """Sets the inputs of the instance `fmu` from a table."""

    fmu: Any

    def __init__(self, description: Any, table: InputTable) -> None:
        references = {v.name: v.valueReference for v in description.modelVariables}
        self._references = [references[name] for name in table.values]
        self._functions = list(table.functions().values())
        self._set = "setReal" if description.fmiVersion == "2.0" else "setFloat64"
        self._since = 0.0

    def values(self, t: float, since: float) -> None:
        """Set the values at t, s, of the pieces that hold at `since`, s."""
        self._since = since
        getattr(self.fmu, self._set)(self._references, [f.at(t, since) for f in self._functions])

    def slopes(self, begin: float, end: float) -> None:
        """Set the slopes between two times, s, of one piece."""
        slopes = [(f.at(end, begin) - f.at(begin, begin)) / (end - begin) for f in self._functions]
        self.fmu.setRealInputDerivatives(self._references, [1] * len(slopes), slopes)

    def asked(self) -> dict[str, Any]:
        """Options that make an instance of FMI 3.0 ask for its inputs within a step."""

        def answer(environment: Any, time: float, *_: Any) -> None:
            self.values(time, self._since)

        return {"intermediate_update": answer, "required_intermediate_variables": self._references}


def _feed_steps(instance: Any, feed: _Feed, description: Any) -> None:
    """Let doStep set inputs before and after the step."""
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
    """Let the nominal values of the states be those of the description, or what is known of a state if it is less.

    Not less than a millionth: a solver finds no step for what rounding alone moves.
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
    """Let setTime set the inputs too; an event begins the next piece."""
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
