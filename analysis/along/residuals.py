"""Residuals of all constraint equations along a run, and times at which the coordinate partition is
singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.trajectory import Array, Trajectory
from ...mechanism import signal_names
from ...reference.solve.gpme import CoordinatePartition, dependent_indices
from ...reference.solve.solver import InitialValueProblem


@dataclass(frozen=True)
class Residuals:
    """Residuals of m constraint equations at N instants.

    A position residual is in m, in rad, or in the unit of the equation's expression. Velocity and
    acceleration residuals are in this unit per s and per s².

    Parameters
    ----------
    time : ndarray, shape (N,)
        Instants, s.
    names : tuple of str
        Names of the constraint equations.
    orders : ndarray, shape (m,)
        Level of each equation: 0 for positions, 1 for velocities, 2 for accelerations.
    position : ndarray, shape (N, m)
        Φ; 0 for equations without a position level.
    velocity : ndarray, shape (N, m)
        Φ̇; 0 for acceleration-level equations.
    acceleration : ndarray, shape (N, m)
        C q̈ − γ; divided by |γ| if |γ| exceeds 1.
    """

    time: Array
    names: tuple[str, ...]
    orders: NDArray[np.int_]
    position: Array
    velocity: Array
    acceleration: Array


def residuals(problem: InitialValueProblem, run: Trajectory) -> Residuals:
    """Return the constraint residuals of a run at its output times.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the run.
    run : Trajectory
        Simulation result with all coordinates, rates and accelerations.
    """
    mechanism, model = problem.mechanism, problem.model
    levels = ("position", "velocity", "acceleration")
    q, qd, qdd = (run.columns(signal_names(mechanism.coordinates, level)) for level in levels)
    shape, lags = (len(run.time), len(model.constraints.names)), model.internal.lags(run)
    position, velocity, acceleration = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for k, t in enumerate(run.time.tolist() if shape[1] else ()):
        rows = model.constraints(model.state(t, q[k], qd[k], lag=lags[k]))
        position[k], velocity[k] = rows.Phi, rows.Phi_dot
        acceleration[k] = (rows.C @ qdd[k] - rows.gamma) / np.maximum(1.0, np.abs(rows.gamma))
    rows_of = model.constraints
    return Residuals(run.time, rows_of.names, rows_of.orders, position, velocity, acceleration)


def singular_times(problem: InitialValueProblem, run: Trajectory, dependent: Sequence[str]) -> list[float]:
    """Return each output time, s, at which the sign of det C_d differs from the sign at the previous output time.

    Between the two times, the Jacobian C_d of the dependent coordinates was singular.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the run.
    run : Trajectory
        Simulation result.
    dependent : sequence of str
        Names of the dependent coordinates.
    """
    mechanism, model, rows = problem.mechanism, problem.model, list(problem.rows.independent)
    partition = CoordinatePartition(mechanism, dependent_indices(mechanism, dependent, len(rows)), ())
    q, qd = (run.columns(signal_names(mechanism.coordinates, level)) for level in ("position", "velocity"))
    lags = model.internal.lags(run)
    states = (model.state(t, q[k], qd[k], lag=lags[k]) for k, t in enumerate(run.time.tolist()))
    sides = np.sign([partition.determinant(model.constraints(state).C[rows]) for state in states])
    return [float(t) for t in run.time[1:][sides[1:] * sides[:-1] < 0]]
