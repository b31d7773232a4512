"""Projection in all formulations, with rows that depend on each other and with knife edges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_backends import CompileModel
from helpers_examples import FORMULATIONS, changed
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.fmu.runs import simulate as runs
from gpmelica.prepared import Prepared, prepare
from gpmelica.reference.solve.projection import project
from gpmelica.trajectory import Trajectory

Start = tuple[NDArray[np.float64], NDArray[np.float64]]
STOP, OUTPUT_STEP = 0.5, 0.05  # s
LEFT = 1e-10  # default of projection_tolerance
VIOLATIONS = ["violation_position", "violation_velocity"]
UNKEPT = {f"constraints__{key}": 0.0 for key in ("alpha", "beta", "kappa")}


def _projected(example: str, formulation: str) -> Prepared:
    return prepare(changed(example, constraints__formulation=formulation, constraints__projection=True, **UNKEPT))


def _run(model: Prepared, fmu: Path, start: Start, on: int) -> Trajectory:
    symbols = [c.symbol for c in model.mechanism.coordinates]
    known = {state.name for state in model.program.states}
    values = dict(zip([*symbols, *(f"{s}_dot" for s in symbols)], np.concatenate(start), strict=True))
    parameters = {f"{name}_start": float(x) for name, x in values.items() if name in known} | {"projection": on}
    if model.program.start is not None:
        parameters["solver_finds_start"] = 0
    settings = {"stop": STOP, "output_step": OUTPUT_STEP, "tolerance": 1e-5}
    return runs.simulate(fmu, "cs", [*symbols, *VIOLATIONS], name=model.name, parameters=parameters, **settings)


def _expected(model: Prepared, start: Start) -> Trajectory:
    """The reference's run from the nearest point on the constraints."""
    projected = project(reference.Model(model.mechanism, start=model.start), *start)
    if model.chain.constraints.formulation == "gpme_reduced":
        projected = (projected[0], start[1])  # the independent velocities are as given
    settings = {"stop": STOP, "output_step": OUTPUT_STEP, "tolerance": 1e-9}
    return reference.simulate(model.mechanism, start=projected, **settings)


@pytest.mark.parametrize(
    ("example", "formulation"),
    [("mobile_robot", "gpme"), ("mobile_robot", "gpme_reduced"), ("four_bar_3d", "lagrange")],
)
def test_projection_keeps_all_rows(example: str, formulation: str, compile_model: CompileModel) -> None:
    """A start beside the constraints comes onto them by the smallest change, and stays; left out rows, too."""
    model = _projected(example, formulation)
    fmu = compile_model(model).fmu
    rng = np.random.default_rng(3)
    start = (model.start[0] + 1e-3 * rng.normal(size=model.mechanism.n), model.start[1])
    found, unprojected = (_run(model, fmu, start, on).signals for on in (1, 0))
    assert unprojected["violation_position"].min() > 1e-4
    for name in VIOLATIONS:
        assert found[name].max() <= LEFT
    expected = _expected(model, start).signals
    for coordinate in model.mechanism.coordinates:
        own = expected[coordinate.symbol]
        assert found[coordinate.symbol] == pytest.approx(own, abs=1e-4 * max(float(np.ptp(own)), 1e-2))


def test_reduced_form_projects_positions_alone() -> None:
    """Its velocities are on the constraints as they are."""
    levels = {form: [*_projected("four_bar_3d", form).native_program.projections] for form in FORMULATIONS}
    assert levels == {
        "gpme": ["position", "velocity"],
        "gpme_reduced": ["position"],
        "lagrange": ["position", "velocity"],
    }
