"""Quasi-Newton iteration of a communication step, and the noise that it leaves in the outputs."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_coupling import couple
from helpers_coupling_parts import LinearPart

from gpmelica.coupling.network import Network, Wire
from gpmelica.coupling.newton import Solver
from gpmelica.coupling.participant import PortSignal


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


@pytest.mark.slow
def test_residual_of_the_iteration_does_not_shorten_steps() -> None:
    """A light direction that stays at rest amplifies the residual of the iteration, but no step is repeated.

    Two masses are connected along x and y. Along y, the inertia is 1e-5 kg, and no force should act.
    """
    c, d, light = 1e5, 158.0, 1e-5
    members = [(s, axis) for axis in "xy" for s in ("", "v")]
    units = {"": "m", "v": "m/s", "f": "N", "a": "m/s2"}

    def body(name: str, m: float, k: float, v: float) -> LinearPart:
        a = np.zeros((4, 4))
        a[0, 1] = a[2, 3] = 1.0
        a[1, 0] = a[3, 2] = -k / m
        b = np.zeros((4, 2))
        b[1, 0], b[3, 1] = 1.0 / m, 1.0 / light
        outputs = [PortSignal(s + axis, units[s]) for s, axis in [*members, ("a", "x"), ("a", "y")]]
        forces = [PortSignal(f"f{axis}", "N") for axis in "xy"]
        through = np.vstack([np.zeros((4, 2)), b[[1, 3]]])
        return LinearPart(name, forces, outputs, a, b, np.vstack([np.eye(4), a[[1, 3]]]), through, x=[0, v, 0, 0])

    inputs = [PortSignal(f"{end}.{s}{axis}", units[s]) for end in "AB" for s, axis in members]
    gain = np.array([[-c, -d, 0, 0, c, d, 0, 0], [0, 0, -c, -d, 0, 0, c, d]])
    outputs = [PortSignal(f"{end}.f{axis}", "N") for end in "AB" for axis in "xy"]
    law = LinearPart("law", inputs, outputs, None, None, None, np.vstack([gain, -gain]), memory=False)
    wires = [Wire((end, s + axis), ("law", f"{end}.{s}{axis}")) for end in "AB" for s, axis in members]
    wires += [Wire(("law", f"{end}.f{axis}"), (end, f"f{axis}")) for end in "AB" for axis in "xy"]
    network = Network([body("A", 1.0, 100.0, 1.0), body("B", 2.0, 400.0, 0.3), law], wires)
    run = couple(network, "hermite", 0.01, nominal=1e-3)
    assert run.record.rejected < 10
    assert len(run.record.pieces) < 60
