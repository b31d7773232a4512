"""Choice of methods, sentences about damaged couplings, and estimated errors of random systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers_coupling import (
    F,
    V,
    X,
    boom,
    error,
    joined,
    mass,
    pinned_and_damped,
    quarter_car,
    random_exact,
    random_system,
    rigid_pair,
    rope_bounce,
    sampled_control,
    spring,
    stiff_pair,
    two_masses,
    two_masses_and_law,
    two_masses_exact,
)
from helpers_coupling import couple as coupled
from helpers_coupling_parts import LinearPart, OdePart, SampledPart, Switch

from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.core.progress import silent
from gpmelica.coupling import verdict
from gpmelica.coupling.comparison import difference
from gpmelica.coupling.energy import EnergyResidual
from gpmelica.coupling.master import Record, Settings
from gpmelica.coupling.network import Network, Pin, Wire
from gpmelica.coupling.participant import PartFailed, PortSignal
from gpmelica.coupling.rehearsal import MethodChoice, rehearse
from gpmelica.coupling.report import lines
from gpmelica.coupling.run_remarks import late_event_remarks
from gpmelica.coupling.system import CoupledSystem, CouplingRemark
from gpmelica.coupling.unreported import unreported_events
from gpmelica.coupling.verdict import Coupled, Options, _grid, _scaled, couple, simulated


def chosen(
    network: Network, nominal: float = 0.01, **wishes: Any
) -> tuple[list[MethodChoice], dict[str, CouplingRemark]]:
    """Methods of the groups, and remarks by their kind."""
    choices, remarks = rehearse(network, Settings(0.0, 1.0, nominal=nominal), **wishes)
    return choices, {remark.id: remark for remark in remarks}


def judged(network: Network, stop: float = 1.0, **wishes: Any) -> Coupled:
    """A run with its verdict."""
    return couple(CoupledSystem("test", network, stop=stop), Options(**wishes))


# ---- Choice of the method -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "methods", "reason"),
    [
        (two_masses, ["hermite"], "a loop of FMUs that can restore their states"),
        (sampled_control, ["sequential", "sequential"], "no loop"),
        (lambda: quarter_car(restores=False), ["sequential"], "chassis, wheel cannot restore a state"),
        (
            lambda: stiff_pair(1.0, 1e6, 0.0)[0],
            ["mean_force"],
            "a connection is too fast for the step, ωH = 14",
        ),
        (rigid_pair, ["pin"], "pairs of positions must agree"),
    ],
)
def test_methods(network: Callable[[], Network], methods: list[str], reason: str) -> None:
    """Each group gets the method that its parts allow and its connection needs, with the reason."""
    choices, _ = chosen(network())
    assert [choice.method for choice in choices] == methods
    assert reason in choices[0].reason


@pytest.mark.parametrize("method", ["sequential", "hermite", "mean_force"])
def test_only_pin_forces_close_rigid_pins(method: str) -> None:
    with pytest.raises(
        SolveError, match=rf"method {method} cannot enforce the rigid connection at .*; use --method pin"
    ):
        chosen(rigid_pair(), method=method)


def test_mean_force_that_the_user_has_chosen() -> None:
    """The reason does not state that the connection is fast."""
    [choice], _ = chosen(stiff_pair(1.0, 1e6, 0.0)[0], nominal=1e-4, method="mean_force")
    assert choice.reason.startswith("chosen by the user, ωH = 0.")


def test_a_wish_overrules() -> None:
    """The method and the order that are asked for are taken."""
    [choice], _ = chosen(two_masses(), method="sequential", order=1)
    assert (choice.method, choice.order) == ("sequential", 1)
    with pytest.raises(SolveError, match="method mean_force requires springs and dampers as separate FMUs"):
        chosen(two_masses(), method="mean_force")
    with pytest.raises(DescriptionError, match="order: expected 0, 1 or 2, got 5"):
        Options(order=5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (two_masses, 4),
        (lambda: two_masses(takes_courses=False), 1),
        (lambda: two_masses_and_law(takes_courses=False), 2),
        (lambda: pinned_and_damped()[0], 4),
        (lambda: pinned_and_damped(takes_courses=False)[0], 2),
        (lambda: rigid_pair(m=2.0, k2=30.0, takes_courses=False), 4),
    ],
    ids=["courses", "held, direct", "held", "pin and law", "pin and law, held", "pin, held"],
)
def test_order_of_a_choice(network: Callable[[], Network], expected: int) -> None:
    """The order that the choice names is the order of the differences of runs whose steps are halved."""
    [choice], _ = chosen(network(), 1e-3)
    ends = [coupled(network(), choice.method, 0.04, step)["A.x"][-1] for step in (4e-3, 2e-3, 1e-3)]
    assert choice.order == expected
    assert np.log2(abs((ends[0] - ends[1]) / (ends[1] - ends[2]))) == pytest.approx(expected, abs=0.25)


def test_frequency_of_a_connection() -> None:
    """The rehearsal measures ω² = c/m_red from the answer to a force in one step."""
    _, remarks = chosen(stiff_pair(1000.0, 1e6, 0.0)[0])
    text = remarks["connection_above_step"].text
    assert "1e+03 rad/s, is too high for the communication step of 0.01 s (ωH = 10)" in text


@pytest.mark.parametrize("friction", [0.0, 50.0])
def test_equilibrium_of_a_part(friction: float) -> None:
    """A mass in the equilibrium of its own spring gets a remark; a free mass that a spring pulls gets none."""
    held_up = mass("A", 1.0, 400.0, 0.1, 0.0, f0=40.0)
    network = joined(held_up, mass("B", 1.0, 0.0, 0.2, 0.0, d=friction), spring(50.0))
    _, remarks = rehearse(network, Settings(0.0, 1.0))
    found = [remark for remark in remarks if remark.id == "own_equilibrium"]
    assert [remark.where for remark in found] == ["A"]
    assert "f = 5 N acts on it at the start" in found[0].text


# ---- Damaged couplings --------------------------------------------------------------------------------------


def force_and_motion(ratio: float) -> Network:
    """A mass of 1 kg that a force drives, and one that it carries along, cut by force and acceleration."""
    a = PortSignal("a", "m/s2")
    free = LinearPart("free", [F], [a], None, None, None, [[-1.0]], restores=False)
    driven = LinearPart("driven", [a], [F], None, None, None, [[ratio]], restores=False)
    return Network([free, driven], [Wire(("free", "a"), ("driven", "a")), Wire(("driven", "f"), ("free", "f"))])


@pytest.mark.parametrize(("ratio", "order"), [(0.1, 2), (0.2, 1), (0.5, 0)])
def test_order_that_the_mass_ratio_allows(ratio: float, order: int) -> None:
    """Limits of the apparent mass ratio: 1, 1/3 and 1/7 for orders 0, 1 and 2."""
    [choice], _ = chosen(force_and_motion(ratio))
    assert choice.order == order


def test_mass_ratio_beyond_every_limit() -> None:
    """The master refuses, with the number and the side to drive; a wish gets a remark."""
    with pytest.raises(
        SolveError, match=r"by 1.5 in .* apparent mass of driven, .*driven is heavier: let it provide the motion"
    ):
        chosen(force_and_motion(1.5))
    _, remarks = chosen(force_and_motion(0.5), method="sequential", order=2)
    assert "order 2 is stable below 0.143" in remarks["mass_ratio"].text


class _Forgets(LinearPart):
    """Restores half of the velocity."""

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._x = self._x * np.array([1.0, 0.5])


class _Slopeless(LinearPart):
    """Part that claims to give slopes of its outputs, like an FMU by omc, and gives NaN before its first step."""

    def slopes_now(self, input_slopes: Any) -> Any:
        return np.full(len(self.outputs), np.nan)


class _Deaf(LinearPart):
    """Holds its inputs, whatever course they have."""

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        return super().advance(t, h, courses * np.array([1.0, 0.0, 0.0, 0.0]))


class _Fails(LinearPart):
    """Fails in steps that are longer than 4 ms or that end after the time `last`, s."""

    last = 1e9

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        if h > 0.004 or t + h > self.last:
            raise PartFailed(f"{self.name} at t = {t:.9g} s: the step is too long")
        return super().advance(t, h, courses)


@pytest.mark.slow
@pytest.mark.parametrize(("step", "stop"), [(0.01, 0.04), (None, 0.1)])
def test_steps_in_which_a_part_fails_are_shortened(step: float | None, stop: float) -> None:
    """Steps in which a part fails are repeated with half their length, and the result does not suffer."""
    run = judged(_with(_Fails), stop, step=step)
    assert run.rejected_steps > 0
    assert run.ok
    assert run.signals["A.x"] == pytest.approx(judged(two_masses(), stop, step=0.0025).signals["A.x"], abs=1e-4)


@pytest.mark.slow
def test_part_that_fails_in_steps_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """If even the shortest step fails, the message is that of the part."""
    monkeypatch.setattr(_Fails, "last", 0.03)
    with pytest.raises(SolveError, match=r"A at t = 0\.0\d* s: the step is too long"):
        judged(_with(_Fails), 0.1)


def _with(kind: type[LinearPart], **more: Any) -> Network:
    network = two_masses()
    first = network.parts[0]
    first.__class__ = kind
    first.abilities = replace(first.abilities, **more)
    return network


@pytest.mark.parametrize(
    ("network", "kind", "sentence"),
    [
        (lambda: _with(_Forgets), "restores_wrongly", "A claims to save and restore its state, but"),
        (
            lambda: _with(LinearPart, memory=False),
            "lists_no_states",
            "A lists no states, but its outputs depend on",
        ),
        (lambda: _with(_Deaf), "ignores_slopes", "A claims to interpolate its inputs, but ignores their slopes"),
        (lambda: _with(LinearPart, restores=False), "cannot_restore", "A cannot restore a state"),
        (lambda: _with(LinearPart, takes_courses=False), "takes_no_slopes", "A accepts no slopes of inputs"),
        (lambda: _with(LinearPart, step=0.005), "coarse_step", "A integrates with a fixed step of 0.005 s"),
    ],
)
def test_sentences_about_parts(network: Callable[[], Network], kind: str, sentence: str) -> None:
    """The test at the start finds what a part cannot do, and the remark names the part."""
    _, remarks = chosen(network())
    assert sentence in remarks[kind].text
    assert chosen(two_masses())[1] == {}


class _Refuses(LinearPart):
    """Refuses steps with an input outside of the interval `admitted`."""

    admitted = (-np.inf, np.inf)

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        if not np.all((self.admitted[0] <= courses[:, 0]) & (courses[:, 0] <= self.admitted[1])):
            raise PartFailed(f"{self.name} at t = {t:.9g} s: the input is out of range")
        return super().advance(t, h, courses)


@pytest.mark.parametrize("admitted", [(-np.inf, 1.0), (1.0, np.inf)])
def test_part_that_refuses_inputs_of_tests(admitted: tuple[float, float]) -> None:
    """A part that refuses inputs of a test, larger ones or no force, keeps its claims, and the tests go on."""
    part = _Refuses(
        "A", [PortSignal("f", "N", start=1.0)], [X, V], [[0, 1], [-10, 0]], [[0], [1]], np.eye(2), x=[0, 0]
    )
    part.admitted = admitted
    _, remarks = chosen(Network([part], []))
    assert not remarks
    assert part.abilities.restores


@pytest.mark.parametrize("mass", [1e6, 2e6, 3e6, 4e6, 5e6, 1e7])
def test_slopes_without_an_effect_above_rounding(mass: float) -> None:
    """A heavy body that constant inputs move by a rounding error does not ignore slopes, which move it less."""
    part = LinearPart("A", [F], [X], [[0, 1], [0, 0]], [[0], [1 / mass]], [[1, 0]], x=[100.0, 0])
    _, remarks = chosen(Network([part], []))
    assert not remarks


def test_slopes_that_are_no_numbers() -> None:
    """A part whose slopes are NaN runs like a part that gives none, and a remark names it."""
    run, without = (
        judged(network, 0.1, step=0.01) for network in (_with(_Slopeless), _with(LinearPart, gives_slopes=False))
    )
    assert np.array_equal(run.record.values, without.record.values)
    [said] = [remark.text for remark in run.remarks if remark.id == "gives_no_slopes"]
    assert said.startswith("A claims to give slopes of its outputs, but returns nan for x")


def _loop(gain: float) -> Network:
    u, y = PortSignal("u"), PortSignal("y")
    first = LinearPart("A", [u], [y], None, None, None, [[1.0]], x=[], bias=[])
    second = OdePart("B", [u], [y], lambda t, x, u: [gain * u[0] + 1.0])
    return Network([first, second], [Wire(("A", "y"), ("B", "u")), Wire(("B", "y"), ("A", "u"))])


def test_loop_without_memory() -> None:
    """A loop with a solution starts at it, also if passing values around it diverges; one without is refused."""
    run = judged(_loop(-3.0), 0.1, step=0.01)
    assert run.signals["A.y"][0] == pytest.approx(0.25)
    with pytest.raises(SolveError, match=r"the loop of .*B\.u.* has no solution at the start"):
        judged(_loop(1.0), 0.1, step=0.01)


def test_growth_stops_a_run() -> None:
    """Sequential steps of a stiff loop end with a sentence, not with large numbers."""
    parts = mass("A", 1.0, 10.0, 0.1, 0.0, restores=False), mass("B", 1.0, 40.0, 0.0, 0.0, restores=False)
    with pytest.raises(SolveError, match=r"the coupling is unstable at t = .* let all FMUs save and restore"):
        judged(joined(*parts, spring(1e6)), 5.0, step=0.01)


class _Ends(LinearPart):
    """Asks to end the simulation at the time `last`, s, if its step is at most `longest`, s."""

    last, longest = 1.0, 1.0

    def start(self, t: float, inputs: Any) -> None:
        super().start(t, inputs)
        self.ended = False

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        self.ended = t + h > self.last - 1e-9 and h <= self.longest
        return super().advance(t, h, courses)


@pytest.mark.parametrize(
    ("last", "longest", "complete"), [(1.0, 1.0, True), (0.2, 0.005, False), (0.2, 1.0, False)]
)
def test_part_that_asks_for_the_end(last: float, longest: float, complete: bool) -> None:
    """A run is incomplete if a part ends it or the finer run before the final time, and not at this time."""
    part = _Ends("A", [], ["y"], [[0, 1], [-1, 0]], None, [[1, 0]], x=[1, 0])
    part.last, part.longest = last, longest
    run = judged(Network([part], []), 1.0, step=0.01)
    assert run.agrees
    assert run.complete is run.ok is complete
    assert [remark.id for remark in run.remarks] == ([] if complete else ["ended_early"])
    assert run.time[-1] == pytest.approx(last, abs=0.01)


@pytest.mark.slow
def test_event_inside_a_step_that_cannot_be_repeated() -> None:
    """The part goes on to the end of the step, the others see the event late, and a remark counts such events."""
    network = rope_bounce()
    network.parts[0].abilities = replace(network.parts[0].abilities, restores=False)
    run = judged(network, 0.3, step=0.001)
    assert run.choices[0].method == "sequential"
    assert "2 events lie inside communication steps" in next(
        remark.text for remark in run.remarks if remark.id == "event_inside_step"
    )
    assert -np.min(run.signals["rope.f"]) == pytest.approx(5517.778, rel=2e-2)


def test_sample_times_off_the_grid() -> None:
    """A fixed step that does not divide a sample period is named; the run is exact all the same."""
    run = judged(sampled_control(), 0.2, step=0.007)
    assert "sample_off_grid" in {remark.id for remark in run.remarks}
    assert run.ok


def test_created_energy_is_red() -> None:
    """A fixed step that is too long for extrapolation neither agrees nor holds, and the connection is named."""
    run = judged(quarter_car(restores=False), 1.0, step=0.02)
    assert (run.agrees, run.holds, run.ok) == (False, False, False)
    assert "chassis.f · chassis.v" in next(r.text for r in run.remarks if r.id == "creates_energy")


# ---- Verdict ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_verdict_of_two_masses() -> None:
    """The estimated error is that against the exact solution, within a factor of five."""
    run = judged(two_masses(), 1.0)
    true = error(run.signals["A.x"], two_masses_exact(run.time))
    assert run.ok
    assert true / 5.0 < run.error < 1e-4
    data = run.data()
    assert data["groups"] == [
        {
            "fmus": ["A", "B"],
            "method": "hermite",
            "order": 4,
            "reason": "a loop of FMUs that can restore their states",
        }
    ]
    assert any("agrees: estimated error" in line for line in lines(run))


@pytest.mark.slow
def test_verdict_of_a_boom() -> None:
    """The gap of the pin is in the verdict."""
    run = judged(boom(800.0, 200.0), 0.3)
    assert run.ok
    assert run.gap < 1e-9
    assert run.energy_residual < 1e-6


@pytest.mark.slow
@pytest.mark.campaign
def test_random_systems() -> None:
    """Fifty random linear systems are stable or refused; their estimated errors are within a factor of five."""
    ratios = []
    for seed in range(50):
        network, matrix, start = random_system(seed)
        try:
            run = judged(network, 2.0, step=0.05)
        except SolveError as refused:
            assert "coupling" in str(refused)
            continue
        exact = random_exact(matrix, start, run.time[::5])
        found = np.array([run.signals[".".join(port)] for port in network.outputs])[:, ::5]
        spread = np.ptp(exact, axis=1)
        true = float(np.max(np.max(np.abs(found - exact), axis=1)[spread > 1e-9] / spread[spread > 1e-9]))
        ratios.append(run.error / true)
    inside = [0.2 < ratio < 5.0 for ratio in ratios]
    assert len(ratios) > 40
    assert np.mean(inside) >= 0.95


# ---- Runs without loops -------------------------------------------------------------------------------------


def chain(frequency: float) -> Network:
    """An oscillator of some rad/s and a first-order lag of 0.1 s that it drives."""
    w = frequency
    first = LinearPart("A", [], ["y", "v"], [[0.0, 1.0], [-w * w, 0.0]], None, np.eye(2), x=[1.0, 0.0])
    second = LinearPart("B", ["u"], ["z"], [[-10.0]], [[10.0]], [[1.0]], x=[0.0])
    return Network([first, second], [Wire(("A", "y"), ("B", "u"))])


def chain_exact(frequency: float, t: Any) -> Any:
    """Output of the lag, from ż = 10 (cos ωt − z)."""
    w = frequency
    return 10.0 / (100.0 + w * w) * (10.0 * np.cos(w * t) + w * np.sin(w * t) - 10.0 * np.exp(-10.0 * t))


@pytest.mark.slow
def test_steps_too_long_for_a_chain_do_not_agree() -> None:
    """At ωh = 3 the error of a chain is seen, and the estimate is that of the run, within a factor of five."""
    run = judged(chain(3000.0), tolerance=1e-6, step=0.001)
    true = error(run.signals["B.z"], chain_exact(3000.0, run.time))
    assert not run.agrees
    assert not run.ok
    assert run.worst == "B.z"
    assert true / 5.0 < run.error < 5.0 * true
    assert judged(chain(300.0), tolerance=1e-6).ok


@pytest.mark.slow
def test_output_between_communication_points() -> None:
    """A part alone is exact at fixed points only, and is compared between them; a tolerance shortens the steps."""
    first, _ = chain(300.0).parts
    for step, ok in ((0.02, False), (None, True)):
        run = couple(CoupledSystem("test", Network([first], []), stop=1.0, step=0.02), Options(step=step))
        true = error(run.signals["A.y"], np.cos(300.0 * run.time))
        assert run.ok is ok
        assert true / 5.0 < run.error < 5.0 * true
        assert (true < 1e-4) is ok


@pytest.mark.parametrize("product", [2.0, 4.0, 16.0])
def test_step_that_is_a_multiple_of_a_period(product: float) -> None:
    """At ωh = 2π, 4π and 16π the vibration has one value and slope at all points; the run is red all the same."""
    first, second = chain(np.pi * product / 0.01).parts
    hidden = LinearPart("A", [], ["y"], first._a, None, [[1.0, 0.0]], x=[1.0, 0.0])  # type: ignore[attr-defined]
    run = judged(Network([hidden, second], [Wire(("A", "y"), ("B", "u"))]), 0.5, step=0.01)
    assert np.ptp(run.signals["A.y"]) < 1e-6
    assert not run.ok


def test_samples_at_all_output_times() -> None:
    """If each output time is a sample time, whose values are not compared, runs are compared between them."""
    grid = _grid(Settings(0.0, 20.0, nominal=0.02), sampled_control()) / 0.02
    assert np.max(np.abs(grid - np.round(grid))) == pytest.approx(0.5)


def test_refined_runs_are_compared_at_the_times_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refinement must not move the times of comparison towards events, where errors are largest."""
    grids: list[Any] = []

    def recorded(*arguments: Any) -> tuple[float, str]:
        grids.append(arguments[-1])
        return difference(*arguments)

    monkeypatch.setattr(verdict, "difference", recorded)
    assert judged(rope_bounce()).ok
    assert len(grids) == 3  # two comparisons of a run with a finer one, and one for the observed order
    assert all(np.array_equal(grid, grids[0]) for grid in grids)


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop", [2.009, pytest.param(2.5, marks=pytest.mark.campaign), pytest.param(3.0, marks=pytest.mark.campaign)]
)
def test_periods_that_are_short_for_the_run(stop: float) -> None:
    """A sampled system is compared between its samples, however many there are."""
    run = judged(sampled_control(), stop)
    assert run.ok
    assert run.worst


