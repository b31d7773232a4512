"""Functional Mock-up Units (FMUs) in a coupled system, simulated with FMPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from ctypes import byref
from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi1 import FMICallException
from lxml import etree

from ..core.errors import DescriptionError, Problem, SolveError
from ..core.file_kinds import why
from ..core.trajectory import Array
from ..exchange.ssp.system import TYPES, unit_name
from ..runs.fmpy_runs.opening import logger, read_fmu
from . import courses as polynomials
from .fmi_calls import Derivatives, TypedVariables
from .participant import Abilities, ClaimFailed, PartFailed, PortSignal
from .units import PhysicalUnit, defined

_KINDS = {**TYPES, "Enumeration": "Integer"}
_PYTHON: dict[str, Callable[[Any], Any]] = {"Real": float, "Integer": round, "Boolean": bool, "String": str}
_TOLERANCE = "solver_tolerance"  # FMUs of gpmelica have this parameter for the relative tolerance of their solver.
# An FMU rejects a call with the status fmi2Discard, and accepts no further calls after the status fmi2Fatal.
_DISCARD, _FATAL = 2, 4
# The FMI 2.0 status kinds fmi2LastSuccessfulTime and fmi2Terminated have these numbers.
_LAST_TIME, _TERMINATED = 2, 3
_MOST_PASSES = 20  # At one event, an FMU may require at most this number of calls of fmi3UpdateDiscreteStates.


class FmuPart:
    """An FMU 2.0 or 3.0 for co-simulation in a coupled system.

    If a call of the FMU fails, SolveError is raised with the message that the FMU has logged.
    ClaimFailed is raised instead if the FMU declares the capability that the failed call needs.

    Parameters
    ----------
    name : name of the SSP element in the system
    fmu : path of the FMU
    folder : folder into which the FMU is unpacked
    parameters : start values to set, by variable name
    fatal : fatal errors by instantiation token. All instances of the system share this mapping,
        because FMI forbids further calls of an FMU's instances after a fatal error of one instance.
    changes : fields of `Abilities` that replace the capabilities in the FMU's model description
    """

    def __init__(
        self,
        name: str,
        fmu: Path,
        folder: Path,
        parameters: Mapping[str, Any] | None = None,
        fatal: dict[str, SolveError] | None = None,
        **changes: Any,
    ) -> None:
        self.name, self._fatal = name, {} if fatal is None else fatal
        self.description = read_fmu(fmu)
        if self.description.coSimulation is None or self.description.fmiVersion not in ("2.0", "3.0"):
            raise DescriptionError(
                str(fmu), "expected an FMU for co-simulation by FMI 2.0 or 3.0; export it again with co-simulation"
            )
        self._fmi3 = self.description.fmiVersion == "3.0"
        self._has_events = self._fmi3 and bool(self.description.coSimulation.hasEventMode)
        self._units = {
            u.name: defined(u.baseUnit) for u in self.description.unitDefinitions if u.baseUnit is not None
        }
        variables = [v for v in self.description.modelVariables if v.type in _KINDS and not v.dimensions]
        signals = [v for v in variables if _KINDS[v.type] != "String"]
        inputs, outputs = ([v for v in signals if v.causality == kind] for kind in ("input", "output"))
        self.inputs, self.outputs = tuple(map(self._signal, inputs)), tuple(map(self._signal, outputs))
        self._parameters = [*_checked_parameters(fmu, {v.name: v for v in variables}, parameters or {})]
        fmpy.extract(str(fmu), str(folder))
        self._folder, self.ended = folder, False
        self.abilities = replace(self._abilities(), **changes)
        self._messages: list[str] = []
        # After this error, the FMU receives no calls until it is instantiated again.
        self._broken: ClaimFailed | None = None
        # C code calls the intermediate update, so an error in the update is stored and raised after the step.
        self._refused: FMICallException | None = None
        self._course = np.zeros((len(self.inputs), 4))
        self._begin, self._length, self._t = 0.0, 1.0, 0.0
        discrete = [k for k, signal in enumerate(self.inputs) if self._has_events and signal.discrete]
        continuous = [k for k in range(len(inputs)) if k not in discrete]
        self._writes, self._event_writes = ([*self._accesses(inputs, k)] for k in (continuous, discrete))
        self._reads = [*self._accesses(outputs, range(len(outputs)))]
        self._discrete, self._held = np.array(discrete, dtype=np.intp), np.zeros(len(discrete))
        self._real_inputs = [k for k, s in enumerate(self.inputs) if s.kind == "Real"]
        self._real_outputs = [k for k, s in enumerate(self.outputs) if s.kind == "Real" and not s.discrete]
        self._in = [inputs[k].valueReference for k in self._real_inputs]
        out = [outputs[k].valueReference for k in self._real_outputs]
        self._acting = [*_directly_acting(self.description, [inputs[k].name for k in self._real_inputs])]
        self._derivatives = Derivatives(self._version, self._in, out)
        self._fmu: Any = None
        # An FMU that supports only equal communication steps receives this step length, s, in each step.
        self._equal: float | None = None
        self._new_instance()

    def _accesses(self, variables: Sequence[Any], chosen: Sequence[int]) -> Iterator[TypedVariables]:
        types = {k: self._type(variables[k]) for k in chosen}
        for name in dict.fromkeys(types.values()):
            places = [k for k, found in types.items() if found == name]
            references = [variables[k].valueReference for k in places]
            yield TypedVariables(self._version, name, _KINDS[variables[places[0]].type], places, references)

    @property
    def _token(self) -> str:
        """Instantiation token of the FMU, which is equal for all instances of an FMU."""
        return str(self.description.guid)

    @property
    def _version(self) -> int:
        return 3 if self._fmi3 else 2

    def _type(self, variable: Any) -> str:
        """Return the data type of a variable as it occurs in names of FMI functions."""
        if variable.type == "Enumeration":
            return "Int64" if self._fmi3 else "Integer"
        return str(variable.type)

    def _signal(self, variable: Any) -> PortSignal:
        unit = unit_name(variable) or ""
        kind = _KINDS[variable.type]
        start = {"true": 1.0, "false": 0.0}.get(str(variable.start).lower())
        value = float(variable.start or 0.0) if start is None else start
        discrete = variable.variability == "discrete" or kind != "Real"
        known: PhysicalUnit | None = self._units.get(unit)
        nominal = variable.nominal or getattr(variable.declaredType, "nominal", None)
        size = None if nominal is None else float(nominal)
        return PortSignal(variable.name, unit, value, discrete, known, kind, nominal=size)

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
            gives_gains=_gives_directional_derivatives(self._folder),
            memory=len(description.derivatives) > 0,
            period=None if period is None else float(period),
            step=None if cs.fixedInternalStepSize is None else float(cs.fixedInternalStepSize),
            returns_early=self._fmi3 and bool(cs.hasEventMode),
            tolerance=self._tolerance(),
            varies=bool(cs.canHandleVariableCommunicationStepSize),
        )

    def _tolerance(self) -> float | None:
        """Return the relative tolerance of the FMU's solver, or None if it is unknown.

        An FMU of gpmelica has a parameter for the tolerance. For any other FMU, the tolerance of the
        default experiment is returned.
        """
        given = [value for variable, value in self._parameters if variable.name == _TOLERANCE]
        own = [v.start for v in self.description.modelVariables if v.name == _TOLERANCE]
        experiment = getattr(self.description.defaultExperiment, "tolerance", None)
        found = next((value for value in (*given, *own, experiment) if value is not None), None)
        return None if found is None else float(found)

    def _new_instance(self) -> None:
        """Replace the FMU's instance by a new one, because not every FMU can be reset."""
        if self._token in self._fatal:
            raise self._fatal[self._token]
        self.close()
        self._broken = None
        more: dict[str, Any] = {}
        if self._fmi3:
            cs = self.description.coSimulation
            more = {"event_mode_used": bool(cs.hasEventMode), "early_return_allowed": bool(cs.hasEventMode)}
            if self.abilities.takes_courses:
                more["intermediate_update"] = self._answer
                more["required_intermediate_variables"] = self._in
        log = logger(self._messages)
        try:
            # If a shared library cannot be loaded, FMPy changes the working directory and does not restore it.
            with chdir("."):
                self._fmu = fmpy.instantiate_fmu(
                    str(self._folder), self.description, "CoSimulation", debug_logging=True, logger=log, **more
                )
        except Exception as error:
            self._check_platform()
            said = self._messages[-1] if self._messages else why(error)
            raise SolveError(f"{self.name}: the FMU cannot be instantiated: {said}") from None
        self._used, self._equal = False, None

    def _check_platform(self) -> None:
        platforms = fmpy.supported_platforms(str(self._folder))
        if fmpy.platform not in platforms:
            found = ", ".join(name for name in platforms if name != "c-code") or "none"
            text = f"expected a binary for {fmpy.platform}, found {found}; compile the FMU for this platform"
            raise DescriptionError(self.name, text)

    def _answer(self, environment: Any, time: float, requested: bool, *_: Any) -> None:
        """Set the inputs of an FMU 3.0 within a step if the FMU requests them in an intermediate update.

        An exception must not leave this function, because the FMU calls it from C.
        """
        if not requested or self._refused is not None:
            return
        s = (time - self._begin) / self._length
        values = self._course @ np.array([1.0, s, s * s, s**3])
        try:
            for access in self._writes:
                if access.kind == "Real":
                    access.write(self._fmu, values)
        except FMICallException as error:
            self._refused = error

    def _called(self, call: Callable[[], Any], claim: str = "", given: Array | Sequence[float] = ()) -> Any:
        """Return the result of an FMI call, and convert FMI errors to SolveError or PartFailed.

        Parameters
        ----------
        call : function without arguments that calls the FMU
        claim : field of `Abilities` with the capability that the call needs; empty if it needs none
        given : values that the call passes to the FMU; if one is not finite, the FMU may refuse the
            call
        """
        if failure := self._fatal.get(self._token) or self._broken:
            raise failure
        self._messages.clear()
        try:
            return call()
        except FMICallException as error:
            said = (self._messages[-1] if self._messages else str(error)).rstrip(".")
            where = f"{self.name} at t = {self._t:.9g} s"
            if error.status == _FATAL:
                self._fatal[self._token] = SolveError(f"{where}: {said}")
                raise self._fatal[self._token] from None
            if claim and np.isfinite(given).all():
                self._broken = ClaimFailed(self, claim, f"reports an error at t = {self._t:.9g} s: {said}")
            raise self._broken or PartFailed(f"{where}: {said}") from None
        # For example, Python raises one of these errors if NaN is rounded to an integer.
        except (OverflowError, ValueError) as error:
            raise PartFailed(f"{self.name} at t = {self._t:.9g} s: {error}") from None

    def start(self, t: float, inputs: Array) -> None:
        self._t, self.ended = t, False
        if self._used:
            self._new_instance()
        self._used = True
        self._called(lambda: self._start(t, inputs))

    def _start(self, t: float, inputs: Array) -> None:
        for variable, value in self._parameters:
            getattr(self._fmu, f"set{self._type(variable)}")([variable.valueReference], [value])
        if self._fmi3:
            self._fmu.enterInitializationMode(startTime=t)
        else:
            self._fmu.setupExperiment(startTime=t)
            self._fmu.enterInitializationMode()
        self._set(inputs)

    def try_inputs(self, inputs: Array) -> Array:
        self._called(lambda: self._set(inputs))
        return self.outputs_now()

    def begin(self) -> None:
        self._called(self._begin_steps)

    def _begin_steps(self) -> None:
        self._fmu.exitInitializationMode()
        if self._has_events:
            self._update()

    def _update(self) -> None:
        """Update the discrete states and enter Step Mode, unless the FMU asks to end the simulation."""
        for _ in range(_MOST_PASSES):
            needs_more, ends, *_rest = self._fmu.updateDiscreteStates()
            if ends:
                self.ended = True
                return
            if not needs_more:
                self._fmu.enterStepMode()
                return
        raise SolveError(
            f"{self.name} at t = {self._t:.9g} s: the discrete states still change after {_MOST_PASSES} updates at"
            " one event; correct the FMU"
        )

    def _set(self, inputs: Array) -> None:
        self._set_continuous(inputs)
        for access in self._event_writes:
            access.write(self._fmu, inputs)
        self._held = inputs[self._discrete]

    def _set_continuous(self, inputs: Array) -> None:
        for access in self._writes:
            access.write(self._fmu, inputs)

    def outputs_now(self) -> Array:
        return np.asarray(self._called(self._get))

    def _get(self) -> Array:
        found = np.zeros(len(self.outputs))
        for access in self._reads:
            access.read(self._fmu, found)
        return found

    def slopes_now(self, input_slopes: Array) -> Array:
        found = np.zeros(len(self.outputs))
        if self._real_outputs:
            found[self._real_outputs] = self._output_slopes(input_slopes)
        return found

    def _output_slopes(self, input_slopes: Array) -> Array:
        """Return the time derivatives of the real outputs for given time derivatives of all inputs.

        If the FMU provides directional derivatives, they give the contribution of the inputs.
        Otherwise, the FMU itself reports the derivatives.
        """
        rates = input_slopes[self._real_inputs]
        if not self.abilities.gives_gains or not rates.any():
            return self._own_slopes(rates)
        return self._own_slopes(np.zeros_like(rates)) + self._along(rates)

    def _own_slopes(self, rates: Array) -> Array:
        """Return the time derivatives of the real outputs as reported by the FMU.

        If an FMU 2.0 accepts time derivatives of inputs, the function first passes them to the FMU.
        """
        if not self._fmi3 and len(rates) and self.abilities.takes_courses:
            self._give(polynomials.linear(np.zeros_like(rates), rates), 1.0)
        return np.asarray(self._called(lambda: self._derivatives.of_outputs(self._fmu), "gives_slopes"))

    def _give(self, courses: Array, h: float) -> None:
        """Pass the time derivatives of the real inputs over a step of length h, s, to an FMU 2.0."""
        self._called(lambda: self._derivatives.give(self._fmu, courses, h), "takes_courses", courses)

    def _along(self, rates: Array) -> Array:
        """Return the first-order changes of the real outputs due to small changes of the real inputs."""
        return np.asarray(self._called(lambda: self._derivatives.along(self._fmu, rates), "gives_gains", rates))

    def advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        self._t = t
        reached, event = self._called(lambda: self._advance(t, h, courses))
        return float(reached), bool(event)

    def _advance(self, t: float, h: float, courses: Array) -> tuple[float, bool]:
        # Step lengths are differences of times, so rounding errors make equal steps differ in the last digit.
        if not self.abilities.varies:
            self._equal = self._equal if self._equal and abs(h / self._equal - 1.0) < 1e-9 else h
            h = self._equal
        self._course, self._begin, self._length = courses, t, h
        if np.array_equal(courses[self._discrete, 0], self._held):
            self._set_continuous(courses[:, 0])
        else:  # Discrete inputs of an FMU may change only in event mode.
            self._settle(courses[:, 0])
            if self.ended:
                return t, False
        if self._fmi3:
            return self._advance_fmi3(t, h)
        if self.abilities.takes_courses and self._real_inputs:
            self._give(courses[self._real_inputs], h)
        return self._advance_fmi2(t, h), False

    def _advance_fmi3(self, t: float, h: float) -> tuple[float, bool]:
        self._refused = None
        try:
            event, self.ended, early, reached = self._fmu.doStep(
                currentCommunicationPoint=t, communicationStepSize=h, noSetFMUStatePriorToCurrentPoint=False
            )
        except FMICallException:
            if self._refused is None:
                raise
        if self._refused is not None:
            if self._refused.status == _FATAL:
                raise self._refused
            raise ClaimFailed(self, "takes_courses", f"refuses inputs in an intermediate update: {self._refused}")
        return (reached if early or self.ended else t + h), bool(event)

    def _advance_fmi2(self, t: float, h: float) -> float:
        try:
            self._fmu.doStep(t, h, 0)
        except FMICallException as error:
            if error.status != _DISCARD or not self._status("Boolean", _TERMINATED):
                raise
            self.ended = True
            return float(self._status("Real", _LAST_TIME))
        return t + h

    def _status(self, kind: str, fact: int) -> Any:
        """Return a status value of the last step of an FMU 2.0, or 0 if the FMU does not report this value."""
        value = getattr(fmpy.fmi2, f"fmi2{kind}")()
        try:
            getattr(self._fmu, f"fmi2Get{kind}Status")(self._fmu.component, fact, byref(value))
        except FMICallException:
            return 0
        return value.value

    def settle(self, inputs: Array) -> None:
        self._called(lambda: self._settle(inputs))

    def _settle(self, inputs: Array) -> None:
        if self._has_events:
            self._fmu.enterEventMode()
            self._set(inputs)
            self._update()

    def save(self) -> Any:
        return self._called(self._fmu.getFMUState, "restores"), self._t, self._held

    def restore(self, state: Any) -> None:
        self._called(lambda: self._fmu.setFMUState(state[0]), "restores")
        _, self._t, self._held = state
        self.ended = False

    def free(self, state: Any) -> None:
        self._called(lambda: self._fmu.freeFMUState(state[0]), "restores")

    def gains(self) -> Array | None:
        """Return the present derivatives of the outputs with respect to the inputs, shape (n_y, n_u).

        The result is None if the FMU provides no directional derivatives, or if its outputs are not
        finite.
        """
        if not self.abilities.gives_gains:
            return None
        found = np.zeros((len(self.outputs), len(self.inputs)))
        for k in self._acting if self._real_outputs else ():
            found[self._real_outputs, self._real_inputs[k]] = self._along(np.arange(len(self._in)) == k)
        if not np.isfinite(found).all():
            if not np.isfinite(self.outputs_now()).all():
                return None
            raise ClaimFailed(self, "gives_gains", f"returns one that is not finite at t = {self._t:.9g} s")
        return found

    def close(self) -> None:
        fmu, self._fmu = self._fmu, None
        if fmu is not None and self._token not in self._fatal:
            fmu.freeInstance()


