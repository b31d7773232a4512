"""What a run leaves behind: result.json, figures, report.html."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from gpmelica.fmu.compare import Comparison, compare
from gpmelica.fmu.context import RunReport
from gpmelica.fmu.number_text import decimal, scientific
from gpmelica.fmu.plots import Picture, pictures
from gpmelica.fmu.plots.logarithmic import errors, violations
from gpmelica.fmu.plots.path import point_path
from gpmelica.fmu.plots.schematic import schematic
from gpmelica.fmu.plots.style import BLUE, GRID, INK, colours, power_of_ten, styled
from gpmelica.fmu.plots.time_series import base_motion, elastic_coordinates, joint_coordinates
from gpmelica.fmu.report import render, write_report
from gpmelica.fmu.result import result, write_result
from gpmelica.generator.description.load import from_data
from gpmelica.generator.mechanism import build
from gpmelica.trajectory import Array, Trajectory
from helpers_report import crane_report, disturbed, poses
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

RUNS = ("reference", "fmu-native-me", "fmu-native-cs", "modelica-rumoca")


@cache
def crane() -> RunReport:
    """Flexible crane, four runs."""
    return crane_report()


@cache
def crane_pictures() -> tuple[Picture, ...]:
    """Its figures."""
    return tuple(pictures(crane()))


def pendulum() -> RunReport:
    """The least that a report can be about: one body, no constraint, no point, no other run."""
    link = {
        "name": "rod",
        "parent": "ground",
        "mass": 2.0,
        "com": [0.5, 0.0, 0.0],
        "inertia": [0.01, 0.2, 0.2],
        "joint": {"type": "revolute", "axis": [0.0, 1.0, 0.0]},
    }
    mechanism = build(from_data({"schema": 1, "name": "Pendulum", "links": [link]}))
    time = np.linspace(0.0, 3.0, 151)
    inertia, moment = 0.2 + 2.0 * 0.5**2, 2.0 * 9.81 * 0.5

    def rate(_: float, y: Array) -> list[float]:
        return [y[1], moment * np.cos(y[0]) / inertia]

    angle, angle_dot = solve_ivp(rate, (0.0, 3.0), [0.0, 0.0], t_eval=time, rtol=1e-9).y
    reference = Trajectory("reference", time, {"rod_angle": angle, "rod_angle_dot": angle_dot})
    units = {"rod_angle": "rad", "rod_angle_dot": "rad/s"}
    return RunReport(
        mechanism=mechanism,
        case="",
        reference=reference,
        runs=(),
        comparisons=(compare(reference, reference, units, 1e-6),),
        units=units,
        tolerance=1e-6,
        constraints=(),
        dependent=(),
        dof=1,
        smallest_determinant=None,
        poses=poses(mechanism),
    )


# --- result.json ---------------------------------------------------------------------------------------------


def strictly(text: str) -> Any:
    """Parse JSON as the standard has it: Python's NaN and Infinity are refused."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_result_has_the_contract_keys_in_order(tmp_path: Path) -> None:
    """Keys of design section 6, in its order, with the types it gives."""
    data = strictly(write_result(tmp_path, crane()).read_text(encoding="utf-8"))
    assert list(data)[:8] == ["model", "case", "n", "dof", "compilers", "runs", "tolerance", "ok"]
    assert (data["model"], data["case"], data["n"], data["dof"]) == ("Crane", "flexible_boom", 18, 16)
    assert (data["tolerance"], data["ok"]) == (1e-6, True)
    expected = ["name", "wall_s", "steps", "max_abs_error", "max_rel_error", "violation_position", "ok"]
    types = [str, float, int, dict, float, float, bool]
    assert [run["name"] for run in data["runs"]] == list(RUNS)
    for run in data["runs"]:
        assert list(run)[:7] == expected
        assert [type(run[key]) for key in expected] == types


def test_result_carries_the_exact_numbers(tmp_path: Path) -> None:
    """Nothing is rounded on the way into the file; the reference has no error."""
    data = strictly(write_result(tmp_path, crane()).read_text(encoding="utf-8"))
    for run, comparison in zip(data["runs"], crane().comparisons, strict=True):
        assert run["max_abs_error"] == comparison.max_abs_error
        assert run["max_rel_error"] == comparison.max_rel_error == max(comparison.rel_error.values())
        assert (run["horizon_s"], run["note"]) == (comparison.horizon, comparison.note)
    assert set(data["runs"][0]["max_abs_error"].values()) == {0.0}
    assert data["runs"][3]["horizon_s"] == pytest.approx(1.0)


