"""Modes about the initial state from the reference solver, without a compiled FMU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.trajectory import Array
from ..mechanism import signal_names
from ..runs.fmpy_runs.states import State, further_states, signals
from .modes import Mode, balanced, free_coordinates, modes
from .tangent import residuals, tangent

# Central differences are assumed to have errors of this fraction of the largest derivative.
_DIFFERENCES = 1e-9
# Messages do not name coordinates whose mass-weighted amplitude is below this fraction of the largest one.
_LEAST = 0.05


@dataclass(frozen=True)
class InitialModes:
    """Modes about the initial state, lowest frequency first.

    Parameters
    ----------
    modes : sequence of Mode
        All modes of the mechanism.
    leading : sequence of str
        For each mode, the coordinate with the largest share of its kinetic energy.
    free : sequence of str
        Coordinates that move in rigid-body modes.
    """

    modes: Sequence[Mode]
    leading: Sequence[str]
    free: Sequence[str]


def initial_modes(model: System) -> InitialModes:
    """Return the modes of a mechanism about its initial state.

    The equations are linearised on the constraint manifold, as `linearized` does. Central differences of
    the reference solver's equations replace the derivatives of the FMU.

    Parameters
    ----------
    model : System
        Mechanism with its equations.

    Raises
    ------
    SolveError
        If the constraints cannot be solved for the dependent coordinates.
    """
    start = State(0.0, *model.start, np.array([*further_states(model).values()]))
    at, found = signals(model, start), analysis.rate_derivatives(model.problem)
    position, velocity = residuals(model, 0.0, at)
    base, names, n = tangent(model, position, velocity, len(at)), list(at), model.mechanism.n
    chosen, motion = list(base.independent), base.basis[:n]
    A = (found.by_state @ base.basis[list(found.states)])[chosen]
    coordinates = [c.name for c in model.mechanism.coordinates]
    rates = {*signal_names(model.mechanism.coordinates, "velocity")}
    states = {names[k]: names[k] in rates for k in chosen}
    A = balanced(A, motion, np.array([*states.values()], dtype=bool))
    each = modes(A, motion, coordinates, states, _DIFFERENCES)
    weights = np.sqrt(np.diag(model.problem.model.mass(model.problem.initial_state.posture)[0]))
    leading = [coordinates[int(np.argmax(weights * np.abs([*mode.shape.values()])))] for mode in each]
    return InitialModes(each, leading, _named(coordinates, weights * free_coordinates(A, motion, each)))


def _named(coordinates: Sequence[str], shares: Array) -> list[str]:
    least = _LEAST * shares.max(initial=0.0)
    return [name for name, share in zip(coordinates, shares, strict=True) if share > least]
