"""Where a linear model does not say what one thinks: notes, refusals, and wrong use."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_backends import Compile
from helpers_cli import Command, fails
from helpers_linear import hanging, point
from helpers_parts import Z, body, link
from helpers_parts import machine as described
from PIL import Image
from scipy.io import loadmat

import gpmelica as gp
from gpmelica.errors import SolveError
from gpmelica.fmu.runs.states import State
from gpmelica.generator.description.load import from_data
from gpmelica.linear import linearized
from gpmelica.prepared import prepare

# ---- Notes ------------------------------------------------------------------------------------------------------


def test_drift_time_and_violations_are_said_with_numbers(compile_example: Compile) -> None:
    """The crane starts off its ellipse, falls, and its height is a function of time."""
    compiled = compile_example("crane", "rigid_boom")
    space = linearized(compiled.model, compiled.fmu, point(compiled.model, 0.2))
    violated, drift, time = space.notes
    assert "the state violates constraints, ellipse by 0.2" in violated
    assert drift.startswith("not an equilibrium: the states drift by ")
    assert f"{np.abs(space.drift).max():.3g}" in drift
    assert "the motion depends on time by itself" in time
    assert time.endswith("t = 0.2 s alone")


def _parallelogram(angle: float) -> dict[str, Any]:
    """A four bar whose opposite bars are equally long: at angle 0 all lie on a line, and it can go on two ways."""

    def bar(name: str, parent: str, x: float, length: float, position: float) -> dict[str, Any]:
        own = link(name, "revolute", Z, parent, xyz=[x, 0.0, 0.0], position=position)
        return own | body(1.0, [length / 2, 0.0, 0.0], [0.01, 0.02, 0.02])

    bars = [bar("crank", "ground", 0.0, 1.0, angle), bar("coupler", "crank", 1.0, 2.0, -angle)]
    bars.append(bar("rocker", "ground", 2.0, 1.0, angle))
    ends = {"a": {"link": "coupler", "xyz": [2.0, 0.0, 0.0]}, "b": {"link": "rocker", "xyz": [1.0, 0.0, 0.0]}}
    pin = {"name": "pin", "type": "point_on_line", **ends}
    return described(*bars, gravity=[0.0, 0.0, -9.81], closures=[pin], simulation={"start": "description"})


def test_no_model_where_rows_are_lost() -> None:
    """On the line there is a row less than at the start beside it: no matrices, but both ranks."""
    model = prepare(from_data(_parallelogram(0.5)))
    flat = point(model, 0.0, State(0.0, np.zeros(3), np.zeros(3)))
    with pytest.raises(SolveError, match=r"no linear model at t = 0 s: .* have rank 1 there and 2 at the start"):
        linearized(model, Path("no.fmu"), flat)


# ---- Command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The file of `hanging`."""
    path = tmp_path / "hanging.toml"
    path.write_text(toml(hanging()), encoding="utf-8")
    return path


def test_files_hold_what_the_command_prints(gpmelica: Command, machine: Path, tmp_path: Path) -> None:
    """JSON, npz and .mat have the same numbers and names."""
    drawn = ("--bode", "--output", "E_z", "--output", "upper_angle")
    answer = gpmelica("linearize", machine, "--json", "--out", tmp_path / "out", *drawn)
    assert (answer.status, answer.err) == (0, "")
    said = answer.json
    written = json.loads((tmp_path / "out" / "linear.json").read_text(encoding="utf-8"))
    arrays, mat = np.load(tmp_path / "out" / "linear.npz"), loadmat(tmp_path / "out" / "linear.mat")
    assert written == said
    assert (said["inputs"], said["time"], said["notes"]) == (["motor"], 0.0, [])
    for key in ("A", "B", "C", "D"):
        assert np.array_equal(arrays[key], said[key])
        assert np.array_equal(mat[key], said[key])
    for key in ("states", "inputs", "outputs"):
        assert arrays[key].tolist() == [str(cell[0]) for cell in mat[key].ravel()] == said[key]
    assert np.shape(said["C"]) == (2, len(said["states"]))
    assert said["outputs"] == ["E_z", "upper_angle"]
    assert "E_z per motor, m/(N.m)" in (tmp_path / "out" / "bode.svg").read_text(encoding="utf-8")


