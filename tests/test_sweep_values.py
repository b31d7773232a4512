"""Values of sweeps: grids, samples and their distributions, and wrong ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gpmelica.errors import DescriptionError
from gpmelica.sweeps.points import points
from gpmelica.sweeps.variations import variations


def test_points_are_grid_and_samples() -> None:
    """The grid's first key varies slowest, samples fastest; every combination once; seeded."""
    varied = variations(["a=1:3:3", "kind=x,y", "c=normal(5,2)", "d=uniform(-1,1)"])
    found = points(varied, 4, "sobol", 7)
    rows = [found.at(i) for i in range(len(found))]
    assert len(rows) == 24
    assert [row["a"] for row in rows[::8]] == [1.0, 2.0, 3.0] and [row["kind"] for row in rows[:8:4]] == ["x", "y"]
    assert len({tuple(row.values()) for row in rows}) == 24
    assert {row["c"] for row in rows[:4]} == {row["c"] for row in rows[20:]}
    again, other = points(varied, 4, "sobol", 7), points(varied, 4, "sobol", 8)
    assert np.array_equal(again.quantiles, found.quantiles) and not np.array_equal(
        other.quantiles, found.quantiles
    )


@pytest.mark.parametrize("sampler", ["sobol", "lhs", "random"])
def test_samples_have_their_distribution(sampler: str) -> None:
    """Mean and deviation of 1,024 values."""
    found = points(variations({"x": "normal(5, 2)", "y": "uniform(-1,3)"}), 1024, sampler, 1)
    rows = [found.at(i) for i in range(len(found))]
    x, y = (np.array([row[key] for row in rows]) for key in "xy")
    assert (x.mean(), x.std()) == (pytest.approx(5, abs=0.15), pytest.approx(2, rel=0.06))
    assert (y.mean(), y.std()) == (pytest.approx(1, abs=0.08), pytest.approx(4 / math.sqrt(12), rel=0.06))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["x"], "expected KEY=VALUES"),
        (["x="], "there are no values"),
        (["x=1:5:0"], "the range has 0 values"),
        (["x=1:5:1"], "has at least 2 values"),
        (["x=1:b:3"], "expected a finite number, got 'b'"),
        (["x=normal(1)"], "takes two numbers, mean and standard deviation, got 1"),
        (["x=normal(1,-1)"], "expected a standard deviation above 0"),
        (["x=uniform(2,1)"], "expected least below most"),
        (["x=gamma(2,1)"], "unknown distribution 'gamma'"),
        (["x=nan"], "expected finite numbers"),
        (["x=1", "x=2"], "is given twice"),
        ([], "nothing is varied"),
        ({"x": []}, "there are no values"),
    ],
)
def test_wrong_values(settings: Any, said: str) -> None:
    """Before a model is looked at."""
    with pytest.raises(DescriptionError, match=said.replace("(", r"\(")):
        variations(settings)


@pytest.mark.parametrize(
    ("samples", "sampler", "said"),
    [
        (None, "sobol", "say how many samples"),
        (0, "sobol", "expected 1 or more"),
        (5, "sobl", "expected one of sobol"),
    ],
)
def test_wrong_samples(samples: int | None, sampler: str, said: str) -> None:
    """Distributions need samples and a sampler."""
    with pytest.raises(DescriptionError, match=said):
        points(variations(["x=normal(1,1)"]), samples, sampler, 0)