def broken_report() -> RunReport:
    """One run with a NaN, one that broke off."""
    report = crane()
    signals = dict(report.runs[0].signals)
    signals["E_x"] = np.where(report.reference.time > 1.5, np.nan, signals["E_x"])
    run = replace(report.runs[0], signals=signals)
    off = Comparison.failed("fmu-native-cs", 1e-6, "stopped at 0.3 s: near-singular <C_d>")
    comparisons = (report.comparisons[0], compare(report.reference, run, report.units, 1e-6), off)
    return replace(report, runs=(run,), comparisons=comparisons)


def test_result_stays_strict_json_when_runs_fail(tmp_path: Path) -> None:
    """Errors that are not finite are null, and the verdict is no."""
    data = strictly(write_result(tmp_path, broken_report()).read_text(encoding="utf-8"))
    assert [run["ok"] for run in data["runs"]] == [True, False, False] and data["ok"] is False
    assert data["runs"][1]["max_rel_error"] is None and data["runs"][1]["max_abs_error"]["E_x"] is None
    assert data["runs"][1]["max_abs_error"]["E_y"] < 1e-6
    assert data["runs"][2]["max_rel_error"] is None and data["runs"][2]["max_abs_error"] == {}


# --- figures -------------------------------------------------------------------------------------------------


def pixels(picture: Picture) -> Array:
    """Colours of shape (rows, columns, 3), 0 to 255."""
    return np.rint(imread(io.BytesIO(picture.png), format="png")[..., :3] * 255)


def test_all_figures_of_the_crane_are_drawn() -> None:
    """Everything that this mechanism has is shown once."""
    assert [picture.name for picture in crane_pictures()] == [
        "schematic", "joint_coordinates", "path_E", "base_motion", "elastic_coordinates", "violations", "errors",
    ]  # fmt: skip


@pytest.mark.parametrize("picture", crane_pictures(), ids=lambda picture: picture.name)
def test_figures_are_not_blank(picture: Picture) -> None:
    """150 dpi, many colours, and neither empty nor black: 1 to 30 % of the pixels carry something."""
    image = pixels(picture)
    shades = np.unique(image.reshape(-1, 3), axis=0)
    drawn = np.any(np.abs(image - 255.0) > 8, axis=2).mean()
    assert image.shape[1] == round(8.6 * 150)
    assert len(shades) > 100
    assert 0.01 < drawn < 0.3


def test_every_run_shows_its_colour() -> None:
    """Runs that agree do not hide each other: each colour takes a fair share of the striped line."""
    image = pixels(next(picture for picture in crane_pictures() if picture.name == "joint_coordinates"))
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
    """What `pictures` does around every figure."""
    with styled():
        yield


def lines(figure: Figure | None) -> list[list[Array]]:
    """Curves of each panel, each of shape (2, N)."""
    assert figure is not None
    return [[np.array(line.get_data()) for line in axes.lines] for axes in figure.axes]


@pytest.mark.usefixtures("in_style")
def test_panels_hold_the_signals() -> None:
    """A panel's first curve is the reference, then come the runs, in the unit that the title names."""
    report = crane()
    panels = lines(joint_coordinates(report.mechanism, report.reference, report.runs))
    for curves, symbol in zip(panels, ("column_angle", "boom_angle", "jib_angle"), strict=True):
        assert len(curves) == 4
        for (time, values), run in zip(curves, (report.reference, *report.runs), strict=True):
            assert_allclose(time, run.time)
            assert_allclose(values, run.signals[symbol])
    elastic = elastic_coordinates(report.mechanism, report.reference, report.runs)
    assert elastic is not None and elastic.axes[0].get_title(loc="left") == "boom.r1_psi  in 10⁻⁶ rad"
    assert_allclose(lines(elastic)[0][0][1] * 1e-6, report.reference.signals["boom_r1_psi"], atol=1e-18)


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
    figure = elastic_coordinates(mechanism, replace(report.reference, signals=signals), ())
    assert figure is not None
    titles = [axes.get_title(loc="left").partition(" ")[0] for axes in figure.axes]
    assert len(titles) == 3 * rows
    assert (titles[0], titles[-1]) == ("boom.r1_psi", f"boom.r{elements - 1}_phi")


