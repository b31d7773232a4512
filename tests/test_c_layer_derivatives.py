"""The C layer's derivatives with hand-written models: forward against differences, misuse."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_c_layer import Fmu, Make, fails

pytest_plugins = ["fixtures_c_layer"]

STATES = {"oscillator": ("q1", "q2", "v1", "v2"), "singular": ("x1", "x2")}
UNKNOWNS = {
    "oscillator": ("q2", "der(v1)", "der(v2)", "position", "acceleration", "total_force"),
    "singular": ("der(x1)", "y1", "y2", "x2"),
}


def jacobian(fmu: Fmu, unknowns: tuple[str, ...], knowns: tuple[str, ...]) -> np.ndarray:
    """d unknowns / d knowns by directional derivatives, shape (len(unknowns), len(knowns))."""
    rows, columns = ([fmu.references[name] for name in names] for names in (unknowns, knowns))
    return np.array([fmu.fmi.getDirectionalDerivative(rows, [column], [1.0]) for column in columns]).T


@pytest.mark.parametrize("model", ["oscillator", "singular"])
def test_derivatives_with_respect_to_time_and_states(make: Make, model: str) -> None:
    """Central differences of a model in continuous-time mode give the same numbers."""
    fmu = make(model, co_simulation=False).start()
    fmu.fmi.enterContinuousTimeMode()
    point = np.array([0.4, *np.linspace(0.3, -0.8, len(STATES[model]))])

    def values(at: np.ndarray) -> np.ndarray:
        fmu.fmi.setTime(at[0])
        fmu.set_states(at[1:])
        return fmu.get(*UNKNOWNS[model])

    steps = 1e-5 * np.eye(len(point))
    expected = np.array([(values(point + h) - values(point - h)) / 2e-5 for h in steps]).T
    values(point)
    knowns = ("time", *STATES[model]) if "time" in fmu.references else STATES[model]
    found = jacobian(fmu, UNKNOWNS[model], knowns)
    assert found == pytest.approx(expected[:, -len(knowns) :], rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("oscillator", ("m1", "m2", "k", "c", "force", "start", "u")), ("singular", ("inverse_start",))],
)
def test_derivatives_with_respect_to_parameters(make: Make, model: str, parameters: tuple[str, ...]) -> None:
    """In initialization mode parameters act on the derivatives directly and by the start states."""
    fmu = make(model)
    fmu.fmi.setupExperiment()
    fmu.fmi.enterInitializationMode()
    unknowns = (*UNKNOWNS[model], STATES[model][0])
    found = jacobian(fmu, unknowns, parameters)
    for name, column in zip(parameters, found.T, strict=True):
        before, sides = fmu.get(name)[0], []
        for change in (1e-5, -1e-5):
            fmu.set(**{name: before + change})
            sides.append(fmu.get(*unknowns))
        fmu.set(**{name: before})
        assert column == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-8, abs=1e-9)


def test_a_direction_is_the_sum_of_its_parts(make: Make) -> None:
    """Seeds for several knowns, and one known twice, add up."""
    fmu = make("oscillator").start()
    rows = [fmu.references[name] for name in UNKNOWNS["oscillator"]]
    knowns = ("q1", "v2", "u", "q1")
    seeds = np.array([0.3, -2.0, 5.0, 0.7])
    found = fmu.fmi.getDirectionalDerivative(rows, [fmu.references[name] for name in knowns], list(seeds))
    assert found == pytest.approx(jacobian(fmu, UNKNOWNS["oscillator"], knowns) @ seeds, rel=1e-14, abs=1e-14)


def test_derivatives_do_not_change_the_run(make: Make) -> None:
    """A run with derivative calls has equal results and as many evaluations as a run without."""
    ends = []
    for wanted in (False, True):
        fmu = make("oscillator").start()
        for i in range(3):
            fmu.fmi.doStep(0.1 * i, 0.1)
            fmu.get("acceleration")
            if wanted:
                jacobian(fmu, UNKNOWNS["oscillator"], STATES["oscillator"])
        ends.append([*fmu.get(*STATES["oscillator"]), fmu.count("solver_evaluations")])
    assert ends[0] == ends[1]


def test_derivatives_after_a_restored_state(make: Make) -> None:
    """The factors belong to the state: derivatives after a restore are those of then, to the last bit."""
    fmu = make("singular").start()
    fmu.fmi.doStep(0.0, 0.5)
    state, first = fmu.fmi.getFMUstate(), jacobian(fmu, UNKNOWNS["singular"], STATES["singular"])
    fmu.fmi.doStep(0.5, 0.7)
    assert not np.array_equal(jacobian(fmu, UNKNOWNS["singular"], STATES["singular"]), first)
    fmu.fmi.setFMUstate(state)
    assert np.array_equal(jacobian(fmu, UNKNOWNS["singular"], STATES["singular"]), first)
    fmu.fmi.freeFMUstate(state)


@pytest.mark.parametrize(
    ("unknown", "known", "match"),
    [
        ("u", "q1", r"u \(value reference 18\) is not a state, a derivative or an output"),
        ("der(v1)", "m1", r"m1 \(value reference \d+\) is not the time, a state or an input"),
        ("der(v1)", "position", "position .* is not the time, a state or an input"),
        ("der(v1)", "solver_steps", "solver_steps .* is not a real variable"),
    ],
)
def test_derivatives_that_do_not_exist(make: Make, unknown: str, known: str, match: str) -> None:
    """Knowns and unknowns of the wrong kind are refused, with what was expected."""
    fmu = make("oscillator").start()
    references = [fmu.references[unknown]], [fmu.references[known]]
    fails(fmu, lambda: fmu.fmi.getDirectionalDerivative(*references, [1.0]), match)


def test_derivatives_at_a_singular_point(make: Make) -> None:
    """A call for a derivative that is not finite fails and names the variable."""
    fmu = make("singular", co_simulation=False).start(domain=0.5)
    fmu.fmi.enterContinuousTimeMode()
    fmu.fmi.setTime(0.5)
    rows = [fmu.references["der(x1)"]]
    match = r"the derivative for der\(x1\) is -?nan at t = 0.5 s"
    fails(fmu, lambda: fmu.fmi.getDirectionalDerivative(rows, [fmu.references["x1"]], [1.0]), match)
