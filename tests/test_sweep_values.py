"""Values, objectives and sensitivities of sweeps: of known functions, and wrong ones."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.tri import TriContourSet

from gpmelica.core.errors import DescriptionError
from gpmelica.core.reasons import frequent_reasons
from gpmelica.report.sweep import figures
from gpmelica.report.sweep.content import Content
from gpmelica.report.sweep.maps import contour_map
from gpmelica.sweeps.objectives import objectives
from gpmelica.sweeps.points import points
from gpmelica.sweeps.sensitivities import Sensitivities, sensitivities
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
        (["x="], "expected values of the key, got none"),
        (["x=1:5:0"], "expected a count from 1 to 10000000 as third number, got 0"),
        (["x=1:5:1"], "expected a count of at least 2, got 1"),
        (["x=1:b:3"], "expected a finite number, got 'b'"),
        (["x=normal(1)"], "expected two numbers in normal(mean, standard deviation"),
        (["x=normal(1,-1)"], "expected a standard deviation above 0"),
        (["x=uniform(2,1)"], "expected a smaller first number in uniform"),
        (["x=gamma(2,1)"], "unknown distribution 'gamma'"),
        (["x=nan"], "expected finite numbers"),
        (["x=1", "x=2"], "occurs twice"),
        ([], "no key is varied"),
        ({"x": []}, "expected values of the key, got none"),
    ],
)
def test_wrong_values(settings: Any, said: str) -> None:
    """Before a model is looked at."""
    with pytest.raises(DescriptionError, match=said.replace("(", r"\(")):
        variations(settings)


@pytest.mark.parametrize(
    ("samples", "sampler", "said"),
    [
        (None, "sobol", "specify the number of samples"),
        (0, "sobol", "expected at least 1"),
        (5, "sobl", "expected one of"),
    ],
)
def test_wrong_samples(samples: int | None, sampler: str, said: str) -> None:
    """Distributions need samples and a sampler."""
    with pytest.raises(DescriptionError, match=said):
        points(variations(["x=normal(1,1)"]), samples, sampler, 0)


# ---- Objectives of sweeps ---------------------------------------------------------------------------------------


TIME = np.linspace(0.0, 2.0, 2001)


def value(text: str, **signals: Any) -> float:
    """Return the value of an objective."""
    (objective,) = objectives([text])
    return objective.of(TIME, signals)


def test_objectives_of_known_functions() -> None:
    """A decaying exponential, a sine over whole periods, a ramp: closed forms."""
    decay, sine, ramp = np.exp(-4 * TIME), np.sin(2 * np.pi * TIME), 3 * TIME
    assert value("peak(-2*x)", x=decay) == 2.0
    assert value("rms(x)", x=sine) == pytest.approx(math.sqrt(0.5), rel=1e-6)
    assert value("mean(x) + 1", x=sine) == pytest.approx(1.0, abs=1e-12)
    assert value("integral(x)", x=ramp) == pytest.approx(6.0, rel=1e-12)
    assert value("final(x) - start(x)", x=ramp) == 6.0
    assert value("at(x, 0.5)", x=ramp) == pytest.approx(1.5, rel=1e-12)
    assert value("range(x)", x=sine) == pytest.approx(2.0, rel=1e-5)
    assert value("min(x) + max(x)", x=ramp) == 6.0
    assert value("settling(x, 0.01)", x=decay) == pytest.approx(-math.log(0.01 + math.exp(-8)) / 4, abs=1e-3)
    assert value("settling(x, 0.01)", x=sine) == math.inf
    assert value("max(abs(E.x))", E_x=-ramp) == 6.0  # as the description writes it
    assert value("final(sqrt(x^2 + y^2))", x=ramp, y=4 / 3 * ramp) == pytest.approx(10.0, rel=1e-12)
    assert value("max(max(x, y))", x=ramp, y=2 * decay) == 6.0
    assert value("min(min(x, y, 2, z))", x=ramp, y=ramp + 1, z=ramp - 1) == -1.0
    assert value("max(max(x, y, z, 7*y, 0))", x=ramp, y=decay, z=-ramp) == 7.0
    assert value("integral(x if time < 1 else 0)", x=ramp) == pytest.approx(1.5, rel=1e-2)
    assert value("peak(E.x) if final(E.x) > 5 else 0", E_x=ramp) == 6.0
    assert value("integral(1 if 1 <= x and x < 3 else 0)", x=ramp) == pytest.approx(2 / 3, abs=2e-3)
    assert math.isnan(value("sqrt(min(x))", x=-decay))
    assert math.isnan(value("at(x, 9.0)", x=ramp)) and value("at(x, 2.0)", x=ramp) == 6.0  # the run ends there
    assert math.isnan(value("settling(x, -1)", x=decay))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("peek(E_z)", "unknown function 'peek'; did you mean 'peak'?"),
        ("peak(E_z", "cannot read"),
        ("max()", "max takes at least 1 argument, got 0"),
        ("atan2(E_z)", "atan2 takes 2 arguments, got 1"),
        ("peak(table(slew, time))", "unknown function 'table'"),
        ("peak(E_z, 2)", "peak takes 1 argument, got 2"),
        ("__import__('os')", "unknown function '__import__'"),
        ("peak(E_z.real.imag)", "is not part of the expression language: expected numbers, time, pi"),
        ("peak(lambda: 1)", "is not part of the expression language: expected numbers, time, pi"),
        ("", "cannot read"),
    ],
)
def test_wrong_objectives(text: str, said: str) -> None:
    """The message contains fault, place and remedy."""
    with pytest.raises(DescriptionError) as caught:
        objectives([text])
    assert said in str(caught.value) and f"--objective {text!r}" in str(caught.value)


def test_objectives_are_numbers() -> None:
    """Parameters are; signals have to be made so."""
    (plain, product, late) = objectives(["E_z", "peak(E_z)/load", "at(E_z, load)"])
    assert plain.problem(["load"]).startswith("changes over time; expected a number, computed by one of at, final")
    assert product.problem(["load"]) == "" and late.problem(["load"]) == ""
    assert "expected a number as second argument" in late.problem([])


# ---- Sensitivities from sampled runs ----------------------------------------------------------------------------


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


# ---- Goals of objectives ----------------------------------------------------------------------------------------


def _goals(*arguments: Any) -> dict[str, str]:
    return {objective.name: objective.goal for objective in objectives(*arguments)}


def test_goals_belong_to_objectives_by_name_or_by_text() -> None:
    assert _goals(["top=peak(E_z)", "final(E_x)"], ["top"], ["late=final(E_x)"]) == {
        "top": "maximize",
        "final(E_x)": "",
        "late": "minimize",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((["top=peak(E_z)"], ["top"], ["top"]), "--minimize 'top': already has the goal maximize"),
        (
            (["top=peak(E_z)"], ["top=final(E_z)"]),
            "'top=final(E_z)': several objectives have the name 'top'",
        ),
        (([], [], ["peek(E_z)"]), "--minimize 'peek(E_z)': unknown function 'peek'"),
    ],
)
def test_wrong_goals(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        objectives(*arguments)
    assert said in str(caught.value)


def _content(goals: dict[str, str], keys: int = 2) -> Content:
    """Results of 60 runs with the objective x² + y, the last of which failed."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 10), np.linspace(0.0, 1.0, 6))
    values = (x**2 + y).ravel()
    values[-1] = np.nan
    named = dict(zip("xy"[:keys], (x.ravel(), y.ravel()), strict=False))
    reasons = [""] * 59 + ["mass: expected at least 0, got -1"]
    return Content("M", "", named, {"v": values}, {"v": "v"}, reasons, {}, {}, [], goals=goals)


