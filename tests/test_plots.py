"""Figures of a run: what they hold, what they show, what they leave out."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from helpers_report import EXAMPLES, RUNS, crane_pictures, crane_report, crane_run, pendulum_report
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from numpy.testing import assert_allclose

from gpmelica.analysis import poses
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.description import load
from gpmelica.mechanism import build
from gpmelica.reference.kinematics.piecewise import PiecewiseLinear
from gpmelica.report.plots import Picture, energy, pictures
from gpmelica.report.plots.choice import of_one_case
from gpmelica.report.plots.logarithmic import errors, violations
from gpmelica.report.plots.overlay import Overlay, run_overlay
from gpmelica.report.plots.path import point_path
from gpmelica.report.plots.schematic import pose, schematic
from gpmelica.report.plots.style import BLUE, colours, styled
from gpmelica.report.plots.time_series import base_motion, elastic_coordinates, joint_coordinates
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.compare.context import RunReport
from gpmelica.scene import poses_of

FIGURES = (
    "schematic", "joint_coordinates", "path_E", "base_motion", "elastic_coordinates", "forces", "energy", "power",
    "violations", "errors",
)  # fmt: skip


def named(name: str) -> Picture:
    """One figure of the crane."""
    return next(picture for picture in crane_pictures() if picture.name == name)


def pixels(picture: Picture) -> Array:
    """Colours of shape (rows, columns, 3), 0 to 255."""
    return np.rint(imread(io.BytesIO(picture.png), format="png")[..., :3] * 255)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_not_blank(name: str) -> None:
    """150 dpi, many colours, and neither empty nor black: 1 to 30 % of the pixels carry something."""
    image = pixels(named(name))
    shades = np.unique(image.reshape(-1, 3), axis=0)
    drawn = np.any(np.abs(image - 255.0) > 8, axis=2).mean()
    assert image.shape[1] == round(8.6 * 150)
    assert len(shades) > 100
    assert 0.01 < drawn < 0.3


def test_every_run_shows_its_colour() -> None:
    """Runs that agree do not hide each other: each colour takes a fair share of the striped line."""
    image = pixels(named("joint_coordinates"))
    counts = []
    for colour in colours(RUNS[1:]).values():
        rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
        counts.append(np.sum(np.all(np.abs(image - rgb) < 12, axis=2)))
    assert min(counts) > 300, counts


def test_run_names_keep_their_colours() -> None:
    """A run looks the same in every report, and no two runs of a report look the same."""
    assert colours(["fmu-native-me"])["fmu-native-me"] == colours(RUNS)["fmu-native-me"] == BLUE
    names = ["x", "fmu-native-cs", "fmu-openmodelica-me", "y", "fmu-openmodelica-cs", "modelica-rumoca", "z"]
    assert len(set(colours(names).values())) == len(names)


@pytest.fixture
def in_style() -> Iterator[None]:
    """Apply the style that `pictures` applies to every figure."""
    with styled():
        yield


def overlay_of(report: RunReport, **changes: Any) -> Overlay:
    """The report's runs over each other."""
    return run_overlay(report.mechanism, **{"reference": report.reference, "runs": report.runs} | changes)


def lines(figure: Figure | None) -> list[list[Array]]:
    """Curves of each panel, each of shape (2, N)."""
    assert figure is not None
    return [[np.array(line.get_data()) for line in axes.lines] for axes in figure.axes]


@pytest.mark.usefixtures("in_style")
def test_panels_hold_the_signals() -> None:
    """A panel's first curve is the reference, then come the runs, in the unit that the title names."""
    report = crane_run()
    panels = lines(joint_coordinates(overlay_of(report)))
    for curves, symbol in zip(panels, ("column_angle", "boom_angle", "jib_angle"), strict=True):
        assert len(curves) == 4
        for (time, values), run in zip(curves, (report.reference, *report.runs), strict=True):
            assert_allclose(time, run.time)
            assert_allclose(values, run.signals[symbol])
    elastic = elastic_coordinates(overlay_of(report))
    assert elastic is not None and elastic.axes[0].get_title(loc="left") == "boom.r1_psi  in 10⁻⁶ rad"
    assert_allclose(lines(elastic)[0][0][1] * 1e-6, report.reference.signals["boom_r1_psi"], atol=1e-18)