def test_samples_alone_are_compared() -> None:
    """A system whose outputs are all held between samples is compared in these."""
    first = SampledPart("A", [], ["y"], lambda t, u: [np.sin(t)], 0.02)
    second = SampledPart("B", ["u"], ["y"], lambda t, u: [2.0 * u[0]], 0.02)
    run = judged(Network([first, second], [Wire(("A", "y"), ("B", "u"))]))
    assert run.worst
    assert run.ok


# ---- Values that are not finite -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "sentence"),
    [(0.0, "control.u is not finite at the start"), (0.5, "control.u is not finite at t = 0.5 s")],
)
def test_values_that_are_not_finite(begin: float, sentence: str) -> None:
    """A sampled part that gives no number ends the run, with its output and the time."""
    network = sampled_control()
    part: Any = network.parts[1]
    part._law = lambda t, u: [-u[0] if t < begin else np.nan]
    with pytest.raises(SolveError, match=sentence):
        judged(network)


@pytest.mark.slow
def test_energy_that_is_not_finite_does_not_hold() -> None:
    """A residual without a value is no residual of zero."""
    residual = EnergyResidual("a · b", float("nan"), float("nan"))
    run = replace(judged(chain(3.0)), residuals=[EnergyResidual("c · d", 0.0, 1.0), residual])
    assert not run.holds
    assert not run.ok


