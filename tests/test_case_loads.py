"""Loads of all cases side by side, shapes of flexible links, and figures of a single run's loads and friction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_reference import mechanism_of
from helpers_report import EXAMPLES, coordinates_of, poses
from helpers_study import made_up_case
from numpy.testing import assert_allclose
from test_report import Page

from gpmelica.fmu.report.cases import load_figures as case_loads
from gpmelica.fmu.report.cases.beam_shape import beam_shape, element_starts, flexible_links
from gpmelica.fmu.report.cases.load_rms import load_rms
from gpmelica.fmu.report.cases.outcome import CaseRun
from gpmelica.fmu.report.cases.report import write_case_report
from gpmelica.fmu.report.cases.tables import load_table
from gpmelica.fmu.report.plots import loads
from gpmelica.fmu.report.plots.style import styled
from gpmelica.generator.description import load
from gpmelica.generator.mechanism import build
from gpmelica.reference import friction_efforts, simulate
from gpmelica.trajectory import Array, Trajectory

PARTS = ("fx", "fy", "fz", "nx", "ny", "nz", "axial", "normal")


@pytest.fixture(autouse=True)
def in_style() -> Iterator[None]:
    """What `drawn` does around every figure."""
    with styled():
        yield


def loaded(name: str, size: float, **options: str) -> CaseRun:
    """A made-up case whose boom bears constant forces, axial 3·size, normal 4·size, N, and a jerk at first."""
    run = made_up_case(name, **options)
    time = run.reference.time
    jerk = np.where(time < run.settled / 2, 1e6, 0.0)
    values = {"fx": 3 * size, "fy": 4 * size, "axial": 3 * size, "normal": 4 * size}
    found = {f"boom_load_{part}": values.get(part, 0.0) + jerk for part in PARTS}
    return replace(run, reference=replace(run.reference, signals={**run.reference.signals, **found}))


def test_rms_leaves_out_the_jerk() -> None:
    """Of constant forces it is their size, whatever the first samples are; per joint."""
    assert load_rms(loaded("a", 10.0)).keys() == {"boom"}
    rms = load_rms(loaded("a", 10.0))["boom"]
    assert (rms.axial, rms.normal) == (pytest.approx(30.0), pytest.approx(40.0))


def test_rms_of_an_oscillation() -> None:
    """a·sin(ωt) over whole periods has a/√2 (P0 (34))."""
    run = loaded("a", 0.0)
    time = run.reference.time - run.settled
    wave = 7.0 * np.sin(2 * np.pi * 8 * time / time[-1])
    signals = {**run.reference.signals, "boom_load_axial": wave}
    found = load_rms(replace(run, reference=replace(run.reference, signals=signals)))
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
    figure = case_loads.joint_forces(runs)
    assert figure is not None
    (axes,) = figure.axes
    assert [line.get_ydata()[-1] for line in axes.lines] == pytest.approx([50.0, 100.0])  # type: ignore[index]
    assert axes.get_ylim()[1] < 1e3
    bars = case_loads.load_bars(runs)
    assert bars is not None
    heights = [[patch.get_height() for patch in axes.patches] for axes in bars.axes]  # type: ignore[attr-defined]
    assert_allclose(heights, [[30.0, 60.0], [40.0, 80.0]])


def test_loads_that_a_case_lacks_are_not_drawn() -> None:
    """Without loads in common there is no figure."""
    assert case_loads.shared_links([loaded("a", 1.0), made_up_case("b")]) == []
    assert case_loads.joint_forces([loaded("a", 1.0), made_up_case("b")]) is None
    assert case_loads.load_bars([made_up_case("a")]) is None
    assert case_loads.joint_forces([]) is None


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


def test_bent_beam_turns_at_each_spring() -> None:
    """Each element is turned by as much again, in the frame of the first one, wherever the crane stands."""
    angle = 0.1
    mechanism, frames = _bent(angle)
    steps = np.diff(beam_shape(mechanism, frames, "boom"), axis=0)
    assert_allclose(np.arctan2(steps[:, 1], steps[:, 0]), angle * np.arange(4), atol=1e-12)
    assert_allclose(np.linalg.norm(steps, axis=1), [1 / 3, 2 / 3, 2 / 3, 1 / 3], rtol=1e-12)


def test_page_shows_loads_and_shapes(tmp_path: Path) -> None:
    """Figures of forces, RMS and the boom's shape, and the table; only the flexible case has a shape."""
    runs = [loaded("soft", 10.0, case="flexible_boom"), loaded("hard", 20.0)]
    path = write_case_report(tmp_path, runs[0].mechanism.chain, runs)
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
    forces, bars = case_loads.joint_forces([marked]), case_loads.load_bars([marked])
    assert forces is not None
    assert bars is not None
    assert forces.axes[0].get_title(loc="left").startswith("boom, not unique")
    assert [axes.get_title(loc="left") for axes in bars.axes] == ["axial  in N; not unique: boom", "normal  in N"]