@pytest.mark.usefixtures("in_style")
def test_space_has_equal_scales_and_the_programmed_path() -> None:
    """A metre is as long on all axes, and the programmed curve is the one given."""
    report = crane()
    target = report.targets["E"] + [0.0, 0.0, 1e-3]
    target[7:9, 1] = np.nan
    for figure in (
        point_path("E", report.reference, report.runs, target),
        schematic(report.mechanism, report.reference, report.poses),
    ):
        assert figure is not None
        axes: Any = figure.axes[0]
        extents = np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1)
        assert_allclose(extents / axes._box_aspect, extents[0] / axes._box_aspect[0])
    panels = lines(point_path("E", report.reference, report.runs, target))
    for k in range(3):
        assert_allclose(panels[1 + k][-1][1], target[:, k])
        assert_allclose(panels[1 + k][0][1], report.reference.signals[f"E_{'xyz'[k]}"])
    assert point_path("F", report.reference, report.runs) is None


@pytest.mark.usefixtures("in_style")
def test_logarithmic_axes_skip_zeros() -> None:
    """Violations and errors stand on logarithmic axes, zeros are gaps, tolerances are lines."""
    report = crane()
    figure = violations(report.reference, report.runs)
    assert figure is not None and {axes.get_yscale() for axes in figure.axes} == {"log"}
    position = lines(figure)[0][0][1]
    expected = report.reference.signals["violation_position"]
    assert np.isnan(position[0]) and expected[0] == 0.0
    assert_allclose(position[1:], expected[1:])
    curves = lines(errors(report.reference, report.runs, report.comparisons, report.units))[0]
    largest = [np.nanmax(curve[1]) for curve in curves]
    assert largest[:3] == [comparison.max_rel_error for comparison in report.comparisons[1:]]
    assert largest[3:] == [1e-6, 1e-5]


def test_what_a_mechanism_does_not_have_is_not_drawn() -> None:
    """A pendulum without runs: the mechanism and its joint, no base, beam, constraint or error."""
    report = pendulum()
    assert [picture.name for picture in pictures(report)] == ["schematic", "joint_coordinates"]
    fixed = crane_report()
    base = fixed.mechanism.chain.base
    assert base is not None
    rigid = fixed.mechanism.chain.model_copy(update={"base": base.model_copy(update={"support": "rigid"})})
    assert base_motion(build(rigid), fixed.reference, fixed.runs) is None


def test_figures_are_reproducible_and_leave_no_trace() -> None:
    """The same run gives the same bytes, and the process' own figures keep their style."""
    before = dict(matplotlib.rcParams)
    again = next(pictures(crane()))
    assert (again.png, again.svg) == (crane_pictures()[0].png, crane_pictures()[0].svg)
    assert dict(matplotlib.rcParams) == before


# --- report.html ---------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects what a page is made of; raises where a closing tag does not fit."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element, its id and what it refers to."""
        self.tags.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(str(value))
            if key in ("href", "src", "xlink:href", "action", "data", "srcset"):
                self.links.append(str(value))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content."""
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Elements close in the order in which they opened."""
        assert self.open and self.open.pop() == tag, f"unexpected </{tag}>"

    def handle_data(self, data: str) -> None:
        """Text outside of style sheets."""
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        """What a reader sees, white space made single."""
        return " ".join(" ".join(self.words).split())


def page(report: RunReport, drawn: tuple[Picture, ...] = ()) -> Page:
    """The rendered report, parsed."""
    return Page(render(report, list(drawn)))


def test_report_is_complete(tmp_path: Path) -> None:
    """All runs, bodies, coordinates, signals and facts are there, and every file it points to exists."""
    report = crane()
    for name in report.files:
        (tmp_path / name).write_text("x")
    seen: list[str] = []
    content = Page(write_report(tmp_path, report, seen.append).read_text(encoding="utf-8"))
    names = [*RUNS, *(b.name for b in report.mechanism.bodies), *(c.name for c in report.mechanism.coordinates)]
    for text in [*names, *report.comparisons[1].max_abs_error, *report.compilers.values(), report.command]:
        assert text in content.text, text
    assert "All 3 runs agree with the reference solver." in content.text
    assert "compared over 1 s of 2 s" in content.text
    assert "0.0731 at t = 1.37 s" in content.text
    assert seen == [picture.title for picture in crane_pictures()]
    files = [link for link in content.links if not link.startswith("#")]
    assert len(files) == 2 * len(seen) + len(report.files)
    assert all((tmp_path / link).is_file() for link in files)
    assert (tmp_path / "figures" / "errors.png").read_bytes() == crane_pictures()[-1].png