@pytest.mark.parametrize(
    ("goal", "titles"),
    [
        ("minimize", ["Worst runs: largest v", "Best runs: smallest v"]),
        ("maximize", ["Worst runs: smallest v", "Best runs: largest v"]),
        ("", ["Runs with the largest v", "Runs with the smallest v"]),
    ],
)
def test_goals_decide_which_runs_are_the_worst(goal: str, titles: list[str]) -> None:
    content = _content({"v": goal} if goal else {})
    ends = content.ends("v")
    assert [end.title("v") for end in ends] == titles
    values = content.objectives["v"]
    for end in ends:
        extreme = np.nanmax(values) if end.side == "largest" else np.nanmin(values)
        runs = end.runs("v", 3)
        assert len(runs) == 3 and values[runs[0]] == extreme


def test_the_first_objective_with_a_goal_ranks_the_runs() -> None:
    """An objective without a goal is no reason to list its extreme runs, wherever it was given."""
    whole = _content({"v": "maximize"})
    both = replace(whole, objectives={"u": -whole.objectives["v"], **whole.objectives})
    assert both.ranking == "v"
    assert replace(both, goals={}).ranking == "u"
    assert replace(both, objectives={}).ranking == ""


def test_two_keys_give_a_map_and_one_key_a_curve() -> None:
    assert next(figures._entries(_content({})))[0] == "map_v"
    assert next(figures._entries(_content({}, keys=1)))[0] == "curve_v"
    whole = _content({})
    texts = replace(whole, keys=whole.keys | {"form": np.array(["a", "b"] * 30)})
    assert next(figures._entries(texts))[0] == "over_keys_v"


def test_maps_interpolate_between_runs_and_leave_out_failures() -> None:
    """Contours of a plane are straight; no colour touches the run that failed."""
    whole = _content({})
    plane = replace(whole, objectives={"v": np.where(np.isnan(whole.objectives["v"]), np.nan, whole.keys["y"])})
    figure = contour_map(plane, "v")
    assert figure is not None
    lines = next(c for c in figure.axes[0].collections if isinstance(c, TriContourSet) and not c.filled)
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        assert np.allclose(path.vertices[:, 1], level)
    filled = next(c for c in figure.axes[0].collections if isinstance(c, TriContourSet) and c.filled)
    assert not any(path.contains_point((0.99, 0.99)) for path in filled.get_paths())
    assert any(path.contains_point((0.5, 0.5)) for path in filled.get_paths())


@pytest.mark.parametrize("change", ["constant", "failed", "line"])
def test_maps_without_contours_are_left_out(change: str) -> None:
    whole = _content({})
    changes: dict[str, Any] = {
        "constant": {"objectives": {"v": np.full(60, 3.0)}},
        "failed": {"objectives": {"v": np.full(60, np.nan)}},
        "line": {"keys": {"x": whole.keys["x"], "y": 2.0 * whole.keys["x"]}},
    }
    assert contour_map(replace(whole, **changes[change]), "v") is None


def test_reasons_that_differ_in_numbers_count_as_one() -> None:
    reasons = ["", "expected at least 0, got -1", "no equilibrium", "expected at least 0, got 2.5e-07"]
    assert list(frequent_reasons(reasons)) == [
        "2 runs, the first is run 1: expected at least 0, got -1",
        "1 run, the first is run 2: no equilibrium",
    ]
    many = list(frequent_reasons(["x" * k for k in range(1, 16)]))
    assert len(many) == 13 and many[-1] == "3 runs failed for further reasons"
