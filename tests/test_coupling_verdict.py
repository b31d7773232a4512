"""Choice of methods, sentences about damaged couplings, and estimated errors of random systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers_coupling import (
    F,
    boom,
    error,
    joined,
    mass,
    quarter_car,
    random_exact,
    random_system,
    rigid_pair,
    rope_bounce,
    sampled_control,
    spring,
    stiff_pair,
    two_masses,
    two_masses_exact,
)
from helpers_coupling_parts import LinearPart, OdePart

from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.coupling.master import Settings
from gpmelica.coupling.network import Network, Wire
from gpmelica.coupling.participant import PortSignal
from gpmelica.coupling.rehearsal import MethodChoice, rehearse
from gpmelica.coupling.report import lines
from gpmelica.coupling.system import CoupledSystem, CouplingRemark
from gpmelica.coupling.verdict import Coupled, Options, couple


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
        (two_masses, ["hermite"], "a loop of parts that restore their states"),
        (sampled_control, ["sequential", "sequential"], "no loop"),
        (lambda: quarter_car(restores=False), ["sequential"], "chassis, wheel cannot restore a state"),
        (lambda: stiff_pair(1.0, 1e6, 0.0)[0], ["mean_force"], "a connection too fast for the step, ωH = 14"),
        (rigid_pair, ["pin"], "pairs of positions must agree"),
    ],
)
def test_methods(network: Callable[[], Network], methods: list[str], reason: str) -> None:
    """Each group gets the method that its parts allow and its connection needs, with the reason."""
    choices, _ = chosen(network())
    assert [choice.method for choice in choices] == methods
    assert reason in choices[0].reason


def test_a_wish_overrules() -> None:
    """The method and the order that are asked for are taken."""
    [choice], _ = chosen(two_masses(), method="sequential", order=1)
    assert (choice.method, choice.order) == ("sequential", 1)
    with pytest.raises(SolveError, match="method mean_force needs connections that are laws without memory"):
        chosen(two_masses(), method="mean_force")
    with pytest.raises(DescriptionError, match="order: expected 0, 1 or 2, got 5"):
        Options(order=5)


def test_frequency_of_a_connection() -> None:
    """The rehearsal measures ω² = c/m_red from the answer to a force in one step."""
    _, remarks = chosen(stiff_pair(1000.0, 1e6, 0.0)[0])
    assert (
        "1e+03 rad/s, is above the communication step of 0.01 s (ωH = 10)" in remarks["connection_above_step"].text
    )


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
    with pytest.raises(SolveError, match=r"multiplies an error by 1.5 .*let the heavier side give the motion"):
        chosen(force_and_motion(1.5))
    _, remarks = chosen(force_and_motion(0.5), method="sequential", order=2)
    assert "order 2 is stable below 0.143" in remarks["mass_ratio"].text


class _Forgets(LinearPart):
    """Restores half of the velocity."""

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._x = self._x * np.array([1.0, 0.5])


class _Deaf(LinearPart):
    """Holds its inputs, whatever course they have."""

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        return super().advance(t, h, courses * np.array([1.0, 0.0, 0.0, 0.0]))


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
        (lambda: _with(LinearPart, takes_courses=False), "takes_no_slopes", "A takes no slopes of inputs"),
        (lambda: _with(LinearPart, step=0.005), "coarse_step", "A integrates with a fixed step of 0.005 s"),
    ],
)
def test_sentences_about_parts(network: Callable[[], Network], kind: str, sentence: str) -> None:
    """The test at the start finds what a part cannot do, and the remark names the part."""
    _, remarks = chosen(network())
    assert sentence in remarks[kind].text
    assert chosen(two_masses())[1] == {}


def _loop(gain: float) -> Network:
    u, y = PortSignal("u"), PortSignal("y")
    first = LinearPart("A", [u], [y], None, None, None, [[1.0]], x=[], bias=[])
    second = OdePart("B", [u], [y], lambda t, x, u: [gain * u[0] + 1.0])
    return Network([first, second], [Wire(("A", "y"), ("B", "u")), Wire(("B", "y"), ("A", "u"))])


def test_loop_without_memory() -> None:
    """A loop with a solution starts at it, also if passing values around it diverges; one without is refused."""
    run = judged(_loop(-3.0), 0.1, step=0.01)
    assert run.signals["A.y"][0] == pytest.approx(0.25)
    with pytest.raises(SolveError, match=r"the loop of .*B\.u.* has no unique solution at the start"):
        judged(_loop(1.0), 0.1, step=0.01)


def test_growth_stops_a_run() -> None:
    """Sequential steps of a stiff loop end with a sentence, not with large numbers."""
    parts = mass("A", 1.0, 10.0, 0.1, 0.0, restores=False), mass("B", 1.0, 40.0, 0.0, 0.0, restores=False)
    with pytest.raises(SolveError, match="the coupling is unstable; let all FMUs save and restore"):
        judged(joined(*parts, spring(1e6)), 5.0, step=0.01)


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
            "reason": "a loop of parts that restore their states",
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
        exact = random_exact(matrix, start, run.time[::100])
        found = np.array([run.signals[".".join(port)] for port in network.outputs])[:, ::100]
        spread = np.ptp(exact, axis=1)
        true = float(np.max(np.max(np.abs(found - exact), axis=1)[spread > 1e-9] / spread[spread > 1e-9]))
        ratios.append(run.error / true)
    inside = [0.2 < ratio < 5.0 for ratio in ratios]
    assert len(ratios) > 40
    assert np.mean(inside) >= 0.95
