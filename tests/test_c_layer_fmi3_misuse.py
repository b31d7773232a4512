"""FMI 3.0 under misuse: what is an error, what is logged, what goes on; the state."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.fmi3 import fmi3ClockUpdateCallback, fmi3LockPreemptionCallback
from helpers_c_layer import DATA, STATES, Fmu3, Make, fails

pytest_plugins = ["fixtures_c_layer"]

NO_UNKNOWN = "k .* is not a state, a derivative or an output"


def test_an_error_ends_the_run_until_a_reset_or_a_state(make3: Make) -> None:
    """After fmi3Error the instance is terminated: values can be read, a reset or an earlier state revives it."""
    fmu = make3("oscillator").start()
    state = fmu.fmi.getFMUState()
    fails(fmu, fmu.fmi.exitInitializationMode, "called in the mode: step complete; expected one of: initial")
    fails(fmu, lambda: fmu.fmi.doStep(0.0, 0.1), "in the mode: terminated; expected one of: step complete")
    assert fmu.get("q1").tolist() == [0.1]
    fmu.fmi.setFMUState(state)
    fmu.run([0.0, 0.1])
    fails(fmu, fmu.fmi.enterStepMode, "expected one of: event")
    fmu.fmi.reset()
    fmu.start().run([0.0, 0.1])
    fmu.fmi.freeFMUState(state)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda f: f.set(m1=1.0), "nValues is 1, expected 2"),
        (lambda f: f.get("m2"), r"m2 is an element of an array, expected the value reference of its first one"),
        (lambda f: f.fmi.getFloat64([100_000]), "there is no variable with value reference 100000"),
        (lambda f: f.fmi.getInt32([0]), "time .* is not an integer variable"),
        (lambda f: f.fmi.getFloat64([0], 2), "nValues is 2, expected 1"),
        (lambda f: f.fmi.getFloat32([0]), "there are no variables of this type"),
        (lambda f: f.fmi.setString([0], ["x"]), "there are no variables of this type"),
        (lambda f: f.fmi.enterConfigurationMode(), "there are no structural parameters"),
        (lambda f: f.fmi.enterEventMode(), "the instance was made with eventModeUsed = false"),
        (lambda f: f.fmi.setFMUState(None), "the argument FMUstate is NULL"),
        (lambda f: f.fmi.deserializeFMUState(b"\0" * 64), r"size is 64 bytes, expected \d+"),
        (lambda f: f.fmi.getOutputDerivatives([7], [2]), "the order of a derivative is 2, expected 1"),
        (lambda f: f.fmi.getDirectionalDerivative([7], [12], [1.0]), "k .* is not the time, a state or an input"),
        (lambda f: f.fmi.getAdjointDerivative([12], [1], [1.0], 1), NO_UNKNOWN),
        (lambda f: f.fmi.getOutputDerivatives([12], [1]), NO_UNKNOWN),
        (lambda f: f.fmi.setDebugLogging(True, ["all"]), "there is no log category all"),
        (lambda f: f.fmi.getDirectionalDerivative([7], [1], [1.0, 1.0]), "seed has 2 elements, expected 1"),
    ],
)
def test_wrong_calls_in_step_mode(make3: Make, call: Callable[[Fmu3], Any], match: str) -> None:
    """Each names what is wrong, and is an error."""
    fmu = make3("oscillator").start(stop_time=2.0)
    fails(fmu, lambda: call(fmu), match)


@pytest.mark.parametrize("what", ["ContinuousStates", "ContinuousStateDerivatives", "EventIndicators"])
def test_model_exchange_alone(make3: Make, what: str) -> None:
    """A co-simulation in event mode has no states to give."""
    fmu = make3("oscillator", eventModeUsed=True).start()
    fails(fmu, lambda: fmu.fmi._call(f"fmi3Get{what}", fmu.fmi.component, None, 0), "only for model exchange")


def test_states_that_cannot_be_are_discarded(make3: Make) -> None:
    """States that are not finite are refused, and the solver may try others."""
    fmu = make3("oscillator", co_simulation=False).start()
    fmu.fmi.enterContinuousTimeMode()
    fails(fmu, lambda: fmu.set_states(np.full(4, np.inf)), "q1 is set to inf", discarded=True)
    fmu.set_states([0.1, 0.2, 0.0, 0.0])
    assert fmu.get("position") == pytest.approx([0.3])
    fails(fmu, lambda: fmu.set_states(np.zeros(3)), "continuousStates has 3 elements, expected 4")


# ---- Instances and messages ------------------------------------------------------------------------------------


def test_instances_that_cannot_be(make3: Make) -> None:
    """Wrong tokens, variables without intermediate values and scheduled execution: no instance, but the reason."""
    fmu = make3("oscillator")
    good = fmu.fmi.component
    fmu.fmi.guid = "{100%#}"
    with pytest.raises(Exception, match="Failed to instantiate"):
        fmu.instantiate()
    assert fmu.messages.pop() == (
        "logStatusError: fmi3InstantiateCoSimulation: the token is {100%##}, expected {oscillator}"
    )
    fmu.fmi.guid = "{oscillator}"
    with pytest.raises(Exception, match="Failed to instantiate"):
        fmu.fmi.instantiate(logMessage=fmu._log, requiredIntermediateVariables=[fmu.references["k"]])
    assert "k (value reference 12) has no intermediate values" in fmu.messages.pop()
    arguments = (b"x", b"{oscillator}", b"", False, False, None, fmu.fmi.logMessage)
    locks = (fmi3LockPreemptionCallback(), fmi3LockPreemptionCallback())
    assert not fmu.fmi.fmi3InstantiateScheduledExecution(*arguments, fmi3ClockUpdateCallback(), *locks)
    assert "the FMU has no scheduled execution" in fmu.messages.pop()
    fmu.fmi.component = good


def test_messages_of_active_log_categories_only(make3: Make) -> None:
    """Nothing is logged without logging, and only messages of active categories otherwise."""
    silent = make3("oscillator", logging=False)
    for switched, expected in (([], 0), (["logStatusDiscard"], 0), (["logStatusError"], 1)):
        silent.fmi.setDebugLogging(True, switched) if switched else None
        with pytest.raises(Exception, match="status 3"):
            silent.fmi.doStep(0.0, 0.1)
        assert len(silent.messages) == expected


def test_wrong_calls_from_the_callback(make3: Make) -> None:
    """A call that is not allowed in an intermediate update fails, and so does the step it is made in."""
    calls: list[Callable[[], Any]] = []

    def update(*_: Any) -> None:
        if calls:
            with pytest.raises(Exception, match="status 3"):
                calls.pop()()

    fmu = make3("oscillator", intermediateUpdate=update, requiredIntermediateVariables=[7])
    for call, match in (
        (lambda: fmu.get("total_force"), "value reference 9 is not among the requiredIntermediateVariables"),
        (lambda: fmu.fmi.doStep(0.0, 0.1), "in the mode: intermediate update"),
        (fmu.fmi.reset, "in the mode: intermediate update"),
        (fmu.fmi.getFMUState, "in the mode: intermediate update"),
    ):
        fmu.start()
        calls.append(call)
        fmu.messages.clear()
        with pytest.raises(Exception, match="status 3"):
            fmu.fmi.doStep(0.0, 1.0)
        (said,) = fmu.messages
        assert match in said
        with pytest.raises(Exception, match="status 3"):
            fmu.fmi.doStep(0.0, 1.0)
        fmu.fmi.reset()


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_wrong_calls_within_an_inner_step(make3: Make, method: int) -> None:
    """While the FMU requests inputs from the importer, the inner step is finished and the communication step is
    not.
    """
    asked: list[float] = []

    def update(_: Any, time: float, __: bool, ___: bool, finished: bool, *____: Any) -> None:
        asked.append(time)
        if len(asked) == 3:
            assert not finished
            with pytest.raises(Exception, match="status 3"):
                fmu.fmi.reset()

    references = make3("oscillator").references
    fmu = make3("oscillator", intermediateUpdate=update, requiredIntermediateVariables=[references["u"]])
    fmu.start(solver_method=method)
    with pytest.raises(Exception, match="status 3"):
        fmu.fmi.doStep(0.0, 0.1)
    assert len(asked) == 3
    fmu.fmi.reset()
    fmu.start(solver_method=method).run([0.0, 0.1])


# ---- State -----------------------------------------------------------------------------------------------------


def test_restored_state_goes_on_to_the_last_bit(make3: Make) -> None:
    """A state in event mode, restored here or in another instance, continues with the same bits."""
    fmus = [make3("oscillator", eventModeUsed=True, earlyReturnAllowed=True) for _ in range(2)]
    first = fmus[0].start(start=0.2)
    first.fmi.updateDiscreteStates()
    first.fmi.enterStepMode()
    first.fmi.doStep(0.0, 1.0)
    first.fmi.enterEventMode()
    data, ends = first.saved(), []
    for fmu in (first, first, fmus[1]):
        fmu.restore(data)
        fmu.fmi.updateDiscreteStates()
        fmu.fmi.enterStepMode()
        fmu.fmi.doStep(0.37, 0.9)
        ends.append(fmu.get("time", *STATES).tolist())
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_equal_states_are_equal_bytes(either: Make, method: int) -> None:
    """Two instances that have done the same since the start serialise alike, whatever one of them did before."""
    fmus = [either("oscillator") for _ in range(2)]
    fmus[1].start(start=0.3, k=3.0).run([0.0, 0.7])
    fmus[1].fmi.reset()
    found = []
    for fmu in fmus:
        fmu.start(solver_method=method)
        fmu.run([0.0, 0.2, 0.5])
        found.append(fmu.saved())
        fmu.run([0.5, 0.6])
    assert found[0] == found[1]
    assert found[0] != fmus[0].saved()


CONTINUE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import helpers_c_layer
fmu = getattr(helpers_c_layer, sys.argv[4])(Path(sys.argv[2]), "oscillator")
fmu.restore(Path(sys.argv[3]).read_bytes())
fmu.run([0.5, 1.0, 1.7])
print(*(x.hex() for x in fmu.get(*helpers_c_layer.STATES).tolist()))
"""


@pytest.mark.slow
def test_state_goes_on_in_another_process(libraries: dict[str, Path], either: Make, tmp_path: Path) -> None:
    """Serialised here, restored in another process: the same bits at the end."""
    fmu, file = either("oscillator").start(start=0.15), tmp_path / "state"
    fmu.set(u=1.5)
    fmu.run([0.0, 0.25, 0.5])
    file.write_bytes(fmu.saved())
    fmu.run([0.5, 1.0, 1.7])
    command = [sys.executable, "-c", CONTINUE, str(DATA.parent), str(libraries["oscillator"]), str(file)]
    done = subprocess.run([*command, type(fmu).__name__], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [float.fromhex(x) for x in done.stdout.split()] == fmu.get(*STATES).tolist()