# ---- Ranges and gaps ----------------------------------------------------------------------------------------


class _Careless(OdePart):
    """Gives 1 after a step that is longer than a limit, and 0 after others."""

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        self._x = np.array([float(h > 0.007)])
        self._t = t + h
        return t + h, False


def test_signal_that_is_constant_in_the_finer_run() -> None:
    """The error of a signal is relative to the larger of its ranges in both runs."""
    part = _Careless("A", [], ["y"], lambda t, x, u: x, x=[0.0], memory=True)
    run = judged(Network([part], []), step=0.01)
    assert run.error == pytest.approx(1.0)
    assert not run.ok


@pytest.mark.slow
def test_ranges_of_a_coarse_run_that_diverges() -> None:
    """Ranges that the run does not confirm are replaced, so that its steps are controlled all the same."""
    network, settings = two_masses(), Settings(0.0, 1.0, nominal=1e-3)
    choices, _ = rehearse(network, settings)
    coarse = simulated(network, choices, settings, silent)
    right, expected = _scaled(network, choices, settings, coarse, silent)
    diverged = replace(coarse, values=[1e6 * values for values in coarse.values])
    found, run = _scaled(network, choices, settings, diverged, silent)
    assert found.scales == pytest.approx(right.scales, rel=0.3)
    assert len(run.pieces) == pytest.approx(len(expected.pieces), rel=0.2)
    _, run = _scaled(network, choices, settings, None, silent)
    assert len(run.pieces) == pytest.approx(len(expected.pieces), rel=0.2)


