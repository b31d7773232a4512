"""Published results of other programs and closed forms; `benchmarks/published.py` runs all cases and all runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from published import adams_joints, andrews, beams, closed_forms, exudyn, iftomm, modelica_library
from published.case import FMU, Case, Published, Trajectory, Value, read

CASES = [
    case
    for module in (andrews, iftomm, adams_joints, modelica_library, closed_forms, exudyn, beams)
    for case in module.CASES
]
# runs of a quick case that the test makes; the benchmark makes the others, too
RUNS = {"andrews": FMU}


def _quick(case: Case) -> list[Value]:
    """Values of a case by few runs."""
    if isinstance(case.values, Trajectory):
        case = replace(case, values=replace(case.values, by=RUNS.get(case.name, ("reference",))))
    return case.compared()


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.quick], ids=lambda case: case.name)
def test_published_values(case: Case) -> None:
    """Runs and equilibria agree with published values, as far as those are precise."""
    values = _quick(case)
    assert values
    worst = max(values, key=lambda value: value.difference)
    assert worst.difference <= case.bound, worst


def test_andrews_publishes_27_values() -> None:
    """Angles, rates, accelerations of seven bodies, and six multipliers."""
    assert len(read("andrews.csv").rows) == 27


def test_names_of_cases_are_unique() -> None:
    """`--case` chooses one case by its name."""
    assert len({case.name for case in CASES}) == len(CASES)


def test_scale_is_the_largest_component() -> None:
    """Components share the scale of their vector; a scalar has its own."""
    rows = ((1.0, "force_x", -4.0), (2.0, "force_y", 3.0), (1.0, "angle", 0.5))
    assert Published(rows).scales == {"force_x": 4.0, "force_y": 4.0, "angle": 0.5}


def test_difference_is_relative_to_the_scale() -> None:
    """The difference is absolute over the scale."""
    assert Value("angle", "reference", 2.0, 2.5, 10.0).difference == pytest.approx(0.05)