def test_report_needs_nothing_from_outside() -> None:
    """No address anywhere, no script, no picture file; every internal link has its target, every id is unique."""
    text = render(crane(), list(crane_pictures()))
    assert "://" not in text and "@import" not in text and "url(" not in text.replace("url(#", "")
    content = Page(text)
    assert not {"script", "img", "link", "iframe", "object", "foreignobject"} & set(content.tags)
    assert content.tags.count("svg") == len(crane_pictures())
    assert len(content.ids) == len(set(content.ids)) > 100
    inside = {link[1:] for link in content.links if link.startswith("#")}
    referred = {part.split(")")[0] for part in text.split("url(#")[1:]}
    assert inside | referred <= set(content.ids) and referred


def test_figures_follow_the_colours_of_the_page() -> None:
    """Neutral colours come from the page, so that a dark page has light axes."""
    text = render(crane(), list(crane_pictures()))
    drawings = text[text.index("<svg") :]
    assert INK not in drawings and GRID not in drawings and "var(--ink)" in drawings
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "a & b < c", "{{ n }}"]
)
def test_report_escapes_what_the_description_says(hostile: str) -> None:
    """Text of the description, of notes and of tools is shown, never interpreted."""
    report = crane()
    chain = report.mechanism.chain.model_copy(update={"description": hostile})
    failed = Comparison.failed("fmu-native-me", 1e-6, hostile)
    content = page(
        replace(
            report,
            mechanism=replace(report.mechanism, chain=chain),
            comparisons=(report.comparisons[0], failed),
            command=hostile,
            compilers={hostile: hostile},
            files={hostile: hostile},
            facts={hostile: hostile},
            notes=(hostile,),
        )
    )
    assert content.text.count(hostile) == 10
    assert not {"script", "img"} & set(content.tags)


def test_report_says_who_disagrees() -> None:
    """The verdict names failed runs, and what is not finite is said in words."""
    content = page(broken_report())
    assert "2 of 2 runs do not agree with the reference: fmu-native-me, fmu-native-cs." in content.text
    assert "near-singular <C_d>" in content.text and "not finite: E_x" in content.text
    assert content.text.count("disagrees") >= 3
    assert "nan" not in content.text.lower().split() and "inf" not in content.text.split()


def test_one_run_too_many_spoils_the_verdict() -> None:
    """A single run beyond its tolerance turns the report and the result around."""
    report = crane()
    bad = disturbed(report.reference, "fmu-native-cs", 3e-6)
    comparisons = list(report.comparisons)
    comparisons[2] = compare(report.reference, bad, report.units, 1e-6)
    spoilt = replace(report, comparisons=tuple(comparisons))
    assert result(spoilt)["ok"] is False
    assert "1 of 3 runs do not agree with the reference: fmu-native-cs." in page(spoilt).text


def test_report_of_a_lone_reference() -> None:
    """Nothing compared is not an agreement."""
    report = pendulum()
    content = page(report, tuple(pictures(report)))
    assert content.text.startswith("Pendulum: not compared") and "there is nothing to compare" in content.text
    assert "No signals were compared." in content.text
    assert "agree with the reference" not in content.text and "striped" not in content.text


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (scientific, 3.2123e-9, "3.2e−09"),
        (scientific, -4e12, "−4.0e+12"),
        (scientific, 0.0, "0"),
        (scientific, 2.13, "2.1"),
        (scientific, None, "–"),
        (scientific, np.inf, "not finite"),
        (scientific, np.nan, "not finite"),
        (decimal, -4.71238898, "−4.7124"),
        (decimal, 5000.0, "5000"),
        (decimal, -0.0, "0"),
        (power_of_ten, 1e-9, "10⁻⁹"),
        (power_of_ten, 1e12, "10¹²"),
        (power_of_ten, 1.0, "10⁰"),
    ],
)
def test_numbers_as_people_read_them(write: Callable[[Any], str], value: float | None, text: str) -> None:
    """Few digits, a true minus sign, words where there is no number."""
    assert write(value) == text
