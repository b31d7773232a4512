"""Runs of the compiled FMU through switching times and into failures, and in CasADi's importer."""

from __future__ import annotations

import signal
from itertools import count
from pathlib import Path
from typing import Any

import casadi as ca
import helpers_problem as solving
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model
from helpers_backends import MODES, Compiled, CompileData, Fmu, driven, pendulum, run_of
from helpers_reference import manipulator

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data
from gpmelica.runs.fmpy_runs import simulate as runs

RK4 = 1


# ---- Events ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [0.1, 0.1371])
@pytest.mark.parametrize(
    ("mode", "settings"), [("me", {}), ("cs", {}), ("cs", {"solver_method": RK4, "solver_step": 2e-4})]
)
def test_switching_time_is_hit(hanging: Compiled, mode: runs.Mode, settings: dict[str, float], off: float) -> None:
    """A moment that ends at 0.1 s, or at a time set in the FMU, ends there: the reference's motion to 1e-8.

    No output time meets the switch. A fixed step of 0.2 ms that ran across it would leave an error of 1e-4.
    """
    model = assemble_system(from_data(pendulum(parameters={"off": off, "moment": 5.0})))
    names = [s.name for s in model.program.states]
    truth = solving.simulate(model.mechanism, output_step=0.03, tolerance=1e-12)
    options: dict[str, Any] = {"output_step": 0.03, "tolerance": 1e-11, "parameters": {"off": off} | settings}
    run = run_of(hanging, mode, names, stop=0.6, **options)
    assert {len(truth.time), len(run.time)} == {21}
    for name in names:
        assert run.signals[name] == pytest.approx(truth.signals[name], abs=1e-8)


@pytest.mark.parametrize("off", [0.1, 0.1371])
def test_time_events_are_announced(hanging: Compiled, off: float) -> None:
    """The model-exchange FMU reports the time of the next event before it occurs, and none
    afterwards.
    """
    with Fmu(hanging, "me") as fmu:
        fmu.start({"off": off})
        told = [fmu.fmi.newDiscreteStates()[-2:]]
        fmu.fmi.setTime(off)
        told.append(fmu.fmi.newDiscreteStates()[-2:])
    assert [bool(defined) for defined, _ in told] == [True, False]
    assert told[0][1] == off


@pytest.mark.parametrize("call", [5, 150])
def test_interrupt_in_a_callback_of_the_solver_ends_the_run(
    hanging: Compiled, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """Ctrl-C while CVODE evaluates the derivatives ends the run; Python itself would ignore the exception."""
    original, calls = FMU2Model.getDerivatives, count(1)

    def interrupted(*arguments: Any) -> Any:
        if next(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(FMU2Model, "getDerivatives", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores Ctrl-C
    try:
        with pytest.raises(KeyboardInterrupt):
            run_of(hanging, "me", ["rod_angle"], stop=2.0, output_step=0.01, tolerance=1e-9)
    finally:
        signal.signal(signal.SIGINT, before)
    assert next(calls) < call + 100


def test_run_is_repeated_if_fmpy_limits_the_steps(
    hanging: Compiled, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """FMPy ends a run whose solver takes 500 steps per output; the run is repeated with more
    outputs.
    """
    log = tmp_path / "log"
    few, many = (
        run_of(hanging, "me", ["rod_angle"], stop=40.0, output_step=step, tolerance=1e-12, log_file=log)
        for step in (20.0, 1.0)
    )
    assert few.time.tolist() == [0.0, 20.0, 40.0]
    assert few.signals["rod_angle"] == pytest.approx(many.signals["rod_angle"][::20], abs=1e-7)
    assert log.read_text("utf-8").count("mxstep") == 1
    assert capfd.readouterr().err == ""


# ---- Failures ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "match"),
    [
        ("me", r"me: .*lower\.angle all the way to t = 0\.5\d* s.*becomes singular"),
        ("cs", r"cs: .*from t = 0\.49 s to 0\.5 s came to t = 0\.49\d* s.*singular at t = 0\.5 s.*lower\.angle"),
    ],
)
def test_singular_partition_is_reported(compile_data: CompileData, mode: runs.Mode, match: str) -> None:
    """A constraint that loses its hold on its coordinate at 0.5 s ends the run with that time and coordinate."""
    task = {"name": "fading", "expression": "max(0.5 - t, 0)*(lower.angle - 0.9)"}
    compiled = compile_data(_arm([task], dependent=["lower.angle"]))
    with pytest.raises(SolveError, match=match):
        run_of(compiled, mode, ["lower_angle"], stop=1.0, tolerance=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_stretched_arm_is_reported(compile_data: CompileData, mode: runs.Mode) -> None:
    """An arm drawn straight out along a line ends with an error at the time when it is stretched."""
    x, z = "E.x - start(E.x) - 2*t*(1.9 - start(E.x))", "E.z - start(E.z)*(1 - 2*t)"
    compiled = compile_data(_arm([{"name": "x", "expression": x}, {"name": "z", "expression": z}]))
    start = np.array([np.cos(0.4) + 0.8 * np.cos(1.3), np.sin(0.4) + 0.8 * np.sin(1.3)])
    speed = 2 * (np.array([1.9, 0.0]) - start)
    stretched = max(np.roots([speed @ speed, 2 * start @ speed, start @ start - 1.8**2]))
    assert stretched == pytest.approx(0.4298, abs=1e-4)
    # A little later, because the arm starts at rest and has to catch up with the moving target.
    with pytest.raises(SolveError, match=r"t = 0\.4298\d+"):
        run_of(compiled, mode, ["lower_angle"], stop=0.5, tolerance=1e-8)


def _arm(programmed: list[dict[str, Any]], **constraints: Any) -> dict[str, Any]:
    simulation = {"stop": 1.0, "start": "description"}
    return manipulator(programmed=programmed, constraints=constraints, simulation=simulation)


# ---- FMUs in CasADi's importer, which sets states by fmi2SetReal and fmi3SetFloat64 and integrates by itself


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
    """The final states equal those of FMPy within the tolerance of the solvers."""
    compiled = compile_data(driven(), fmi)
    run = run_of(compiled, "me", STATES, stop=TIMES[-1], output_step=TIMES[0], parameters={"push": PUSH})
    expected = np.array([run.signals[name][1:] for name in STATES]).T
    assert integrated(compiled) == pytest.approx(expected, abs=1e-7)