def test_modes_for_people_and_scripts(gpmelica: Command, machine: Path, tmp_path: Path) -> None:
    """The same frequencies; shapes are complex numbers as pairs; a film of one, a page of all."""
    answer = gpmelica("modes", machine, "--json", "--html", "--out", tmp_path / "page")
    shown = gpmelica("modes", machine, "--gif", "--mode", 4, "--out", tmp_path / "film")
    assert (answer.status, shown.status) == (0, 0)
    modes = answer.json["modes"]
    assert set(modes[0]) > {"frequency", "damping", "shape"}
    assert modes[3]["frequency"] == pytest.approx(0.42655339, rel=1e-6)
    assert modes[3]["shape"]["upper.angle"] == pytest.approx([1.0, 0.0])
    for mode in modes:
        assert f"{mode['frequency']:.6g}" in shown.out
    assert "lower.angle 1, upper.angle −0.3" in shown.out
    assert answer.json["files"] == [str(tmp_path / "page" / "modes.html")]
    page = (tmp_path / "page" / "modes.html").read_text(encoding="utf-8")
    assert ">4: 0.4266 Hz, undamped</option>" in page and ">1: free motion</option>" in page
    with Image.open(tmp_path / "film" / "modes.gif") as film:
        assert film.n_frames == 41
    for wrong, said in ((("--gif",), "a film shows one mode, and all are chosen"), (("--amplitude", 0), "got 0")):
        fails(gpmelica("modes", machine, *wrong), 2, said)


def test_state_of_the_run(gpmelica: Command, arm: Path) -> None:
    """At a time, its state is the one that the reference solver comes to; with its rates and the rest."""
    answer = gpmelica("linearize", arm, "--time", 0.2, "--json")
    run, said = gp.load(arm).simulate(), answer.json
    (row,) = np.flatnonzero(np.isclose(run.time, 0.2))
    assert said["time"] == 0.2
    assert len(said["states"]) == 2
    for names, values in (("states", "x"), ("outputs", "y")):
        known = [name in run for name in said[names]]
        expected = [run[name][row] for name in said[names] if name in run]
        assert all(known)
        assert np.array(said[values]) == pytest.approx(expected, rel=1e-5, abs=1e-6)
    shown = gpmelica("linearize", arm, "--time", 0.2)
    assert "2 states, " in shown.out
    assert "not an equilibrium" in shown.out


# ---- Wrong use --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["linearize", "modes"])
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--time", "-1"), ["time: expected a time of the run, 0 to 0.3 s", "got -1"]),
        (("--time", "nan"), ["got nan"]),
        (("--time", "0.31"), ["simulation.stop", "got 0.31"]),
        (("--time", "soon"), ["--time", "valid number"]),
        (
            ("--time", "0.1", "--equilibrium"),
            ["expected one of time, state, equilibrium, trim", "got time and equilibrium"],
        ),
        (("--state", "{folder}/none.json"), ["none.json", "cannot be read"]),
        (("--state", "{folder}/short.json"), ["short.json", "q: expected a list of 2 finite number(s)"]),
        (("--trim",), ["trim: the model has no FMU inputs"]),
        (("--input", "{folder}/short.json"), ["the model has no FMU inputs"]),
        (("--case", "lite"), ["lite", "light"]),
    ],
)
def test_wrong_use_gives_a_message(
    gpmelica: Command, arm: Path, command: str, options: tuple[str, ...], parts: list[str]
) -> None:
    """Status 2 and what is wrong, before anything is compiled."""
    (arm.parent / "short.json").write_text('{"q": [0.0], "qd": [0.0, 0.0]}', encoding="utf-8")
    begun = [option.format(folder=arm.parent) for option in options]
    fails(gpmelica(command, arm, *begun), 2, *parts)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--bode",), ["bode: expected a folder for bode.svg: give --out"]),
        (("--bode", "--out", "{folder}"), ["bode: 1 input(s) and 19 outputs are too many lines; name at most 8"]),
        (("--output", "E_zz"), ["outputs: there is no output 'E_zz'; did you mean 'E_z'?"]),
        (("--trim", "--equilibrium"), ["got equilibrium and trim"]),
    ],
)
def test_wrong_outputs_give_a_message(
    gpmelica: Command, machine: Path, options: tuple[str, ...], parts: list[str]
) -> None:
    given = [option.format(folder=machine.parent) for option in options]
    fails(gpmelica("linearize", machine, *given), 2, *parts)


def test_no_equilibrium_is_said(gpmelica: Command, tmp_path: Path) -> None:
    """A body that falls has none: which coordinate, and which force is left."""
    falling = described(link("stone", "prismatic", Z), statics={"locked": []}, simulation={"start": "description"})
    path = tmp_path / "falling.toml"
    path.write_text(toml(falling), encoding="utf-8")
    answer = gpmelica("modes", path, "--equilibrium")
    fails(answer, 2, "equilibrium: no static equilibrium found", "stone.position")


def test_wrong_use_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gp.load("examples/four_bar_3d.toml")
    with pytest.raises(gp.DescriptionError, match=r"state: qd: expected a list of 3 finite number\(s\), got None"):
        model.linearize(state={"q": np.zeros(3)})
    empty = gp.StateSpace(
        *(np.zeros((0, 0)) for _ in range(4)),
        (),
        (),
        (),
        0.0,
        *(np.zeros(0) for _ in range(4)),
        (),
        np.zeros(0),
        np.zeros((0, 0)),
        {},
    )
    assert empty.modes() == ()
    with pytest.raises(gp.UnknownNameError, match=r"there is no input 'motor'"):
        empty.select(inputs=["motor"])
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(gp.MissingToolError, match="pip install control"):
        empty.to_control()
