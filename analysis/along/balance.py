"""Energies, powers and forces of a mechanism, at one state and along a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.trajectory import Array, Trajectory
from ...mechanism import signal_names
from ...reference.forces.element import ForceArrow
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import Evaluation, ReferenceModel
from ...reference.solve.solver import InitialValueProblem


@dataclass(frozen=True)
class Energy:
    """Energies, J, and powers, W, of a mechanism at one state.

    The energy balance is d(kinetic + potential)/dt = applied − dissipated − friction + P. The term P is
    the power of the constraint forces.

    Parameters
    ----------
    kinetic : float
        Kinetic energy ½ q̇ᵀ M q̇.
    potential : float
        Potential energy of gravity (zero at the world origin), supports, springs and spring-damper
        closures.
    dissipated : float
        Power dissipated by dampers, ≥ 0.
    friction : float
        Power absorbed by joint friction; negative while the friction bristles release stored energy.
    applied : float
        Power of applied forces, including the power supplied by prescribed changes of unstretched
        spring lengths.
    """

    kinetic: float
    potential: float
    dissipated: float
    friction: float
    applied: float

    @property
    def total(self) -> float:
        """Sum of kinetic and potential energy, J."""
        return self.kinetic + self.potential


def energy(
    problem: InitialValueProblem, t: float, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None
) -> Energy:
    """Return the energies and powers of a mechanism at one state.

    The power of the constraint forces is not included. Compute this power as `Evaluation.effort @ qd`.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of the mechanism.
    t : float
        Time, s.
    q, qd : array_like, shape (n,)
        Coordinates, rad or m, and rates, rad/s or m/s.
    z : array_like, shape (f + s,), optional
        Friction states, then internal states of filters and controllers; by default their initial values.

    Raises
    ------
    SolveError
        If the mechanism has friction and the accelerations cannot be determined.
    """
    model, rate = problem.model, np.asarray(qd, dtype=float)
    bristles, lag = model.further(None if z is None else np.asarray(z, dtype=float))
    state = model.state(t, np.asarray(q, dtype=float), rate, lag=lag)
    forces, friction = model.forces(state), 0.0
    if model.friction.coordinates:
        friction = -float(model.evaluate(state, problem.form, bristles).friction @ rate)
    return Energy(
        kinetic=0.5 * float(rate @ model.mass(state.posture)[0] @ rate),
        potential=model.forces.potential(state),
        dissipated=-float(forces.dissipative @ rate),
        friction=friction,
        applied=float(forces.applied @ rate) + forces.driven,
    )


@dataclass(frozen=True)
class EnergyHistory:
    """Energies, forces and powers at N instants of a run.

    Parameters
    ----------
    time : ndarray, shape (N,)
        Instants, s.
    kinetic, potential : ndarray, shape (N,)
        Energies, J, as defined by `Energy`.
    marks : tuple of ForceArrow
        Arrows that depict the forces and moments of the force elements.
    acting : ndarray, shape (N, marks, 3)
        Force, N, or moment, N·m, at point a of each arrow, in world axes.
    power : mapping
        Power of each force element on the mechanism, shape (N,), W, by names such as `line rope`,
        `contact deck` and `springs of boom`; negative if the element absorbs energy. The bristle
        friction of joints is not included; see `friction_powers`.
    """

    time: Array
    kinetic: Array
    potential: Array
    marks: tuple[ForceArrow, ...]
    acting: Array
    power: Mapping[str, Array]


def course(problem: InitialValueProblem, run: Trajectory, most: int = 1000) -> EnergyHistory:
    """Return energies, forces and powers along a run.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the run.
    run : Trajectory
        Simulation result, which must contain all coordinates and rates.
    most : int
        Maximum number of instants. These instants are output times at approximately equal intervals.
    """
    model = problem.model
    taken = _taken(run, most)
    states = _states(model, run, taken)
    powers = [model.forces.powers(state) for state in states]
    return EnergyHistory(
        time=run.time[taken],
        kinetic=np.array([0.5 * s.qd @ model.mass(s.posture)[0] @ s.qd for s in states]),
        potential=np.array([model.forces.potential(state) for state in states]),
        marks=model.forces.marks,
        acting=np.array([model.forces.acting(state) for state in states]),
        power={name: np.array([values[name] for values in powers]) for name in powers[0]},
    )


def friction_powers(problem: InitialValueProblem, run: Trajectory) -> dict[str, Array]:
    """Return the power of the bristle friction in each joint along a run.

    If the run contains no bristle deflection for a joint, the deflection is assumed to be zero.

    Returns
    -------
    dict
        Power, shape (N,), W, by names such as `friction of boom`.

    Raises
    ------
    SolveError
        If the joint reactions that determine the friction cannot be computed.
    """
    model, coordinates = problem.model, problem.mechanism.coordinates
    rubbing = model.friction.coordinates
    if not rubbing:
        return {}
    found = evaluations(problem, run)
    given = [evaluation.friction * state.qd for state, evaluation in found]
    return {f"friction of {coordinates[k].owner}": np.array(given)[:, k] for k in rubbing}


def evaluations(
    problem: InitialValueProblem, run: Trajectory, most: int | None = None
) -> Iterator[tuple[KinematicState, Evaluation]]:
    """Yield a run's state and the results of the equations of motion at selected output times.

    If the run contains no bristle deflection for a joint, the deflection is assumed to be zero.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the run.
    run : Trajectory
        Simulation result.
    most : int, optional
        Maximum number of selected output times. These are at approximately equal intervals. By default,
        all output times are selected.

    Raises
    ------
    SolveError
        If the joint reactions that determine the friction cannot be computed.
    """
    model, coordinates, taken = problem.model, problem.mechanism.coordinates, _taken(run, most)
    names = signal_names([coordinates[k] for k in model.friction.coordinates], "bristle")
    none = np.zeros(len(run.time))
    z = np.array([run.signals.get(name, none)[taken] for name in names]).reshape(len(names), len(taken)).T
    for state, bristles in zip(_states(model, run, taken), z, strict=True):
        yield state, model.evaluate(state, problem.form, bristles)


def _taken(run: Trajectory, most: int | None) -> NDArray[np.int_]:
    """Return the indices of at most `most` output times, at approximately equal intervals."""
    count = len(run.time)
    return np.unique(np.linspace(0, count - 1, min(most or count, count)).astype(int))


def _states(model: ReferenceModel, run: Trajectory, taken: NDArray[np.int_]) -> list[KinematicState]:
    q, qd = (run.columns(signal_names(model.mechanism.coordinates, x))[taken] for x in ("position", "velocity"))
    lags = model.internal.lags(run)[taken]
    return [
        model.state(float(t), at, rate, lag=lag)
        for t, at, rate, lag in zip(run.time[taken], q, qd, lags, strict=True)
    ]
