"""Singular configurations: the N-four-bar mechanism keeps its branch, or the run ends with a message."""

from __future__ import annotations

import pytest
from helpers_four_bars import n_four_bar, parallel_angle
from helpers_reference import mechanism_of

from gpmelica import reference

CLOSURES = ("point_on_line", "spherical", "revolute")


@pytest.mark.parametrize("closure", CLOSURES)
def test_closed_form_before_a_singular_configuration(closure: str) -> None:
    """The mechanism has the motion of its closed form, with and without redundant constraints."""
    run = reference.simulate(mechanism_of(n_four_bar(2, closure)), stop=0.6, tolerance=1e-10)
    assert run.signals["rod2_angle"] == pytest.approx(parallel_angle(2, run.time), abs=1e-10)