@pytest.mark.slow
def test_coarser_run_that_is_unstable() -> None:
    """A run whose steps are short enough is judged, although twice these steps are unstable."""
    parts = mass("A", 1.0, 10.0, 0.1, 0.0, restores=False), mass("B", 1.0, 40.0, 0.0, 0.0, restores=False)
    network = joined(*parts, spring(1e3, 20.0))
    run = judged(network, 1.0, step=0.01)
    assert run.error < 1.0


def test_pin_that_is_open_at_the_start() -> None:
    """Positions that differ before the first step are refused, with the pin and its gap."""
    first, second = mass("A", 1.0, 10.0, 0.1, 0.0), mass("B", 10.0, 1e3, 0.102, 0.0)
    network = Network([first, second], [], [Pin(("A", "x"), ("B", "x"), ("A", "f"), ("B", "f"))])
    with pytest.raises(
        SolveError, match=r"positions of both ends of the rigid connection of A\.x and B\.x differ by 0\.002"
    ):
        judged(network)


def test_pin_with_different_velocities_at_the_start() -> None:
    """Sides of a pin that move apart are refused, with both velocities; equal velocities are not."""
    pins = [Pin(("A", "x"), ("B", "x"), ("A", "f"), ("B", "f"))]

    def moving(v: float) -> Network:
        return Network([mass("A", 1.0, 10.0, 0.1, 0.0), mass("B", 10.0, 1e3, 0.1, v)], [], pins)

    text = r"A\.x and B\.x have different velocities at the start: A\.v is 0 and B\.v is 0\.3 \(m/s\)"
    with pytest.raises(SolveError, match=text):
        judged(moving(0.3))
    assert judged(moving(0.0)).ok


