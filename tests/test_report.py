"""Results of a run for scripts and for people: result.json and report.html."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_parts import Y, body, link, machine
from helpers_plausible import crane as outriggers
from helpers_report import RUNS, crane_run, pendulum_report, some_pictures

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Event
from gpmelica.description.load import from_data
from gpmelica.report.happenings import happenings
from gpmelica.report.headline import headline
from gpmelica.report.one_case import initial_state
from gpmelica.report.plots import Picture, pictures
from gpmelica.report.plots.number_text import decimal, scientific, unit_text
from gpmelica.report.plots.style import GRID, INK, power_of_ten
from gpmelica.report.report import render, write_report
from gpmelica.runs.compare.compare import Comparison, compare
from gpmelica.runs.compare.context import RunReport
from gpmelica.runs.compare.findings import Finding
from gpmelica.runs.compare.result import result, write_result


def strictly(text: str) -> Any:
    """Parse JSON as the standard has it: Python's NaN and Infinity are refused."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_result_has_the_contract_keys_in_order(tmp_path: Path) -> None:
    """Keys of design section 6, in its order, with the types it gives."""
    data = strictly(write_result(tmp_path, crane_run()).read_text(encoding="utf-8"))
    assert list(data)[:8] == ["model", "case", "n", "dof", "compilers", "runs", "tolerance", "ok"]
    assert [data[key] for key in ("consistent", "agrees", "holds")] == [True, True, True]
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
    data = strictly(write_result(tmp_path, crane_run()).read_text(encoding="utf-8"))
    for run, comparison in zip(data["runs"], crane_run().comparisons, strict=True):
        assert run["max_abs_error"] == comparison.max_abs_error
        assert run["max_rel_error"] == comparison.max_rel_error == max(comparison.rel_error.values())
        assert (run["horizon"], run["note"]) == (comparison.horizon, comparison.note)
    assert set(data["runs"][0]["max_abs_error"].values()) == {0.0}
    assert data["runs"][3]["horizon"] == pytest.approx(1.0)


def broken_report() -> RunReport:
    """One run with a NaN, one that broke off."""
    report = crane_run()
    signals = dict(report.runs[0].signals)
    signals["E_x"] = np.where(report.reference.time > 1.5, np.nan, signals["E_x"])
    run = replace(report.runs[0], signals=signals)
    off = Comparison.failed("fmu-native-cs", 1e-6, "stopped at 0.3 s: near-singular <C_d>")
    comparisons = (report.comparisons[0], compare(report.reference, run, report.model.units, 1e-6), off)
    return replace(report, runs=(run,), comparisons=comparisons)


def test_result_stays_strict_json_when_runs_fail(tmp_path: Path) -> None:
    """Errors that are not finite are null, and the verdict is no."""
    data = strictly(write_result(tmp_path, broken_report()).read_text(encoding="utf-8"))
    assert [run["ok"] for run in data["runs"]] == [True, False, False] and data["ok"] is False
    assert data["runs"][1]["max_rel_error"] is None and data["runs"][1]["max_abs_error"]["E_x"] is None
    assert data["runs"][1]["max_abs_error"]["E_y"] < 1e-6
    assert data["runs"][2]["max_rel_error"] is None and data["runs"][2]["max_abs_error"] == {}


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
        self.cells: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element, its id and what it refers to."""
        self.tags.append(tag)
        if tag == "td":
            self.cells.append("")
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
            if self.open[-1] == "td":
                self.cells[-1] += data

    @property
    def text(self) -> str:
        """Return the visible text with single spaces."""
        return " ".join(" ".join(self.words).split())


def page(report: RunReport, drawn: tuple[Picture, ...] = ()) -> Page:
    """The rendered report, parsed."""
    return Page(render(report, list(drawn)))


@pytest.mark.slow
def test_report_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs, bodies, coordinates, signals and facts are there, and every file it points to exists."""
    report, (first, *others) = crane_run(), some_pictures()
    finished = {"model": iter([first]), "motion": iter(others)}  # drawn already
    monkeypatch.setattr("gpmelica.report.report.of_one_case", lambda report: finished)
    for name in report.files:
        (tmp_path / name).write_text("x")
    seen: list[str] = []
    page = write_report(tmp_path, report, lambda activity, fraction: seen.append(activity))
    content = Page(page.read_text(encoding="utf-8"))
    names = [*RUNS, *(b.name for b in report.mechanism.bodies), *(c.name for c in report.mechanism.coordinates)]
    for text in [*names, *report.comparisons[1].max_abs_error, *report.compilers.values(), report.command]:
        assert text in content.text, text
    assert report.agrees.text in content.text
    assert "the comparison covers 1 s of the full 2 s" in content.text
    assert "0.0731 at t = 1.37 s" in content.text
    assert seen == [picture.title for picture in some_pictures()]
    files = [link for link in content.links if not link.startswith("#")]
    assert len(files) == 2 * len(seen) + len(report.files)
    assert all((tmp_path / link).is_file() for link in files)
    assert (tmp_path / "figures" / "errors.png").read_bytes() == some_pictures()[-1].png


