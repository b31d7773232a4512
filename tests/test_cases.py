"""Cases side by side: how fast violations die out, figures that overlay cases, tables and page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_parts import X, Y, beam, body, link, machine
from helpers_problem import simulate
from helpers_reference import mechanism_of
from helpers_report import EXAMPLES, coordinates_of, poses
from helpers_study import decaying, made_up_case
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from test_report import Page

from gpmelica.analysis import friction_efforts
from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Array
from gpmelica.description import load
from gpmelica.description.load import from_data
from gpmelica.mechanism import build
from gpmelica.plausibility.collect import of_description
from gpmelica.report.comparison_tables import decays, differences, largest_differences, load_table, wall_times
from gpmelica.report.plots import case_figures, loads, logarithmic, time_series
from gpmelica.report.plots.beam_shape import beam_shape, element_starts, flexible_links
from gpmelica.report.plots.load_rms import LoadRms, load_rms
from gpmelica.report.plots.overlay import case_overlay, run_overlay
from gpmelica.report.plots.space import axes_in_space, face
from gpmelica.report.plots.style import styled
from gpmelica.report.report import write_comparison
from gpmelica.runs.compare.decay import baumgarte_roots, straight_part
from gpmelica.runs.compare.outcome import CaseFailure, CaseRun

TIME = np.linspace(0.0, 4.0, 401)


@pytest.fixture(autouse=True)
def in_style() -> Iterator[None]:
    """Apply the style that `case_pictures` applies to every figure."""
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
    """Zeros have no logarithm and are left out of the fit; the noise-free rest of the run is a straight line."""
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
def test_no_decay_rate_without_exponential_decay(values: np.ndarray) -> None:
    """No line is fitted to a violation that does not decay exponentially."""
    assert straight_part(TIME, values, 0.0) is None


def test_decay_rate_ignores_the_fast_root() -> None:
    """For α = 110 and β = 20, the fit begins after ten time constants of the fast root −218 1/s."""
    run = made_up_case("a")
    _, fast = baumgarte_roots(110.0, 20.0)
    assert run.stabilisation.settled == pytest.approx(-10.0 / fast) and 0.04 < run.stabilisation.settled < 0.05


def test_only_shared_coordinates_are_overlaid() -> None:
    """A crane with an elastic boom and one without have their joints and bases in common."""
    runs = [made_up_case("flexible", "flexible_boom"), made_up_case("rigid")]
    shared = {
        role: [c.name for c in case_overlay(runs).shared_coordinates(role)]
        for role in ("joint", "base", "elastic")
    }
    assert shared["joint"] == ["column.angle", "boom.angle", "jib.angle"]
    assert (len(shared["base"]), shared["elastic"]) == (6, [])
    assert len(case_overlay(runs[:1]).shared_coordinates("elastic")) == 9
    assert case_overlay([]).shared_coordinates("joint") == []


def test_every_case_looks_different() -> None:
    """Colours for eight cases, and forty by colour and dashes; a case looks the same whatever else is drawn."""
    run = made_up_case("any")
    lines = [curves.line for curves in case_overlay([run] * 40).curves]
    assert len({line["color"] for line in lines[:8]}) == 8
    assert len({(line["color"], str(line["linestyle"])) for line in lines}) == 40


def drawn(figure: Figure | None) -> Figure:
    """A figure that must be there, laid out."""
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def labels(figure: Figure) -> list[str]:
    """Texts of its legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def titles(figure: Figure) -> list[str]:
    """Return the titles of the figure's panels."""
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_joints_of_all_cases_are_overlaid() -> None:
    """One panel per joint with one line per case, which holds that case's values."""
    runs = [made_up_case("a"), made_up_case("b", column_angle=np.linspace(4.0, 5.0, 201))]
    figure = drawn(time_series.joint_coordinates(case_overlay(runs)))
    assert labels(figure) == ["a", "b"]
    assert titles(figure) == ["column.angle  in rad", "boom.angle  in rad", "jib.angle  in rad"]
    for line, run in zip(figure.axes[0].lines, runs, strict=True):
        assert_allclose(line.get_ydata(), run.reference.signals["column_angle"])