@pytest.mark.usefixtures("in_style")
def test_data_fill_their_axes_or_are_said_to_be_constant() -> None:
    """Curves fill at least 60 % of an axis, however small they are; a title names a constant value."""
    report = crane_run()
    time = report.reference.time
    signals = {"column_angle": 0.5 + 1e-12 * np.sin(9.0 * time), "boom_angle": 1e-4 * np.sin(9.0 * time)}
    run = replace(report.reference, signals={**report.reference.signals, **signals})
    figure = joint_coordinates(run_overlay(report.mechanism, run))
    assert figure is not None
    column, boom, jib = figure.axes
    assert column.get_title(loc="left") == "column.angle  constant: 0.5 rad"
    assert boom.get_title(loc="left") == "boom.angle  in 10⁻⁶ rad"
    for axes in (boom, jib):
        values = np.asarray(axes.lines[0].get_ydata())
        assert np.ptp(values) >= 0.6 * np.ptp(axes.get_ylim())


@pytest.mark.usefixtures("in_style")
def test_a_title_tells_whether_all_runs_are_constant() -> None:
    """If another run moves or has no values, the title speaks of the reference run alone."""
    report = crane_run()
    time, other = report.reference.time, report.runs[0]
    still = {"column_angle": np.full(time.shape, 0.5)}
    reference = replace(report.reference, signals={**report.reference.signals, **still})
    for deviation, statement in ((0.0, "constant"), (1e-3, "reference constant"), (np.nan, "reference constant")):
        signals = {**other.signals, "column_angle": 0.5 + deviation * np.linspace(0.0, 1.0, len(other.time))}
        runs = (replace(other, signals=signals),)
        figure = joint_coordinates(overlay_of(replace(report, reference=reference, runs=runs)))
        assert figure is not None
        assert figure.axes[0].get_title(loc="left") == f"column.angle  {statement}: 0.5 rad"


@pytest.mark.slow
@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize(("elements", "rows"), [(2, 1), (4, 3), (9, 6)])
def test_long_beams_show_some_of_their_elements(elements: int, rows: int) -> None:
    """A row per element up to six; then a choice with the first and the last one."""
    report = crane_report()
    chain = report.mechanism.chain
    beam = chain.links[1].beam
    assert beam is not None
    boom = chain.links[1].model_copy(update={"beam": beam.model_copy(update={"elements": elements})})
    mechanism = build(chain.model_copy(update={"links": (chain.links[0], boom, chain.links[2])}))
    signals = {c.symbol: report.reference.time for c in mechanism.coordinates}
    figure = elastic_coordinates(run_overlay(mechanism, replace(report.reference, signals=signals)))
    assert figure is not None
    titles = [axes.get_title(loc="left").partition(" ")[0] for axes in figure.axes]
    assert len(titles) == 3 * rows
    assert (titles[0], titles[-1]) == ("boom.r1_psi", f"boom.r{elements - 1}_phi")


@pytest.mark.usefixtures("in_style")
def test_space_has_equal_scales_and_the_programmed_path() -> None:
    """A metre is as long on all axes, and the programmed curve is the one given."""
    report = crane_run()
    target = report.targets["E"] + [0.0, 0.0, 1e-3]
    target[7:9, 1] = np.nan
    for figure in (
        point_path("E", overlay_of(report, targets={"E": target})),
        schematic(report.mechanism, report.reference),
    ):
        assert figure is not None
        axes: Any = figure.axes[0]
        extents = np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1)
        assert_allclose(extents / axes._box_aspect, extents[0] / axes._box_aspect[0])
    panels = lines(point_path("E", overlay_of(report, targets={"E": target})))
    for k in range(3):
        assert_allclose(panels[1 + k][-1][1], target[:, k])
        assert_allclose(panels[1 + k][0][1], report.reference.signals[f"E_{'xyz'[k]}"])
    assert point_path("F", overlay_of(report)) is None