def test_report_needs_nothing_from_outside() -> None:
    """No address anywhere, no script file, no picture file; links have targets, ids are unique."""
    whole = render(crane_run(), list(some_pictures()))
    text = re.sub(r"<script.*?</script>", "", whole, flags=re.DOTALL)
    assert whole.count("<script") == 5  # the scene, three.js, the player, and data and script of the figures
    assert whole.count("<script src") == 0
    assert "://" not in text and "@import" not in text and "url(" not in text.replace("url(#", "")
    content = Page(text)
    assert not {"script", "img", "link", "iframe", "object", "foreignobject"} & set(content.tags)
    assert content.tags.count("svg") == len(some_pictures())
    assert len(content.ids) == len(set(content.ids)) > 100
    inside = {link[1:] for link in content.links if link.startswith("#")}
    referred = {part.split(")")[0] for part in text.split("url(#")[1:]}
    assert inside | referred <= set(content.ids) and referred


def test_figures_follow_the_colours_of_the_page() -> None:
    """Neutral colours come from the page, so that a dark page has light axes."""
    text = render(crane_run(), list(some_pictures()))
    drawings = text[text.index("<svg") :]
    assert INK not in drawings and GRID not in drawings and "var(--ink)" in drawings
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "a & b < c", "{{ n }}"]
)
def test_report_escapes_texts(hostile: str) -> None:
    """Texts of the description, of notes and of tools are displayed and never interpreted as HTML."""
    report = crane_run()
    chain = report.mechanism.chain.model_copy(update={"description": hostile})
    mechanism = replace(report.mechanism, chain=chain)
    failed = Comparison.failed("fmu-native-me", 1e-6, hostile)
    content = page(
        replace(
            report,
            model=replace(report.model, problem=replace(report.problem, mechanism=mechanism)),
            comparisons=(report.comparisons[0], failed),
            command=hostile,
            compilers={hostile: hostile},
            files={hostile: hostile},
            facts={hostile: hostile},
            notes=(hostile,),
        )
    )
    assert content.text.count(hostile) == 10
    assert "img" not in content.tags and content.tags.count("script") == 3


def test_report_says_who_disagrees() -> None:
    """The verdict names failed runs, and what is not finite is said in words."""
    content = page(broken_report())
    assert "2 of 2 runs disagree with the reference solver: fmu-native-me, fmu-native-cs." in content.text
    assert "near-singular <C_d>" in content.text and "not finite: E_x" in content.text
    assert content.text.count("disagrees") >= 3
    assert "nan" not in content.text.lower().split() and "inf" not in content.text.split()


@pytest.mark.parametrize(("key", "word"), [("consistent", "inconsistent"), ("holds", "violated")])
def test_each_of_the_three_can_spoil_the_verdict(key: str, word: str) -> None:
    """Runs that agree are not enough: the finding is in the title, in its line, in the result, by its reason."""
    reason = "b_y is violated by 0.86 at t = 0"
    spoilt = replace(crane_run(), **{key: Finding(False, reason)})
    data, content = result(spoilt), page(spoilt)
    assert (data["ok"], data[key], data["agrees"], data["because"][key]) == (False, False, True, reason)
    assert word in content.text.split("flexible_boom")[1][:60] and f"{word} {reason}" in content.text


def test_shortened_run_is_reported_beside_the_verdict() -> None:
    """The compared fraction of the run is displayed beside the statement that runs agree."""
    sentence = crane_run().agrees.text
    assert sentence == (
        "The runs agree with the reference solver: 2 runs over the full 2 s; modelica-rumoca over 1 s of 2 s."
    )


@pytest.mark.slow
def test_report_of_a_lone_reference() -> None:
    """Nothing compared is not an agreement."""
    report = pendulum_report()
    content = page(report, tuple(pictures(report)))
    assert (
        content.text.startswith("Pendulum: consistent, not compared, holds")
        and "there is nothing to compare" in content.text
    )
    assert "No signals were compared." in content.text
    assert "Agreement" not in content.text and "striped" not in content.text


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
        (unit_text, "kg.m2/s2", "kg·m²/s²"),
        (power_of_ten, 1e-9, "10⁻⁹"),
        (power_of_ten, 1e12, "10¹²"),
        (power_of_ten, 1.0, "10⁰"),
    ],
)
def test_numbers_and_units_as_people_read_them(
    write: Callable[[Any], str], value: float | str | None, text: str
) -> None:
    """Few digits, a true minus sign, words where there is no number."""
    assert write(value) == text


