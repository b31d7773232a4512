"""Trim: search for a steady state near a given state, and for the inputs that maintain it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.errors import DescriptionError
from ..core.trajectory import Array
from ..fmu.code.residuals import residual
from ..mechanism import signal_names
from ..runs.fmpy_runs.instance import Instance
from ..runs.fmpy_runs.states import State, signals
from .held import moving_tasks
from .point import OperatingPoint, Plant

_ITERATIONS = 50  # The search for a steady state ends after this many Newton steps.
_LONGEST = 0.3  # A Newton step changes each coordinate by at most this value, rad or m.
# In a steady state, constraint residuals and scaled accelerations are at most this value.
# Accelerations in the search for a steady state are divided by their typical magnitudes.
_BALANCED = 1e-10
_RANK = 1e-12  # Singular values of the Jacobian below this fraction of the largest one count as zero.
_TINY = 1e-300  # A denominator is at least this value, rad or m, which prevents division by zero.


def trimmed(plant: Plant, near: State) -> OperatingPoint:
    """Return a steady state near a given state, with the inputs that maintain it.

    The unknowns are the coordinates that `statics` may change, the dependent coordinates, and all
    inputs. In the steady state, no coordinate accelerates, and the position constraints are fulfilled.
    Newton's method uses the exact derivatives of the FMU. If there are more unknowns than equations,
    its steps have minimum norm.

    Parameters
    ----------
    plant : Plant
        FMU of the mechanism, compiled from generated C code.
    near : State
        Initial guess.

    Raises
    ------
    DescriptionError
        If no steady state is found; the message gives the largest residual.
    """
    model = plant.model
    free = _free(model, near)
    inputs = [entry.name for entry in model.native_program.inputs]
    # The search begins at the initial values of the inputs, for which the input filters are at rest.
    u = np.array([entry.start for entry in model.native_program.inputs], dtype=float)
    q, limits = near.q.copy(), _limits(model, near)
    with Instance(plant.fmu, plant.parameters) as instance:
        for _ in range(_ITERATIONS):
            at = signals(model, State(near.t, q, 0.0 * q, near.z))
            point = OperatingPoint(near.t, at, dict(zip(inputs, u.tolist(), strict=True)))
            left, slopes = _balance(model, instance, point)
            if np.all(np.abs(left) <= limits):
                return point
            step = _step(slopes[:, [*free, *range(len(q), slopes.shape[1])]], left)
            step *= min(1.0, _LONGEST / max(np.abs(step[: len(free)]).max(initial=0.0), _TINY))
            q[free] += step[: len(free)]
            u += step[len(free) :]
    worst = int(np.argmax(np.abs(left) / limits))
    raise DescriptionError("trim", _unbalanced(model, inputs, worst, float(left[worst])))


def _free(model: System, near: State) -> list[int]:
    """Return the indices of the coordinates that the search for a steady state may change.

    The result contains the free coordinates of the static equilibrium, and the dependent coordinates.
    """
    following = [model.mechanism.coordinate_index(name) for name in model.dependent]
    return sorted({*analysis.free_coordinates(model.mechanism, near.q), *following})


def _balance(model: System, instance: Instance, point: OperatingPoint) -> tuple[Array, Array]:
    """Return the residual (q̈, Φ) of the steady state, shape (n + m,), and the residual's derivatives.

    The derivatives with respect to q and the inputs have the shape (n + m, n + number of inputs).
    """
    coordinates = model.mechanism.coordinates
    q, qdd = (signal_names(coordinates, level) for level in ("position", "acceleration"))
    states = {state.name: state.variable for state in model.native_program.states}
    instance.move(point.t, np.array([point.signals[name] for name in states]), point.inputs)
    rows = residual(model.native_program, "position", model.start_values(), point.t, point.signals)
    moving = instance.slopes(qdd, [*(states[name] for name in q), *point.inputs])
    fixed = np.hstack([rows.slopes[:, : len(q)], np.zeros((len(rows.values), len(point.inputs)))])
    return np.concatenate([instance.read(qdd), rows.values]), np.vstack([moving, fixed])


def _step(slopes: Array, left: Array) -> Array:
    """Return the Newton step of minimum weighted norm that makes the linearised residual zero.

    Each unknown is weighted by its effect on the residual.
    """
    sizes = np.linalg.norm(slopes, axis=0)
    sizes[sizes == 0.0] = 1.0
    return np.asarray(-np.linalg.lstsq(slopes / sizes, left, rcond=_RANK)[0] / sizes)


def _limits(model: System, at: State) -> Array:
    """Return the largest residuals (q̈, Φ) that count as zero in a steady state, shape (n + m,)."""
    natural = analysis.natural_accelerations(model.problem, (at.t, at.q, 0.0 * at.q, at.z))
    return np.concatenate([_BALANCED * natural, np.full(len(model.rows), _BALANCED)])


def _unbalanced(model: System, inputs: Sequence[str], worst: int, left: float) -> str:
    n, coordinates = model.mechanism.n, model.mechanism.coordinates
    what = model.rows[worst - n] if worst >= n else coordinates[worst].name
    unit = "" if worst >= n else f" {coordinates[worst].unit}/s2"
    remedy = f"unlock joints in statics.locked, or add an input that acts on {what}"
    if moving := moving_tasks(model.chain):
        text = f"the programmed constraints {', '.join(moving)} depend on time and may exclude a steady state"
        remedy = f"{text}; remove them by a case, or {remedy}"
    return (
        f"no steady state found in {_ITERATIONS} steps with the inputs {', '.join(inputs)}: the residual of"
        f" {what} is {left:.3g}{unit}; {remedy}"
    )
