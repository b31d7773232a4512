"""Sensitivities from sampled runs: indices that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpmelica.sweeps.points import points
from gpmelica.sweeps.sensitivities import Sensitivities, sensitivities
from gpmelica.sweeps.variations import variations


def test_sobol_indices_of_ishigami() -> None:
    """Against their closed form (Ishigami and Homma 1990; a = 7, b = 0.1); failed runs are left out."""
    pytest.importorskip("SALib", reason="needs SALib: pip install gpmelica[sweep]")
    names = [f"{x}=uniform({-math.pi},{math.pi})" for x in "abc"]
    found = points(variations(names), 2048, "saltelli", 3)
    x = np.array([list(found.at(i).values()) for i in range(len(found))])
    y = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    y[17] = np.nan
    indices = sensitivities(found, "saltelli", y)
    assert isinstance(indices, Sensitivities) and indices.used == len(y) - 5
    assert indices.measures["first order"] == pytest.approx([0.3139, 0.4424, 0.0], abs=0.03)
    assert indices.measures["total"] == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.03)


def test_other_sensitivities_of_a_plane() -> None:
    """Morris' effects are the slopes, without scatter; first-order indices are the shares of the variance."""
    pytest.importorskip("SALib", reason="needs SALib: pip install gpmelica[sweep]")
    varied = variations(["a=uniform(0,1)", "b=uniform(0,1)"])
    for sampler, samples in (("morris", 10), ("lhs", 500)):
        found = points(varied, samples, sampler, 0)
        y = np.array([2 * found.at(i)["a"] + found.at(i)["b"] for i in range(len(found))])
        result = sensitivities(found, sampler, y)
        assert isinstance(result, Sensitivities)
        if sampler == "morris":
            slopes = result.measures["mean effect"]
            assert slopes[0] / slopes[1] == pytest.approx(2.0, rel=1e-9)
            assert result.measures["its scatter"] == pytest.approx([0.0, 0.0], abs=1e-9)
        else:
            assert result.measures["first order"] == pytest.approx([0.8, 0.2], abs=0.08)
    assert sensitivities(found, "lhs", np.ones(len(found))) == "the objective does not vary"
