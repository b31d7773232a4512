"""Exact derivatives of generated FMUs: against central differences, and forward against adjoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers_backends import Array, Compiled, CompileModel, Fmu, example_model, pendulum
from helpers_examples import changed
from helpers_force_elements import measuring_hoist
from helpers_friction import DAHL
from helpers_motions import drives
from helpers_random import branched, tied
from helpers_replacement import model_of

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data

pytestmark = pytest.mark.slow  # each model is compiled with its derivatives
EXACT, ADJOINT = 1e-6, 1e-12
# knife edges and loops, spatial joints in a plane
REDUNDANT = (("mobile_robot", "gpme"), ("four_bar_3d", "gpme_reduced"), ("four_bar_3d", "lagrange"))


def _prepared(data: dict[str, Any]) -> System:
    return assemble_system(from_data(data))


def _driven() -> System:
    """A pendulum with friction by the joint load, and a torque from outside."""
    data = pendulum()
    data["links"][0]["joint"]["friction"] = DAHL
    data["forces"] = [{"name": "drive", "joint": data["links"][0]["name"], "input": True}]
    return _prepared(data | {"outputs": {"loads": "all"}})


def _formulated(example: str, formulation: str) -> Callable[[], System]:
    keys = {"constraints__formulation": formulation, "constraints__redundant": "minimum_norm"}
    return lambda: assemble_system(changed(example, **keys, outputs={"loads": "all"}))


POINTS = {"E": {"link": "boom", "position": [3.0, 0.1, 0.0]}}
LIFTED = "rope_force*lift_length + E.ax*column.angle_ddot"
OUTPUTS = {"points": ["E"], "links": ["base", "boom"], "energy": True, "expressions": {"lifted": LIFTED}}
MODELS: dict[str, Callable[[], System]] = {
    "driven, Dahl": _driven,
    "open chain, rheonomic": lambda: example_model("crane", "rigid_boom"),
    "lines, contacts, stops": lambda: _prepared(measuring_hoist(programmed=[], points=POINTS, outputs=OUTPUTS)),
    "inputs through filters, tables": lambda: _prepared(drives()),
    "by recursion": lambda: _prepared(branched()),
    "by recursion, rows": lambda: _prepared(tied()),
    "closed loop": lambda: model_of("cut_joint"),
    "replacement joint": lambda: model_of("spherical_replacement", 1e8),
    **{f"{name}, {form}": _formulated(name, form) for name, form in REDUNDANT},
}


class Differentiated(Fmu):
    """An FMI 3.0 instance for model exchange; z: time, states, inputs."""

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled, "me")
        variables = self.variables.values()
        rates = [v for v in variables if v.derivative is not None]
        self.states = [v.derivative.valueReference for v in rates]
        self.inputs = [v.valueReference for v in variables if v.causality == "input"]
        outputs = [v for v in variables if v.causality == "output" and v.variability == "continuous"]
        self.knowns = [*self.references(["time"]), *self.states, *self.inputs]
        self.unknowns = [v.valueReference for v in [*rates, *outputs]]
        self.units = np.array([v.unit or "1" for v in [*rates, *outputs]])
        self.norms = np.array(["normal" in v.name or "violation" in v.name for v in [*rates, *outputs]])
        parameters = [v for v in variables if v.causality == "parameter" and v.type == "Float64"]
        own = [v for v in parameters if not (v.dimensions or v.name.startswith(("solver", "projection")))]
        self.parameters = [v.valueReference for v in own]

    def running(self) -> None:
        """From initialization mode to continuous-time mode."""
        self.fmi.exitInitializationMode()
        self.enter_continuous_time()

    def point(self, seed: int) -> Array:
        """z near the start."""
        rng, n = np.random.default_rng(seed), len(self.states)
        moved = self.vector("getContinuousStates", n) + 1e-2 * rng.normal(size=n)
        return np.concatenate([[0.123], moved, rng.normal(size=len(self.inputs))])

    def values(self, z: Array) -> Array:
        """All unknowns at z."""
        n = len(self.states)
        self.fmi.setTime(z[0])
        self.set_states(z[1 : 1 + n])
        if self.inputs:
            self.fmi.setFloat64(self.inputs, list(z[1 + n :]))
        return np.array(self.fmi.getFloat64(self.unknowns))

    def forward(self, knowns: Sequence[int]) -> Array:
        """d unknowns / d knowns, column by column."""
        return np.array([self.fmi.getDirectionalDerivative(self.unknowns, [k], [1.0]) for k in knowns]).T

    def adjoint(self, knowns: Sequence[int]) -> Array:
        """Return the derivatives row by row; FMPy's length of the result defaults to that of the seed."""
        return np.array(
            [self.fmi.getAdjointDerivative([u], knowns, [1.0], nSensitivity=len(knowns)) for u in self.unknowns]
        )


@pytest.fixture(params=MODELS)
def fmu(request: pytest.FixtureRequest, compile_model: CompileModel) -> Iterator[Differentiated]:
    """A new instance of one of the models."""
    with Differentiated(compile_model(MODELS[request.param](), "3.0")) as found:
        yield found


def differences(function: Callable[[Array], Array], z: Array, step: float = 2e-4) -> Array:
    """Central differences, extrapolated to order 6."""
    columns = []
    for h in step * np.eye(len(z)):
        found = [(function(z + h / k) - function(z - h / k)) * k / (2 * step) for k in (1, 2, 4)]
        columns.append((found[0] - 20 * found[1] + 64 * found[2]) / 45)
    return np.array(columns).T


def worst(fmu: Differentiated, found: Array, expected: Array) -> float:
    """Largest difference of two Jacobians, relative to the largest entry of rows of the same unit.

    Or to a thousandth of the largest of all, where those rows hold what rounding leaves of zeros.
    """
    rows = np.abs(expected).max(1)
    sizes = np.maximum([rows[fmu.units == unit].max() for unit in fmu.units], 1e-3 * rows.max())
    return float((np.abs(found - expected) / sizes[:, np.newaxis]).max())


def test_derivatives_at_a_point(fmu: Differentiated) -> None:
    """With respect to time, states and inputs, in a run."""
    fmu.initialization()
    fmu.running()
    z = fmu.point(7)
    expected = differences(fmu.values, z)
    fmu.values(z)
    found = fmu.forward(fmu.knowns)
    assert worst(fmu, found, expected) < EXACT
    assert worst(fmu, fmu.adjoint(fmu.knowns), found) < ADJOINT


def test_derivatives_at_the_start(fmu: Differentiated) -> None:
    """With respect to parameters, start values among them, in initialization mode: by the start states, too."""
    fmu.initialization()
    defaults = np.array(fmu.fmi.getFloat64(fmu.parameters))

    def values(changes: Array) -> Array:
        fmu.fmi.setFloat64(fmu.parameters, list(defaults * (1.0 + changes)))
        return np.array(fmu.fmi.getFloat64(fmu.unknowns))

    expected = differences(values, np.zeros(len(defaults)))
    values(np.zeros(len(defaults)))
    found = fmu.forward(fmu.parameters) * defaults
    assert worst(fmu, fmu.adjoint(fmu.parameters) * defaults, found) < ADJOINT
    found[fmu.norms] = expected[fmu.norms]  # they vanish, or nearly: kinks within the steps of the differences
    assert worst(fmu, found, expected) < EXACT
