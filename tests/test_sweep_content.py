"""Ranking of runs for the page of a sweep."""

from __future__ import annotations

import numpy as np
import pytest

from gpmelica.report.sweep.content import Content
from gpmelica.report.sweep.page import _page


def ranked(values: list[float]) -> Content:
    """Results of a sweep over the mass, with one objective that is to be minimised."""
    reasons = ["failed" if np.isnan(value) else "" for value in values]
    objectives, goals = {"reach": np.array(values)}, {"reach": "minimize"}
    masses = {"mass": np.arange(float(len(values)))}
    return Content("Arm", "", masses, objectives, {"reach": "max(E_x)"}, reasons, {}, {}, [], "", goals)


@pytest.mark.parametrize("values", [[], [1.0], [np.nan, np.nan], [np.nan, 1.0], [2.0, 2.0]])
def test_nothing_to_rank(values: list[float]) -> None:
    """With fewer than two different values, the page names neither a best nor a worst run."""
    page = _page(ranked(values), [])
    assert ranked(values).ends("reach") == ()
    assert [label for label, _ in page.numbers] == ["runs", "failed"]


def test_two_runs_are_ranked() -> None:
    """The worst run, here the largest value, comes first."""
    assert [end.word for end in ranked([1.0, 2.0]).ends("reach")] == ["worst", "best"]
    assert [label for label, _ in _page(ranked([1.0, 2.0]), []).numbers][2:] == ["best reach", "worst reach"]