def test_differences_are_those_from_the_first_case() -> None:
    """In the figure, in the table, and in the sentence: 0.01 rad of a range of 0.5 rad is 2 %."""
    ramp = np.linspace(4.0, 4.5, 201)
    off = ramp + 0.01 * (ramp - 4.0) / 0.5
    runs = [made_up_case("a", column_angle=ramp), made_up_case("b", column_angle=off)]
    figure = drawn(time_series.joint_differences(case_overlay(runs)))
    assert labels(figure) == ["b"]
    assert titles(figure)[0] == "column.angle  in 10⁻³ rad"
    assert_allclose(figure.axes[0].lines[0].get_ydata(), np.linspace(0.0, 10.0, 201), atol=1e-9)
    assert largest_differences(runs) == {"b": pytest.approx(0.01 / 0.51)}
    assert differences(runs).rows[0] == ("column.angle", "rad", "0.51", "1.0e−02 (2\u00a0%)")
    assert time_series.joint_differences(case_overlay(runs[:1])) is None


def test_only_bases_that_move_are_drawn() -> None:
    """A rigid support has no base motion; what is shown starts at zero."""
    lowered = made_up_case("b", base_z=np.full(201, -0.07))
    runs = [made_up_case("fixed", support="rigid"), made_up_case("a"), lowered]
    figure = drawn(time_series.base_motion(case_overlay(runs)))
    assert labels(figure) == ["a", "b"] and len(figure.axes) == 6
    assert all(line.get_ydata()[0] == 0.0 for axes in figure.axes for line in axes.lines)
    assert time_series.base_motion(case_overlay(runs[:1])) is None


@pytest.mark.slow
def test_the_jerk_at_the_start_leaves_the_picture() -> None:
    """An effort of 1e4 before Baumgarte's fast root has died out does not flatten the rest."""
    time = np.linspace(0.0, 2.0, 201)
    effort = np.where(time < 0.02, 1e4, 30.0 * np.sin(time))
    runs = [made_up_case(name, column_angle_effort=effort) for name in "ab"]
    figure = drawn(time_series.driving_efforts(case_overlay(runs)))
    assert len(figure.axes) == 1 and figure.axes[0].get_ylim()[1] < 40.0
    assert time_series.driving_efforts(case_overlay([*runs, made_up_case("without")])) is None


def test_slope_of_the_slow_root_is_drawn() -> None:
    """A dashed line above the violations with −α + √(α² − β²), once for all cases of the same root."""
    slow, fast = baumgarte_roots(110.0, 20.0)
    time = np.linspace(0.0, 2.0, 201)
    runs = [made_up_case(name, violation_position=decaying(time, slow, fast)) for name in "ab"]
    figure = drawn(logarithmic.violations(case_overlay(runs)))
    assert labels(figure) == ["a", "b", "slow root of Baumgarte, −1.83 1/s"]
    slope = np.asarray(figure.axes[0].lines[-1].get_ydata())
    assert_allclose(np.diff(np.log(slope)) / 0.01, slow)
    assert np.all(slope > runs[0].reference.signals["violation_position"])
    assert figure.axes[0].get_yscale() == "log"


def test_violations_that_do_not_decay_have_no_slope() -> None:
    """Noise is drawn, no slope with it and no rate in the table; without constraints there is no figure."""
    runs = [made_up_case("a", violation_position=np.random.default_rng(1).uniform(1e-12, 1e-11, 201))]
    assert labels(drawn(logarithmic.violations(case_overlay(runs)))) == ["a"]
    assert decays(runs).rows == ()
    assert (
        logarithmic.violations(
            case_overlay([made_up_case("b", violation_position=np.zeros(201), violation_velocity=np.zeros(201))])
        )
        is None
    )


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
    page = Page(write_comparison(tmp_path, chain, runs).read_text(encoding="utf-8"))
    assert "Of 2 cases, 2 failed (a, b)." in page.text and "no <b>way</b>" in page.text
    assert "b" not in page.tags and "svg" not in page.tags
    assert "motion" not in page.ids and "violation" not in page.ids


