"""Constraint rows: levels against differences, and both derivations against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from helpers_problem import evaluate
from helpers_reference import random_state, slope
from helpers_stages import StagedModel
from numpy.typing import NDArray

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.mechanism import Mechanism
from gpmelica.reference.kinematics.segment import Segment

Array = NDArray[np.float64]


def along(mechanism: Mechanism, rng: np.random.Generator, t: float) -> tuple[Callable[[float], Any], Array]:
    """Constraint rows along q(t + x) = q + q̇ x + a x²/2 within one time segment, and a."""
    q, qd = random_state(mechanism, rng)
    q, a = np.array([c.position for c in mechanism.coordinates]) + 0.4 * q, rng.normal(size=mechanism.n)
    model = ReferenceModel(mechanism, start=(0.0 * q, 0.0 * q))

    def rows(x: float) -> Any:
        at, rate = q + x * qd + x * x / 2 * a, qd + x * a
        return model.constraints(model.state(t + x, at, rate, segment=Segment(t)))

    return rows, a


def check_levels(mechanism: Mechanism, rng: np.random.Generator, t: float) -> None:
    """Φ̇ and C q̈ − γ are the first and second derivatives of Φ along any motion."""
    rows, a = along(mechanism, rng, t)
    now = rows(0.0)
    second = now.C @ a - now.gamma
    assert np.abs(now.Phi_dot - slope(lambda x: rows(x).Phi)).max() < 1e-8 * np.abs(now.Phi_dot).max()
    assert np.abs(second - slope(lambda x: rows(x).Phi_dot)).max() < 1e-8 * np.abs(second).max()


def check_derivations(data: dict[str, Any], rng: np.random.Generator, times: Array) -> None:
    """Accelerations of the generated equations and of the reference at random states."""
    model = assemble_system(from_data(data))
    staged = StagedModel(model)
    for t in times.tolist():
        q, qd = random_state(model.mechanism, rng)
        q = model.start[0] + 0.2 * q
        expected = evaluate(model.mechanism, t, q, qd, start=model.start).qdd
        assert np.abs(staged(t, q, qd).qdd - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())
