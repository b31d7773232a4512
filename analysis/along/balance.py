"""Energy and power, for balances that hold whatever the equations' form; and forces along a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.trajectory import Array, Trajectory
from ...mechanism import signal_names
from ...reference.forces.element import ForceArrow
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import ReferenceModel
from ...reference.solve.solver import InitialValueProblem


@dataclass(frozen=True)
class Energy:
    """Energies in J and powers in W: d(kinetic + potential)/dt = applied − dissipated − friction + constraints.

    kinetic      ½ q̇ᵀ M q̇
    potential    of gravity (zero at the world origin), supports, springs and spring-damper closures
    dissipated   power that the dampers take, ≥ 0
    friction     power that joint friction takes; negative while its bristles give back what they have stored
    applied      power of the applied forces, and of what moves springs' lengths at rest
    """

    kinetic: float
    potential: float
    dissipated: float
    friction: float
    applied: float

    @property
    def total(self) -> float:
        """Kinetic and potential energy, J."""
        return self.kinetic + self.potential


def energy(
    problem: InitialValueProblem, t: float, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None
) -> Energy:
    """Energy and power at t, s, q and qd, shape (n,), rad or m (per s), and z, shape (f + 2k,), see `evaluate`.

    The power of the constraints, which is not part of it, is `Evaluation.effort` @ qd.
    Raises SolveError if the mechanism has friction, which depends on q̈, and q̈ cannot be found.
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
    """Energies and forces along a run, N instants of it.

    time        shape (N,), s
    kinetic     shape (N,), J
    potential   shape (N,), J, see `Energy`
    marks       how the force elements are shown
    acting      shape (N, marks, 3), force at each mark's place a, world axes, N, or N·m where it is a moment
    power       shape (N,) each, W: what force elements give to the mechanism, negative where they take, by what
                they are: `line rope`, `contact deck`, `springs of boom`; not of joint friction with bristles
    """

    time: Array
    kinetic: Array
    potential: Array
    marks: tuple[ForceArrow, ...]
    acting: Array
    power: Mapping[str, Array]


def course(problem: InitialValueProblem, run: Trajectory, most: int = 1000) -> EnergyHistory:
    """Energies and forces of a run with all coordinates and rates among its signals.

    problem  equations that the run fulfils
    most     instants, evenly taken from the run's
    """
    model = problem.model
    taken = np.unique(np.linspace(0, len(run.time) - 1, min(most, len(run.time))).astype(int))
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
    """Return the power of joint friction with bristles along a run, shape (N,) each, W, by joint.

    As for `course`; bristles that the run does not tell are undeformed. Raises SolveError where loads that the
    friction follows cannot be found.
    """
    model, coordinates = problem.model, problem.mechanism.coordinates
    rubbing = model.friction.coordinates
    if not rubbing:
        return {}
    form, none = problem.form, np.zeros(len(run.time))
    names = signal_names([coordinates[k] for k in rubbing], "bristle")
    z = np.column_stack([run.signals.get(name, none) for name in names])
    states = _states(model, run, np.arange(len(run.time)))
    given = [model.evaluate(state, form, at).friction * state.qd for state, at in zip(states, z, strict=True)]
    return {f"friction of {coordinates[k].owner}": np.array(given)[:, k] for k in rubbing}


def _states(model: ReferenceModel, run: Trajectory, taken: NDArray[np.int_]) -> list[KinematicState]:
    q, qd = (run.columns(signal_names(model.mechanism.coordinates, x))[taken] for x in ("position", "velocity"))
    lags = model.filters.lags(run)[taken]
    return [
        model.state(float(t), at, rate, lag=lag)
        for t, at, rate, lag in zip(run.time[taken], q, qd, lags, strict=True)
    ]
