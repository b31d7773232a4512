"""FMUs in CasADi's importer, which sets states by fmi2SetReal and fmi3SetFloat64 and integrates by itself."""

from __future__ import annotations

import casadi as ca
import fmpy
import numpy as np
import pytest
from helpers_backends import Compiled, CompileData, driven

STATES = [f"{name}_state" for name in ("cart_position", "rod_angle", "cart_position_dot", "rod_angle_dot")]
TIMES, PUSH = [0.5, 1.0], 1.0


def integrated(compiled: Compiled) -> np.ndarray:
    """States at the times, shape (2, 4), by CasADi's CVODES."""
    builder = ca.DaeBuilder("importer", str(compiled.folder))
    assert builder.x() == STATES
    dae = builder.create("dae", ca.dyn_in(), ca.dyn_out())
    inputs = [PUSH if name == "push" else 0.0 for name in builder.u()]
    solver = ca.integrator("solver", "cvodes", dae, 0.0, TIMES, {"reltol": 1e-10, "abstol": 1e-12})
    return np.array(solver(x0=builder.get(builder.x()), u=ca.repmat(ca.DM(inputs), 1, 2))["xf"]).T


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_integrates_as_fmpy_does(compile_data: CompileData, fmi: str) -> None:
    """The same states at the end, to the tolerance of the solvers."""
    compiled = compile_data(driven(), fmi)
    result = fmpy.simulate_fmu(
        str(compiled.fmu),
        fmi_type="ModelExchange",
        stop_time=TIMES[-1],
        output_interval=TIMES[0],
        relative_tolerance=1e-10,
        start_values={"push": PUSH},
        output=STATES,
    )
    expected = np.array([result[name][1:] for name in STATES]).T
    assert integrated(compiled) == pytest.approx(expected, abs=1e-7)
