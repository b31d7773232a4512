"""`docs/extending.md` shows all that a joint, an element, an output, an importer, … take: its changes work."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fmpy
import numpy as np
import pytest
from helpers_cli import process

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
NOT_OF_THE_PACKAGE = ".* tests docs benchmarks examples build site __pycache__ *.egg-info"
MOST_FILES = 4

# gravity and the springs hold the gradient of the potential energy, and nothing else acts
ENERGIES = """
import json
import numpy as np
import gpmelica
from gpmelica.analysis import ReferenceModel

found = gpmelica.load("screw.toml").prepared
model, q = ReferenceModel(found.mechanism, start=found.start), found.start[0] + 0.1


def state(q):
    return model.state(0.0, q, 0.0 * q)


steps = 1e-6 * np.eye(len(q))
changes = [model.forces.potential(state(q + step)) - model.forces.potential(state(q - step)) for step in steps]
forces = model.forces(state(q))
held = forces.gravity + forces.elastic
print(json.dumps([(np.array(changes) / 2e-6).tolist(), held.tolist(), forces.applied.tolist()]))
"""


def _blocks(language: str, text: str = PAGE) -> str:
    return "".join(re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def _files(section: str) -> list[str]:
    return re.findall(r"^\+\+\+ b/(\S+)$", _blocks("diff", section), re.MULTILINE)


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has the page's changes, and the page's machine."""
    if shutil.which("git") is None:
        pytest.skip("needs git to apply the changes")
    folder = tmp_path_factory.mktemp("extended")
    package = folder / "gpmelica"
    shutil.copytree(ROOT, package, ignore=shutil.ignore_patterns(*NOT_OF_THE_PACKAGE.split()))
    subprocess.run(["git", "apply", "-"], input=_blocks("diff"), text=True, cwd=package, check=True)
    (folder / "screw.toml").write_text(_blocks("toml"), encoding="utf-8")
    (folder / "robot.csv").write_text(_blocks("csv"), encoding="utf-8")
    return folder


def test_number_of_files_per_extension() -> None:
    """Each kind of extension changes the number of files in the page's table; a force element adds
    three files.
    """
    sections = {section.partition("\n")[0]: section for section in PAGE.split("\n## ")[1:]}
    counted = {title: _files(section) for title, section in sections.items() if _files(section)}
    listed = re.findall(r"^\| \[(.+?)\]\(#.+?\) \| (\d) \| (\d|–) \|$", PAGE, re.MULTILINE)
    assert len(listed) == len(counted) == 7
    for name, files, new in listed:
        title = name.capitalize()
        created = _blocks("diff", sections[title]).count("--- /dev/null")
        assert (str(len(counted[title])), str(created or "–")) == (files, new), name
        assert len(counted[title]) <= MOST_FILES
    element = counted["A force element"]
    assert [str(Path(file).parent) for file in element] == ["description/elements", "laws", "oracle/elements"]
    assert len({Path(file).name for file in element}) == 1


@pytest.mark.slow
def test_the_changes_of_the_page_work(extended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has the new joint, closure, element and outputs; all its runs agree, the oracle's among them."""
    monkeypatch.chdir(extended)
    answer = process("run", "screw.toml", "--compiler", "trapping", "--json", PYTHONPATH=str(extended))
    assert answer.status == 0, answer.out + answer.err
    runs = answer.json["runs"]
    assert {"fmu-trapping-me", "fmu-trapping-cs", "oracle"} < {run["name"] for run in runs}
    new = {"bar_position", "bar_angle", "E_speed", "leg_length", "leg_force", "leg_energy", "potential_energy"}
    for run in runs:
        assert new <= set(run["max_abs_error"]), run["name"]
    # the new solver, whose error is of order 2
    (fmu,) = extended.rglob("Screw.fmu")
    errors = [_heuns_error(fmu, step) for step in (4e-3, 2e-3)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


def _heuns_error(fmu: Path, step: float) -> float:
    """Return the error of the bar's angle at 0.5 s, rad, from the most exact of the FMU's own solvers."""
    wanted = {"fmi_type": "CoSimulation", "output": ["bar_angle"], "stop_time": 0.5, "output_interval": 0.1}
    settings = {"solver_method": 5, "solver_step": step}, {"solver_method": 2, "solver_tolerance": 1e-11}
    ends = [fmpy.simulate_fmu(str(fmu), start_values=own, **wanted)["bar_angle"][-1] for own in settings]
    return abs(float(ends[0] - ends[1]))


@pytest.mark.slow
def test_the_new_element_stores_its_energy(extended: Path) -> None:
    """Forces of the page's spring count as elastic: they and gravity are the gradient of the potential energy."""
    done = subprocess.run(
        [sys.executable, "-c", ENERGIES],
        cwd=extended,
        env={"PYTHONPATH": str(extended), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    gradient, held, applied = map(np.array, json.loads(done.stdout))
    assert held == pytest.approx(-gradient, abs=1e-5)
    assert np.abs(applied).max() < 1e-12 * np.abs(held).max()


@pytest.mark.slow
def test_the_new_importer_reads_a_robot(extended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An imported description has a link for each row; a file with other columns is refused by name."""
    monkeypatch.chdir(extended)
    answer = process("import", "dh", "robot.csv", "--json", PYTHONPATH=str(extended))
    assert answer.status == 0, answer.err
    checked = process("check", *answer.json["files"], "--json", PYTHONPATH=str(extended))
    assert checked.json["n"] == 3
    (extended / "other.csv").write_text("a,b\n1,x\n", encoding="utf-8")
    refused = process("import", "dh", "other.csv", PYTHONPATH=str(extended))
    assert refused.status == 2
    assert "other.csv: line 1: expected the columns a, alpha, d, mass, radius, got a, b" in refused.err
