"""Physics of the compiled FMU: decay of violations, energy, beams at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import Array, Compile, Compiled, CompileData, Fmu, run_of
from helpers_parts import X, Y, beam, body, link, machine
from helpers_reference import BEAM, cantilever

from gpmelica.fmu.runs import simulate as runs
from gpmelica.reference import Model, energy
from gpmelica.trajectory import Trajectory

ELEMENTS = (2, 5)


@pytest.mark.parametrize("case", ["S_r_L_r_J_nf", "S_fl_L_fl_J_nf"])
def test_violations_decay_at_the_slow_root(compile_example: Compile, case: str) -> None:
    """Started off its path, the manipulator comes back to it: straight down in the logarithm (P0, Fig. 8).

    The rate is the slow root −α + √(α² − β²) of Φ̈ + 2αΦ̇ + β²Φ = 0; after 2.2 s, 5e-7 m are left at most.
    """
    compiled = compile_example("manipulator", case)
    alpha, beta = compiled.model.mechanism.alpha, compiled.model.mechanism.beta
    names = ["violation_position"]
    run = run_of(compiled, "cs", names, stop=4.0, tolerance=1e-9)
    violation = run.signals["violation_position"]
    assert violation[0] > 5e-3
    fitted = (run.time > 0.1) & (run.time < 2.2)
    rate, start = np.polyfit(run.time[fitted], np.log(violation[fitted]), 1)
    root = -alpha + np.sqrt(alpha**2 - beta**2)
    assert root == pytest.approx(-5.0126, abs=5e-5)
    assert rate == pytest.approx(root, rel=1e-3)
    assert np.log(violation[fitted]) == pytest.approx(start + rate * run.time[fitted], abs=1e-3)
    assert violation[run.time >= 2.2].max() < 5e-7


def _chain() -> dict[str, Any]:
    """A pendulum of three links with an elastic one, joint springs, no dampers, no forces, in full motion."""
    section = BEAM | {"length": 0.8, "area": 4e-4, "density": 2700.0, "E": 7e9, "G": 2.6e9, "elements": 3}
    turned = {"xyz": [0.9, 0.0, 0.0], "rpy": [0.2, 0.1, 0.3]}
    return machine(
        link("a", "universal", position=[0.3, 0.2], velocity=[0.5, -0.4])
        | body(3.0, [0.4, 0.05, 0.0], [0.02, 0.2, 0.21]),
        beam("b", section, "revolute", Y, "a", **turned, position=0.4, velocity=-0.8),
        link("c", "prismatic", X, "b", xyz=[0.8, 0.0, 0.0], rest=0.1, stiffness=400.0, velocity=0.3)
        | body(0.7, inertia=[0.01, 0.02, 0.02]),
        name="Chain",
        gravity=[0.0, 0.0, -9.81],
        simulation={"stop": 2.0, "start": "description"},
    )


@pytest.mark.parametrize(("mode", "tolerance"), [("me", 1e-12), ("cs", 1e-10)])
def test_energy_is_conserved(compile_data: CompileData, mode: runs.Mode, tolerance: float) -> None:
    """Without dampers, forces and constraints the energy stays what it is: to 1e-8 of what is exchanged in 2 s."""
    compiled = compile_data(_chain())
    symbols = [c.symbol for c in compiled.model.mechanism.coordinates]
    names = [*symbols, *(f"{s}_dot" for s in symbols)]
    run = run_of(compiled, mode, names, stop=2.0, output_step=0.02, tolerance=tolerance)
    kinetic, total = _energies(compiled, symbols, run)
    exchanged = np.ptp(kinetic)
    assert exchanged > 10.0
    assert np.abs(total - total[0]).max() <= 1e-8 * exchanged


def _energies(compiled: Compiled, symbols: list[str], run: Trajectory) -> tuple[Array, Array]:
    """Kinetic and total energy by the reference, J, shape (N,) each."""
    model = Model(compiled.model.mechanism)
    q, qd = (np.array([run.signals[f"{s}{level}"] for s in symbols]).T for level in ("", "_dot"))
    energies = [energy(model, *state) for state in zip(run.time, q, qd, strict=True)]
    return np.array([e.kinetic for e in energies]), np.array([e.total for e in energies])


@pytest.mark.parametrize("elements", ELEMENTS)
def test_cantilever_rests_in_equilibrium(compile_data: CompileData, elements: int) -> None:
    """Started from statics, the sagging beam stays where it is, where a beam under its weight sags to.

    Tip: q L⁴/(8 E I) with q the weight per length; the springs' places make it differ at second order.
    """
    compiled = compile_data(cantilever(elements, gravity=[0.0, 0.0, -0.5]))
    with Fmu(compiled) as fmu:
        z, vz = fmu.start(tolerance=1e-9).run(np.linspace(0.0, 1.0, 21), ["E_z", "E_vz"]).T
    assert np.abs(z - z[0]).max() < 1e-10
    assert np.abs(vz).max() < 1e-8
    sag = 0.5 * 7800.0 * 1e-4 * 2.0**4 / (8 * 2.1e11 * 1e-9)
    assert -z[0] / sag == pytest.approx(1.0, abs=0.7 / (elements - 1) ** 2)
