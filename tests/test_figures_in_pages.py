"""Figures over time as plots of a page: their data, values under the pointer, and zoom."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers_browser import browser, page_at
from helpers_report import crane_run
from numpy.testing import assert_allclose

from gpmelica.report.plots.choice import of_one_case
from gpmelica.report.plots.curves import CurvePanel, PlottedCurve, packed, panels_over_time
from gpmelica.report.plots.overlay import run_overlay
from gpmelica.report.plots.style import styled
from gpmelica.report.plots.time_series import joint_coordinates
from gpmelica.report.report import render
from gpmelica.runs.compare.context import RunReport

# Titles of the plots of a figure, and the text below the first one.
SHOWN = """(name) => {
  const own = [...document.getElementById(name).querySelectorAll(".plot")];
  const titles = own.map((plot) => plot.querySelector("p").textContent.trim());
  return [titles, own[0].querySelector("output").textContent];
}"""
# Numbers along the time axis of a figure's first plot.
TIMES = """(name) => {
  const found = document.querySelectorAll(`#${name} .plot:first-child text[text-anchor=middle]`);
  return Array.from(found, (text) => Number(text.textContent));
}"""


@pytest.fixture(scope="module")
def report() -> RunReport:
    """A run of the crane."""
    return crane_run()


def test_panels_hold_labels_limits_and_values(report: RunReport) -> None:
    """Every curve of every run is there, in the unit of the title, with the limits of the axes."""
    with styled():
        figure = joint_coordinates(run_overlay(report.mechanism, report.reference, report.runs))
    assert figure is not None
    column, *others = panels_over_time(figure)
    assert (column.title, len(others)) == ("column.angle in rad", 2)
    assert [curve.label for curve in column.curves] == ["reference", *(run.name for run in report.runs)]
    assert_allclose(column.curves[0].values, report.reference.signals["column_angle"])
    assert (column.low, column.high) == figure.axes[0].get_ylim()


def test_packed_numbers_are_those_of_the_curves() -> None:
    """16 bits resolve 1/65532 of the axis; a gap stays a gap, and equal arrays are stored once."""
    time = np.linspace(1.0, 3.0, 401)
    values = np.where(time < 1.5, np.nan, np.sin(time))
    curves = tuple(PlottedCurve(name, "#000000", 1.0, False, time, values) for name in "ab")
    data = packed({"figure": [CurvePanel("sine", -1.0, 1.0, False, curves)]})
    (panel,) = data["figures"]["figure"]
    first, second = panel["lines"]
    assert (first["time"], first["values"]) == (second["time"], second["values"])
    stored = np.frombuffer(base64.b64decode(data["arrays"][first["values"]]), dtype="<u2").astype(float)
    found = np.where(stored == 65535, np.nan, -1.0 + 2.0 * stored / 65532)
    assert_allclose(found, values, atol=2.0 / 65532)


def test_values_outside_of_the_axis_are_marked() -> None:
    """A value beyond a limit of the axis is not stored as the limit."""
    values = np.array([-1.1, -1.0, 0.0, 1.0, 1.1, np.nan])
    curve = PlottedCurve("run", "#000000", 1.0, False, np.arange(6.0), values)
    data = packed({"figure": [CurvePanel("run", -1.0, 1.0, False, (curve,))]})
    (line,) = data["figures"]["figure"][0]["lines"]
    stored = np.frombuffer(base64.b64decode(data["arrays"][line["values"]]), dtype="<u2")
    assert stored.tolist() == [65533, 0, 32766, 65532, 65534, 65535]


def test_long_curves_keep_their_peaks(report: RunReport) -> None:
    """A single high point among 10,000 points remains."""
    time = np.linspace(0.0, 2.0, 10_001)
    jib = 1e-3 * np.sin(1e4 * time) + np.where(np.arange(10_001) == 5_003, 1.0, 0.0)
    signals = {name: np.interp(time, report.reference.time, v) for name, v in report.reference.signals.items()}
    alone = run_overlay(report.mechanism, report.reference).alone(time, signals | {"jib_angle": jib})
    with styled():
        figure = joint_coordinates(alone)
    assert figure is not None
    curve = panels_over_time(figure)[2].curves[0]
    assert len(curve.time) < 700 and curve.values.max() == jib.max() and np.all(np.diff(curve.time) > 0)


@pytest.mark.slow
def test_values_and_zoom_in_a_browser(report: RunReport, tmp_path: Path) -> None:
    """Figures in space stay pictures; others show the values of all runs at the pointer, and zoom by dragging."""
    file = tmp_path / "report.html"
    with browser() as found:
        motion = [p for p in of_one_case(report)["motion"] if p.name in ("joint_coordinates", "path_E")]
        file.write_text(render(report, motion), encoding="utf-8")
        with page_at(found, file.as_uri(), 1200) as (shown, complaints):
            assert shown.evaluate("document.querySelectorAll('#path_E .plot').length") == 0
            assert shown.evaluate("document.querySelector('#joint_coordinates .scroll').hidden")
            box = shown.locator("#joint_coordinates .plot svg").first
            box.scroll_into_view_if_needed()
            place = box.bounding_box()
            x, y = place["x"], place["y"] + place["height"] / 2
            shown.mouse.move(x + 0.5 * place["width"], y)
            titles, text = shown.evaluate(SHOWN, "joint_coordinates")
            assert titles[0] == "column.angle in rad" and text.startswith("t = ")
            assert all(f"{name} " in text for name in ("reference", "fmu-native-me", "fmu-native-cs"))
            whole = shown.evaluate(TIMES, "joint_coordinates")
            shown.mouse.down()
            shown.mouse.move(x + 0.7 * place["width"], y)
            shown.mouse.up()
            zoomed = shown.evaluate(TIMES, "joint_coordinates")
            assert min(zoomed) > min(whole) and max(zoomed) < max(whole)
            box.dblclick()
            assert shown.evaluate(TIMES, "joint_coordinates") == whole
            assert not complaints


@pytest.mark.slow
def test_values_outside_of_the_axis_in_a_browser(report: RunReport, tmp_path: Path) -> None:
    """The pointer says that a run has left the axis, and shows no value instead of the limit of the axis."""
    first, *others = report.runs
    away = {**first.signals, "column_angle": np.full(len(first.time), 1e3)}
    diverged = replace(report, runs=(replace(first, signals=away), *others))
    file = tmp_path / "report.html"
    with browser() as found:
        motion = [p for p in of_one_case(diverged)["motion"] if p.name == "joint_coordinates"]
        file.write_text(render(diverged, motion), encoding="utf-8")
        with page_at(found, file.as_uri(), 1200) as (shown, complaints):
            box = shown.locator("#joint_coordinates .plot svg").first
            box.scroll_into_view_if_needed()
            place = box.bounding_box()
            shown.mouse.move(place["x"] + 0.5 * place["width"], place["y"] + place["height"] / 2)
            _, text = shown.evaluate(SHOWN, "joint_coordinates")
            assert f"{first.name} above the axis" in text
            assert not complaints
