"""Noise of outputs limits the accuracy of a coupling, but not the step; jumps and fast transients are no noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_coupling import F, V, X, couple, error, mass, two_masses, two_masses_exact
from helpers_coupling_parts import LinearPart

from gpmelica.coupling.comparison import relative_errors
from gpmelica.coupling.master import Record
from gpmelica.coupling.network import Network, Pin, Wire
from gpmelica.coupling.noise import NoiseLevels
from gpmelica.coupling.participant import PortSignal
from gpmelica.coupling.run_remarks import noise_remarks
from gpmelica.coupling.system import CoupledSystem
from gpmelica.coupling.verdict import Coupled, Options
from gpmelica.coupling.verdict import couple as judged


class _Noisy(LinearPart):
    """A part whose outputs have noise of a given amplitude."""

    noise = 0.0

    def outputs_now(self) -> Any:
        return super().outputs_now() + self.noise * np.sin(1e12 * self._t + np.arange(len(self.outputs)))


def _noisy_mass(name: str, m: float, k: float, x: float, v: float, noise: float, **more: Any) -> LinearPart:
    part = mass(name, m, k, x, v, **more)
    part.__class__, part.noise = _Noisy, noise  # type: ignore[attr-defined]
    return part


def _two_masses(noise: float, **more: Any) -> Network:
    quiet = two_masses(**more)
    return Network([_noisy_mass("A", 1.0, 10.0, 0.0, 100.0, noise, **more), quiet.parts[1]], quiet.wires)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.0), (0.01, 1e-3), (1.0, 0.1)])
def test_noise_does_not_shorten_the_steps_of_a_loop(noise: float, least: float) -> None:
    """Noise of an output is found with its size; the error becomes as large as the noise, but the run ends."""
    run = couple(_two_masses(noise), "hermite", 0.2)
    assert len(run.record.pieces) < 300
    assert run.record.missed == 0
    assert least <= run.record.noise[0] <= 10.0 * noise
    assert error(run["A.x"], two_masses_exact(run.time)) < 1e-5 + noise / 5.0


@pytest.mark.slow
@pytest.mark.parametrize("restores", [True, False])
def test_noise_does_not_shorten_sequential_steps(restores: bool) -> None:
    """Polynomials of noisy outputs have errors in steps of any length, also if steps cannot be repeated."""
    part = _Noisy("A", [], ["y"], [[0, 1], [-1, 0]], None, [[1, 0]], x=[1, 0], restores=restores)
    part.noise = 0.01
    run = couple(Network([part], []), "sequential", 1.0, nominal=0.1)
    assert len(run.record.pieces) < 500
    assert run.record.missed == 0
    assert run.record.noise[0] < 0.1
    assert error(run["A.y"], np.cos(run.time)) < 0.1


@pytest.mark.slow
def test_noise_does_not_shorten_the_steps_of_a_pin() -> None:
    """The gap of a pin closes although the positions have noise."""
    parts = _noisy_mass("A", 1.0, 10.0, 0.1, 0.0, 1e-6), mass("B", 1.0, 40.0, 0.1, 0.0)
    network = Network([*parts], [], [Pin(("A", "x"), ("B", "x"), ("A", "f"), ("B", "f"))])
    run = couple(network, "pin", 0.1)
    assert len(run.record.pieces) < 300
    assert np.max(np.abs(run["A.x"] - run["B.x"])[1:]) < 1e-10


class _WithViolation(LinearPart):
    """A mass whose last output is a constraint violation: noise of a given size without any influence."""

    violation = 0.0

    def outputs_now(self) -> Any:
        found = super().outputs_now()
        found[-1] = self.violation * abs(np.sin(1e12 * self._t))
        return found


def _judged_with_violation(size: float, nominal: float | None, scale: float = 1.0) -> Coupled:
    """Two masses on springs, of which the first has a constraint violation; `scale` multiplies all signals."""
    a, b, c = [[0.0, 1.0], [-10.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    outputs = [X, V, PortSignal("violation", "1", nominal=nominal)]
    first = _WithViolation("A", [F], outputs, a, b, c, x=[0.0, scale])
    first.violation = size * scale
    a, b, c = [[0.0, 1.0], [-40.0, 0.0]], [[0.0], [30.0]], [[30.0, 0.0]]
    second = LinearPart("B", [X], [F], a, b, c, [[-30.0]], x=[0.0, 0.0])
    wires = [Wire(("A", "x"), ("B", "x")), Wire(("B", "f"), ("A", "f"))]
    return judged(CoupledSystem("masses", Network([first, second], wires), stop=0.2), Options())


@pytest.mark.parametrize(("size", "nominal"), [(1e-13, None), (1e-10, 1.0)])
def test_rounding_errors_count_as_zero(size: float, nominal: float | None) -> None:
    """A constraint violation by rounding has no influence on the steps, the verdict and the remarks."""
    plain, noisy = _judged_with_violation(0.0, nominal), _judged_with_violation(size, nominal)
    assert noisy.record.times == plain.record.times
    assert noisy.rejected_steps == plain.rejected_steps
    assert (noisy.ok, noisy.error, noisy.remarks) == (True, plain.error, plain.remarks)


@pytest.mark.parametrize(
    ("nominal", "size", "error"),
    [(None, 9e-13, 0.0), (None, 1.1e-12, 1.0), (1.0, 9e-10, 0.0), (1.0, 1.1e-9, 1.0), (1e-6, 1.1e-15, 1.0)],
)
def test_sizes_that_count_as_zero(nominal: float | None, size: float, error: float) -> None:
    """The difference of two runs counts if the signal is larger than rounding errors of its nominal magnitude."""
    signals = [PortSignal("x", "m"), PortSignal("violation", "1", nominal=nominal)]
    run, fine = np.array([[0.0, 5.0], [0.0, size]]), np.array([[0.0, 5.0], [0.0, 0.0]])
    assert relative_errors(run, fine, signals, 1.0).tolist() == [0.0, error]


@pytest.mark.parametrize("scale", [1e-12, 1e-20])
def test_tiny_systems_have_the_same_steps(scale: float) -> None:
    """A linear system keeps its steps and its error if all signals are multiplied by a tiny factor."""
    plain, tiny = _judged_with_violation(1e-14, None), _judged_with_violation(1e-14, None, scale)
    assert len(tiny.record.times) == len(plain.record.times) > 10
    assert tiny.error == pytest.approx(plain.error, rel=0.01)
    assert 1e-8 < tiny.error < 1e-4


class _Jumping(LinearPart):
    """A part whose outputs jump at given times and report no event."""

    times: tuple[float, ...] = ()

    def outputs_now(self) -> Any:
        return super().outputs_now() + float(np.searchsorted(self.times, self._t))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "restores"), [("hermite", True), ("sequential", True), ("sequential", False)])
def test_jumps_are_no_noise(method: str, restores: bool) -> None:
    """Jumps, some of them at likely communication points, shorten steps around their times only."""
    jumping = _Jumping("A", ["u"], ["y"], [[-1.0]], [[1.0]], [[1.0]], x=[1.0], restores=restores)
    jumping.times = (0.0625, 0.1, 0.1001)
    lag = LinearPart("B", ["u"], ["y"], [[-2.0]], [[1.0]], [[1.0]], x=[0.0], restores=restores)
    wires = [Wire(("A", "y"), ("B", "u")), Wire(("B", "y"), ("A", "u"))]
    run = couple(Network([jumping, lag], wires), method, 0.125, nominal=0.1)
    assert not run.record.noise.any()
    assert (run.record.missed >= 3) is restores


@pytest.mark.parametrize("rate", [1e3, 1e6])
def test_fast_transients_are_no_noise(rate: float) -> None:
    """An initial transient needs short steps, whose errors decrease with the step."""
    fast = LinearPart("A", [X], [V], [[-rate]], [[rate]], [[1.0]], x=[10.0])
    slow = LinearPart("B", [V], [X], [[-1.0]], [[1.0]], [[1.0]], x=[1.0])
    wires = [Wire(("A", "v"), ("B", "v")), Wire(("B", "x"), ("A", "x"))]
    run = couple(Network([fast, slow], wires), "hermite", 0.1, nominal=0.01)
    assert not run.record.noise.any()
    assert run.record.missed == 0


def test_few_large_errors_in_shortest_steps_are_jumps() -> None:
    """Eight large errors of the shortest steps count as jumps; one more shows noise of this signal."""
    found, limits = NoiseLevels(2, 1e-9), np.array([1.0, 1.0])
    for _ in range(8):
        found.note(1e-9, np.array([3.0, 0.1]), limits)
    found.note(1e-3, np.array([3.0, 0.1]), limits)
    assert (found.jumps, found.admissible.tolist()) == (8, [0.0, 0.0])
    for _ in range(9):
        found.note(1e-9, np.array([3.0, 0.1]), limits)
    assert (found.jumps, found.levels.tolist()) == (0, [3.0, 0.0])
    assert found.admissible[0] > 3.0


def test_remark_on_noise() -> None:
    """The remark names the noisiest output and the tolerance of the solver in its FMU."""
    network = two_masses(tolerance=1e-2)
    record = Record([0.0, 1.0], [np.zeros(4), np.full(4, 2.0)], noise=np.array([0.1, 0.5, 0.0, 0.0]))
    [remark] = noise_remarks(network, record)
    assert (remark.id, remark.where) == ("noise", "A")
    assert remark.text == (
        "A.v has noise: errors of up to 0.5 m/s remain in steps of any length, which is 0.25 of the range; reduce"
        " the tolerance, 0.01, of the solver inside A"
    )
