"""Pages as a browser shows them: points where the reference has them, no complaint, no text on text."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_browser import browser, page_at, text_on_text, until
from helpers_examples import changed
from helpers_problem import problem
from helpers_report import crane, crane_pictures, crane_run, prescribed_run
from PIL import Image

from gpmelica import scene
from gpmelica.analysis import ReferenceModel
from gpmelica.core.files import write_atomically
from gpmelica.core.trajectory import Array
from gpmelica.mechanism import Mechanism, build
from gpmelica.report.animation import write_animation, write_drawing
from gpmelica.report.report import render

TIME = 0.75
POINTS = {
    example: {"E": tip, "P": ("column", [0.0, -0.6, 1.2]), "B": ("base", [1.4, -1.3, 0.9])}
    for example, tip in (("crane", ("jib", [1.2, 0.0, 0.0])), ("lorry_crane", ("telescope", [3.4, 0.0, 0.3])))
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


def marked(example: str) -> Mechanism:
    """A crane with three points that nothing hides."""
    points = {name: {"link": link, "position": at} for name, (link, at) in POINTS[example].items()}
    return build(changed(example, "flexible_boom" if example == "crane" else None, points=points))


def seen_from(player: Any, world: Array) -> Array:
    """Return a point's place in the picture, pixels, by the camera's own numbers and this file's formulas."""
    camera, centre, (width, height) = player["camera"], np.array(player["centre"]), player["size"]
    forward = np.array(camera["target"]) - camera["at"]
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, camera["up"])
    right /= np.linalg.norm(right)
    above = np.cross(right, forward)
    way = world - centre - camera["at"]
    depth, tall = way @ forward, np.tan(np.radians(camera["fov"]) / 2)
    x, y = way @ right / (depth * tall * width / height), way @ above / (depth * tall)
    return np.array([(1 + x) / 2 * width, (1 - y) / 2 * height])


CAMERA = """() => {
  const player = document.getElementById("player").player, camera = player.camera, target = player.orbit.target;
  return {
    camera: { at: camera.position.toArray(), fov: camera.fov, target: target.toArray(), up: camera.up.toArray() },
    centre: player.scene.centre,
    size: [player.canvas.clientWidth, player.canvas.clientHeight],
    clock: player.control("clock").textContent,
  };
}"""


def without(page: Any, *names: str) -> tuple[Any, Array]:
    """Camera, and picture without what has these switches: rows × columns × red, green, blue."""
    for name in names:
        page.locator(f".{name}").click()
    until(page, "!document.getElementById('player').player.dirty")
    picture = Image.open(io.BytesIO(page.locator("canvas").screenshot()))
    return page.evaluate(CAMERA), np.asarray(picture.convert("RGB"))


def blue(picture: Array, at: Array) -> Array:
    """Middle of what has the points' colour within 12 pixels of a place, pixels."""
    x, y = np.round(at).astype(int)
    part = picture[y - 12 : y + 13, x - 12 : x + 13, :3].astype(int)
    rows, columns = np.nonzero(np.abs(part - [0x00, 0x72, 0xB2]).max(axis=2) < 40)
    assert len(rows) > 20, f"no point near {at}"
    return np.array([x - 12 + columns.mean(), y - 12 + rows.mean()])


def is_seen(numbers: Any, picture: Array, world: Array) -> None:
    """There is a point where the camera must see it, to a pixel and a half."""
    expected = seen_from(numbers, world)
    assert blue(picture, expected) == pytest.approx(expected, abs=1.5)


@pytest.mark.slow
@pytest.mark.parametrize("example", ["crane", "lorry_crane"])
def test_drawn_points_agree_with_the_reference(chromium: Any, tmp_path: Path, example: str) -> None:
    """In a picture at a known time, points on three bodies deviate by at most 1.5 pixels; the page
    has at most 5 MB.
    """
    mechanism = marked(example)
    run = prescribed_run(mechanism)
    path = write_animation(tmp_path / "a.html", scene.film(problem(mechanism), [run]))
    assert path.stat().st_size < 5e6
    with page_at(chromium, f"{path.as_uri()}#t={TIME}", 1000) as (page, complaints):
        # paths lie on their points, forces may on others
        numbers, picture = without(page, "paths", "forces")
        assert complaints == []
    assert numbers["clock"] == "0.750 s"
    sample = int(np.argmin(np.abs(run.time - TIME)))
    for name in POINTS[example]:
        is_seen(numbers, picture, np.array([run.signals[f"{name}_{axis}"][sample] for axis in "xyz"]))


