"""Replacement joints against the cut joint, and the closed linkages' FMUs against the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_backends import Compile, follows
from helpers_replacement import FORCES, MOTION, STIFFNESSES, differences, model_of, parameters, slope

from gpmelica import reference


@pytest.mark.parametrize("case", ["spherical_replacement", "revolute_replacement"])
def test_difference_is_inverse_to_the_stiffness(tmp_path: Path, case: str) -> None:
    """Motion and joint loads approach the cut joint's in proportion to 1/stiffness, over three decades (P3)."""
    assert STIFFNESSES[-1] / STIFFNESSES[0] == pytest.approx(1000.0)
    found = differences(case, tmp_path)
    for name in (*MOTION, *FORCES):
        assert slope(STIFFNESSES, found[name]) == pytest.approx(-1.0, abs=0.05), name
        assert np.all(np.diff(found[name]) < 0), name
    assert found["slider_position"][0] > 1e-5  # the soft one can be seen


def test_stiffness_is_a_parameter() -> None:
    """All that differs between stiffnesses is parameters of one FMU: springs, dampers, start values."""
    soft, stiff = (model_of("spherical_replacement", stiffness) for stiffness in (1e5, 1e8))
    assert repr(soft.program.items) == repr(stiff.program.items)
    first, second = parameters(soft), parameters(stiff)
    changed = {name for name in first if first[name] != second[name]}
    assert all(name.startswith(("S_stiffness", "S_damping")) or name.endswith("_start") for name in changed)
    assert any(name.startswith("S_stiffness") for name in changed)


def test_statics_of_a_replacement_joint() -> None:
    """At rest its spring is bent by what it carries, 1000 times less where it is 1000 times stiffer."""
    sags = []
    for stiffness in (1e5, 1e8):
        model = model_of("spherical_replacement", stiffness)
        q, qd = model.start
        wrench = reference.closure_wrenches(model.mechanism, 0.0, q, qd)["S"]
        moved = q - model_of("cut_joint").start[0]
        sags.append([np.linalg.norm(moved), stiffness * np.linalg.norm(moved) / np.linalg.norm(wrench[:3])])
        assert np.abs(reference.evaluate(model.mechanism, 0.0, q, qd).qdd[1:]).max() < 1e-6
    assert sags[0][0] == pytest.approx(1000 * sags[1][0], rel=0.01)
    assert sags[0][1] == pytest.approx(sags[1][1], rel=0.01)


# stiff ones over shorter horizons, s; rpsup all rigid, and with elastic links
HORIZONS = [
    ("rsrrp", "cut_joint", 3.0),
    ("rsrrp", "spherical_replacement", 0.3),
    ("rsrrp", "revolute_replacement", 0.1),
    ("rpsup", "S_r_L_r_J_nf", 0.2),
    ("rpsup", "S_r_L_fl_J_nf", 0.005),
]


@pytest.mark.parametrize(("example", "case", "stop"), HORIZONS)
def test_runs_agree(compile_example: Compile, example: str, case: str, stop: float) -> None:
    """The FMU follows the reference to 1e-6 of each signal's range in both modes, joint loads included."""
    compiled = compile_example(example, case)
    model, step = compiled.model, stop / 50
    truth = reference.simulate(
        model.mechanism, start=model.start, dependent=model.dependent, stop=stop, output_step=step, tolerance=1e-11
    )
    follows(compiled, truth, output_step=step, tolerance=1e-12)
    assert any("_load_" in name for name in truth.signals)
