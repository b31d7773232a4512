"""Cases side by side: how fast violations die out, figures that overlay cases, tables and page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers_study import decaying, made_up_case
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from test_report import Page

from gpmelica.fmu.compare.decay import baumgarte_roots, straight_part
from gpmelica.fmu.report.cases import figures as cases
from gpmelica.fmu.report.cases.report import CaseFailure, write_case_report
from gpmelica.fmu.report.cases.tables import decays, differences, largest_differences, wall_times
from gpmelica.fmu.report.plots.space import axes_in_space, face
from gpmelica.fmu.report.plots.style import styled

TIME = np.linspace(0.0, 4.0, 401)


@pytest.fixture(autouse=True)
def in_style() -> Iterator[None]:
    """What `case_pictures` does around every figure."""
    with styled():
        yield


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [(1000.0, 100.0), (110.0, 20.0), (20.0, 20.0), (20.0, 50.0), (0.0, 3.0), (5.0, 0.0), (0.0, 0.0)],
)
def test_baumgarte_roots_solve_the_equation(alpha: float, beta: float) -> None:
    """Real parts of the roots of s² + 2αs + β², the slow one first: over-, under- and undamped."""
    slow, fast = sorted(np.roots([1.0, 2 * alpha, beta**2]).real, key=abs)
    assert_allclose(baumgarte_roots(alpha, beta), (slow, fast), rtol=1e-7, atol=1e-12)


def test_slow_root_keeps_its_digits() -> None:
    """−α + √(α² − β²) → −β²/2α for β ≪ α, where the formula as printed gives zero."""
    assert baumgarte_roots(1e6, 1e-3)[0] == pytest.approx(-0.5e-12, rel=1e-12)


def test_rate_and_window_of_a_stabilised_constraint() -> None:
    """The slow root to 0.1 %; the line ends near the noise, where 1e-2·exp(−5t) has come down to about 1e-8."""
    decay = straight_part(TIME, decaying(TIME, -5.0, -2000.0, floor=1e-10), 0.01)
    assert decay is not None
    assert decay.rate == pytest.approx(-5.0, rel=1e-3)
    assert (decay.begin, decay.first) == (pytest.approx(0.01), pytest.approx(1e-2 * math.exp(-0.05), rel=0.01))
    assert 2.5 < decay.end < 3.5
    assert decay.last == pytest.approx(decay.first * math.exp(decay.rate * (decay.end - decay.begin)))


def test_zeros_do_not_spoil_the_line() -> None:
    """They have no logarithm; without noise the whole rest of the run is straight."""
    values = decaying(TIME, -5.0, -2000.0)
    values[[7, 100, 101]] = 0.0
    decay = straight_part(TIME, values, 0.01)
    assert decay is not None and decay.end == 4.0
    assert decay.rate == pytest.approx(-5.0, rel=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(3).uniform(1e-12, 1e-11, 401),
        np.full(401, 1e-3),
        1e-3 * np.exp(0.5 * TIME),
        np.abs(np.exp(-2 * TIME) * np.cos(40 * TIME)),
        np.zeros(401),
        np.where(TIME < 0.03, np.exp(-9 * TIME), 0.0),
    ],
    ids=["noise", "constant", "growth", "oscillation", "zeros", "too short"],
)
def test_what_does_not_decay_has_no_rate(values: np.ndarray) -> None:
    """No line is laid through what is not one."""
    assert straight_part(TIME, values, 0.0) is None


def test_fast_root_is_left_out() -> None:
    """α = 110, β = 20: ten time constants of −218 1/s."""
    run = made_up_case("a")
    _, fast = baumgarte_roots(110.0, 20.0)
    assert run.settled == pytest.approx(-10.0 / fast) and 0.04 < run.settled < 0.05


def test_only_shared_coordinates_are_overlaid() -> None:
    """A crane with an elastic boom and one without have their joints and bases in common."""
    runs = [made_up_case("flexible", "flexible_boom"), made_up_case("rigid")]
    shared = {
        role: [c.name for c in cases.shared_coordinates(runs, role)] for role in ("joint", "base", "elastic")
    }
    assert shared["joint"] == ["column.angle", "boom.angle", "jib.angle"]
    assert (len(shared["base"]), shared["elastic"]) == (6, [])
    assert len(cases.shared_coordinates(runs[:1], "elastic")) == 9
    assert cases.shared_coordinates([], "joint") == []


def test_every_case_looks_different() -> None:
    """Colours for eight cases, and forty by colour and dashes; a case looks the same whatever else is drawn."""
    run = made_up_case("any")
    lines = cases.case_lines([replace(run, case=f"case_{k}") for k in range(40)])
    assert len({line["color"] for line in list(lines.values())[:8]}) == 8
    assert len({(line["color"], str(line["linestyle"])) for line in lines.values()}) == 40


def drawn(figure: Figure | None) -> Figure:
    """A figure that must be there, laid out."""
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def labels(figure: Figure) -> list[str]:
    """Texts of its legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_joints_of_all_cases_are_overlaid() -> None:
    """One panel per joint with one line per case, which holds that case's values."""
    runs = [made_up_case("a"), made_up_case("b", column_angle=np.linspace(4.0, 5.0, 201))]
    figure = drawn(cases.joint_coordinates(runs))
    assert labels(figure) == ["a", "b"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "column.angle  in rad", "boom.angle  in rad", "jib.angle  in rad",
    ]  # fmt: skip
    for line, run in zip(figure.axes[0].lines, runs, strict=True):
        assert_allclose(line.get_ydata(), run.reference.signals["column_angle"])