def test_single_run_shows_loads() -> None:
    """Lengths of force and moment side by side, a row per joint."""
    case, plain = loaded("a", 10.0), made_up_case("b")
    reference, run = case.reference, replace(case.reference, name="fmu-native-me")
    figure = loads.joint_loads(case.mechanism, reference, [run], {"boom": ["fx", "axial"]})
    assert figure is not None
    titles = [axes.get_title(loc="left").split("  ")[0] for axes in figure.axes]
    assert titles == ["boom: force, not unique", "boom: moment"]
    assert_allclose(loads.magnitude(reference, "boom", "force")[-1], 50.0)
    assert loads.joint_loads(plain.mechanism, plain.reference, [], {}) is None


def _rubbing(**friction: Any) -> dict[str, Any]:
    """A slide that is pulled, with friction."""
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "velocity": 0.1, "friction": friction}
    link = {"name": "slide", "parent": "ground", "mass": 2.0, "inertia": [0.1, 0.1, 0.1], "joint": joint}
    forces = [{"name": "pull", "joint": "slide", "effort": "8 + 4*sin(20*t)"}]
    simulation = {"stop": 0.3, "output_step": 0.01, "start": "description", "method": "Radau"}
    data = {"schema": 1, "name": "Slide", "links": [link], "forces": forces, "simulation": simulation}
    return data | {"gravity": [0.0, 0.0, -9.81], "outputs": {"loads": "all"}}


LUGRE = {"model": "lugre", "sigma0": 1e4, "sigma1": 5.0, "sigma2": 0.1, "mu_s": 0.3, "mu_k": 0.2, "v_s": 0.1}
DAHL = {"model": "dahl", "sigma0": 1e4, "mu_s": 0.2}


@pytest.mark.parametrize("friction", [LUGRE, DAHL, LUGRE | {"normal_force": 30.0}])
def test_friction_efforts_are_what_is_missing(friction: dict[str, Any]) -> None:
    """Newton: friction is the pull minus mass times acceleration; the normal force is the weight, or given."""
    mechanism = mechanism_of(_rubbing(**friction))
    run = simulate(mechanism)
    pull = 8 + 4 * np.sin(20 * run.time)
    missing = pull - 2.0 * run.signals["slide_position_ddot"]
    found = friction_efforts(mechanism, run)
    assert_allclose(found["slide_position"], missing, atol=1e-9 * np.abs(pull).max())
    assert np.abs(missing).max() > 3.0


def test_friction_figure() -> None:
    """Deflection and effort side by side; without the load, the deflection alone; without friction, nothing."""
    mechanism = mechanism_of(_rubbing(**LUGRE))
    run = simulate(mechanism)

    def efforts(of: Trajectory) -> dict[str, Array]:
        return friction_efforts(mechanism, of)

    figure = loads.friction(mechanism, run, [], efforts)
    assert figure is not None
    titles = [axes.get_title(loc="left").split("  ")[0] for axes in figure.axes]
    assert titles == ["slide.position: deflection", "slide.position: friction"]
    bare = replace(run, signals={name: v for name, v in run.signals.items() if "load" not in name})
    alone = loads.friction(mechanism, bare, [], efforts)
    assert alone is not None
    assert len(alone.axes) == 1
    crane = made_up_case("a")
    assert loads.friction(crane.mechanism, crane.reference, [], lambda run: {}) is None


def test_shapes_need_the_run_of_the_flexible_case() -> None:
    """The shape at a sample is that of the coordinates at that sample."""
    run = made_up_case("soft", case="flexible_boom")
    at = poses(run.mechanism)(coordinates_of(run.mechanism, run.reference.signals)[50])
    shapes = case_loads.Shapes("boom", np.array([0.5]), {"soft": [beam_shape(run.mechanism, at, "boom")]})
    figure = case_loads.beam_shapes([run], shapes)
    (y, z), shape = figure.axes, shapes.of_case["soft"][0]
    factor = 1e-3 if "10⁻³" in y.get_title(loc="left") else 1e-6 if "10⁻⁶" in y.get_title(loc="left") else 1.0
    for axes, across in ((y, shape[:, 1]), (z, shape[:, 2])):
        assert_allclose(np.asarray(axes.lines[0].get_ydata()) * factor, across, atol=1e-12)
