"""Redundant constraint rows: rank, groups, and that the motion does not depend on what is kept."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from helpers_examples import FORMULATIONS
from helpers_redundant import Array, polygon, repeated_task, started

from gpmelica import reference
from gpmelica.errors import SolveError
from gpmelica.reference.constraints.redundancy import (
    MinimumNorm,
    independent_rows,
    rank_of,
    redundant_groups,
    scaled,
)

MAKERS = (polygon, repeated_task)


def _dependent_rows(rng: np.random.Generator) -> Array:
    """Eight rows of rank five: 5 = 0 + 1, 6 = −3·2, 7 = 0; 3 and 4 stand alone."""
    C = rng.normal(size=(5, 9)) * 10.0 ** rng.uniform(-3, 3, (5, 1))
    return np.vstack([C, C[0] / np.linalg.norm(C[0]) + C[1] / np.linalg.norm(C[1]), -3.0 * C[2], np.zeros(9)])


@pytest.mark.parametrize("seed", range(5))
def test_rank_and_groups(seed: int) -> None:
    """They do not depend on the rows' units or order, nor the groups on the choice of independent rows."""
    rng = np.random.default_rng(seed)
    C, order = _dependent_rows(rng), rng.permutation(8)
    shuffled = scaled(C[order])
    rank = rank_of(shuffled)
    assert rank.rank == 5
    assert rank.largest < 1e-10 < rank.tolerance < 1e-3 < rank.smallest
    groups = set()
    for preferred in (range(8), reversed(range(8))):
        kept = independent_rows(shuffled, [[k] for k in preferred])
        assert np.linalg.matrix_rank(shuffled[list(kept)], tol=1e-9) == len(kept) == 5
        found = redundant_groups(shuffled, kept)
        groups.add(frozenset(frozenset(order[list(group)].tolist()) for group in found))
    assert groups == {frozenset({frozenset({0, 1, 5}), frozenset({2, 6}), frozenset({7})})}


def test_preferred_rows_are_kept() -> None:
    """Rows of the first group are left out only if they depend on each other."""
    C = scaled(_dependent_rows(np.random.default_rng(0)))
    assert set(independent_rows(C, [[5, 6], [0, 1, 2, 3, 4, 7]])) >= {5, 6}
    assert set(independent_rows(C, [[0, 1, 5], [2, 3, 4, 6, 7]])) & {0, 1, 5} not in ({0, 1, 5}, set())


@pytest.mark.parametrize("maker", MAKERS)
def test_least_norm_is_the_pseudoinverse(maker: Any) -> None:
    """λ of least norm is (Cᵀ)⁺(M q̈ + h − Q), whatever the rows' units."""
    mechanism, start = started(maker(1, redundant="minimum_norm"))
    found = reference.evaluate(mechanism, 0.0, *start, start=start)
    assert found.effort == pytest.approx(found.multipliers @ found.C, abs=1e-9)
    expected = np.linalg.pinv(found.C.T, rcond=1e-9) @ found.effort
    assert np.abs(found.multipliers).max() > 0.1
    assert found.multipliers == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_least_norm_of_any_matrix() -> None:
    """E has orthonormal rows that span those λ which have an effect."""
    rng = np.random.default_rng(3)
    C = _dependent_rows(rng)
    E, force = MinimumNorm(5)(C), rng.normal(size=8) @ C
    assert pytest.approx(np.eye(5), abs=1e-12) == E @ E.T
    found = E.T @ np.linalg.lstsq((E @ C).T, force, rcond=None)[0]
    assert found @ C == pytest.approx(force, rel=1e-9)
    assert [found @ idle for idle in ([0, 0, -3, 0, 0, 0, -1, 0], np.eye(8)[7])] == pytest.approx([0, 0], abs=1e-9)


def test_rows_of_rounding_noise_bear_nothing() -> None:
    """They are told by the terms they are made of, for their noise may be near to the length of a small row."""
    C = np.array([[3e-5, 1e-5], [1e-16, -8e-17]])
    E = MinimumNorm(1, np.array([[4e-5, 1e-5], [0.6, 0.8]]))(C)
    assert np.abs(E) == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("maker", MAKERS)
def test_accelerations_do_not_depend_on_what_is_left_out(maker: Any, seed: int) -> None:
    """The same q̈ for all eliminations, least norm, formulations and drives; efforts that act, too (P1 2.2)."""
    mechanism, start = started(maker(seed))
    truth = reference.evaluate(mechanism, 0.0, *start, start=start)
    size = max(1.0, float(np.abs(truth.qdd).max()))
    redundant = len(truth.rows) - len(truth.dependent)
    assert redundant == (3 if maker is polygon else 2)
    tried = 0
    for form in FORMULATIONS:
        for left_out in ("auto", "minimum_norm", *combinations(truth.rows, redundant)):
            other, _ = started(maker(seed, formulation=form, redundant=left_out))
            try:
                found = reference.evaluate(other, 0.0, *start, start=start)
            except SolveError as error:
                assert "the other rows have rank" in str(error)
                continue
            tried += 1
            assert found.qdd == pytest.approx(truth.qdd, abs=1e-10 * size)
            assert found.effort == pytest.approx(truth.effort, abs=1e-9 * size)
            assert found.multipliers @ found.C == pytest.approx(truth.effort, abs=1e-9 * size)
            if isinstance(left_out, tuple):
                gone = [truth.rows.index(name) for name in left_out]
                assert not found.multipliers[gone].any()
    assert tried >= 3 * len(FORMULATIONS)


def test_elimination_that_does_not_do_is_named() -> None:
    """Rows that are not redundant cannot be left out, and all that are redundant must be; groups are named."""
    cases = {
        ("pin_x", "pin_z", "pin_xz"): "without pin_x, pin_z, pin_xz the other rows have rank 1 instead of 2",
        ("pin_z",): "without pin_z the other 4 rows still have rank 2 only",
    }
    for left_out, text in cases.items():
        mechanism, start = started(polygon(0, redundant=left_out))
        with pytest.raises(SolveError, match=f"{text}: leave out 3 of the rows .*: pin_z; pin_xz; pin_yz"):
            reference.solvability(mechanism, start)
        (problem,) = reference.unreachable(mechanism, start[0])
        assert problem.where == "constraints.redundant"


def test_solvability_of_a_redundant_loop() -> None:
    """Rank, kept rows, groups, tolerance and the gap that it lies in."""
    found = reference.solvability(*started(polygon(0)))
    assert (found.rank, found.independent) == (2, ("pin_x", "pin_y"))
    assert len(found.dependent) == 2
    assert found.redundant == (("pin_z",), ("pin_xz",), ("pin_yz",))
    assert found.gap[1] < 1e-14 < found.tolerance < 1e-4 < found.gap[0]


def test_partition_is_chosen_anew() -> None:
    """A driven crank that turns all around: `auto` gets through where a fixed partition stops."""
    data = polygon(0, dependent=["side1.angle", "side2.angle", "side3.angle"], redundant="auto")
    data["programmed"] = [{"name": "turn", "expression": "side0.angle - start(side0.angle) - 0.1*t"}]
    mechanism, start = started(data)
    with pytest.raises(SolveError, match="turn, pin_x, pin_y cannot be solved for side1"):
        reference.evaluate(mechanism, 0.0, *start, start=start)
    found = reference.evaluate(mechanism, 0.0, *start, start=start, dependent="auto")
    assert "side0.angle" in found.dependent
