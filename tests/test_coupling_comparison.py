"""Comparison of runs: times near events, ranges of signals, observed order, and the uncut mechanism."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers_coupling import two_masses, two_masses_and_law
from helpers_coupling_parts import LinearPart, OdePart, Switch

from gpmelica.coupling.comparison import away_from_events, observed_order, relative_errors
from gpmelica.coupling.master import Record
from gpmelica.coupling.method_comparison import compare
from gpmelica.coupling.network import Network
from gpmelica.coupling.participant import PartFailed, PortSignal
from gpmelica.coupling.ports import note_rounding
from gpmelica.coupling.system import CoupledSystem
from gpmelica.coupling.verdict import Options, couple
from gpmelica.coupling.whole import WholeMachine


def _record(*events: float) -> Record:
    return Record([0.0], [np.zeros(1)], events=[*events])


GRID = np.linspace(0.0, 1.0, 1001)


def test_times_near_events_are_left_out() -> None:
    """Times between the records of one event, and as many around them, are not compared."""
    away = away_from_events(_record(0.5, 0.8), _record(0.502, 0.8), GRID)
    assert GRID[~away] == pytest.approx([*np.arange(0.498, 0.5065, 0.001), 0.8])


@pytest.mark.parametrize(("own", "fine"), [((), (0.40, 0.42)), ((0.1,), (0.40, 0.42)), ((0.3,), ())])
def test_events_of_one_run_are_compared(own: tuple[float, ...], fine: tuple[float, ...]) -> None:
    """A pulse that lies between two steps of one run is a difference of the runs at all times but the events."""
    away = away_from_events(_record(*own), _record(*fine), GRID)
    assert GRID[~away] == pytest.approx(fine)


@pytest.mark.parametrize(("p", "steps"), [(1.0, (2.6, 0.38)), (4.0, (2.0, 0.5)), (2.0, (10.0, 0.9))])
def test_observed_order(p: float, steps: tuple[float, float]) -> None:
    """The order follows from errors that are a power of the step, whatever the ratios of the steps are."""
    coarse, fine = steps
    outer = (coarse**p - fine**p) / (1.0 - fine**p)
    assert observed_order((outer, coarse), fine) == pytest.approx(p)


def test_order_that_no_power_explains() -> None:
    """A coarse run that differs less than a finer one has no order."""
    assert observed_order((1.0, 2.0), 0.5) is None


def test_errors_are_relative_to_the_range_of_the_unit() -> None:
    """A range counts as a thousandth of the largest one of the unit; rounding of a constant is no error."""
    t = np.linspace(0.0, 1.0, 11)
    fine = np.array([1e3 * t, 1e-3 * t, 5.0 + 0.0 * t, 0.0 * t])
    run = fine + np.array([[0.0], [1e-3], [1e-12], [np.nan]])
    signals = [PortSignal("y", unit) for unit in ("m", "m", "rad", "kg")]
    found = relative_errors(run, fine, signals, 1.0)
    assert found[:3] == pytest.approx([0.0, 1e-3, 0.0])
    assert np.isnan(found[3])


def _relay(name: str, time: float) -> OdePart:
    """A part whose output jumps from 0 to 1 at a given time, s."""
    return OdePart(
        name, [], ["y"], lambda t, x, u, sides: [float(sides[0] > 0)], switches=[Switch(lambda t, x, u: t - time)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("time", "difference"), [(0.5 - 1e-6, 0.0), (0.4, 1.0)])
def test_uncut_machine_near_events(time: float, difference: float) -> None:
    """A jump that both have at almost the same time is no difference; a jump at another time is one."""
    system = CoupledSystem("test", Network([_relay("A", 0.5 + 1e-6)], []), stop=1.0)
    whole = WholeMachine(_relay("Whole", time), True, [(("A", "y"), "y")])
    run = couple(replace(system, whole=whole), Options())
    assert run.whole is not None
    assert run.whole.difference == pytest.approx(difference)
    assert run.agrees == (difference == 0.0)


class _Brief(OdePart):
    """A part that asks to end the simulation at the time `last`, s."""

    last = 1.0

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        self.ended = t + h > self.last - 1e-9
        return super().advance(t, h, courses)


def _sine(kind: type[OdePart], name: str) -> OdePart:
    return kind(name, [], ["y"], lambda t, x, u: [np.sin(t)], gives_slopes=False)


@pytest.mark.parametrize(("last", "agrees"), [(1.0, True), (0.5, False)])
def test_uncut_machine_that_ends_early(last: float, agrees: bool) -> None:
    """An uncut mechanism that ends before its parts differs from them; no later values are compared."""
    part = _sine(_Brief, "Whole")
    assert isinstance(part, _Brief)
    part.last = last
    whole = WholeMachine(part, True, [(("A", "y"), "y")])
    system = CoupledSystem("test", Network([_sine(OdePart, "A")], []), stop=1.0, whole=whole)
    run = couple(system, Options(step=0.01))
    assert run.whole is not None
    assert run.agrees is agrees
    assert bool(np.isnan(run.whole.signals["A.y"]).any()) is not agrees
    if not agrees:
        assert run.whole.worst == "the final time, 0.5 s in the uncut mechanism"


class _Discards(LinearPart):
    """A part that cannot begin with a step of less than 2 ms."""

    def advance(self, t: float, h: float, courses: Any) -> tuple[float, bool]:
        if t == 0.0 and h < 0.002:
            raise PartFailed(f"{self.name} at t = {t:.9g} s: the step is too short")
        return super().advance(t, h, courses)


def test_reference_that_fails() -> None:
    """If the reference of a comparison fails, the finer run of the verdict takes its place."""
    network = two_masses()
    network.parts[0].__class__ = _Discards
    system, options = CoupledSystem("test", network, stop=0.1), Options(step=0.01)
    judged = couple(system, options)
    runs = compare(system, options, judged)
    assert {run.reference for run in runs} == {"finer run of the verdict"}
    [error] = [run.error for run in runs if run.label == "hermite" and run.step == 0.01]
    assert error == pytest.approx(judged.error, rel=0.1)


def test_rounding_errors_of_a_lone_force() -> None:
    """A spring between equal positions has a force of rounding errors, which is no error; a real force is one."""
    network = two_masses_and_law()
    rows = [row for row, port in enumerate(network.outputs) if port[0] == "law"]
    for part in network.parts:
        part.start(0.0, np.zeros(len(part.inputs)))
    values = np.tile(0.1 * (np.arange(network.n_y) < rows[0]), (11, 1))
    draw = np.random.default_rng(1)
    a, b = (1e-14 * draw.normal(size=(2, 11)) for _ in range(2))
    assert max(relative_errors(a, b, [network.signals[row] for row in rows], 1.0)) > 0.1
    note_rounding(network, values)
    signals = [network.signals[row] for row in rows]
    assert [signal.least for signal in signals] == pytest.approx([2e-8, 2e-8])
    assert max(relative_errors(a, b, signals, 1.0)) == 0.0
    assert min(relative_errors(1e8 * a, 1e8 * b, signals, 1.0)) > 0.1


def test_rounding_errors_of_an_earlier_run() -> None:
    """Sizes of rounding errors from an earlier run with large signals do not hide errors of the next."""
    fresh, used = two_masses(gives_gains=False), two_masses(gives_gains=False)
    used.signals[:] = [replace(signal, least=1e9) for signal in used.signals]
    first, second = (couple(CoupledSystem("test", n, stop=0.1), Options(step=0.01)) for n in (fresh, used))
    assert first.error > 0.0
    assert second.error == first.error
