"""FMUs as parts of a coupled system, on FMPy's classes for co-simulation by FMI 2.0 and 3.0."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException

from ..core.errors import DescriptionError, SolveError
from ..core.trajectory import Array
from ..runs.fmpy_runs.opening import logger, read_fmu
from .participant import Abilities, PortSignal
from .units import PhysicalUnit, defined

_KINDS = {"Real": "Real", "Float64": "Real", "Float32": "Real", "Integer": "Integer", "Boolean": "Boolean"}
_KINDS |= {"Enumeration": "Integer", "Int32": "Integer"}
_FACTORIALS = (1.0, 2.0, 6.0)
_MOST_PASSES = 20  # of an event


class FmuPart:
    """An FMU 2.0 or 3.0 for co-simulation; its calls raise SolveError with what the FMU reports.

    Parameters
    ----------
    name : name of the element in the system
    fmu : path of the FMU
    parameters : start values to set, by name
    changes : abilities that are known better than the FMU describes them
    """

    def __init__(self, name: str, fmu: Path, parameters: Mapping[str, Any] | None = None, **changes: Any) -> None:
        self.name = name
        self.description = read_fmu(fmu)
        if self.description.coSimulation is None or self.description.fmiVersion not in ("2.0", "3.0"):
            raise DescriptionError(
                str(fmu), "expected an FMU for co-simulation by FMI 2.0 or 3.0; export it again with co-simulation"
            )
        self._fmi3 = self.description.fmiVersion == "3.0"
        self._units = {
            u.name: defined(u.baseUnit) for u in self.description.unitDefinitions if u.baseUnit is not None
        }
        variables = [v for v in self.description.modelVariables if v.type in _KINDS and not v.dimensions]
        self._variables = {v.name: v for v in variables}
        self.inputs = tuple(self._signal(v) for v in variables if v.causality == "input")
        self.outputs = tuple(self._signal(v) for v in variables if v.causality == "output")
        self._parameters = dict(parameters or {})
        self._check_parameters(fmu)
        self.abilities = replace(self._abilities(), **changes)
        self._folder = fmpy.extract(str(fmu))
        self._messages: list[str] = []
        self._course = np.zeros((len(self.inputs), 4))
        self._begin, self._length, self._t = 0.0, 1.0, 0.0
        self._real_inputs = [k for k, s in enumerate(self.inputs) if s.kind == "Real"]
        self._real_outputs = [k for k, s in enumerate(self.outputs) if s.kind == "Real" and not s.discrete]
        self._in = [self._variables[s.name].valueReference for s in self.inputs]
        self._out = [self._variables[s.name].valueReference for s in self.outputs]
        self._fmu, self._used = self._instance(), False

    def _signal(self, variable: Any) -> PortSignal:
        unit = variable.unit or getattr(variable.declaredType, "unit", None) or ""
        kind = _KINDS[variable.type]
        start = {"true": 1.0, "false": 0.0}.get(str(variable.start).lower())
        value = float(variable.start or 0.0) if start is None else start
        discrete = variable.variability == "discrete" or kind != "Real"
        known: PhysicalUnit | None = self._units.get(unit)
        return PortSignal(variable.name, unit, value, discrete, known, kind)

    def _check_parameters(self, fmu: Path) -> None:
        unknown = [name for name in self._parameters if name not in self._variables]
        if unknown:
            raise DescriptionError(
                str(fmu), f"has no variable {', '.join(unknown)} that a parameter set gives a value"
            )

    def _abilities(self) -> Abilities:
        cs, description = self.description.coSimulation, self.description
        slopes = cs.providesIntermediateUpdate if self._fmi3 else cs.canInterpolateInputs
        restores = bool(getattr(cs, "canGetAndSetFMUstate", False) or getattr(cs, "canGetAndSetFMUState", False))
        experiment = description.defaultExperiment
        sampled = [s.discrete for s in self.outputs if s.kind == "Real"]
        period = (
            getattr(experiment, "stepSize", None) if sampled and all(sampled) and not cs.hasEventMode else None
        )
        return Abilities(
            restores=restores,
            takes_courses=bool(slopes),
            gives_slopes=(cs.maxOutputDerivativeOrder or 0) >= 1,
            memory=len(description.derivatives) > 0,
            period=None if period is None else float(period),
            reports_events=bool(self._fmi3 and cs.hasEventMode),
            step=None if cs.fixedInternalStepSize is None else float(cs.fixedInternalStepSize),
        )

    def _instance(self) -> Any:
        more: dict[str, Any] = {}
        if self._fmi3:
            cs = self.description.coSimulation
            more = {"event_mode_used": bool(cs.hasEventMode), "early_return_allowed": bool(cs.hasEventMode)}
            if cs.providesIntermediateUpdate:
                more["intermediate_update"] = self._answer
                more["required_intermediate_variables"] = [self._in[k] for k in self._real_inputs]
        return fmpy.instantiate_fmu(
            self._folder,
            self.description,
            "CoSimulation",
            debug_logging=True,
            logger=logger(self._messages),
            **more,
        )

    def _answer(self, environment: Any, time: float, *_: Any) -> None:
        """Give the inputs at a time within a step to an FMU 3.0 that asks for them."""
        s = (time - self._begin) / self._length
        values = self._course[self._real_inputs] @ np.array([1.0, s, s * s, s**3])
        self._fmu.setFloat64([self._in[k] for k in self._real_inputs], values.tolist())

    def _called(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except FMICallException as error:
            said = self._messages[-1] if self._messages else str(error)
            raise SolveError(f"{self.name} at t = {self._t:.9g} s: {said}") from None

    # ---- Initial values ------------------------------------------------------------------------------------

    def start(self, t: float, stop: float, inputs: Array) -> None:
        self._t = t
        if self._used:  # a new instance, since not every FMU can be reset
            self._fmu.freeInstance()
            self._fmu = self._instance()
        self._used = True
        self._called(lambda: self._start(t, stop, inputs))

    def _start(self, t: float, stop: float, inputs: Array) -> None:
        for name, value in self._parameters.items():
            self._set_one(name, value)
        if self._fmi3:
            self._fmu.enterInitializationMode(startTime=t)
        else:
            self._fmu.setupExperiment(startTime=t)
            self._fmu.enterInitializationMode()
        self._set(inputs)

    def _set_one(self, name: str, value: Any) -> None:
        variable = self._variables[name]
        kind = _KINDS[variable.type]
        python = {"Real": float, "Integer": int, "Boolean": bool}[kind]
        self._setter(kind)([variable.valueReference], [python(value)])

    def try_inputs(self, inputs: Array) -> Array:
        self._called(lambda: self._set(inputs))
        return self.outputs_now()

    def begin(self) -> None:
        self._called(self._begin_steps)

    def _begin_steps(self) -> None:
        self._fmu.exitInitializationMode()
        if self._fmi3 and self.description.coSimulation.hasEventMode:
            self._update()
            self._fmu.enterStepMode()

    def _update(self) -> None:
        for _ in range(_MOST_PASSES):
            needs_more, *_rest = self._fmu.updateDiscreteStates()
            if not needs_more:
                return
        raise SolveError(f"{self.name} at t = {self._t:.9g} s: the event does not settle in {_MOST_PASSES} passes")

    # ---- Values --------------------------------------------------------------------------------------------

    def _setter(self, kind: str) -> Any:
        names = {"Real": ("setReal", "setFloat64"), "Integer": ("setInteger", "setInt32")}
        return getattr(self._fmu, names.get(kind, ("setBoolean", "setBoolean"))[self._fmi3])

    def _getter(self, kind: str) -> Any:
        names = {"Real": ("getReal", "getFloat64"), "Integer": ("getInteger", "getInt32")}
        return getattr(self._fmu, names.get(kind, ("getBoolean", "getBoolean"))[self._fmi3])

    def _set(self, inputs: Array) -> None:
        for kind, python in (("Real", float), ("Integer", round), ("Boolean", bool)):
            chosen = [k for k, s in enumerate(self.inputs) if s.kind == kind]
            if chosen:
                self._setter(kind)([self._in[k] for k in chosen], [python(inputs[k]) for k in chosen])

    def outputs_now(self) -> Array:
        found = np.zeros(len(self.outputs))
        for kind in ("Real", "Integer", "Boolean"):
            chosen = [k for k, s in enumerate(self.outputs) if s.kind == kind]
            if chosen:
                references = [self._out[k] for k in chosen]
                found[chosen] = self._called(partial(self._getter(kind), references))
        return found

    def slopes_now(self, input_slopes: Array) -> Array:
        found = np.zeros(len(self.outputs))
        if self._real_outputs:
            found[self._real_outputs] = self._called(lambda: self._output_slopes(input_slopes))
        return found

    def _output_slopes(self, input_slopes: Array) -> Sequence[float]:
        references = [self._out[k] for k in self._real_outputs]
        if self._fmi3:
            return list(self._fmu.getOutputDerivatives(references, [1] * len(references)))
        if self._real_inputs and self.abilities.takes_courses:
            rates = [float(input_slopes[k]) for k in self._real_inputs]
            self._fmu.setRealInputDerivatives([self._in[k] for k in self._real_inputs], [1] * len(rates), rates)
        return list(self._fmu.getRealOutputDerivatives(references, [1] * len(references)))

    # ---- Steps ---------------------------------------------------------------------------------------------

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        self._t = t
        reached, event = self._called(lambda: self._advance(t, h, courses))
        return float(reached), bool(event)

    def _advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        self._course, self._begin, self._length = courses, t, h
        self._set(courses[:, 0])
        if self._fmi3:
            event, terminate, early, reached = self._fmu.doStep(
                currentCommunicationPoint=t, communicationStepSize=h, noSetFMUStatePriorToCurrentPoint=False
            )
            if terminate:
                raise SolveError(f"{self.name} at t = {reached:.9g} s: the FMU asks to end the simulation")
            return (reached if early else t + h), bool(event)
        if self.abilities.takes_courses and self._real_inputs:
            self._give_derivatives(h, courses)
        self._fmu.doStep(t, h, 0)
        return t + h, False

    def _give_derivatives(self, h: float, courses: Array) -> None:
        references = [self._in[k] for k in self._real_inputs]
        orders = [order for order in (1, 2, 3) if order == 1 or np.any(courses[self._real_inputs, order])]
        values = [
            float(courses[k, order]) * _FACTORIALS[order - 1] / h**order
            for order in orders
            for k in self._real_inputs
        ]
        self._fmu.setRealInputDerivatives(
            references * len(orders), [order for order in orders for _ in references], values
        )

    def settle(self, inputs: Array) -> None:
        self._called(lambda: self._settle(inputs))

    def _settle(self, inputs: Array) -> None:
        if self._fmi3 and self.description.coSimulation.hasEventMode:
            self._fmu.enterEventMode()
            self._set(inputs)
            self._update()
            self._fmu.enterStepMode()

    def save(self) -> Any:
        return self._called(self._fmu.getFMUState), self._t

    def restore(self, state: Any) -> None:
        self._called(lambda: self._fmu.setFMUState(state[0]))
        self._t = state[1]

    def free(self, state: Any) -> None:
        self._called(lambda: self._fmu.freeFMUState(state[0]))

    def gains(self) -> Array | None:
        """∂ outputs / ∂ inputs at the present time, shape (n_y, n_u); None without directional derivatives."""
        if not self.description.coSimulation.providesDirectionalDerivative:
            return None
        found = np.zeros((len(self.outputs), len(self.inputs)))
        rows = [self._out[k] for k in self._real_outputs]
        for k in self._real_inputs if rows else ():
            column = partial(self._fmu.getDirectionalDerivative, rows, [self._in[k]], [1.0])
            found[self._real_outputs, k] = self._called(column)
        return found

    def close(self) -> None:
        self._fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)
