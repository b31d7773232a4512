"""All cases of a description: `study_cases`, its page and its files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
from helpers_browser import browser, page_at, text_on_text
from helpers_parts import machine
from helpers_study import IMPOSSIBLE, LIFT, description
from matplotlib.image import imread
from rich.console import Console
from test_report import Page, strictly

from gpmelica.core.errors import DescriptionError
from gpmelica.options.many import StudyOptions
from gpmelica.runs.compare.outcome import CaseFailure, CaseRun
from gpmelica.tasks.study import Study, study_cases

FIGURES = (
    "joint_coordinates", "path_E", "base_motion", "driving_efforts", "joint_differences", "violations",
)  # fmt: skip


@dataclass(frozen=True)
class Finished:
    """A study of two cases that run and one that cannot, and what its progress bar was told."""

    study: Study
    folder: Path
    progress: list[tuple[str, float]]

    @property
    def page(self) -> Page:
        """The page, parsed."""
        return Page(self.study.report.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Run it once."""
    folder, told = tmp_path_factory.mktemp("study"), list[tuple[str, float]]()
    study = study_cases(
        description(folder),
        StudyOptions(folder / "out", rumoca=False, progress=lambda *now: told.append(now)),
    )
    return Finished(study, folder / "out", told)


@pytest.mark.slow
def test_cases_run_and_agree(finished: Finished) -> None:
    """Both sound cases agree with their references, in the order of the file, and leave a report of their own."""
    runs = finished.study.runs
    assert [run.case for run in runs] == ["stiff", "soft", "impossible"]
    for run in runs[:2]:
        assert isinstance(run, CaseRun) and run.result["ok"] and run.result["case"] == run.case
        assert {"report.html", "result.json", "Lift.fmu"} <= {
            p.name for p in (finished.folder / run.case).iterdir()
        }
        assert (
            f"gpmelica run {finished.folder.parent / 'lift.toml'} --case {run.case}"
            in Page((finished.folder / run.case / "report.html").read_text(encoding="utf-8")).text
        )


def test_a_case_that_fails_is_reported(finished: Finished) -> None:
    """The others go on; the verdict of the study is no, and page and table say why."""
    failure = finished.study.runs[2]
    assert isinstance(failure, CaseFailure) and "cannot be solved for base.y" in failure.message
    assert not finished.study.ok
    assert "Of 3 cases, 1 failed (impossible)." in finished.page.text
    assert "cannot be solved for base.y" in finished.page.text
    console = Console(width=400)
    with console.capture() as captured:
        console.print(finished.study.table())
    row = next(line for line in captured.get().splitlines() if "impossible" in line)
    assert "failed" in row and "cannot be solved for base.y" in row
    assert not (finished.folder / "impossible").exists()


@pytest.mark.slow
def test_a_case_that_fails_has_no_verdict_of_an_earlier_run(tmp_path: Path) -> None:
    """Nothing in its folder says any more that all agrees."""
    old = [tmp_path / "out" / "impossible" / name for name in ("result.json", "report.html")]
    old[0].parent.mkdir(parents=True)
    for path in old:
        path.write_text("{}", encoding="utf-8")
    file = description(tmp_path, LIFT | {"cases": [IMPOSSIBLE]})
    assert not study_cases(file, StudyOptions(tmp_path / "out", rumoca=False)).ok
    assert not any(path.exists() for path in old)


def test_progress_tells_each_finished_case(finished: Finished) -> None:
    """One step per case, failed ones included, up to the end."""
    assert [fraction for what, fraction in finished.progress if what == "cases"] == [0, 1 / 3, 2 / 3, 1]


def test_cases_json_holds_every_result(finished: Finished) -> None:
    """Strict JSON: what the cases' own files say, an error for the failed one, and the verdict."""
    data = strictly((finished.folder / "cases.json").read_text(encoding="utf-8"))
    assert list(data) == ["model", "cases", "ok"] and (data["model"], data["ok"]) == ("Lift", False)
    assert list(data["cases"]) == ["stiff", "soft", "impossible"]
    for case in ("stiff", "soft"):
        own = strictly((finished.folder / case / "result.json").read_text(encoding="utf-8"))
        assert data["cases"][case] == own
    assert "cannot be solved" in data["cases"]["impossible"]["error"]


