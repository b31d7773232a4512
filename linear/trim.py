"""Trim: a steady state that the machine's inputs hold, and the values of these inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import analysis
from ..analysis.prepared import Prepared
from ..core.errors import DescriptionError
from ..core.trajectory import Array
from ..fmu.code.residuals import residual
from ..mechanism import signal_names
from ..runs.fmpy_runs.instance import Instance
from ..runs.fmpy_runs.states import State, signals
from .point import OperatingPoint, Plant

_ITERATIONS = 50  # steps after which a search without convergence is given up
_LONGEST = 0.3  # rad or m, of a step
_BALANCED = 1e-10  # of what the forces alone would do, m or rad of rows
_RANK = 1e-12  # singular values relative to the largest: along smaller ones no step is taken
_TINY = 1e-300  # rad or m, keeps a quotient finite


def trimmed(plant: Plant, near: State) -> OperatingPoint:
    """Rest near a state where no coordinate accelerates and the rows of positions hold.

    Free are the coordinates that find their equilibrium in `statics`, the dependent ones, and all inputs. Newton's
    method with the FMU's exact derivatives; where there are more unknowns than equations, by the smallest steps.
    Raises DescriptionError with the largest residual if no steady state is found.
    """
    model = plant.model
    free = _free(model, near)
    inputs = [entry.name for entry in model.native_program.inputs]
    # from their start values: a filter rests where its command is what it begins with
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


def _free(model: Prepared, near: State) -> list[int]:
    """Coordinates that may move: what drives hold by rows of the task must follow these, too."""
    following = [model.mechanism.coordinate_index(name) for name in model.dependent]
    return sorted({*analysis.free_coordinates(model.mechanism, near.q), *following})


def _balance(model: Prepared, instance: Instance, point: OperatingPoint) -> tuple[Array, Array]:
    """q̈ above Φ, shape (n + m,), and its derivatives by q and the inputs, shape (n + m, n + number of inputs)."""
    coordinates = model.mechanism.coordinates
    q, qdd = (signal_names(coordinates, level) for level in ("position", "acceleration"))
    states = {state.name: state.variable for state in model.native_program.states}
    instance.move(point.t, np.array([point.signals[name] for name in states]), point.inputs)
    rows = residual(model.native_program, "position", model.start_values(), point.t, point.signals)
    moving = instance.slopes(qdd, [*(states[name] for name in q), *point.inputs])
    fixed = np.hstack([rows.slopes[:, : len(q)], np.zeros((len(rows.values), len(point.inputs)))])
    return np.concatenate([instance.read(qdd), rows.values]), np.vstack([moving, fixed])


def _step(slopes: Array, left: Array) -> Array:
    """Weighted minimum-norm Newton step that zeroes the residual; each unknown is weighted by its effect."""
    sizes = np.linalg.norm(slopes, axis=0)
    sizes[sizes == 0.0] = 1.0
    return np.asarray(-np.linalg.lstsq(slopes / sizes, left, rcond=_RANK)[0] / sizes)


def _limits(model: Prepared, at: State) -> Array:
    """Largest residuals of `_balance` that count as zero, shape (n + m,)."""
    natural = analysis.natural_accelerations(model.problem, (at.t, at.q, 0.0 * at.q, at.z))
    return np.concatenate([_BALANCED * natural, np.full(len(model.rows), _BALANCED)])


def _unbalanced(model: Prepared, inputs: Sequence[str], worst: int, left: float) -> str:
    n, coordinates = model.mechanism.n, model.mechanism.coordinates
    what = model.rows[worst - n] if worst >= n else coordinates[worst].name
    unit = "" if worst >= n else f" {coordinates[worst].unit}/s2"
    return (
        f"no rest found in {_ITERATIONS} steps that {', '.join(inputs)} can hold: {left:.3g}{unit} are left of"
        f" {what};"
        " free further joints by [statics] locked, or give an input that acts on it"
    )
