"""Preview of a description: last valid machine, places of problems, poses with closed loops, watched files."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_cli import ARM
from helpers_examples import EXAMPLES

from gpmelica.analysis import poses
from gpmelica.core.trajectory import Array
from gpmelica.description import load
from gpmelica.mechanism import build
from gpmelica.preview.places import path_of
from gpmelica.preview.posing import Move
from gpmelica.preview.preview import Preview, View
from gpmelica.preview.tree import tree
from gpmelica.preview.watching import FileWatch, files_of


def saved(path: Path, text: str, preview: Preview) -> None:
    """Save a file as an editor does, and let the preview notice it."""
    path.write_text(text, encoding="utf-8")
    for _ in range(3):
        if preview.poll():
            return
    pytest.fail("the save was not noticed")


@pytest.fixture
def arm_file(tmp_path: Path) -> Path:
    path = tmp_path / "arm.toml"
    path.write_text(toml(ARM), encoding="utf-8")
    return path


def frames(answer: dict[str, Any]) -> Array:
    """Position and quaternion of each body."""
    return np.frombuffer(base64.b64decode(answer["pose"]["frames"]), dtype="<f4").reshape(-1, 7)


def value(answer: dict[str, Any], name: str) -> float:
    """Coordinate in the pose of an answer."""
    return float(answer["pose"]["q"][[c["name"] for c in answer["coordinates"]].index(name)])


# ---- the file and its faults -----------------------------------------------------------------------------------


def test_first_answer_shows_the_initial_state(arm_file: Path) -> None:
    answer = Preview(arm_file).show(View())
    mechanism = build(load(arm_file))
    assert answer["problems"] == []
    assert [c["name"] for c in answer["coordinates"]] == ["upper.angle", "lower.angle"]
    assert answer["cases"] == ["light", "heavy"]
    expected = poses(mechanism, np.array(answer["pose"]["q"]))
    assert frames(answer)[:, :3] == pytest.approx(expected[:, :3, 3], abs=1e-6)
    assert {aid["kind"] for aid in answer["scene"]["aids"]} == {"frame", "turn", "mass"}


def test_last_valid_machine_stays(arm_file: Path) -> None:
    """A fault in the file changes the problems and the tree, and neither the scene nor the sliders."""
    preview, text = Preview(arm_file), arm_file.read_text(encoding="utf-8")
    first = preview.show(View())
    saved(arm_file, text.replace('"mass" = 2.0', '"mass" = -2.0'), preview)
    faulty = preview.show(View(scene=first["number"]))
    assert [problem["path"] for problem in faulty["problems"]] == [["links", "0", "mass"]]
    assert faulty["problems"][0]["where"] == "links[0].mass (upper)"
    assert "scene" not in faulty and faulty["number"] == first["number"]
    assert (first["is_present"], faulty["is_present"]) == (True, False)
    moved = preview.show(View(scene=first["number"], move=Move("lower.angle", 0.2)))
    assert value(first | moved, "lower.angle") == 0.2  # sliders work on the last valid machine
    assert preview.show(View())["scene"] == first["scene"]  # for a page that is opened now
    saved(arm_file, text, preview)
    assert preview.show(View())["problems"] == []


def test_syntax_error_comes_with_its_lines_and_the_tree_before(arm_file: Path) -> None:
    preview, text = Preview(arm_file), arm_file.read_text(encoding="utf-8")
    before = preview.show(View())["tree"]
    saved(arm_file, text + "\nbroken = [1.0, \n", preview)
    answer = preview.show(View())
    assert answer["problems"][0]["path"] == []
    assert "not valid TOML" in answer["problems"][0]["text"]
    assert answer["tree"] == before
    assert (
        any(line["is_faulty"] for line in answer["excerpt"]) or "end of document" in answer["problems"][0]["text"]
    )


def test_file_that_is_faulty_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    path.write_text("schema = 1\n", encoding="utf-8")
    answer = Preview(path).show(View())
    assert [problem["where"] for problem in answer["problems"]] == ["name"]
    assert "scene" not in answer and "pose" not in answer


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Preview(tmp_path / "absent.toml")


def test_machine_without_initial_state_is_shown_as_described(arm_file: Path) -> None:
    """An open loop does not hide the mechanism: the picture shows where the ends are apart."""
    far = {"name": "pin", "type": "spherical", "a": {"link": "lower", "xyz": [1.0, 0.0, 0.0]}}
    closure = far | {"b": {"link": "ground", "xyz": [9.0, 0.0, 0.0]}}
    arm_file.write_text(toml(ARM | {"closures": [closure]}), encoding="utf-8")
    answer = Preview(arm_file).show(View())
    assert answer["pose"]["q"] == [0.4, 0.9]
    assert [problem["path"] for problem in answer["problems"]] == [["closures", "0"]]
    assert "closure pin cannot be closed" in answer["problems"][0]["text"]
    assert answer["pose"]["residual"] > 1.0 and answer["is_present"]


def test_check_of_the_page_is_that_of_the_command(arm_file: Path) -> None:
    found = Preview(arm_file).check()
    assert (found["problems"], found["dof"], found["consistent"]) == ([], 1, True)


# ---- places in the tree ----------------------------------------------------------------------------------------

TABLES = {
    "links": [{"name": "column", "mass": 1.0}, {"name": "boom", "joint": {"type": "revolute"}}],
    "closures": [{"name": "pin", "a": {}}],
    "base": {"supports": [{"name": "left"}]},
    "cases": [{"name": "heavy", "set": {"links.boom.mass": 2.0}}],
}


@pytest.mark.parametrize(
    ("where", "message", "path"),
    [
        ("links[1].joint.type (boom)", "", "links 1 joint type"),
        ("links[1].mass (boom)", "is missing", "links 1"),
        ("base.supports[0] (left), base.supports[1] (right)", "", "base supports 0"),
        ('cases[0].set."links.boom.mass" (heavy)', "", "cases 0 set links.boom.mass"),
        ("", "closure pin cannot be closed: 1 m remain between its frames on boom and ground", "closures 0"),
        ("", "boom.angle has the least stiffness", "links 1"),
        ("", "the file is not valid TOML", ""),
        ("changes", "unknown", ""),
    ],
)
def test_places(where: str, message: str, path: str) -> None:
    found = path_of(where, message, TABLES)
    assert " ".join(found) == path
    nodes = tree(TABLES)
    for key in found:  # each key is a node of the page's tree
        nodes = next(node for node in nodes if node["key"] == key)["inner"]


# ---- sliders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change"),
    [("four_bar_3d", 0.05), ("four_bar_3d", -0.4), ("rsrrp", 0.05), ("rsrrp", -0.4), ("delta_robot", 0.05)],
)
def test_loops_stay_closed_under_a_slider(name: str, change: float) -> None:
    """Every coordinate in turn takes its new value while the closures keep their equations to 1e-9."""
    preview = Preview(EXAMPLES / f"{name}.toml")
    first = preview.show(View())
    reached = 0
    for coordinate in first["coordinates"]:
        target = coordinate["value"] + change
        answer = preview.show(View(scene=first["number"], move=Move(coordinate["name"], target)))
        assert answer["pose"]["residual"] <= 1e-9
        at_target = value(first | answer, coordinate["name"]) == pytest.approx(target, abs=1e-12)
        assert at_target != bool(answer["pose"]["note"])  # or it says where it stopped
        reached += at_target
    assert reached


def test_slider_that_the_loop_stops_stays_on_the_way() -> None:
    """The coupler of a four-bar linkage cannot make a full turn relative to the crank."""
    preview = Preview(EXAMPLES / "four_bar_3d.toml")
    first = preview.show(View())
    start = value(first, "rocker.angle")
    answer = preview.show(View(scene=first["number"], move=Move("rocker.angle", start + 3.0)))
    assert start < value(first | answer, "rocker.angle") < start + 3.0
    assert "rocker.angle stops at" in answer["pose"]["note"]
    assert answer["pose"]["residual"] <= 1e-9


def test_pose_returns_with_the_names_of_its_coordinates() -> None:
    """The page sends the coordinates that differ from the initial state; the server closes the loops again."""
    preview = Preview(EXAMPLES / "four_bar_3d.toml")
    first = preview.show(View())
    moved = preview.show(View(scene=first["number"], move=Move("crank.angle", 1.5)))
    names = [c["name"] for c in first["coordinates"]]
    again = preview.show(View(coordinates=dict(zip(names, moved["pose"]["q"], strict=True))))
    assert again["pose"]["q"] == pytest.approx(moved["pose"]["q"], abs=1e-12)


def test_parameter_changes_forces_and_inputs_too() -> None:
    preview = Preview(EXAMPLES / "lorry_crane.toml")
    first = preview.show(View())
    heavy = preview.show(View(parameters={"payload": 1600.0}))
    pushed = preview.show(View(inputs={"luffing_drive": 500.0}))

    def force(answer: dict[str, Any], name: str) -> float:
        return next(float(row["force"]) for row in answer["pose"]["table"] if row["name"] == name)

    assert force(first, "rope") == pytest.approx(800.0 * 9.81, rel=1e-6)
    assert force(heavy, "rope") == pytest.approx(1600.0 * 9.81, rel=1e-6)
    assert heavy["number"] != first["number"]
    assert (force(first, "luffing_drive"), force(pushed, "luffing_drive")) == (0.0, 500.0)
    assert "scene" not in preview.show(View(scene=first["number"]))


def test_faulty_parameter_value_keeps_the_machine() -> None:
    preview = Preview(EXAMPLES / "lorry_crane.toml")
    first = preview.show(View())
    answer = preview.show(View(scene=first["number"], parameters={"payload": -5.0}))
    assert answer["problems"][0]["path"] == ["parameters", "payload", "value"]
    assert answer["number"] == first["number"]


def test_settling_finds_the_equilibrium_near_the_pose() -> None:
    """From a boom that was lifted by hand, cylinder and rope pull back to the initial equilibrium."""
    preview = Preview(EXAMPLES / "lorry_crane.toml")
    first = preview.show(View())
    lifted = {"boom.angle": first["pose"]["q"][7] + 0.05}
    assert preview.show(View(coordinates=lifted))["pose"]["q"][7] == lifted["boom.angle"]
    settled = preview.show(View(coordinates=lifted, settle=True))
    assert settled["pose"]["q"] == pytest.approx(first["pose"]["q"], abs=1e-5)


def test_case_is_chosen_by_name(arm_file: Path) -> None:
    preview = Preview(arm_file, "heavy")
    assert preview.show(View(case="heavy"))["problems"] == []
    assert "did you mean 'heavy'?" in preview.show(View(case="heavi"))["problems"][0]["text"]


# ---- files -----------------------------------------------------------------------------------------------------


def test_files_that_the_description_names_are_watched(tmp_path: Path) -> None:
    """A change of the table's file is a change; a missing file is a problem until it comes back."""
    shutil.copytree(EXAMPLES / "tower_crane", tmp_path, dirs_exist_ok=True)
    preview = Preview(tmp_path / "tower_crane.toml")
    version, table = preview.version, tmp_path / "slew.csv"
    text = table.read_text(encoding="utf-8")
    table.unlink()
    assert [preview.poll() for _ in range(3)].count(True) == 1
    assert preview.show(View())["problems"][0]["path"] == ["tables", "slew", "file"]
    saved(table, text, preview)
    assert preview.show(View())["problems"] == []
    assert preview.version == version + 2