@pytest.mark.slow
def test_page_of_eight_cases(tmp_path: Path) -> None:
    """All of them are in the tables and in the legends; a run that failed is said in words, not as a number."""
    runs = [made_up_case(f"case_{k}") for k in range(8)]
    runs[3].result["runs"].append(
        {"name": "x", "max_rel_error": None, "wall_s": 0.5, "note": "broke off", "ok": False}
    )
    runs[3].result.update(ok=False, agrees=False)
    path = write_comparison(tmp_path, runs[0].mechanism.chain, runs, "gpmelica study crane.toml --cases")
    page = Page(path.read_text(encoding="utf-8"))
    assert all(page.text.count(run.case) >= 6 for run in runs)
    assert "Of 8 cases, 1 disagrees (case_3)." in page.text
    assert "case_3 : x: broke off" in page.text and " failed " in page.text
    assert "gpmelica study crane.toml --cases" in page.text
    assert wall_times(runs).headers == ("case", "reference, s", "x, s")


# ---- Loads of all cases side by side, shapes of flexible links, and figures of a single run's loads and friction


PARTS = ("fx", "fy", "fz", "nx", "ny", "nz", "axial", "normal")


def loaded(name: str, size: float, **options: str) -> CaseRun:
    """A made-up case whose boom bears constant forces, axial 3·size, normal 4·size, N, and a jerk at first."""
    run = made_up_case(name, **options)
    time = run.reference.time
    jerk = np.where(time < run.stabilisation.settled / 2, 1e6, 0.0)
    values = {"fx": 3 * size, "fy": 4 * size, "axial": 3 * size, "normal": 4 * size}
    found = {f"boom_load_{part}": values.get(part, 0.0) + jerk for part in PARTS}
    return replace(run, reference=replace(run.reference, signals={**run.reference.signals, **found}))


def rms_of(run: CaseRun) -> dict[str, LoadRms]:
    """Root mean squares of a case's joint forces, N."""
    return load_rms(run.mechanism, run.reference, run.stabilisation.settled)


def test_rms_leaves_out_the_jerk() -> None:
    """The root mean square of a constant force equals the force, for each joint and whatever the first samples
    are.
    """
    assert rms_of(loaded("a", 10.0)).keys() == {"boom"}
    rms = rms_of(loaded("a", 10.0))["boom"]
    assert (rms.axial, rms.normal) == (pytest.approx(30.0), pytest.approx(40.0))


def test_rms_of_an_oscillation() -> None:
    """a·sin(ωt) over whole periods has a/√2 (Jarzębowska et al. 2023, (34))."""
    run = loaded("a", 0.0)
    time = run.reference.time - run.stabilisation.settled
    wave = 7.0 * np.sin(2 * np.pi * 8 * time / time[-1])
    signals = {**run.reference.signals, "boom_load_axial": wave}
    found = rms_of(replace(run, reference=replace(run.reference, signals=signals)))
    assert found["boom"].axial == pytest.approx(7.0 / np.sqrt(2), rel=1e-2)


def test_table_compares_with_the_first_case() -> None:
    """RMS in N, in parentheses the change from the first case."""
    rows = load_table([loaded("a", 10.0), loaded("b", 15.0)]).rows
    assert rows == (
        ("boom", "axial", "30", "45 (50\u00a0%)"),
        ("boom", "normal", "40", "60 (50\u00a0%)"),
    )
    assert load_table([loaded("a", 10.0), made_up_case("b")]).rows == ()
    assert load_table([]).rows == ()


def test_force_panels_and_bars() -> None:
    """Curves are the forces' magnitudes, the jerk outside of the picture; bars stand at the RMS of each case."""
    runs = [loaded("a", 10.0), loaded("b", 20.0)]
    (axes,) = drawn(loads.joint_loads(case_overlay(runs), ("force",))).axes
    assert [line.get_ydata()[-1] for line in axes.lines] == pytest.approx([50.0, 100.0])  # type: ignore[index]
    assert axes.get_ylim()[1] < 1e3
    bars = drawn(case_figures.load_bars(case_overlay(runs)))
    heights = [[patch.get_height() for patch in axes.patches] for axes in bars.axes]  # type: ignore[attr-defined]
    assert_allclose(heights, [[30.0, 60.0], [40.0, 80.0]])


def test_loads_that_a_case_lacks_are_not_drawn() -> None:
    """Without loads in common there is no figure."""
    assert loads.shared_links(case_overlay([loaded("a", 1.0), made_up_case("b")])) == []
    assert loads.joint_loads(case_overlay([loaded("a", 1.0), made_up_case("b")]), ("force",)) is None
    assert case_figures.load_bars(case_overlay([made_up_case("a")])) is None
    assert loads.joint_loads(case_overlay([]), ("force",)) is None