@pytest.mark.usefixtures("in_style")
def test_logarithmic_axes_skip_zeros() -> None:
    """Violations and errors stand on logarithmic axes, zeros are gaps, tolerances are lines."""
    report = crane_run()
    figure = violations(overlay_of(report))
    assert figure is not None and {axes.get_yscale() for axes in figure.axes} == {"log"}
    position = lines(figure)[0][0][1]
    expected = report.reference.signals["violation_position"]
    assert np.isnan(position[0]) and expected[0] == 0.0
    assert_allclose(position[1:], expected[1:])
    curves = lines(errors(report.reference, report.runs, report.comparisons, report.model.units))[0]
    largest = [np.nanmax(curve[1]) for curve in curves]
    assert largest[:3] == [comparison.max_rel_error for comparison in report.comparisons[1:]]
    assert largest[3:] == [1e-6, 1e-5]


def test_plots_contain_existing_parts_only() -> None:
    """The report of a pendulum without runs has no pictures of base, beams, constraints or errors."""
    report = pendulum_report()
    assert [picture.name for picture in pictures(report)] == ["schematic", "joint_coordinates", "energy"]
    fixed = crane_report()
    base = fixed.mechanism.chain.base
    assert base is not None
    rigid = fixed.mechanism.chain.model_copy(update={"base": base.model_copy(update={"support": "rigid"})})
    assert base_motion(run_overlay(build(rigid), fixed.reference, fixed.runs)) is None


@pytest.mark.slow
@pytest.mark.usefixtures("in_style")
def test_a_run_that_diverges_leaves_the_picture() -> None:
    """Values of 1e300 neither overflow the figures nor flatten the other curves."""
    report = crane_run()
    late = report.reference.time > 1.9
    signals = {name: np.where(late, 1e300, values) for name, values in report.reference.signals.items()}
    wild = replace(report.reference, name="fmu-native-me", signals=signals)
    comparison = compare(report.reference, wild, report.model.units, 1e-6)
    spoilt = replace(report, runs=(wild,), comparisons=(report.comparisons[0], comparison))
    groups = of_one_case(spoilt)
    shown = [picture.name for group in ("motion", "violations", "errors") for picture in groups[group]]
    assert shown == ["joint_coordinates", "path_E", "base_motion", "elastic_coordinates", "violations", "errors"]
    figure = joint_coordinates(overlay_of(report, runs=(wild,)))
    assert figure is not None
    for axes, symbol in zip(figure.axes, ("column_angle", "boom_angle", "jib_angle"), strict=True):
        values = report.reference.signals[symbol]
        assert axes.get_ylim()[0] <= values.min() and axes.get_ylim()[1] >= values.max()
        assert np.ptp(axes.get_ylim()) <= 3 * np.ptp(values) + 1e-12


def test_figures_are_reproducible_and_leave_no_trace() -> None:
    """Two drawings of a run are bytewise equal, and the style of the process's own figures is unchanged."""
    before = dict(matplotlib.rcParams)
    again = next(pictures(crane_run()))
    assert (again.png, again.svg) == (crane_pictures()[0].png, crane_pictures()[0].svg)
    assert dict(matplotlib.rcParams) == before


# ---- In space --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize("name", ["delta_robot", "mobile_robot"])
def test_names_do_not_lie_on_each_other(name: str) -> None:
    """In two mechanisms with crowded labels, every link, point and closure has a label and no labels overlap."""
    mechanism = build(load(EXAMPLES / f"{name}.toml"))
    q = np.array([c.position for c in mechanism.coordinates])
    figure = pose(poses_of(mechanism, q[None]))
    assert figure is not None
    figure.draw_without_rendering()
    labels = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.overlaps(b)]
    written = {part for label in labels for part in label.get_text().split(", ")}
    expected = {body.link for body in mechanism.bodies} | set(mechanism.points)
    assert written == expected | {closure.name for closure in mechanism.closures}


