"""Wherever a mechanism stands or travels to, its equations give the same accelerations, efforts and loads.

The oracle is the same mechanism at the world's origin or, where it gets large itself, fifty digits.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from helpers_parts import Table, X, Y, Z, beam, body, link, machine
from helpers_program import Numeric

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Array
from gpmelica.description.load import from_data
from gpmelica.generator.equations import InitialValues, derive
from gpmelica.generator.equations.solution import linear_solves
from gpmelica.generator.equations.solution.system import Partition
from gpmelica.generator.program.program import EquationSystem

FAR = np.array([1048576.0, -1048576.0, 524288.0])  # m, powers of two: its own lengths are not rounded there
TOLERANCE = 1e-9


def _link(name: str, parent: str, kind: str, axis: list[float] | None = None, **joint: Any) -> Table:
    frame = {"xyz": [0.5, 0.25, 0.125], "rpy": [0.3, -0.4, 0.5]}
    return link(name, kind, axis, parent, **frame, **joint) | body(2.0, [0.3, 0.1, -0.2], [0.2, 0.3, 0.4])


BEAM = {"length": 1.5, "area": 1e-3, "density": 1000.0, "E": 1e6, "G": 4e5, "Iy": 2e-5, "Iz": 3e-5, "J": 4e-5}
ARM = (
    _link("pillar", "ground", "fixed"),
    _link("column", "pillar", "revolute", Z, stiffness=30.0),
    _link("slide", "column", "prismatic", Y, damping=2.0),
    _link("wrist", "slide", "spherical"),
    beam("tool", BEAM | {"elements": 3}, "universal", parent="wrist"),
)
RIGHT = _link("right", "ground", "free")
LOOP = (_link("left", "ground", "universal"), _link("rod", "left", "spherical"), RIGHT)


def _closure(name: str, kind: str, a: str, b: str, **keys: Any) -> Table:
    return {"name": name, "type": kind, "a": {"link": a, "xyz": [0.5, 0.0, 0.25]}, "b": {"link": b}} | keys


WIND = {"name": "wind", "link": "tool", "point": [1.0, 0.0, 0.0], "force": ["3", "4*tool.psi", "5"]}
SUPPORT = {"position": [1.0, 0.0, 0.0], "stiffness": [500.0, 500.0, 500.0]}
SPRINGS = {"model": "spring_damper", "stiffness": [9e2, 8e2, 7e2, 6.0, 5.0, 4.0], "damping": [9, 8, 7, 6, 5, 4]}
TIE = _closure("tie", "distance", "rod", "right", length=1.0)
SOFT_TIE = _closure("tie", "spherical", "rod", "right", **SPRINGS, axes="world")
SKATE = {"name": "skate", "link": "sled", "point": [0.5, 0.25, 0.0], "normal": Y}
MACHINES: dict[str, Table] = {
    "arm": machine(*ARM, forces=[WIND]),
    "free body": machine(_link("hull", "ground", "free"), _link("arm", "hull", "revolute", Y)),
    "loops": machine(*LOOP, closures=[TIE, _closure("pin", "revolute", "ground", "right")]),
    "springs": machine(*LOOP, closures=[SOFT_TIE, _closure("pin", "revolute", "right", "ground", **SPRINGS)]),
    "knife edge": machine(
        _link("sled", "ground", "planar"), _link("mast", "sled", "revolute", X), nonholonomic=[SKATE]
    ),
    "rigid base": machine(ARM[1] | {"parent": "base"}, *ARM[2:], base=body(9.0) | {"support": "rigid"}),
}


def _chain(given: Table, by: Array | None = None) -> Any:
    """The machine as a description, everything that hangs on ground or base moved."""
    data = deepcopy(given) | {"simulation": {"start": "description"}, "outputs": {"loads": "all"}}
    ends = [end for closure in data.get("closures", []) for end in (closure["a"], closure["b"])]
    ends = [end for end in ends if end["link"] == "ground"]
    for place in [*(part["frame"] for part in data["links"] if part["parent"] in ("ground", "base")), *ends]:
        place["xyz"] = (np.array(place.get("xyz", [0.0, 0.0, 0.0])) + (0.0 if by is None else by)).tolist()
    return from_data(data)


def _derived(model: System, chain: Any) -> EquationSystem:
    found = model.solvability
    partition = Partition(found.dependent, found.independent, found.without_drive)
    program = derive(chain, InitialValues(model.start, found.extent), partition)
    return linear_solves.with_linear_solves(program, chain.constraints.formulation)


def _states(model: System, rng: np.random.Generator) -> dict[str, float]:
    n = model.mechanism.n
    q, rates = model.start[0] + rng.uniform(-0.3, 0.3, n), rng.uniform(-1.0, 1.0, n)
    symbols = [c.symbol for c in model.mechanism.coordinates]
    held = np.array([c.role == "base" for c in model.mechanism.coordinates])
    q[held] = rates[held] = 0.0
    known = dict(zip([*symbols, *(f"{s}_dot" for s in symbols)], [*q, *rates], strict=True))
    return {"time": 0.5} | known


def _signals(program: EquationSystem, values: Numeric) -> dict[str, Array]:
    """Velocities, accelerations, efforts and loads, each unit an array."""
    found: dict[str, list[float]] = {}
    for output in program.outputs:
        # what holds a base far away has a long lever
        if output.signal.quantity != "position" and not output.name.startswith(("violation", "base_")):
            found.setdefault(output.unit, []).append(float(values.values[output.name]))
    return {unit: np.array(column) for unit, column in found.items()}


def _assert_equal(program: EquationSystem, found: Numeric, expected: Numeric) -> None:
    wanted = _signals(program, expected)
    for unit, values in _signals(program, found).items():
        np.testing.assert_allclose(values, wanted[unit], rtol=0.0, atol=TOLERANCE * np.abs(wanted[unit]).max())


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_far_away(name: str) -> None:
    rng = np.random.default_rng(41)
    near = assemble_system(_chain(MACHINES[name]))
    far = _derived(near, _chain(MACHINES[name], FAR))
    for _ in range(3):
        state = _states(near, rng)
        _assert_equal(near.program, Numeric(far, state), Numeric(near.program, state))


def test_a_free_body_that_has_travelled() -> None:
    rng = np.random.default_rng(42)
    model = assemble_system(_chain(MACHINES["free body"]))
    state = _states(model, rng)
    travelled = state | {f"hull_{axis}": state[f"hull_{axis}"] + x for axis, x in zip("xyz", FAR, strict=True)}
    _assert_equal(model.program, Numeric(model.program, travelled), Numeric(model.program, state))


def test_a_hand_at_the_end_of_a_long_tether() -> None:
    rng = np.random.default_rng(43)
    model = assemble_system(_chain(MACHINES["arm"]))
    state = _states(model, rng) | {"slide_position": 1e6}
    found, expected = Numeric(model.program, state), Numeric(model.program, state, digits=50)
    for k, coordinate in enumerate(model.mechanism.coordinates):
        name = f"{coordinate.symbol}_ddot"
        assert float(found.values[name]) == pytest.approx(float(expected.values[name]), rel=TOLERANCE), k
