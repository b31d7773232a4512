"""Pages and films of a machine in motion: what they hold is where the reference has it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from helpers_cli import Command, fails
from helpers_parts import Z, body, link, machine
from helpers_problem import problem
from helpers_reference import mechanism_of
from helpers_report import crane, prescribed_run
from PIL import Image
from scipy.spatial.transform import Rotation

import gpmelica as gp
from gpmelica import scene
from gpmelica.api.results import Run
from gpmelica.core.csv_file import write_csv
from gpmelica.core.errors import DescriptionError, MissingToolError, UnknownNameError
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.report.animation import write_animation, write_drawing
from gpmelica.report.player.payload import payload
from gpmelica.report.player.three import three
from gpmelica.report.plots.solids import faces_of
from gpmelica.scene import Solid

FOUR_BAR = Path(__file__).parents[1] / "examples" / "four_bar_3d.toml"
RUN = prescribed_run(crane())
SCENE = scene.film(problem(crane()), [replace(RUN, name="fmu"), RUN])


def unpacked(text: str) -> Array:
    """Return the data that the player reads."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(float)


@pytest.mark.slow
def test_the_page_has_the_frames() -> None:
    """Positions and quaternions of all bodies at all times and scales, to 32 bits."""
    data = payload(SCENE)
    for motion, given in zip(SCENE.motions, data["motions"], strict=True):
        S, K, bodies = *motion.frames.shape[:2], given["bodies"]
        numbers = unpacked(given["data"]).reshape(S, K, bodies, 7)
        frames = motion.frames[:, :, 1:]
        assert numbers[..., :3] + data["centre"] == pytest.approx(frames[..., :3, 3], abs=1e-6)
        turned = Rotation.from_quat(numbers[..., 3:].reshape(-1, 4)).as_matrix()
        assert turned == pytest.approx(frames[..., :3, :3].reshape(-1, 3, 3), abs=1e-6)
    for k, mark in enumerate(data["marks"]):
        shares = unpacked(mark["forces"]).reshape(-1, 3)
        assert shares * SCENE.peak(mark["kind"] == "moment") == pytest.approx(SCENE.acting[:, k], abs=1e-2)


def test_all_that_moves_is_in_the_picture() -> None:
    """The box that the camera looks at holds all points of all bodies at all times."""
    data, tip = payload(SCENE), scene.in_world(SCENE.motions[0].frames[0], SCENE.mechanism.points["E"])
    for places in (scene.reach_of(SCENE), tip):
        assert np.all(np.abs(places - data["centre"]) <= np.array(data["half"]) + 1e-6)


def test_a_machine_far_away_loses_no_digits() -> None:
    """32 bits at 10,000 km are a metre; the page counts from the machine."""
    arm = link("arm", "revolute", Z, xyz=[1e7, 0.0, 0.0]) | body(com=[0.5, 0.0, 0.0])
    found = scene.still(problem(mechanism_of(machine(arm)), (np.zeros(1), np.zeros(1))))
    numbers = unpacked(payload(found)["motions"][0]["data"])
    assert np.abs(numbers[:3]).max() < 1.0
    assert numbers[:3] + payload(found)["centre"] == pytest.approx([1e7, 0.0, 0.0], abs=0.1)