@pytest.mark.slow
def test_order_of_the_parts() -> None:
    """A law that comes before the masses takes the same steps as one that comes after them."""
    a, b, law = mass("A", 1.0, 10.0, 0.0, 100.0), mass("B", 1.0, 1000.0, 0.0, -100.0), spring(100.0)
    after, before = joined(a, b, law), Network([law, a, b], joined(a, b, law).wires)
    runs = [judged(network) for network in (after, before)]
    assert [len(run.record.pieces) for run in runs] == [len(runs[0].record.pieces)] * 2
    assert runs[1].signals["A.x"] == pytest.approx(runs[0].signals["A.x"], abs=1e-9)


# ---- Machines at rest ---------------------------------------------------------------------------------------


def at_rest(pinned: bool) -> Network:
    """Two masses in their equilibrium, whose velocities are rounding errors, joined by a pin or by a spring."""
    k1, k2, c = 10.3, 40.7, 103.7
    if pinned:
        parts = mass("A", 1.0, k1, 0.3, 0.0, f0=0.3 * k1), mass("B", 2.0, k2, 0.3, 0.0, f0=0.3 * k2)
        return Network(parts, [], [Pin(("A", "x"), ("B", "x"), ("A", "f"), ("B", "f"))])
    x = np.linalg.solve([[k1 + c, -c], [-c, k2 + c]], [9.81, 1.3 * 9.81])
    return joined(mass("A", 1.0, k1, x[0], 0.0, f0=9.81), mass("B", 1.3, k2, x[1], 0.0, f0=1.3 * 9.81), spring(c))


