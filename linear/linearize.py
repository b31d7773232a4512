"""Linear model of a mechanism about one state, from the exact derivatives of its FMU.

With constraints, the equations have more states x than independent coordinates and rates.
Constraint stabilisation also adds poles. The linear model is therefore restricted to the constraint
manifold, on which δx = T δξ with independent coordinates and rates ξ. With the FMU's equations ẋ =
f(x, u) and the selection matrix S, ξ̇ = S f(x, u). Thus A = S f_x T and B = S f_u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..analysis.system import System
from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from ..fmu.backends import native
from ..generator.program.program import EquationSystem
from ..language.suggest import several, unknown
from ..mechanism import signal_names
from ..options.linear import LinearizeOptions
from ..runs.fmpy_runs.inputs import InputTable, inputs_of
from ..runs.fmpy_runs.instance import Instance
from ..runs.fmpy_runs.states import State
from . import caveats
from .held import motions_held, notes_on_choice
from .point import OperatingPoint, Plant, checked, operating_point
from .state_space import StateSpace
from .tangent import Tangent, residuals, shortly_after, tangent
from .trim import trimmed


def linearize(model: System, options: LinearizeOptions) -> StateSpace:
    """Compile the model's FMU, find the operating point, and linearise the equations there.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    options : LinearizeOptions
        Operating point, inputs and outputs.

    Raises
    ------
    DescriptionError
        For an invalid state.
    SolveError
        If the equations have no solution.
    """
    at, inputs = checked(model, options), inputs_of(model, options.inputs)
    wanted = _known(model, options.outputs)
    with TemporaryDirectory() as folder:
        options.progress("compiling the FMU", 0.0)
        held = motions_held(model) if options.trim else model
        plant = Plant(held, native.build_bare(held, Path(folder)))
        options.progress("linearising", 0.0)
        point = chosen_point(plant, at, inputs, trim=options.trim)
        space = linearized(plant, point, full=options.full).select(outputs=wanted)
        return notes_on_choice(model, space, options)


def chosen_point(plant: Plant, at: State | float, inputs: InputTable | None, *, trim: bool) -> OperatingPoint:
    """Return the operating point of an FMU that is compiled from generated C code (native FMU).

    Parameters
    ----------
    plant : Plant
        Native FMU of the mechanism.
    at : State or float
        State, or time at which the state is taken from a run of the FMU, s.
    inputs : InputTable or None
        Inputs over time.
    trim : bool
        Whether to search for a nearby steady state and for the inputs that maintain it.
    """
    return trimmed(plant, at) if trim and isinstance(at, State) else operating_point(plant, at, inputs)


def linearized(plant: Plant, point: OperatingPoint, *, full: bool = False) -> StateSpace:
    """Linearise an FMU that is compiled from generated C code (native FMU) at an operating point.

    With `full`, the states are those of the equations (see `LinearizeOptions`).
    """
    model = plant.model
    caveats.refuse_other_rank(model, point)
    found = _derivatives(plant, point)
    names = found.names
    whole = OperatingPoint(point.t, dict(zip(names, found.values.tolist(), strict=True)), point.inputs)
    rows = residuals(model, point.t, whole.signals)
    base = _all(model.native_program, names) if full else tangent(model, *rows, len(names))
    inner = [names.index(state.name) for state in model.native_program.states]
    along, chosen = base.basis[inner], list(base.independent)
    by_state, by_time = found.by_state @ along, found.by_time + found.by_state @ base.drift[inner]
    w = len(names)
    space = StateSpace(
        A=by_state[chosen],
        B=found.by_input[chosen],
        C=by_state[w:],
        D=found.by_input[w:],
        states=tuple(names[k] for k in chosen),
        inputs=tuple(point.inputs),
        outputs=found.outputs,
        time=point.t,
        x=found.values[chosen],
        u=np.array(list(point.inputs.values()), dtype=float),
        y=found.rates[w:],
        drift=found.rates[chosen],
        coordinates=tuple(coordinate.name for coordinate in model.mechanism.coordinates),
        q=found.values[: model.mechanism.n],
        motion=base.basis[: model.mechanism.n],
        units=_units(model.native_program, found.outputs),
    )
    return caveats.noted(space, model, whole, rows, by_time[chosen])


@dataclass(frozen=True)
class _Derivatives:
    """Values and derivatives of the FMU at an operating point.

    The vector w contains the coordinates q, the rates q̇ and all further states; the FMU computes their
    time derivatives. The vector r = (ẇ, outputs) contains these time derivatives, followed by p outputs.

    Parameters
    ----------
    names : tuple of str
        Names of the elements of w.
    outputs : tuple of str
        Names of the p outputs.
    values, rates : ndarray
        Values of w and r.
    by_state, by_input : ndarray, shapes (len(r), n_x) and (len(r), m)
        Partial derivatives of r with respect to states and inputs.
    by_time : ndarray, shape (len(r),)
        Right-hand partial time derivative of r, per s.
    """

    names: tuple[str, ...]
    outputs: tuple[str, ...]
    values: Array
    rates: Array
    by_state: Array
    by_input: Array
    by_time: Array


def _derivatives(plant: Plant, point: OperatingPoint) -> _Derivatives:
    model = plant.model
    program, rates, outputs = model.native_program, _rates(model), _outputs(model)
    states, asked = [state.variable for state in program.states], [*rates.values(), *outputs]
    with Instance(plant.fmu, plant.parameters) as instance:
        x = np.array([point.signals[state.name] for state in program.states])
        instance.move(point.t, x, point.inputs)
        values, there = instance.read(list(rates)), instance.read(asked)
        by_state, by_input = np.split(instance.slopes(asked, [*states, *point.inputs]), [len(states)], axis=1)
        instance.move(shortly_after(point.t), x, point.inputs)
        by_time = instance.slopes(asked, ["time"])
    return _Derivatives(tuple(rates), outputs, values, there, by_state, by_input, by_time[:, 0])


def _outputs(model: System) -> tuple[str, ...]:
    """Return the names of all outputs except violation norms, which are not differentiable at zero."""
    return tuple(o.name for o in model.native_program.outputs if o.signal.quantity != "violation")


def _known(model: System, outputs: str | Sequence[str] | None) -> Sequence[str]:
    """Return the requested outputs, or all outputs if none are requested.

    Raises
    ------
    DescriptionError
        If a name is unknown.
    """
    there = _outputs(model)
    wanted = there if outputs is None else several(outputs)
    missing = [Problem("", unknown("output", name, there)) for name in wanted if name not in there]
    if missing:
        raise DescriptionError("outputs", missing)
    return wanted


def _rates(model: System) -> dict[str, str]:
    """Return the FMU variable that is the time derivative of each coordinate, rate and further state."""
    coordinates, own = model.mechanism.coordinates, ("position", "velocity")
    q, qd, qdd = (signal_names(coordinates, level) for level in (*own, "acceleration"))
    others = [state for state in model.native_program.states if state.signal.quantity not in own]
    known = {state.name: f"der({state.variable})" for state in others}
    return {**dict(zip(q, qd, strict=True)), **dict(zip(qd, qdd, strict=True)), **known}


def _all(program: EquationSystem, names: tuple[str, ...]) -> Tangent:
    """Return the tangent space of a mechanism without constraints: all states are independent."""
    chosen = [names.index(state.name) for state in program.states]
    basis = np.zeros((len(names), len(chosen)))
    basis[chosen] = np.eye(len(chosen))
    return Tangent(tuple(chosen), basis, np.zeros(len(names)))


def _units(program: EquationSystem, outputs: tuple[str, ...]) -> dict[str, str]:
    known = {output.name: output.unit or "" for output in program.outputs}
    return {**{name: known[name] for name in outputs}, **{entry.name: entry.unit for entry in program.inputs}}