@pytest.mark.parametrize(
    ("effort", "text"), [(999.0, "999 N·m"), (999.6, "1 kN·m"), (-5995.0, "6 kN·m"), (1.26e6, "1.26 MN·m")]
)
def test_headline_has_no_powers_of_ten(effort: float, text: str) -> None:
    """Between 1 and 10 kN, too."""
    run = crane_run().reference
    run = replace(run, signals={**run.signals, "jib_angle_effort": np.full(len(run.time), effort)})
    assert (
        dict(headline(replace(crane_run(), reference=run)))["largest effort of a drive: jib.angle, t = 0 s"]
        == text
    )


@pytest.mark.slow
def test_headline_has_the_largest_and_when() -> None:
    """Peaks of efforts and loads with joint and time, lowest frequencies, supports, violation."""
    report = crane_run()
    time = report.reference.time
    effort, load = 5e4 * np.exp(-((time - 1.2) ** 2)), -700.0 * np.exp(-((time - 0.4) ** 2))
    extra = {"jib_angle_effort": effort, "boom_angle_effort": -0.5 * effort}
    extra |= {f"jib_load_{part}": 0.0 * time for part in ("fx", "fy", "nx", "ny", "nz")} | {"jib_load_fz": load}
    report = replace(report, reference=replace(report.reference, signals={**report.reference.signals, **extra}))
    found = dict(headline(report))
    assert found["largest effort of a drive: jib.angle, t = 1.2 s"] == "50 kN·m"
    assert found["largest force in a joint: jib, t = 0.4 s"] == "700 N"
    unasked = {name.replace("jib", "boom"): 2.0 * values for name, values in extra.items() if "_load_" in name}
    bearing = replace(report.reference, signals={**report.reference.signals, **unasked})
    assert dict(headline(replace(report, loaded=bearing)))["largest force in a joint: boom, t = 0.4 s"] == "1.4 kN"
    doubtful = replace(report, loaded=bearing, not_unique={"boom": ["fz", "nx"]})
    assert dict(headline(doubtful)) == found
    course = report.course
    upwards = course.acting[:, :8, 2]
    # a contact is none of the supports
    plane = replace(course.marks[0], name="plane", kind="plane", axis=(0.0, 0.0, 1.0))
    lifted = np.concatenate([course.acting, np.full_like(course.acting[:, :1], -1e3)], axis=1)
    object.__setattr__(report, "course", replace(course, marks=(*course.marks, plane), acting=lifted))
    contact = {"largest force of a contact: plane, t = 0 s": "1.73 kN"}
    assert dict(headline(report)) == found | contact
    instant, support = np.unravel_index(np.argmin(upwards), upwards.shape)
    (supports,) = [label for label in found if label.startswith("smallest force of a support")]
    assert f"support {support + 1}, t = {course.time[instant]:.3g} s" in supports
    assert ("pulls" in supports) == (upwards.min() < 0)
    ((label, lowest),) = [pair for pair in found.items() if "frequency" in pair[0]]
    slowest = min(m.frequency for m in report.modes if m.damped_frequency and not m.violating)
    assert lowest == f"{decimal(slowest, 3)} Hz" and label.count("Hz") == 2
    assert not any(label.startswith("largest violation") for label in found)
    off = {"violation_position": np.where(time == time[7], 3e-6, 0.0)}
    violated = replace(report.reference, signals={**report.reference.signals, **off})
    said = f"largest violation ‖Φ‖: reference, t = {decimal(time[7], 3)} s"
    assert dict(headline(replace(report, reference=violated)))[said] == "3.0e−06"


def test_reactions_of_a_fixed_base_are_no_drive() -> None:
    """The weight of the fixed base, 10 kN, is not the effort of the drive, which holds 20 kg at 3 m."""
    boom = link("boom", "revolute", Y, parent="base") | body(20.0, [3.0, 0.0, 0.0], [0.1, 0.1, 0.1])
    base = body(1000.0, [0.0, 0.0, 0.0], [400.0, 400.0, 700.0]) | {"support": "rigid"}
    hold = {"name": "hold", "joint": "boom", "position": "0"}
    model = assemble_system(from_data(machine(boom, base=base, motions=[hold], simulation={"stop": 0.1})))
    run = solving.simulate(model.mechanism, start=model.start)
    assert np.abs(run.signals["base_z_effort"]).max() > 1e4
    report = RunReport(model, model.problem, "", run, (), (), 1e-6, Finding(True, ""), Finding(True, ""))
    efforts = [label for label, _ in headline(report) if "drive" in label]
    assert len(efforts) == 1 and efforts[0].startswith("largest effort of a drive: boom.angle")


