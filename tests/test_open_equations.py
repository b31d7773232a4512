"""Open equations need neither an initial state nor a partition, and are closed once."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from helpers_examples import EXAMPLES

from gpmelica.analysis import ReferenceModel
from gpmelica.core.trajectory import Array
from gpmelica.description import load
from gpmelica.fmu.code.casadi_eval import Evaluator
from gpmelica.generator import equations
from gpmelica.generator.equations import InitialValues, OpenEquations
from gpmelica.generator.equations.solution.system import Partition
from gpmelica.language.ir import Expr
from gpmelica.mechanism import build

NAMES = ("crane", "four_bar_3d", "delta_robot", "stewart", "lorry_crane", "mobile_robot", "rsrrp")


class Numbers:
    """Values of open equations in one state, by CasADi; inputs and the states of filters are zero."""

    def __init__(self, found: OpenEquations, q: Array, qd: Array) -> None:
        program, coordinates = found.program, found.mechanism.coordinates
        values: dict[str, Any] = {p.name: p.value for p in program.parameters} | {"time": 0.0}
        values |= {c.symbol: x for c, x in zip(coordinates, q, strict=True)}
        values |= {f"{c.symbol}_dot": x for c, x in zip(coordinates, qd, strict=True)}
        values |= dict.fromkeys((entry.name for entry in program.inputs), 0.0)
        self._evaluate = Evaluator(program, {name: ca.SX(np.array(x)) for name, x in values.items()}, None)
        # `start(x)` stands for the value in the state itself
        self._evaluate.known |= {value.name: self._evaluate(value.expr) for value in program.start_values}

    def __call__(self, expr: Expr) -> Array:
        return np.array(ca.DM(self._evaluate(expr))).reshape(expr.shape)


@pytest.mark.parametrize("name", NAMES)
def test_open_equations_agree_with_the_reference(name: str) -> None:
    """M, h − Q, Φ, Φ̇, C and γ in random states near the description's, without equilibrium or closed loops."""
    chain = load(EXAMPLES / f"{name}.toml")
    found, mechanism = equations.open_equations(chain), build(chain)
    rng = np.random.default_rng(34)
    for _ in range(3):
        q = np.array([c.position for c in mechanism.coordinates]) + rng.uniform(-0.2, 0.2, mechanism.n)
        qd = rng.uniform(-1.0, 1.0, mechanism.n)
        numbers, reference = Numbers(found, q, qd), ReferenceModel(mechanism, start=(q, qd))
        state = reference.state(0.0, q, qd)
        M, h = reference.mass(state.posture)
        _assert_close(numbers(found.inertia.M), M)
        # gravity is a part of h in one derivation and of Q in the other
        _assert_close(numbers(found.inertia.h - found.Q), h - reference.forces(state).total)
        rows = reference.constraints(state)
        assert (found.constraints is None) == (not reference.constraints.names)
        if found.constraints is not None:
            assert tuple(row.name for row in found.constraints.rows) == reference.constraints.names
            for level in ("Phi", "Phi_dot", "C", "gamma"):
                _assert_close(numbers(getattr(found.constraints, level)), getattr(rows, level))


def _assert_close(found: Array, expected: Array) -> None:
    assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


def test_equations_are_closed_once() -> None:
    """Closing completes the program of the open equations, so a second one would define everything twice."""
    chain = load(EXAMPLES / "rsrrp.toml")
    found = equations.open_equations(chain)
    n = found.mechanism.n
    assert not found.program.states
    names = tuple(row.name for row in found.constraints.rows) if found.constraints else ()
    partition = Partition(tuple(c.name for c in found.mechanism.coordinates[: len(names)]), names)
    initial = InitialValues((np.zeros(n), np.zeros(n)), 1.0)
    assert equations.close(found, initial, partition).states
    with pytest.raises(RuntimeError, match="derive new equations"):
        equations.close(found, initial, partition)