def _bent(angle: float) -> tuple[Any, Array]:
    """The crane's mechanism and its bodies' frames with all joints between elements turned about z by `angle`."""
    mechanism = build(load(EXAMPLES / "crane.toml", "flexible_boom"))
    q = np.array([angle if c.role == "elastic" and c.key.endswith("psi") else 0.0 for c in mechanism.coordinates])
    return mechanism, poses(mechanism)(q)


def test_straight_beam_is_straight() -> None:
    """Undeformed, elements begin on the x axis and the last one ends at the beam's length."""
    mechanism, frames = _bent(0.0)
    assert flexible_links(mechanism) == ["boom"]
    shape = beam_shape(mechanism, frames, "boom")
    assert_allclose(shape[:, 1:], 0.0, atol=1e-14)
    assert_allclose(shape[:, 0], [*element_starts(mechanism, "boom"), 2.0], atol=1e-14)
    assert_allclose(np.diff(shape[:, 0]), [1 / 3, 2 / 3, 2 / 3, 1 / 3], atol=1e-14)


def test_a_beam_whose_length_follows_a_parameter() -> None:
    """The last element ends at the parameter's value; the remarks on lengths look at it too."""
    tube = {"length": "2*reach", "density": 7850.0, "E": 2.1e11, "area": 2e-3, "Iy": 1e-6, "Iz": 1e-6, "J": 2e-6}
    for elements in (1, 3):
        boom = beam("boom", tube | {"G": 8e10, "elements": elements}, "revolute", Y)
        model = assemble_system(from_data(machine(boom, parameters={"reach": 1.5})))
        shape = beam_shape(model.mechanism, poses(model.mechanism)(model.start[0]), "boom")
        assert shape[-1] == pytest.approx([3.0, 0.0, 0.0], abs=0.1)
        assert of_description(model) == ()


def test_bent_beam_turns_at_each_spring() -> None:
    """Each element is turned by as much again, in the frame of the first one, wherever the crane stands."""
    angle = 0.1
    mechanism, frames = _bent(angle)
    steps = np.diff(beam_shape(mechanism, frames, "boom"), axis=0)
    assert_allclose(np.arctan2(steps[:, 1], steps[:, 0]), angle * np.arange(4), atol=1e-12)
    assert_allclose(np.linalg.norm(steps, axis=1), [1 / 3, 2 / 3, 2 / 3, 1 / 3], rtol=1e-12)


@pytest.mark.slow
def test_page_shows_loads_and_shapes(tmp_path: Path) -> None:
    """Figures of forces, RMS and the boom's shape, and the table; only the flexible case has a shape."""
    runs = [loaded("soft", 10.0, case="flexible_boom"), loaded("hard", 20.0)]
    path = write_comparison(tmp_path, runs[0].mechanism.chain, runs)
    written = {file.stem for file in (tmp_path / "figures").glob("*.png")}
    assert {"joint_forces", "load_rms", "shape_boom"} <= written
    page = Page(path.read_text(encoding="utf-8"))
    assert "Root mean square of the forces in the joints" in page.text
    svg = (tmp_path / "figures" / "shape_boom.svg").read_text(encoding="utf-8")
    assert ">soft<" in svg
    assert ">hard<" not in svg


def test_loads_that_are_not_unique_are_marked() -> None:
    """Table, panels and bars of cases say of which component that is so; the others are as always."""
    run = loaded("a", 10.0)
    marked = replace(run, result=run.result | {"not_unique": {"boom": ["fx", "axial"]}})
    assert [row[:2] for row in load_table([marked]).rows] == [("boom", "axial, not unique"), ("boom", "normal")]
    forces, bars = (
        drawn(loads.joint_loads(case_overlay([marked]), ("force",))),
        drawn(case_figures.load_bars(case_overlay([marked]))),
    )
    assert titles(forces)[0].startswith("boom: force, not unique")
    assert titles(bars) == ["axial  in N; not unique: boom", "normal  in N"]


