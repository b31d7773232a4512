"""Operating point of a linear model, such as the initial state, a state of a run or an equilibrium."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.errors import DescriptionError, SolveError
from ..options.linear import CHOICES_OF_STATE, GivenState, StateOptions
from ..runs.fmpy_runs.inputs import InputTable
from ..runs.fmpy_runs.simulate import simulate
from ..runs.fmpy_runs.states import State, further_states, given_state, read_state, signals

_SAME_STEP = 1e-9  # The number of communication steps may differ from an integer by at most this rounding error.
_TOLERANCE = 1e-9  # The run to the operating point has at most this relative tolerance.


@dataclass(frozen=True)
class Plant:
    """FMU that represents a mechanism and is compiled from generated C code (native FMU).

    Parameters
    ----------
    model
        Mechanism with its equations.
    fmu
        FMU file.
    parameters
        Values of FMU parameters that differ from the defaults in the file.
    """

    model: System
    fmu: Path
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class OperatingPoint:
    """Operating point: time, s, and values of states and inputs by signal name."""

    t: float
    signals: Mapping[str, float]
    inputs: Mapping[str, float]


def checked(model: System, options: StateOptions) -> State | float:
    """Return the operating point that the user chose: a state, or a time of a run, s.

    Raises
    ------
    DescriptionError
        If the choice is invalid.
    """
    if len(options.given) > 1:
        text = f"expected at most one of {', '.join(CHOICES_OF_STATE)}, got {' and '.join(options.given)}"
        raise DescriptionError("linearize", text)
    if options.trim and options.inputs is not None:
        raise DescriptionError("trim", "expected no inputs over time, because trim determines their values")
    if options.trim and not model.native_program.inputs:
        text = "expected a model with FMU inputs, got none; add a force with input = true, or use equilibrium"
        raise DescriptionError("trim", text)
    if options.state is not None:
        return _given(model, options.state)
    if options.time is not None:
        return _time(model, options.time)
    q, qd = model.start
    if options.equilibrium or options.trim:
        q, qd = _equilibrium(model), 0.0 * qd
    return State(0.0, q, qd, np.array(_further(model)))


def operating_point(plant: Plant, at: State | float, inputs: InputTable | None) -> OperatingPoint:
    """Return the operating point for a given state, or for a given time, s.

    For a time, a run of the FMU up to this time yields the state. Inputs without a given value have
    their initial values.
    """
    model = plant.model
    t = at.t if isinstance(at, State) else at
    given = {name: float(f.at(t, t)) for name, f in inputs.functions().items()} if inputs else {}
    values = {entry.name: given.get(entry.name, entry.start) for entry in model.native_program.inputs}
    if isinstance(at, State):
        return OperatingPoint(t, signals(model, at), values)
    names = [state.name for state in model.native_program.states]
    tolerance = min(_TOLERANCE, model.chain.simulation.tolerance)
    name = "the run to the operating point"
    run = simulate(
        plant.fmu,
        "cs",
        names,
        name=name,
        stop=t,
        output_step=_step(model, t),
        tolerance=tolerance,
        parameters={**plant.parameters, **({} if inputs else values)},
        inputs=inputs,
    )
    return OperatingPoint(t, {name: float(run.signals[name][-1]) for name in names}, values)


def _step(model: System, t: float) -> float:
    """Return the communication step, s, for a run from 0 to time t, s.

    The step divides t into equal parts, and does not exceed the output step of the description. Long
    steps would fail for stiff mechanisms, because each communication step allows only a limited number of
    internal steps.
    """
    return t / math.ceil(t / model.chain.simulation.output_step - _SAME_STEP)


def _given(model: System, state: GivenState) -> State:
    n, further = model.mechanism.n, _further(model)
    if isinstance(state, str | Path):
        return read_state(Path(state), n, further)
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in state.items()}
    return given_state(plain, n, further)


def _time(model: System, time: float) -> State | float:
    stop = model.chain.simulation.stop
    if not (math.isfinite(time) and 0.0 <= time <= stop):
        text = f"expected a time of the run, 0 to {stop:g} s (simulation.stop), got {time:g}"
        raise DescriptionError("time", text)
    return time or State(0.0, *model.start, np.array(_further(model)))


def _equilibrium(model: System) -> np.ndarray:
    try:
        return analysis.equilibrium(analysis.ReferenceModel(model.mechanism))
    except SolveError as error:
        raise DescriptionError("equilibrium", str(error)) from None


def _further(model: System) -> list[float]:
    """Return the initial values of all states except coordinates and rates."""
    return [*further_states(model).values()]