def test_names_of_files_in_tables() -> None:
    tables = {"tables": {"slew": {"file": "a.csv"}}, "links": [{"shape": {"file": "b.stl"}}, {"name": "file"}]}
    assert list(files_of(tables)) == [Path("a.csv"), Path("b.stl")]


def test_file_of_a_case_is_watched(tmp_path: Path) -> None:
    """A lookup table that only a case names is a file of the description."""
    shutil.copytree(EXAMPLES / "tower_crane", tmp_path, dirs_exist_ok=True)
    file, own = tmp_path / "tower_crane.toml", tmp_path / "slow.csv"
    text = (tmp_path / "slew.csv").read_text(encoding="utf-8")
    own.write_text(text, encoding="utf-8")
    case = '\n[[cases]]\nname = "slow"\nset = { "tables.slew.file" = "slow.csv" }\n'
    file.write_text(file.read_text(encoding="utf-8") + case, encoding="utf-8")
    preview = Preview(file, "slow")
    assert preview.show(View(case="slow"))["problems"] == []
    own.unlink()
    assert [preview.poll() for _ in range(3)].count(True) == 1
    assert preview.show(View(case="slow"))["problems"]
    saved(own, text, preview)
    assert preview.show(View(case="slow"))["problems"] == []


def test_half_written_file_is_not_read(tmp_path: Path) -> None:
    """A change counts when the file is the same at two successive looks."""
    path = tmp_path / "file"
    path.write_text("1", encoding="utf-8")
    watch = FileWatch([path])
    path.write_text("12", encoding="utf-8")
    assert not watch.changed()
    path.write_text("123", encoding="utf-8")
    assert not watch.changed()
    assert watch.changed()
    assert not watch.changed()