def _directly_acting(description: Any, inputs: Sequence[str]) -> Iterator[int]:
    """Yield the indices of inputs on which outputs depend directly, according to the model description."""
    known = [unknown.dependencies for unknown in description.outputs]
    names = {v.name for dependencies in known for v in dependencies or ()}
    yield from (k for k, name in enumerate(inputs) if name in names or None in known)


def _gives_directional_derivatives(folder: Path) -> bool:
    """Return whether an unpacked FMU provides directional derivatives in co-simulation.

    The model description is read here because FMPy reads this capability only for FMI 2.0.
    """
    parser = etree.XMLParser(resolve_entities=False, huge_tree=True)
    for node in etree.parse(folder / "modelDescription.xml", parser).getroot().iterfind("CoSimulation"):
        return "true" in (node.get("providesDirectionalDerivative"), node.get("providesDirectionalDerivatives"))
    return False


def _checked_parameters(
    fmu: Path, variables: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield each FMU variable that has a value in a parameter set, and its value in the variable's type."""
    unknown = [name for name in values if name not in variables]
    if unknown:
        text = f"has no variable {', '.join(unknown)} for a value in a parameter set; correct the parameter set"
        raise DescriptionError(str(fmu), text)
    for name, value in values.items():
        if variables[name].causality == "structuralParameter":
            text = "structural parameters are not supported; set the value in the program that exports the FMU"
            raise DescriptionError(str(fmu), [Problem(f"parameter {name}", text)])
        kind = _KINDS[variables[name].type]
        try:
            found = _PYTHON[kind](value)
        except (TypeError, ValueError, OverflowError):
            found = None
        if found is None or found != value:
            text = f"expected a value of the type {variables[name].type}, got {value!r}; correct the parameter set"
            raise DescriptionError(str(fmu), [Problem(f"parameter {name}", text)])
        yield variables[name], found