def test_a_page_stands_alone(tmp_path: Path) -> None:
    """Nothing from elsewhere; the scripts that may run are those that are there, by their hashes."""
    text = write_animation(tmp_path / "a.html", SCENE).read_text(encoding="utf-8")
    assert len(text) < 5e6
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert re.findall(r"sha256-([\w+/=]+)", policy[1]) == hashes and len(hashes) == 2
    assert policy[1].startswith("default-src 'none'; style-src 'unsafe-inline'; script-src &#39;sha256-")
    assert not re.search(r"""(src|href)=["'](https?:)?//""", text)
    (data,) = re.findall(r'<script type="application/json" id="scene">(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["time"]["count"] == len(SCENE.time)


def test_threejs_bundle_contains_the_licence() -> None:
    """The bundled file contains three.js with its licence, and no other part of its source file."""
    text = three()
    assert text.startswith("/**\n * @license") and "SPDX-License-Identifier: MIT" in text[:200]
    assert "TrackballControls" not in text[-2000:]


def test_three_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error message names the package to install."""
    monkeypatch.setattr("gpmelica.report.player.three.find_spec", lambda name: None)
    with pytest.raises(MissingToolError, match="pip install 'trimesh"):
        three.__wrapped__()


@pytest.mark.parametrize("kind", ["box", "cylinder", "sphere"])
def test_solids_are_closed(kind: Any) -> None:
    """By the divergence theorem: volume and middle of the faces' polyhedron, all faces seen from outside."""
    size = np.array([0.4, 0.4, 0.4] if kind == "sphere" else [0.4, 0.4, 1.0])
    faces = faces_of(Solid(0, kind, size, np.eye(4), "#000000"))
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    volumes = np.einsum("ki,ki->k", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6
    exact = {"box": 0.16, "cylinder": np.pi * 0.04, "sphere": 4 / 3 * np.pi * 0.008}[kind]
    assert volumes.sum() == pytest.approx(exact, rel={"box": 1e-12, "cylinder": 0.03, "sphere": 0.12}[kind])
    assert volumes.min() >= -1e-12
    assert np.ptp(faces.reshape(-1, 3), axis=0) == pytest.approx(size, rel=0.03)


@cache
def short() -> Run:
    """The linkage for a fifth of a second."""
    return gp.load(FOUR_BAR, simulation={"stop": 0.2}).simulate()


@pytest.mark.slow
def test_films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GIF of moving pictures; an MP4 where there is an ffmpeg, else what to do; no half-written file."""
    run = short()
    monkeypatch.setattr("gpmelica.report.plots.film._LONGEST", 0.2)
    with Image.open(run.animate(tmp_path / "a.gif")) as film:
        assert film.n_frames == 5
        film.seek(0)
        first = np.asarray(film.convert("L"), dtype=int)
        film.seek(4)
        assert np.count_nonzero(np.abs(np.asarray(film.convert("L"), dtype=int) - first) > 40) > 500
    monkeypatch.setitem(matplotlib.rcParams, "animation.ffmpeg_path", "no-such-ffmpeg")
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingToolError, match="an mp4 needs ffmpeg"):
        run.animate(tmp_path / "a.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_mp4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By ffmpeg, or by that of imageio."""
    if shutil.which("ffmpeg") is None:
        pytest.importorskip("imageio_ffmpeg", reason="needs ffmpeg or the extra `mp4`")
    monkeypatch.setattr("gpmelica.report.plots.film._LONGEST", 0.1)
    path = write_animation(tmp_path / "a.mp4", SCENE)
    assert b"ftyp" in path.read_bytes()[:16]


def test_invalid_animation_requests(tmp_path: Path) -> None:
    """A wrong file suffix, a missing model or signals of another model are reported before
    anything is drawn.
    """
    run = short()
    with pytest.raises(DescriptionError, match=r"a.avi: expected a file name that ends in .html, .gif, .mp4"):
        run.animate(tmp_path / "a.avi")
    with pytest.raises(UnknownNameError, match="expected a run with a model"):
        Run(run.trajectory, {}).animate(tmp_path / "a.html")
    foreign = replace(run, trajectory=Trajectory("table.csv", run.time, {"x": run.time}))
    with pytest.raises(DescriptionError, match=r"table.csv: lacks crank_angle.*; expected a run of .* FourBar3D"):
        foreign.animate(tmp_path / "a.html", ghost=run)
    assert list(tmp_path.iterdir()) == []


def test_drawing(tmp_path: Path) -> None:
    """The still picture: names of all links, points and closures; a page without controls of time."""
    model = gp.load(FOUR_BAR)
    paths = write_drawing(tmp_path, scene.still(model.prepared.problem))
    assert [path.name for path in paths] == ["drawing.png", "drawing.svg", "drawing.html"]
    words = re.findall(r"<text[^>]*>([^<]*)</text>", paths[1].read_text(encoding="utf-8"))
    shown = {name for word in words for name in word.split(", ")}
    assert {"crank", "coupler", "rocker", "E", "pin"} <= shown
    assert 'class="play"' not in paths[2].read_text(encoding="utf-8")


@pytest.mark.slow
def test_commands(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """`animate` of a case beside a result file; `check --draw`; what is wrong with a result file."""
    run = gp.load(arm, "heavy").simulate()
    write_csv(tmp_path / "fmu.csv", run.trajectory)
    (tmp_path / "other.csv").write_text("time,x\n0,1\n1,2\n")
    animate = partial(gpmelica, "animate", arm, "--case", "heavy", "--out", tmp_path / "out")
    answer = animate("--result", tmp_path / "fmu.csv", "--json")
    assert answer.json == {"files": [str(tmp_path / "out" / "animation.html")]}
    text = (tmp_path / "out" / "animation.html").read_text(encoding="utf-8")
    assert "reference as ghost" in text and ">heavy</span>" in text
    (data,) = re.findall(r'<script type="application/json" id="scene">(.*?)</script>', text, re.DOTALL)
    assert [motion["count"] for motion in json.loads(data)["motions"]] == [241, 241]
    fails(
        animate("--result", tmp_path / "other.csv"),
        2,
        "other.csv: lacks upper_angle",
        "expected a run of the mechanism Arm",
    )
    answer = gpmelica("check", arm, "--draw", "--out", tmp_path / "out", "--json")
    assert [Path(path).name for path in answer.json["files"]] == ["drawing.png", "drawing.svg", "drawing.html"]
    assert all(Path(path).is_file() for path in answer.json["files"])
