"""Quasi-Newton iteration of a communication step."""

from __future__ import annotations

import numpy as np
import pytest

from gpmelica.coupling.newton import Solver


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_fixed_point_iteration_does_not_depend_on_units(size: float) -> None:
    """An unknown that is a millionth or a million of its unit takes as many evaluations as one of size 1."""
    solver, count = Solver(fixed_point=True), 0
    z, scale = np.array([0.0]), np.array([size])

    def residual(unknowns: np.ndarray) -> np.ndarray:
        nonlocal count
        count += 1
        return np.asarray((size - 0.05 * unknowns - unknowns) / scale)

    assert solver.solve(residual, z, residual(z), scale, 1e-9, 0.01)
    assert z == pytest.approx([size / 1.05])
    assert count <= 5