def test_the_text_of_a_report_is_one_line() -> None:
    """In an interactive session, a report is its verdict, not its arrays."""
    report = crane_run()
    assert repr(report) == f"<RunReport Crane flexible_boom: positive verdict, {len(report.runs) + 1} runs>"
    doubtful = replace(report, case="heavy", doubts=("an event occurs in only one solver",))
    assert repr(doubtful).startswith("<RunReport Crane heavy: negative verdict")


def test_headline_has_no_rounding_errors() -> None:
    """A force of 1e-12 of the weight is left out, and a support's force of this size is zero."""
    report = crane_run()
    time = report.reference.time
    noise = {f"jib_load_{part}": np.full(len(time), 1e-10) for part in ("fx", "fy", "fz", "nx", "ny", "nz")}
    report = replace(report, reference=replace(report.reference, signals={**report.reference.signals, **noise}))
    acting = report.course.acting.copy()
    acting[:, 0, 2] = 1e-10
    object.__setattr__(report, "course", replace(report.course, acting=np.abs(acting)))
    found = dict(headline(report))
    assert not any("in a joint" in label for label in found)
    assert [value for label, value in found.items() if "support" in label] == ["0 N"]


def test_first_screen_names_events() -> None:
    """Tipping comes first, then the first event of each support, stop and rope with the number of its events."""
    report = crane_run()
    names = [f"support {support.name}" for support in report.mechanism.supports]
    lifted = [Event(0.1 * k, name, False, "lifts") for k, name in enumerate(names[: len(names) - 2], start=1)]
    own = [Event(t, "line rope", False, "is slack") for t in (0.02, 0.5)]
    own += [Event(0.03, names[0], True, "touches"), Event(0.04, "stop jib", False, "is left")]
    report = replace(report, reference=replace(report.reference, events=(*own, *lifted)))
    found = happenings(report)
    assert found[0] == (f"tips: 2 of {len(names)} supports press on the ground", f"{0.1 * len(lifted):.3g} s")
    assert found[1] == ("line rope is slack, 2 times", "0.02 s")
    assert found[2] == (f"{names[0]} lifts", "0.1 s")
    assert found[-1][0] == "further elements with events, see Verdict"
    assert happenings(crane_run()) == []


@pytest.mark.parametrize("named", [True, False])
def test_first_screen_of_a_crane_that_tips(named: bool) -> None:
    """A simulated crane on outriggers with and without names tips, although a contact touches before."""
    table = outriggers(400.0, stop=0.4, effort="4000*quintic(t, 0.1, 0.3, 0, 1)")
    if not named:
        for support in table["base"]["supports"]:
            del support["name"]
    model = assemble_system(from_data(table))
    run = solving.simulate(model.mechanism, start=model.start)
    touch = Event(0.01, "contact wheel", True, "touches")
    run = replace(run, events=(touch, *run.events))
    consistent = Finding(True, "")
    report = RunReport(model, model.problem, "", run, (), (), 1e-6, consistent, consistent)
    lifts = sorted(event.t for event in run.events if event.word == "lifts")
    assert happenings(report)[0] == ("tips: 2 of 4 supports press on the ground", f"{decimal(lifts[1], 3)} s")


@pytest.mark.parametrize(
    ("joint", "further", "text"),
    [
        ({}, {}, "as described, without elastic coordinates"),
        ({"stiffness": 10.0}, {}, "static equilibrium"),
        ({}, {"simulation": {"stop": 1.0, "start": "description"}}, "as described"),
        ({}, {"statics": {"locked": []}, "gravity": [0.0, 0.0, 0.0]}, "static equilibrium"),
    ],
)
def test_initial_state_in_words(joint: dict[str, Any], further: dict[str, Any], text: str) -> None:
    """A pendulum without a spring keeps its described position and falls; a spring brings it into equilibrium."""
    rod = link("rod", "revolute", [0.0, 1.0, 0.0], **joint) | body(1.0, [0.5, 0.0, 0.0])
    model = assemble_system(from_data(machine(rod, **({"simulation": {"stop": 1.0}} | further))))
    assert initial_state(model) == text


def test_initial_state_of_a_part_in_words() -> None:
    """The first rod rests on its spring, the second one keeps its described position."""
    first = link("first", "revolute", [0.0, 1.0, 0.0], stiffness=50.0)
    second = link("second", "revolute", [0.0, 1.0, 0.0], parent="first")
    model = assemble_system(from_data(machine(first, second, simulation={"stop": 1.0})))
    assert initial_state(model) == "static equilibrium of first.angle; second.angle as described"