def test_single_run_shows_loads() -> None:
    """Lengths of force and moment side by side, a row per joint."""
    case, plain = loaded("a", 10.0), made_up_case("b")
    reference, run = case.reference, replace(case.reference, name="fmu-native-me")
    figure = drawn(
        loads.joint_loads(run_overlay(case.mechanism, reference, [run], not_unique={"boom": ["fx", "axial"]}))
    )
    assert [title.split("  ")[0] for title in titles(figure)] == ["boom: force, not unique", "boom: moment"]
    assert_allclose(loads.magnitude(reference, "boom", "force")[-1], 50.0)
    assert loads.joint_loads(run_overlay(plain.mechanism, plain.reference)) is None


def _rubbing(**friction: Any) -> dict[str, Any]:
    """A slide that is pulled, with friction."""
    slide = link("slide", "prismatic", X, velocity=0.1, friction=friction) | body(2.0)
    forces = [{"name": "pull", "joint": "slide", "effort": "8 + 4*sin(20*t)"}]
    simulation = {"stop": 0.3, "output_step": 0.01, "start": "description", "method": "Radau"}
    return machine(slide, forces=forces, simulation=simulation, outputs={"loads": "all"})


LUGRE = {"model": "lugre", "sigma0": 1e4, "sigma1": 5.0, "sigma2": 0.1, "mu_s": 0.3, "mu_k": 0.2, "v_s": 0.1}
DAHL = {"model": "dahl", "sigma0": 1e4, "mu_s": 0.2}


@pytest.mark.slow
@pytest.mark.parametrize("friction", [LUGRE, DAHL, LUGRE | {"normal_force": 30.0}])
def test_friction_efforts_balance_newtons_law(friction: dict[str, Any]) -> None:
    """Friction is the pull minus mass times acceleration; the normal force is the weight or a
    given value.
    """
    mechanism = mechanism_of(_rubbing(**friction))
    run = simulate(mechanism)
    pull = 8 + 4 * np.sin(20 * run.time)
    missing = pull - 2.0 * run.signals["slide_position_ddot"]
    found = friction_efforts(mechanism, run)
    assert_allclose(found["slide_position"], missing, atol=1e-9 * np.abs(pull).max())
    assert np.abs(missing).max() > 3.0


@pytest.mark.slow
def test_friction_figure() -> None:
    """Deflection and effort side by side; without the load, the deflection alone; without friction, nothing."""
    mechanism = mechanism_of(_rubbing(**LUGRE))
    run = simulate(mechanism)
    found = [
        title.split("  ")[0]
        for title in titles(drawn(loads.friction(run_overlay(mechanism, run), friction_efforts)))
    ]
    assert found == ["slide.position: deflection", "slide.position: friction"]
    bare = replace(run, signals={name: v for name, v in run.signals.items() if "load" not in name})
    assert len(drawn(loads.friction(run_overlay(mechanism, bare), friction_efforts)).axes) == 1
    crane = made_up_case("a")
    assert loads.friction(run_overlay(crane.mechanism, crane.reference), lambda *run: {}) is None


def test_shapes_need_the_run_of_the_flexible_case() -> None:
    """The shape at a sample is that of the coordinates at that sample."""
    run = made_up_case("soft", case="flexible_boom")
    at = poses(run.mechanism)(coordinates_of(run.mechanism, run.reference.signals)[50])
    shapes = case_figures.BeamShapes("boom", np.array([0.5]), {"soft": [beam_shape(run.mechanism, at, "boom")]})
    figure = case_figures.beam_shapes(case_overlay([run]), shapes)
    (y, z), shape = figure.axes, shapes.of_case["soft"][0]
    factor = 1e-3 if "10⁻³" in y.get_title(loc="left") else 1e-6 if "10⁻⁶" in y.get_title(loc="left") else 1.0
    for axes, across in ((y, shape[:, 1]), (z, shape[:, 2])):
        assert_allclose(np.asarray(axes.lines[0].get_ydata()) * factor, across, atol=1e-12)


def test_keys_with_indices_in_brackets() -> None:
    """`links[0].com[1]`, as error messages write a key, changes the same number as `links.crank.com.1`."""
    changes = [{"links[0].com[1]": 0.25}, {"links.crank.com.1": 0.25}]
    by_index, by_name = (load(EXAMPLES / "four_bar_3d.toml", changes=change) for change in changes)
    assert by_index.links[0].com[1] == by_name.links[0].com[1] == 0.25
