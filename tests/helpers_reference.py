"""Mechanisms and differences that the tests of the reference solver share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from helpers_parts import beam, body, link, machine
from helpers_random import random_chain
from numpy.typing import NDArray

from gpmelica.description import Description, load
from gpmelica.description.load import from_data
from gpmelica.mechanism import Mechanism, build

Array = NDArray[np.float64]
CRANE = Path(__file__).parents[1] / "examples" / "crane.toml"
BASES = (None, "flexible", "rigid")


def mechanism_of(data: dict[str, Any]) -> Mechanism:
    """Numeric mechanism of a raw description."""
    return build(from_data(data))


def unchecked(data: dict[str, Any]) -> Mechanism:
    """Build a description that has more constraint equations than the checks of a file allow."""
    return build(Description.model_validate(data))


def crane(case: str | None = None) -> Mechanism:
    """The crane of the examples."""
    return build(load(CRANE, case))


def random_mechanism(seed: int, **options: Any) -> tuple[Mechanism, np.random.Generator]:
    """A random tree and the generator to go on with; the base is one of BASES by turns."""
    rng = np.random.default_rng(seed)
    options = {"links": 4, "base": BASES[seed % 3]} | options
    return mechanism_of(random_chain(rng, **options)), rng


def random_state(mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
    """(q, qd), each of shape (n,), away from the singularity of the Euler angles."""
    return rng.uniform(-0.8, 0.8, mechanism.n), rng.uniform(-2.0, 2.0, mechanism.n)


def slope(f: Callable[[float], Any], h: float = 1e-3) -> Array:
    """df/dx at 0 by central differences of order 6."""
    pairs = [np.asarray(f(k * h)) - np.asarray(f(-k * h)) for k in (1, 2, 3)]
    return (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h)


def manipulator(**changes: Any) -> dict[str, Any]:
    """A planar arm of two links in the vertical x–z plane; its point E is the tip, all angles about −y."""
    axis, arm = [0.0, -1.0, 0.0], body(2.0, [0.4, 0.0, 0.0], [0.01, 0.1, 0.1])
    upper = link("upper", "revolute", axis, position=0.4) | arm
    lower = link("lower", "revolute", axis, "upper", xyz=[1.0, 0.0, 0.0], position=0.9) | arm
    points = {"E": {"link": "lower", "position": [0.8, 0.0, 0.0]}}
    return machine(upper, lower, name="Arm", points=points) | changes


BEAM = {"length": 2.0, "area": 1e-4, "density": 7800.0, "E": 2.1e11, "G": 8e10, "Iy": 1e-9, "Iz": 4e-9, "J": 1e-9}


def cantilever(elements: int, **changes: Any) -> dict[str, Any]:
    """A beam along x that is clamped at its start; its point E is the tip."""
    clamped = beam("beam", BEAM | {"elements": elements}, "fixed")
    points = {"E": {"link": "beam", "position": [2.0, 0.0, 0.0]}}
    return machine(clamped, name="Cantilever", gravity=[0, 0, 0], points=points) | changes
