"""One definition of eigenfrequencies: in `modes`, on the report's first screen and from Python."""

from __future__ import annotations

import math

import pytest
from helpers_parts import Table, X, Y, Z, body, link, machine
from helpers_problem import modes

import gpmelica as gp
from gpmelica.description.load import from_data
from gpmelica.linear.moving import in_words
from gpmelica.report.tables import mode_text

_MASS, _STIFFNESS, _DAMPING = 2.0, 800.0, 24.0
_UNDAMPED = 20.0 / (2 * math.pi)  # Hz
_DAMPED = math.sqrt(400.0 - 36.0) / (2 * math.pi)


def oscillator() -> Table:
    """Mass, spring and damper, ω₀ = 20 rad/s, and a free slide across it."""
    slide = link("slide", "prismatic", X, stiffness=_STIFFNESS, damping=_DAMPING) | body(_MASS)
    return machine(slide, link("cart", "prismatic", Y), gravity=[0.0, 0.0, 0.0])


def floating() -> Table:
    """A body that floats freely and carries a rod on a spring; rounding gives free motions eigenvalues."""
    turned = {"rpy": [0.3, 0.5, 0.7], "position": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    ship = link("ship", "free", **turned) | body(7.0, [0.1, 0.2, 0.3], [1.0, 2.0, 2.5])
    rod = link("rod", "revolute", Z, "ship", xyz=X, stiffness=300.0) | body(1.0, [0.5, 0.0, 0.0])
    return machine(ship, rod, gravity=[0.0, 0.0, 0.0])


def test_undamped_and_damped_by_name() -> None:
    model = gp.Model(from_data(oscillator()))
    found = model.modes()[-1]
    assert found.frequency == found.undamped_frequency == pytest.approx(_UNDAMPED, rel=1e-9)
    assert found.damped_frequency == pytest.approx(_DAMPED, rel=1e-9)
    data = found.data()
    assert (data["frequency"], data["undamped_frequency"]) == (found.frequency, found.frequency)
    assert (data["damped_frequency"], data["rigid_body"]) == (found.damped_frequency, False)


def test_reference_has_the_same_frequencies() -> None:
    """The report's first screen and `modes` show equal frequencies."""
    model = gp.Model(from_data(oscillator()))
    ours = modes(model.prepared.mechanism)[0]
    assert ours.frequency == pytest.approx(_UNDAMPED, rel=1e-6)
    assert ours.damped_frequency == pytest.approx(_DAMPED, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "swinging", "count"), [(oscillator(), 1, 1), (floating(), 1, 6)])
def test_rigid_body_modes_are_named(table: Table, swinging: int, count: int) -> None:
    """A free motion has two zeros, or a pair near zero by rounding; neither is a frequency."""
    model = gp.Model(from_data(table))
    linear, own = list(model.modes()), modes(model.prepared.mechanism)
    for found in (linear, own):
        assert len([mode for mode in found if not mode.rigid_body]) == swinging
        assert count <= len([mode for mode in found if mode.rigid_body]) <= 2 * count
    assert {in_words(mode) for mode in linear if mode.rigid_body} == {"rigid-body motion"}
    assert all("Hz" not in mode_text(mode) for mode in own if mode.rigid_body)
