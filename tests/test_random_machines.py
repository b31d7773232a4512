"""Random mechanisms of all families against Pinocchio: rank as made, q̈ to 1e-8, nothing refused.

`benchmarks/random_machines.py` tries 2,000, and larger ones; with `--equipped` those of the last test.
"""

from __future__ import annotations

import pytest

pytest.importorskip("pinocchio", reason="Pinocchio (pin) is not installed")
from machines.derivations import derivations
from machines.trial import trial


@pytest.mark.parametrize("seed", range(70))
def test_random_mechanism(seed: int) -> None:
    found = trial(seed, largest=14)
    assert not found.faults, str(found)


def test_links_on_two_pieces_of_a_beam() -> None:
    """Two links on different pieces of one beam: the oracle's tree has each piece's subtree in one stretch."""
    found = trial(244)
    assert not found.faults, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_equipped_mechanism(seed: int) -> None:
    """With tables, lines, contacts, paths and all else that has keys: both derivations, and every output."""
    found = derivations(seed, largest=9)
    assert not found.faults, str(found)


@pytest.mark.slow
def test_a_row_without_effect_among_small_ones() -> None:
    """Multipliers of least norm on a small machine: what is but rounding noise bears nothing."""
    found = derivations(123)
    assert not found.faults, str(found)
