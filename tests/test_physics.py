"""Physics of the compiled FMU: decay of violations, energy, beams at rest."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_backends import Compile, CompileData, Fmu, run_of
from helpers_reference import cantilever

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