@pytest.mark.slow
@pytest.mark.parametrize("pinned", [True, False])
def test_machine_at_rest(pinned: bool) -> None:
    """Rounding errors of velocities and of energies are no errors of a coupling, and need no short steps."""
    run = judged(at_rest(pinned), 0.1)
    assert run.ok
    assert not run.remarks
    assert len(run.record.pieces) < 500
    assert np.ptp(run.signals["A.x"]) < 1e-12


# ---- Events -------------------------------------------------------------------------------------------------


def test_both_remarks_on_events() -> None:
    """Late events do not hide events that are not reported."""
    network, record = two_masses(), Record([0.0], [np.zeros(1)], late=2, missed=3)
    found = [*late_event_remarks(record), *unreported_events(network, [0], record, record)]
    assert [remark.id for remark in found] == ["event_inside_step", "unreported_event"]


def test_event_that_does_not_settle() -> None:
    """Values that change in every pass after an event are not taken."""
    u, y = PortSignal("u"), PortSignal("y")
    switch = Switch(lambda t, x, u: t - 0.05)
    first = OdePart(
        "A", [u], [y], lambda t, x, u, sides: [u[0] if sides[0] < 0 else 1.0 - u[0]], switches=[switch]
    )
    lag = LinearPart("B", [u], [y], [[-1.0]], [[1.0]], [[1.0]], x=[1.0])
    third = OdePart("C", [u, PortSignal("w")], [y], lambda t, x, u: [u[1] - 2.0 * u[0]])
    wires = [Wire(("A", "y"), ("C", "u")), Wire(("B", "y"), ("C", "w")), Wire(("C", "y"), ("A", "u"))]
    network = Network([first, lag, third], [*wires, Wire(("A", "y"), ("B", "u"))])
    with pytest.raises(SolveError, match=r"still change after 100 evaluations of all FMUs .* changes most"):
        judged(network, 0.1, method="hermite")


@pytest.mark.parametrize(("size", "count"), [(1e-10, 0), (0.5, 1)])
def test_jumps_of_noise_are_no_events(size: float, count: int) -> None:
    """A jump counts relative to the ranges of signals of its unit, so noise of an idle coordinate is no event."""
    network = two_masses()
    time, values = np.linspace(0.0, 1.0, 101), np.zeros((101, network.n_y))
    values[:, network.outputs.index(("A", "x"))] = np.sin(time)
    values[50:, network.outputs.index(("B", "x2"))] = size
    record = Record(time.tolist(), [*values])
    assert len([*unreported_events(network, [*range(network.n_y)], record, record)]) == count
