"""A fixed choice of dependent coordinates in a native run: where it turns singular the FMU stops and says so."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from helpers_backends import Array, Compiled, CompileModel, Fmu
from helpers_examples import changed

from gpmelica import reference
from gpmelica.errors import SolveError
from gpmelica.generator.mechanism import build
from gpmelica.prepared import prepare

REALS = ctypes.POINTER(ctypes.c_double)
DEPENDENT = ["crank.angle", "coupler.angle"]  # the rocker is independent
DEAD_CENTRE = 0.3945  # s: crank and coupler in line for the first time
STOPPED = (
    r"cannot be solved for crank\.angle, coupler\.angle all the way to t = \S+ s: .*partition becomes singular"
)


@pytest.fixture(params=[("gpme", "dense"), ("gpme", "recursion"), ("gpme_reduced", "dense")])
def linkage(request: pytest.FixtureRequest, compile_model: CompileModel) -> Compiled:
    """The four-bar linkage with the rocker as independent coordinate; recursion could do without it."""
    formulation, way = request.param
    keys = {"constraints__formulation": formulation, "constraints__dependent": DEPENDENT}
    keys |= {"simulation__accelerations": way}
    return compile_model(prepare(changed("four_bar_3d", "planar", **keys)))


@pytest.fixture
def run(linkage: Compiled) -> Iterator[Callable[[float, float], tuple[float, str]]]:
    """Co-simulation with a tolerance and a speed; where the message says that it stopped, s, and the message."""
    symbols = [c.symbol for c in linkage.model.mechanism.coordinates]
    rates = dict(zip([f"{symbol}_dot_start" for symbol in symbols], linkage.model.start[1], strict=True))
    with Fmu(linkage, "cs") as fmu:

        def until_stopped(tolerance: float, speed: float) -> tuple[float, str]:
            fmu.messages.clear()
            start = {name: speed * float(rate) for name, rate in rates.items() if name in fmu.variables}
            fmu.restart(start, tolerance)
            with pytest.raises(FMICallException, match="fmi2DoStep failed with status 3"):
                fmu.run(np.linspace(0.0, 1.0, 101))
            return fmu.get(["time"])[0], fmu.messages[-1]

        yield until_stopped


def test_run_stops_at_a_singular_partition(run: Callable[[float, float], tuple[float, str]]) -> None:
    """Whatever the steps are: those of a loose tolerance jump across, those of a tight one come near."""
    for tolerance in 10.0 ** -np.arange(3.0, 10.1, 0.5):
        for speed in (0.9, 1.0, 1.1):
            time, message = run(float(tolerance), speed)
            assert re.search(STOPPED, message)
            assert time == pytest.approx(DEAD_CENTRE / speed, abs=0.05)


@pytest.mark.parametrize("formulation", ["gpme", "gpme_reduced"])
def test_reference_stops_at_the_first(formulation: str) -> None:
    """Not at a later one, whatever the solver's steps are."""
    chosen = {"constraints__dependent": DEPENDENT, "constraints__formulation": formulation}
    mechanism = build(changed("four_bar_3d", "planar", **chosen))
    for tolerance in (1e-4, 1e-7, 1e-10):
        with pytest.raises(SolveError, match=r"for crank\.angle, coupler\.angle at t = 0\.(39|4)\d* s"):
            reference.simulate(mechanism, stop=1.5, tolerance=tolerance)


def test_states_beyond_a_singular_partition(linkage: Compiled) -> None:
    """They are refused in a run that began before it; a run that begins there is as good as any."""
    q, free = linkage.model.start[0], len(linkage.model.program.states) - 3
    symbols = [c.symbol for c in linkage.model.mechanism.coordinates]
    with Fmu(linkage, "me") as fmu:

        def derivatives(side: int) -> Array:
            states = np.array([*(side * q), *np.ones(free)])
            rates = np.empty_like(states)
            fmu.fmi.setContinuousStates(states.ctypes.data_as(REALS), len(states))
            fmu.fmi.getDerivatives(rates.ctypes.data_as(REALS), len(states))
            return rates

        for side in (1, -1):  # the linkage and its mirror image
            fmu.restart({f"{s}_start": side * float(angle) for s, angle in zip(symbols, q, strict=True)})
            fmu.fmi.enterContinuousTimeMode()
            found = derivatives(side)
            with pytest.raises(FMICallException, match="fmi2GetDerivatives failed with status 3"):
                derivatives(-side)
            assert re.search(STOPPED, fmu.messages[-1])
            assert np.array_equal(derivatives(side), found)