def test_differences_are_those_from_the_first_case() -> None:
    """In the figure, in the table, and in the sentence: 0.01 rad of a range of 0.5 rad is 2 %."""
    ramp = np.linspace(4.0, 4.5, 201)
    runs = [
        made_up_case(name, column_angle=ramp + shift)
        for name, shift in (("a", 0.0), ("b", 0.01 * (ramp - 4.0) / 0.5))
    ]
    figure = drawn(cases.joint_differences(runs))
    assert labels(figure) == ["b"]
    assert figure.axes[0].get_title(loc="left") == "column.angle  in 10⁻³ rad"
    assert_allclose(figure.axes[0].lines[0].get_ydata(), np.linspace(0.0, 10.0, 201), atol=1e-9)
    assert largest_differences(runs) == {"b": pytest.approx(0.01 / 0.51)}
    assert differences(runs).rows[0] == ("column.angle", "rad", "0.51", "1.0e−02 (2\u00a0%)")
    assert cases.joint_differences(runs[:1]) is None


def test_only_bases_that_move_are_drawn() -> None:
    """A rigid support has no base motion; what is shown starts at zero."""
    runs = [
        made_up_case("fixed", support="rigid"),
        made_up_case("a"),
        made_up_case("b", base_z=np.full(201, -0.07)),
    ]
    figure = drawn(cases.base_motion(runs))
    assert labels(figure) == ["a", "b"] and len(figure.axes) == 6
    assert all(line.get_ydata()[0] == 0.0 for axes in figure.axes for line in axes.lines)
    assert cases.base_motion(runs[:1]) is None


def test_the_jerk_at_the_start_leaves_the_picture() -> None:
    """An effort of 1e4 before Baumgarte's fast root has died out does not flatten the rest."""
    time = np.linspace(0.0, 2.0, 201)
    effort = np.where(time < 0.02, 1e4, 30.0 * np.sin(time))
    runs = [made_up_case(name, column_angle_effort=effort) for name in "ab"]
    figure = drawn(cases.driving_efforts(runs))
    assert len(figure.axes) == 1 and figure.axes[0].get_ylim()[1] < 40.0
    assert cases.driving_efforts([*runs, made_up_case("without")]) is None


def test_slope_of_the_slow_root_is_drawn() -> None:
    """A dashed line above the violations with −α + √(α² − β²), once for all cases of the same root."""
    slow, fast = baumgarte_roots(110.0, 20.0)
    time = np.linspace(0.0, 2.0, 201)
    runs = [made_up_case(name, violation_position=decaying(time, slow, fast)) for name in "ab"]
    figure = drawn(cases.violations(runs))
    assert labels(figure) == ["a", "b", "slow root of Baumgarte, −1.83 1/s"]
    slope = np.asarray(figure.axes[0].lines[-1].get_ydata())
    assert_allclose(np.diff(np.log(slope)) / 0.01, slow)
    assert np.all(slope > runs[0].reference.signals["violation_position"])
    assert figure.axes[0].get_yscale() == "log"


def test_violations_that_do_not_decay_have_no_slope() -> None:
    """Noise is drawn, no slope with it and no rate in the table; without constraints there is no figure."""
    runs = [made_up_case("a", violation_position=np.random.default_rng(1).uniform(1e-12, 1e-11, 201))]
    assert labels(drawn(cases.violations(runs))) == ["a"]
    assert decays(runs).rows == ()
    assert cases.violations([made_up_case("b", violation_position=np.zeros(201))]) is None


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (0.0, -9.81, 0.0), (-9.81, 0.0, 0.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("seed", range(4))
def test_paths_in_a_plane_are_not_seen_edge_on(gravity: tuple[float, float, float], seed: int) -> None:
    """Whatever the plane, the square on the screen keeps a good part of its area; gravity points down."""
    rng = np.random.default_rng(seed)
    first, second, _ = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    square = np.array([0 * first, first, first + second, second])
    figure = Figure()
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    face(axes, square, np.array(gravity))
    assert axes._vertical_axis == (int(np.argmax(np.abs(gravity))) if any(gravity) else 2)
    axes.get_proj()  # which places the camera
    assert abs(np.cross(first, second) @ axes._view_w) > 0.4


def test_page_of_cases_that_all_failed(tmp_path: Path) -> None:
    """Nothing to draw: the page says why and stays a page; text of errors is shown, never interpreted."""
    chain = made_up_case("a").mechanism.chain
    runs = [CaseFailure("a", "no <b>way</b>"), CaseFailure("b", "nor here")]
    page = Page(write_case_report(tmp_path, chain, runs).read_text(encoding="utf-8"))
    assert "Of 2 cases, 2 failed (a, b)." in page.text and "no <b>way</b>" in page.text
    assert "b" not in page.tags and "svg" not in page.tags
    assert "motion" not in page.ids and "violation" not in page.ids


def test_page_of_eight_cases(tmp_path: Path) -> None:
    """All of them are in the tables and in the legends; a run that failed is said in words, not as a number."""
    runs = [made_up_case(f"case_{k}") for k in range(8)]
    runs[3].result["runs"].append(
        {"name": "x", "max_rel_error": None, "wall_s": 0.5, "note": "broke off", "ok": False}
    )
    runs[3].result.update(ok=False, agrees=False)
    path = write_case_report(tmp_path, runs[0].mechanism.chain, runs, "gpmelica study crane.toml --cases")
    page = Page(path.read_text(encoding="utf-8"))
    assert all(page.text.count(run.case) >= 6 for run in runs)
    assert "Of 8 cases, 1 disagrees (case_3)." in page.text
    assert "case_3 : x: broke off" in page.text and " failed " in page.text
    assert "gpmelica study crane.toml --cases" in page.text
    assert wall_times(runs).headers == ("case", "reference, s", "x, s")
