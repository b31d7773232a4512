"""The examples in all formulations: states that fulfil their constraints, accelerations and runs from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import helpers_problem as solving
import numpy as np
from helpers_examples import changed
from numpy.typing import NDArray

from gpmelica import analysis
from gpmelica.core.trajectory import Trajectory
from gpmelica.mechanism import Mechanism, build

Array = NDArray[np.float64]
Start = tuple[Array, Array]
State = tuple[float, Array, Array]
# an example, its case, and how long it is followed, s: stiff ones shortly
EXAMPLES: tuple[tuple[str, str | None, float], ...] = (
    ("crane", "rigid_boom", 1.0),
    ("crane", "flexible_boom", 0.05),
    ("manipulator", "S_r_L_r_J_nf", 1.0),
    ("manipulator", "S_fl_L_r_J_f", 0.2),
    ("rsrrp", "cut_joint", 2.0),
    ("rpsup", "S_r_L_r_J_nf", 1.0),
    ("mobile_robot", None, 2.0),
    ("delta_robot", None, 1.5),
    ("four_bar_3d", None, 1.0),
)


def example(name: str, case: str | None, formulation: str, **keys: Any) -> Mechanism:
    """An example in one of the formulations, without joint loads; for the keys see `helpers_examples.changed`."""
    return build(changed(name, case, constraints__formulation=formulation, outputs={"loads": []}, **keys))


def consistent(mechanism: Mechanism, start: Start, t: float, q: Array, qd: Array) -> State:
    """The state near q and q̇, shape (n,), with Φ = 0 and Φ̇ = 0, Ψ = 0: Gauss–Newton steps of least length."""
    model = analysis.ReferenceModel(mechanism, start=start)
    for _ in range(6):
        rows = model.constraints(model.state(t, q, qd))
        q = q - np.linalg.pinv(rows.C, rcond=1e-9) @ rows.Phi
    rows = model.constraints(model.state(t, q, qd))
    return t, q, qd - np.linalg.pinv(rows.C, rcond=1e-9) @ rows.Phi_dot


def consistent_start(mechanism: Mechanism) -> Start:
    """The start, moved onto all constraints: some examples start off their path."""
    start = solving.start_state(mechanism)
    return consistent(mechanism, start, 0.0, *start)[1:]


def states(mechanism: Mechanism, run: Trajectory, start: Start, count: int, seed: int) -> list[State]:
    """States along a run, their velocities changed at random, on the constraints."""
    rng = np.random.default_rng(seed)
    symbols = [c.symbol for c in mechanism.coordinates]
    q, qd = (np.column_stack([run.signals[s + end] for s in symbols]) for end in ("", "_dot"))
    # switching times are between output times
    chosen = rng.choice(np.arange(1, len(q) - 1), count, replace=False)
    shifts = 0.1 * rng.normal(size=(count, len(symbols)))
    return [
        consistent(mechanism, start, float(run.time[k]), q[k], qd[k] + shift)
        for k, shift in zip(chosen, shifts, strict=True)
    ]


def reference_accelerations(mechanism: Mechanism, start: Start, at: Sequence[State]) -> Array:
    """q̈ at the states, shape (states, n)."""
    return np.array([solving.evaluate(mechanism, t, q, qd, start=start).qdd for t, q, qd in at])


def relative_error(found: Array, expected: Array) -> float:
    """Largest difference over the largest acceleration, of all states."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def trajectory_error(mechanism: Mechanism, found: Trajectory, expected: Trajectory) -> float:
    """Largest difference of any coordinate, of its range; ranges of less than 1e-3 m or rad count as that."""
    errors = []
    for coordinate in mechanism.coordinates:
        values = expected.signals[coordinate.symbol]
        errors.append(np.abs(found.signals[coordinate.symbol] - values).max() / max(float(np.ptp(values)), 1e-3))
    return float(max(errors))