def test_page_shows_all_cases_and_needs_nothing_from_outside(finished: Finished) -> None:
    """No address, script file or picture file; every link of the page leads to something that is there."""
    whole = finished.study.report.read_text(encoding="utf-8")
    assert whole.count("<script") == 2 and "<script src" not in whole  # data and script of the figures
    text = re.sub(r"<script.*?</script>", "", whole, flags=re.DOTALL)
    assert "://" not in text and "@import" not in text and "url(" not in text.replace("url(#", "")
    page = finished.page
    assert not {"img", "link", "iframe", "object", "foreignobject"} & set(page.tags)
    assert page.tags.count("svg") == len(FIGURES)
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else (finished.folder / link).is_file(), link
    assert {"stiff/report.html", "soft/report.html", "cases.json"} <= set(page.links)
    assert "impossible/report.html" not in page.links
    assert "base.supports.*.stiffness\u00a0=\u00a0[1e+05,\u00a01e+05,\u00a020000]" in text


@pytest.mark.slow
def test_page_has_no_text_on_text(finished: Finished) -> None:
    """In a browser that is there, at 1000 and 1600 pixels; it complains of nothing."""
    with browser() as found, page_at(found, finished.study.report.resolve().as_uri(), 1000) as (page, complaints):
        assert text_on_text(page) == complaints == []


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_files_and_not_blank(finished: Finished, name: str) -> None:
    """150 dpi, and 1 to 30 % of the pixels carry something."""
    image = np.rint(imread(finished.folder / "figures" / f"{name}.png")[..., :3] * 255)
    assert image.shape[1] == round(8.6 * 150)
    assert 0.01 < np.any(np.abs(image - 255.0) > 8, axis=2).mean() < 0.3
    assert (finished.folder / "figures" / f"{name}.svg").read_text(encoding="utf-8").count("<path") > 10


def test_violations_fall_at_the_slow_root(finished: Finished) -> None:
    """log ‖Φ‖ decreases at −α + √(α² − β²) = −20 1/s for all supports (Jarzębowska et al. 2023, Fig. 8)."""
    for run in finished.study.runs[:2]:
        assert isinstance(run, CaseRun) and run.stabilisation.decay is not None
        assert run.stabilisation.slow_root == pytest.approx(-20.0, rel=1e-12)
        assert run.stabilisation.decay.rate == pytest.approx(-20.0, rel=1e-4)
        assert run.stabilisation.decay.end - run.stabilisation.decay.begin > 0.3
    assert finished.page.text.count("−20 −20") == 2


def test_a_bad_file_runs_nothing(tmp_path: Path) -> None:
    """The description is checked, cases included, before anything is written."""
    file = description(tmp_path, machine(cases=[{"name": "a", "set": {"links.b.mass": 1.0}}]))
    with pytest.raises(DescriptionError, match="there is no"):
        study_cases(file, StudyOptions(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The command line in a process group of its own, its workers busy, its temporary files apart."""
    (tmp_path / "temporary").mkdir()
    # where the tests run in the background of a shell, a process is born deaf to Ctrl-C
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{heard}; from gpmelica.cli.app import main; main()"
    arguments = ["study", str(description(tmp_path)), "--cases", "--out", str(tmp_path)]
    command = [sys.executable, "-c", script, *arguments]
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 20
        while not list(tmp_path.glob("*/*.mo")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        yield process
        process.kill()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="interrupts a process group")
def test_an_interrupt_ends_the_workers(running: subprocess.Popen[str], tmp_path: Path) -> None:
    """Ctrl-C: no process survives, workers say nothing, and no temporary file is left."""
    workers = psutil.Process(running.pid).children(recursive=True)
    assert len(workers) >= 2
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=10)
    assert running.returncode == 130, said
    assert psutil.wait_procs(workers, timeout=5)[1] == []
    assert "Process Spawn" not in said and "leaked" not in said
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
def test_a_process_that_dies_costs_no_case(tmp_path: Path) -> None:
    """The cases that were under way are run again, and the study ends as without it."""
    killed: list[int] = []

    def kill_a_worker() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not killed:
            workers = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
            for worker in workers[:1]:
                worker.kill()
                killed.append(worker.pid)
            time.sleep(0.05)

    names = ["first", "second"]  # cases that end early, by themselves
    file = description(tmp_path, LIFT | {"cases": [IMPOSSIBLE | {"name": name} for name in names]})
    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    study = study_cases(file, StudyOptions(tmp_path / "out", rumoca=False))
    killer.join()
    assert killed and [run.case for run in study.runs] == names
    assert all("cannot be solved for base.y" in run.message for run in study.runs if isinstance(run, CaseFailure))
    assert all(isinstance(run, CaseFailure) for run in study.runs)
