"""Notes that state numerical limits within which a linear model is valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.errors import SolveError
from ..core.trajectory import Array
from ..fmu.code.residuals import Residual
from ..mechanism import signal_names
from ..runs.fmpy_runs.states import further_states
from .modes import scales
from .point import OperatingPoint
from .state_space import StateSpace

_STILL = 1e-6  # A rate counts as zero if it is at most this fraction of its typical magnitude.
# Lower limit of the typical time derivative of a state: the change if all scaled states change by this value.
_MOVED = 1e-6
_SHOWN = 3  # A note lists at most this many signals.
_TINY = 1e-300  # A denominator is at least this value, which prevents division by zero.


def refuse_other_rank(model: System, point: OperatingPoint) -> None:
    """Raise SolveError if the constraints have different ranks at the operating point and in the initial state.

    The operating point is then a singular configuration, about which no linear model exists.
    """
    if not model.rows:
        return
    found = model.problem.rank_at(point.t, *_coordinates(model, point))
    if found.rank != model.solvability.rank:
        raise SolveError(
            f"there is no linear model at t = {point.t:.9g} s: the constraint equations have rank {found.rank}"
            f" there and {model.solvability.rank} initially; their smallest singular value above the tolerance is"
            f" {found.smallest:.2g}, and the largest one below the tolerance is {found.largest:.2g}. The"
            " configuration is singular: choose another state"
        )


def noted(
    space: StateSpace,
    model: System,
    point: OperatingPoint,
    rows: tuple[Residual, Residual],
    by_time: Array,
) -> StateSpace:
    """Return the linear model with notes on the limits of its validity.

    Parameters
    ----------
    space : StateSpace
        Linear model.
    model : System
        Mechanism with its equations.
    point : OperatingPoint
        Operating point.
    rows : tuple of Residual
        Constraint residuals at position and velocity level.
    by_time : ndarray, shape (k,)
        Right-hand partial time derivative ∂ẋ/∂t of the states on the constraint manifold, per s.
    """
    natural = _natural(space, model, point)
    return replace(
        space,
        notes=(
            *_violations(model, rows),
            *_samples(model),
            *_changes(space, space.drift, natural, _DRIFT, 1),
            *_changes(space, by_time, natural, _TIME, 2),
        ),
    )


_DRIFT = (
    "not an equilibrium: the states change by {changes}; the model describes deviations from the motion"
    " through this"
    " state, δẋ = A δx + B δu at this instant, and its modes are those of the mechanism with frozen coefficients"
)
_TIME = (
    "the equations depend on time explicitly: ∂ẋ/∂t is {changes}; A, B, C and D are valid at t = {t:.9g} s only"
)


def _violations(model: System, rows: tuple[Residual, Residual]) -> Iterator[str]:
    limit = model.chain.simulation.violation
    off = [
        f"{model.rows[i]} by {abs(float(level.values[i])):.3g}{per}"
        for level, per in zip(rows, ("", " per s"), strict=True)
        for i in range(len(level.values))
        if not abs(level.values[i]) <= limit
    ]
    if off:
        yield (
            f"the state violates constraints, {_some(off)}: the model describes motions with constant"
            " violation, and constraint stabilisation moves the mechanism away from this state"
        )


def _samples(model: System) -> Iterator[str]:
    sampled = [element.name for element in model.mechanism.elements if element.period is not None]
    if sampled:
        yield (
            f"sampled controllers hold their outputs, {_some(sampled)}: the model describes the motion between"
            " two samples"
        )


def _changes(space: StateSpace, rates: Array, natural: Array, text: str, order: int) -> Iterator[str]:
    """Yield one note that lists the most significant rates; yield no note if no rate is significant.

    A rate is significant if it exceeds a millionth of the corresponding magnitude in `natural`. Rates
    and magnitudes have the shape (k,).
    """
    ratios = np.abs(rates) / np.maximum(natural, _TINY)
    large = [k for k in np.argsort(-ratios, kind="stable").tolist() if ratios[k] > _STILL]
    if large:
        named = [
            f"{rates[k]:.3g} {_per_second(space.units[space.states[k]], order)} ({space.states[k]})" for k in large
        ]
        yield text.format(changes=_some(named), t=space.time)


def _per_second(unit: str, order: int) -> str:
    """Return the unit of a time derivative, such as `rad/s2` for the first derivative of a value in `rad/s`."""
    base = unit.removesuffix("/s")
    power = order + (base != unit)
    return f"{base}/s{power if power > 1 else ''}"


def _natural(space: StateSpace, model: System, point: OperatingPoint) -> Array:
    """Return a reference magnitude for the time derivative of each state, shape (k,).

    Time derivatives below a millionth of these magnitudes count as zero. For coordinates and
    velocities, the magnitude is the change per second that would result if no forces cancelled each
    other (see `analysis.natural_accelerations`). For states of filters and controllers, the magnitude is
    estimated: each state of the model is changed by its scale, and the absolute changes of the time
    derivative are added.
    """
    coordinates = model.mechanism.coordinates
    bristles = [k for k, c in enumerate(coordinates) if c.friction is not None]
    further = further_states(model)
    z = np.array([point.signals.get(name, start) for name, start in further.items()])
    at = (point.t, *_coordinates(model, point), z)
    sizes = analysis.natural_accelerations(model.with_inputs(point.inputs), at)
    names = [name for level in ("position", "velocity") for name in signal_names(coordinates, level)]
    # Only coordinates have natural accelerations; for states of filters and controllers, the entry is 0.
    internal = np.zeros(len(further) - len(bristles))
    known = dict(zip([*names, *further], [*sizes, *sizes, *sizes[bristles], *internal], strict=True))
    found = np.array([known[name] for name in space.states])
    change = np.where([name in further for name in space.states], 1.0, _MOVED)
    # The lower bound keeps rounding errors from counting as accelerations if no force acts on a coordinate.
    return np.asarray(np.maximum(found, change * np.abs(space.A) @ _scales(space)))


def _scales(space: StateSpace) -> Array:
    rates = np.array([space.units[name].endswith("/s") for name in space.states], dtype=bool)
    return scales(space.A, space.motion, rates)


def _coordinates(model: System, point: OperatingPoint) -> tuple[Array, Array]:
    """Return q and q̇, shape (n,) each.

    Rates that are not states are set to 0, because they follow from the independent rates.
    """
    names = (signal_names(model.mechanism.coordinates, level) for level in ("position", "velocity"))
    q, qd = (np.array([point.signals.get(name, 0.0) for name in level]) for level in names)
    return q, qd


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - _SHOWN
    return ", ".join([*texts[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])