def test_modes_are_in_the_picture(chromium: Any, tmp_path: Path) -> None:
    """The second one of a list at a quarter of its cycle, Re(i·shape) from the pose."""
    mechanism, rng = marked("crane"), np.random.default_rng(7)
    run = prescribed_run(mechanism)
    pose = run.columns(c.symbol for c in mechanism.coordinates)[np.argmin(np.abs(run.time - TIME))]
    shape = 0.05 * rng.normal(size=(mechanism.n, 2)) @ [1.0, 1.0j]
    swings = [scene.Swing("1: 0.5 Hz, undamped", shape.conj()), scene.Swing("2: 1.2 Hz, damping 0.01", shape)]
    path = write_animation(tmp_path / "a.html", scene.swinging(ReferenceModel(mechanism), pose, swings))
    with page_at(chromium, f"{path.as_uri()}#t=0.25", 1000) as (page, complaints):
        page.locator(".run").select_option(label=swings[1].name)
        numbers, picture = without(page, "paths", "ghost")
        page.locator(".play").click()
        until(page, "document.getElementById('player').player.frame < 5")  # it has begun again
        assert text_on_text(page) == complaints == []
    assert numbers["clock"] == "90°"
    frames = scene.frames_of(mechanism, pose + (1.0j * shape).real)
    for name in POINTS["crane"]:
        is_seen(numbers, picture, scene.in_world(frames, mechanism.points[name]))


def test_an_animation_has_no_text_on_text(chromium: Any, tmp_path: Path) -> None:
    """The animation also starts by itself, and the time proceeds."""
    run = prescribed_run(crane())
    path = write_animation(
        tmp_path / "a.html", scene.film(problem(crane()), [replace(run, name="fmu-native-cs"), run])
    )
    with page_at(chromium, path.as_uri(), 1000) as (page, complaints):
        until(page, "document.getElementById('player').player.frame > 3")
        assert text_on_text(page) == complaints == []


@pytest.mark.slow
def test_a_report_has_no_text_on_text(chromium: Any, tmp_path: Path) -> None:
    """All that closes open; the machine, the verdict's three lines and the numbers are on the first screen."""
    path = tmp_path / "report.html"
    path.write_text(render(crane_run(), list(crane_pictures())), encoding="utf-8")
    with page_at(chromium, f"{path.as_uri()}#t=0.5", 1000, 1000) as (page, complaints):
        first = page.evaluate(
            """() => [".stage", ".sentence:nth-of-type(3)", ".numbers"].map((name) =>
                 document.querySelector(name).getBoundingClientRect().top)"""
        )
        assert max(first) < 700
        assert text_on_text(page) == complaints == []


def test_a_drawing_has_no_text_on_text(chromium: Any, tmp_path: Path) -> None:
    q = np.array([c.position for c in crane().coordinates])
    path = write_drawing(tmp_path, scene.still(problem(crane(), (q, 0.0 * q))))[2]
    with page_at(chromium, path.as_uri(), 1000) as (page, complaints):
        assert text_on_text(page) == complaints == []


# ---- Files are there completely, or not at all ------------------------------------------------------------------


_DISK_FULL = """
import resource, sys
from pathlib import Path
from gpmelica.core.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    write_atomically(Path(sys.argv[1]), b"x" * 100_000)
except OSError as error:
    sys.exit(f"stopped: {error.strerror}")
"""


def test_writes_text_and_bytes_as_they_are(tmp_path: Path) -> None:
    """UTF-8, newlines untouched, missing folders made, an old file replaced."""
    path = tmp_path / "a" / "b.txt"
    write_atomically(path, "‖Φ‖\n\r\n")
    assert path.read_bytes() == "‖Φ‖\n\r\n".encode()
    write_atomically(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert os.listdir(path.parent) == ["b.txt"]


@pytest.mark.parametrize("old", [None, b"the old report"])
def test_failed_write_keeps_the_old_file(tmp_path: Path, old: bytes | None) -> None:
    """If a file system accepts only 5 kB of 100 kB, the old file remains and no temporary file
    exists.
    """
    pytest.importorskip("resource", reason="needs a POSIX system that limits file sizes")
    path = tmp_path / "report.html"
    if old is not None:
        path.write_bytes(old)
    process = subprocess.run(
        [sys.executable, "-c", _DISK_FULL, str(path)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 1 and "stopped: File too large" in process.stderr, process.stderr
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_name_that_cannot_be_taken(tmp_path: Path) -> None:
    """If a folder has the name of the output file, the error is reported and no temporary file remains."""
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_atomically(tmp_path / "taken", "text")
    assert os.listdir(tmp_path) == ["taken"]


@pytest.mark.slow
def test_files_are_as_readable_as_any_other(tmp_path: Path) -> None:
    """Permissions follow the umask, as those of a file opened for writing do."""
    plain, atomic = tmp_path / "plain", tmp_path / "atomic"
    plain.write_text("x")
    write_atomically(atomic, "x")
    assert atomic.stat().st_mode == plain.stat().st_mode