def _written(figure: Figure) -> list[Text]:
    """Return the visible text of three-dimensional axes: numbers, names of the axes, labels."""
    figure.draw_without_rendering()
    axes: Any = figure.axes[0]
    found = list(axes.texts)
    for axis, (low, high) in zip(
        (axes.xaxis, axes.yaxis, axes.zaxis), np.array(axes.get_w_lims()).reshape(3, 2), strict=True
    ):
        ticks = [tick for tick in axis.majorTicks if low <= tick.get_loc() <= high]
        found += [axis.label, *(tick.label1 for tick in ticks)]
    return [text for text in found if text.get_text()]


@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize(("radius", "height"), [(5.0, 0.02), (0.1, 0.1), (3.0, 2.0)])
def test_numbers_of_axes_in_space_stay_legible(radius: float, height: float) -> None:
    """A path that begins at an edge of the picture: its label and the axes' names are inside, off the numbers."""
    time = np.linspace(0.0, 1.5, 40)
    path = {"E_x": radius * np.cos(time), "E_y": radius * np.sin(time), "E_z": 4.0 + height * time}
    run = Trajectory("reference", time, path)
    figure = point_path("E", overlay_of(crane_run(), reference=run, runs=()))
    assert figure is not None
    texts = [(text.get_text(), text.get_window_extent()) for text in _written(figure)]
    names = [(name, box) for name, box in texts if name in ("E, start", "x in m", "y in m", "z in m")]
    assert len(names) == 4 and len(texts) >= 9
    assert not [(a, b) for a, one in names for b, other in texts if a != b and one.overlaps(other)]
    assert not [name for name, box in texts if box.min.min() < 0 or np.any(box.max > figure.bbox.max)]


@pytest.mark.usefixtures("in_style")
def test_links_are_drawn_between_all_their_joints() -> None:
    """A linkage is closed on paper, too: every closure is an end of lines of both of its links."""
    mechanism = build(load(EXAMPLES / "four_bar_3d.toml"))
    q = np.array([c.position for c in mechanism.coordinates])
    frames = poses(mechanism, q)
    figure = pose(poses_of(mechanism, q[None]))
    assert figure is not None
    drawn = [np.transpose(line.get_data_3d()) for line in figure.axes[0].lines]  # type: ignore[attr-defined]
    ends = np.concatenate([line for line in drawn if len(line) == 2])
    (closure,) = mechanism.closures
    for frame in (closure.a, closure.b):
        body = frames[frame.place.body]
        at = body[:3, :3] @ np.asarray(frame.place.position, dtype=float) + body[:3, 3]
        assert np.count_nonzero(np.linalg.norm(ends - at, axis=1) < 1e-9) >= 1


@pytest.mark.usefixtures("in_style")
def test_axes_in_space_have_a_floor() -> None:
    """A point that rounding alone moves is not drawn across the picture."""
    report = crane_run()
    signals = dict(report.reference.signals)
    for axis in "xyz":
        signals[f"E_{axis}"] = 1.0 + 1e-14 * np.sin(np.arange(len(report.reference.time)))
    still = replace(report.reference, signals=signals)
    figure = point_path("E", overlay_of(report, reference=still, runs=()), least=1e-6)
    assert figure is not None
    axes: Any = figure.axes[0]
    assert np.ptp(axes.get_xlim()) >= 1e-6 or np.ptp(axes.get_ylim()) >= 1e-6 or np.ptp(axes.get_zlim()) >= 1e-6


@pytest.mark.usefixtures("in_style")
def test_energy_and_inputs_are_those_of_the_run() -> None:
    """The lines are the course's and the table's numbers, in the unit of the axis."""
    report = crane_run()
    kinetic, potential, total = (values for _, values in lines(energy.energy(report.course))[0])
    scale = report.course.kinetic.max() / kinetic.max()
    assert_allclose(kinetic * scale, report.course.kinetic, rtol=1e-9)
    assert_allclose(kinetic + potential, total, atol=1e-9 * np.abs(total).max())
    table = PiecewiseLinear(np.array([0.0, 1.0, 2.0]), np.array([0.0, 50.0, 0.0]))
    figure = energy.inputs({"push": table}, {"push": "N"}, overlay_of(report))
    assert figure is not None
    assert_allclose(lines(figure)[0][0][1], np.interp(report.reference.time, table.time, table.values), atol=1e-9)
    assert energy.inputs({}, {}, overlay_of(report)) is None
