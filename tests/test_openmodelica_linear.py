"""The linear model that a real omc makes of the text is the one by the native FMU's derivatives."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from helpers_backends import example_model
from helpers_masters import slewing

from gpmelica.fmu.backends.backend import write_modelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.process import Child
from gpmelica.generator import modelica
from gpmelica.generator.program.program import STATE
from gpmelica.linear import Where, linearize
from gpmelica.prepared import Prepared

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

ROUNDING = 1e-10  # of a row's largest entry, or a hundredth of the matrix's


@pytest.fixture(scope="module", params=["loop", "knife edges", "base, task and input"])
def model(request: pytest.FixtureRequest) -> Prepared:
    """Machines with rows of all kinds, one with an input."""
    match request.param:
        case "loop":
            return example_model("four_bar_3d", "planar")
        case "knife edges":
            return example_model("mobile_robot", "without_C_y_W4")
    return slewing("plant")


def test_linearize(model: Prepared, omc: Omc, tmp_path: Path) -> None:
    """A, B, C and D of all states at the start, by omc's symbolic derivatives: to rounding, name by name."""
    write_modelica(model, tmp_path)
    (tmp_path / "linear.mos").write_text(
        'setCommandLineOptions("--generateSymbolicLinearization --linearizationDumpLanguage=python");\n'
        f'loadFile("{model.name}.mo");\n'
        f"linearize({modelica.experiment(model.name)}, startTime = 0.0, stopTime = 0.0);\n"
    )
    child = Child([*omc.command(tmp_path), "linear.mos"], tmp_path, "linear.out", omc.environment)
    child.wait(Deadline(600.0), "linearize")
    found = runpy.run_path(str(tmp_path / "linearized_model.py"), {"nan": np.nan})["linearized_model"]()
    states, inputs, outputs = found[9:]
    ours = linearize(model, Where(), full=True)
    assert sorted(states) == sorted(f"{name}{STATE}" for name in ours.states)
    assert sorted(inputs) == sorted(ours.inputs)
    x = [states.index(f"{name}{STATE}") for name in ours.states]
    u, y = [inputs.index(name) for name in ours.inputs], [outputs.index(name) for name in ours.outputs]
    shapes = ((len(x), len(x)), (len(x), len(u)), (len(outputs), len(x)), (len(outputs), len(u)))
    A, B, C, D = (np.reshape(matrix, shape) for matrix, shape in zip(found[5:9], shapes, strict=True))
    pairs = (
        (A[np.ix_(x, x)], ours.A),
        (B[np.ix_(x, u)], ours.B),
        (C[np.ix_(y, x)], ours.C),
        (D[np.ix_(y, u)], ours.D),
    )
    for theirs, expected in pairs:
        rows, most = np.abs(expected).max(axis=1, initial=0.0), np.abs(expected).max(initial=0.0)
        assert np.all(np.abs(theirs - expected) <= ROUNDING * np.maximum(rows, 0.01 * most)[:, None])
