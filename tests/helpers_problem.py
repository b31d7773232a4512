"""Functions of `analysis` for a mechanism whose equations are needed once: start and inputs as arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gpmelica import analysis
from gpmelica.analysis import (
    Evaluation,
    InitialValueProblem,
    Input,
    LinearisedMode,
    Reactions,
    ReferenceModel,
    RunSettings,
    Solvability,
)
from gpmelica.core.errors import Problem
from gpmelica.core.progress import Progress, silent
from gpmelica.core.trajectory import Array, Magnitude, Trajectory
from gpmelica.mechanism import Mechanism

Start = tuple[ArrayLike, ArrayLike]


def problem(
    mechanism: Mechanism,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
) -> InitialValueProblem:
    """Equations of a mechanism with an initial state, by default the one that its description asks for."""
    q, qd = start_state(mechanism) if start is None else start
    at = (np.array(q, dtype=float), np.array(qd, dtype=float))
    return InitialValueProblem(mechanism, at, inputs, dependent)


def start_state(mechanism: Mechanism) -> tuple[Array, Array]:
    """Initial state of a mechanism, see `analysis.start_state`."""
    return analysis.start_state(ReferenceModel(mechanism))


def equilibrium(mechanism: Mechanism) -> Array:
    """Static equilibrium of a mechanism, see `analysis.equilibrium`."""
    return analysis.equilibrium(ReferenceModel(mechanism))


def simulate(
    mechanism: Mechanism,
    *,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Trajectory:
    """Run of a mechanism; see `analysis.simulate` and `analysis.RunSettings`."""
    return analysis.simulate(problem(mechanism, start, inputs, dependent), RunSettings(**settings), progress)


def evaluate(
    mechanism: Mechanism, t: float, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None, **at: Any
) -> Evaluation:
    """Solution of the equations in a state; see `analysis.evaluate` and `problem`."""
    return analysis.evaluate(_near(mechanism, (q, qd), **at), t, q, qd, z)


def joint_loads(
    mechanism: Mechanism,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
    *,
    links: Sequence[str] | None = None,
    **at: Any,
) -> dict[str, Array]:
    """Wrenches of the joints in a state; see `analysis.joint_loads` and `problem`."""
    return analysis.joint_loads(_near(mechanism, (q, qd), **at), t, q, qd, z, links=links)


def closure_wrenches(
    mechanism: Mechanism, t: float, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None, **at: Any
) -> dict[str, Array]:
    """Wrenches of the closures in a state; see `ReferenceModel.closure_wrenches` and `problem`."""
    near = _near(mechanism, (q, qd), **at)
    _, lag = near.model.further(None if z is None else np.asarray(z, dtype=float))
    given = near.model.state(t, np.asarray(q, dtype=float), np.asarray(qd, dtype=float), lag=lag)
    state = near.model.consistent(given, near.form)
    return near.model.closure_wrenches(state, analysis.evaluate(near, t, q, qd, z))


def _near(mechanism: Mechanism, state: Start, start: Start | None = None, **further: Any) -> InitialValueProblem:
    """Problem that starts in a state, unless an expression of the description refers to the start."""
    if start is None and "start(" not in str(mechanism.chain.model_dump()):
        start = state
    return problem(mechanism, start, **further)


def modes(
    mechanism: Mechanism, *, start: Start | None = None, dependent: Sequence[str] | None = None
) -> tuple[LinearisedMode, ...]:
    """Modes about an initial state, see `analysis.modes`."""
    return analysis.modes(problem(mechanism, start, dependent=dependent))


def solvability(mechanism: Mechanism, start: Start) -> Solvability:
    """Rank and partition at an initial state, see `InitialValueProblem.solvability`."""
    return problem(mechanism, start).solvability


def reactions(mechanism: Mechanism, start: Start) -> Reactions:
    """Reactions at an initial state, see `analysis.reactions`."""
    return analysis.reactions(problem(mechanism, start))


def unreachable(mechanism: Mechanism, q: ArrayLike) -> list[Problem]:
    """Problems of the task at rest in q, see `analysis.unreachable`."""
    return analysis.unreachable(problem(mechanism, (q, np.zeros(mechanism.n))))


def massless(mechanism: Mechanism, q: ArrayLike) -> list[Problem]:
    """Motions that nothing with mass resists, see `analysis.massless`."""
    return analysis.massless(ReferenceModel(mechanism), q)


def start_notes(mechanism: Mechanism, start: Start) -> list[str]:
    """Notes on an initial state, see `analysis.start_notes`."""
    return analysis.start_notes(problem(mechanism, start))


def programmed_target(mechanism: Mechanism, run: Trajectory) -> dict[str, Array]:
    """Programmed positions along a run, see `analysis.programmed_target`."""
    return analysis.programmed_target(problem(mechanism), run)


def singular_times(
    mechanism: Mechanism, run: Trajectory, start: Start, dependent: Sequence[str], inputs: Any = None
) -> list[float]:
    """Times at which a partition is singular, see `analysis.singular_times`."""
    return analysis.singular_times(problem(mechanism, start, inputs), run, dependent)


def magnitudes(mechanism: Mechanism, run: Trajectory, start: Start, inputs: Any = None) -> tuple[Magnitude, ...]:
    """Magnitudes of a run's signals, see `analysis.magnitudes`."""
    return analysis.magnitudes(problem(mechanism, start, inputs), run)


def residuals(mechanism: Mechanism, run: Trajectory, start: Start, inputs: Any = None) -> Any:
    """Residuals of the constraint equations along a run, see `analysis.residuals`."""
    return analysis.residuals(problem(mechanism, start, inputs), run)


def course(
    mechanism: Mechanism, run: Trajectory, start: Start | None = None, inputs: Any = None, most: int = 1000
) -> Any:
    """Energies and forces along a run, see `analysis.course`."""
    return analysis.course(problem(mechanism, start, inputs), run, most)
