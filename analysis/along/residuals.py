"""The constraint rows along a run: what each lacks, kept or left out, and where they cannot be solved for."""

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
    """m rows at N instants; m, rad or a row's own unit, and per second and second squared.

    time          shape (N,), s
    names         of the rows
    orders        shape (m,): 0 for rows of positions, 1 of velocities, 2 of accelerations
    position      shape (N, m), Φ; 0 for rows that have no position level
    velocity      shape (N, m), Φ̇; 0 for rows of accelerations
    acceleration  shape (N, m), C q̈ − γ, relative to γ where that is more than 1
    """

    time: Array
    names: tuple[str, ...]
    orders: NDArray[np.int_]
    position: Array
    velocity: Array
    acceleration: Array


def residuals(problem: InitialValueProblem, run: Trajectory) -> Residuals:
    """Residuals of a run's positions, velocities and accelerations at its output times.

    problem  equations that the run fulfils
    """
    mechanism, model = problem.mechanism, problem.model
    levels = ("position", "velocity", "acceleration")
    q, qd, qdd = (run.columns(signal_names(mechanism.coordinates, level)) for level in levels)
    shape, lags = (len(run.time), len(model.constraints.names)), model.filters.lags(run)
    position, velocity, acceleration = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for k, t in enumerate(run.time.tolist() if shape[1] else ()):
        rows = model.constraints(model.state(t, q[k], qd[k], lag=lags[k]))
        position[k], velocity[k] = rows.Phi, rows.Phi_dot
        acceleration[k] = (rows.C @ qdd[k] - rows.gamma) / np.maximum(1.0, np.abs(rows.gamma))
    rows_of = model.constraints
    return Residuals(run.time, rows_of.names, rows_of.orders, position, velocity, acceleration)


def singular_times(problem: InitialValueProblem, run: Trajectory, dependent: Sequence[str]) -> list[float]:
    """Times in a run, s, from which on det C_d has another sign: C_d of these dependent coordinates was singular.

    problem  equations that the run fulfils
    """
    mechanism, model, rows = problem.mechanism, problem.model, list(problem.rows.independent)
    partition = CoordinatePartition(mechanism, dependent_indices(mechanism, dependent, len(rows)), ())
    q, qd = (run.columns(signal_names(mechanism.coordinates, level)) for level in ("position", "velocity"))
    lags = model.filters.lags(run)
    states = (model.state(t, q[k], qd[k], lag=lags[k]) for k, t in enumerate(run.time.tolist()))
    sides = np.sign([partition.determinant(model.constraints(state).C[rows]) for state in states])
    return [float(t) for t in run.time[1:][sides[1:] * sides[:-1] < 0]]
