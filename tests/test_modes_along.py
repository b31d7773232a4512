"""Modes along a key or the time: against closed forms through crossings, and how they are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_cli import Command, fails
from helpers_parts import X, Y, Z, beam, body, link, machine

import gpmelica as gp
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data
from gpmelica.linear.modes import Mode
from gpmelica.linear.tracks import tracks

EXACT = 1e-6
RADIUS, MASS, LENGTH, FLAP, SLIDE = 0.3, 2.0, 1.0, 40.0, 90.0
INERTIA, MOMENT = MASS * LENGTH**2 / 3, MASS * LENGTH / 2 * RADIUS
CROSSING = 5.0  # rad/s: where flap has the frequency of the slide


def flap(spin: Any) -> Any:
    """Hz of a rod that is hinged at the rim of a turning hub and swings out of its plane."""
    return np.sqrt((FLAP + spin**2 * (INERTIA + MOMENT)) / INERTIA) / (2 * np.pi)


def lag(spin: Any, angle: Any = 0.0, ramp: float = 0.0) -> Any:
    """Hz of one that swings in the plane, at an angle, the hub getting faster by ramp, rad/s²."""
    return np.sqrt(MOMENT * (spin**2 * np.cos(angle) - ramp * np.sin(angle)) / INERTIA) / (2 * np.pi)


def _rod(name: str, angle: float, axis: list[float], **joint: Any) -> dict[str, Any]:
    place = {"xyz": [RADIUS * np.cos(angle), RADIUS * np.sin(angle), 0.0], "rpy": [0.0, 0.0, angle]}
    inertia = MASS * LENGTH**2 / 12
    return link(name, "revolute", axis, "hub", **place, **joint) | body(
        MASS, [LENGTH / 2, 0.0, 0.0], [0.0, inertia, inertia]
    )


def _slide(name: str, axis: list[float], mass: Any) -> dict[str, Any]:
    return link(name, "prismatic", axis, stiffness=SLIDE) | body(mass, inertia=[0.1, 0.1, 0.1])


def spinner() -> dict[str, Any]:
    """A hub that turns as it is told, with two rods; beside it two masses on springs."""
    load = SLIDE / (2 * np.pi * flap(CROSSING)) ** 2
    return machine(
        link("hub", "revolute", Z) | body(5.0),
        _rod("flap", 0.0, Y, stiffness=FLAP),
        _rod("lag", np.pi, Z),
        _slide("load", X, "payload"),
        _slide("other", Y, 4.0),
        gravity=[0.0, 0.0, 0.0],
        parameters={"spin": 3.0, "ramp": 0.0, "payload": {"value": load, "unit": "kg", "min": 0.1}},
        motions=[{"name": "turn", "joint": "hub", "position": "spin*t + 0.5*ramp*t^2"}],
        constraints={"formulation": "gpme_reduced"},  # the hub's speed is that of its motion, not a state
        simulation={"stop": 0.1, "tolerance": 1e-10},
    )


def model(**changes: Any) -> gp.Model:
    return gp.Model(from_data(spinner(), changes=changes))


@pytest.mark.slow
def test_centrifugal_stiffening() -> None:
    """Over the speed: both rods and both slides by closed forms; the flapping rod crosses a slide on a value."""
    spins = np.linspace(1.0, 9.0, 9)
    found = model().modes_along("spin", spins)
    load, other = flap(CROSSING) * np.ones(9), np.sqrt(SLIDE / 4.0) / (2 * np.pi) * np.ones(9)
    expected = sorted([flap(spins), lag(spins), load, other], key=lambda line: float(line[0]))
    assert found.frequency == pytest.approx(np.array(expected).T, rel=EXACT)
    assert np.abs(found.damping).max() == 0.0
    where, coincide = list(spins).index(CROSSING), np.isnan(found.assurance[1:])
    assert np.argwhere(coincide).tolist() == [[where - 1, 2], [where - 1, 3]]
    assert np.nanmin(found.assurance) > 1 - 1e-9
    assert found.notes == ()
    assert found.unit == ""
    named = [found.coordinates[int(np.abs(shape).argmax())] for shape in found.shapes[-1]]
    assert named == ["lag.angle", "other.position", "flap.angle", "load.position"]


@pytest.mark.slow
def test_along_the_run() -> None:
    """The hub gets faster: at each time frequencies as of its speed and of the angle that the rod lags by."""
    ramp, times = 40.0, [0.02, 0.05, 0.08]
    machine = model(parameters={"spin": 3.0, "ramp": ramp})
    found = machine.modes_along("t", times)
    run = machine.simulate()
    angles = np.array([run["lag_angle"][int(np.argmin(np.abs(run.time - t)))] for t in times])
    spins = 3.0 + ramp * np.array(times)
    for expected in (flap(spins), lag(spins, angles, ramp)):
        assert np.abs(found.frequency - expected[:, None]).max(axis=0).min() < EXACT
    assert found.label == "t in s"


@pytest.mark.slow
def test_along_the_start_of_a_command() -> None:
    """A load swings at the length that its rope begins with, also later in the run."""
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "load"}, "stiffness": 1e6, "damping": 1e3}
    rope["rest"] = {"input": "hoist", "cutoff": 2.0, "start": "drop"}
    slides = [link("across", "prismatic", X), link("load", "prismatic", Z, "across", position=-2.0)]
    across = {key: value for key, value in slides[0].items() if key not in body()}
    data = machine(across, slides[1], lines=[rope], parameters={"drop": 2.0}, statics={"locked": []})
    drops = np.array([1.5, 2.5])
    found = gp.Model(from_data(data)).modes_along("drop", drops, time=0.5)
    lengths = drops + 9.81e-6
    assert found.frequency[:, 0] == pytest.approx(np.sqrt(9.81 / lengths) / (2 * np.pi), rel=EXACT)


@pytest.mark.slow
def test_commands(gpmelica: Command, tmp_path: Path) -> None:
    """A payload that makes a slide slower than another one: figure, JSON and CSV of the same numbers."""
    path = tmp_path / "spinner.toml"
    path.write_text(toml(spinner()), encoding="utf-8")
    answer = gpmelica("modes", path, "--along", "payload=1:7:7", "--json", "--out", tmp_path / "out")
    assert (answer.status, answer.err) == (0, "")
    said, payloads = answer.json, np.linspace(1.0, 7.0, 7)
    assert (said["along"], said["unit"], said["values"]) == ("payload", "kg", payloads.tolist())
    lines = np.array([mode["frequency"] for mode in said["modes"]])
    falling = lines[np.argmax(np.ptp(lines, axis=1))]
    assert falling == pytest.approx(np.sqrt(SLIDE / payloads) / (2 * np.pi), rel=EXACT)
    assert np.sort(np.ptp(lines, axis=1))[-2] < EXACT
    rows = np.genfromtxt(tmp_path / "out" / "modes_along.csv", delimiter=",", names=True)
    assert rows["frequency"].reshape(7, 4) == pytest.approx(lines.T, rel=1e-15)
    assert sorted(p.suffix for p in (tmp_path / "out").iterdir()) == [".csv", ".json", ".png", ".svg"]
    assert "payload in kg" in (tmp_path / "out" / "modes_along.svg").read_text(encoding="utf-8")
    for wrong, text in (
        ("payload=1:7:x", "as third number, got x"),
        ("payload=3", "expected at least two values"),
        ("payload=0.01,1", "min and max"),
        ("payloat=1,2", "there is no parameter 'payloat'; did you mean 'payload'?"),
        ("t=0:2:3", "expected a time of the run, 0 to 0.1 s"),
        ("payload", "expected KEY=first:last:count"),
    ):
        fails(gpmelica("modes", path, "--along", wrong), 2, text)
    fails(gpmelica("modes", path, "--along", "t=0,1", "--equilibrium"), 2, "remove the options time, state")
    fails(gpmelica("modes", path, "--along", "t=0,1", "--gif"), 2, "omit --html, --gif")


def _pair(damping: float) -> list[Mode]:
    """Return the eigenvalues of q̈ + 2 d q̇ + q = 0: complex below critical damping, real above."""
    roots = np.roots([1.0, 2 * damping, 1.0])
    return [Mode(complex(root), {"q": 1.0 + 0.0j, "r": 0.0j}) for root in roots if root.imag >= 0]


def test_modes_that_part() -> None:
    """A mode that is damped more and more becomes two, each of which goes on with its own pole."""
    dampings = [0.5, 0.9, 1.25, 2.0, 4.0]
    found = tracks("d", "", dampings, [_pair(d) for d in dampings], [np.eye(2)] * 5)
    for k, d in enumerate(dampings[2:], start=2):
        slow, fast = d - np.sqrt(d * d - 1), d + np.sqrt(d * d - 1)
        assert sorted(-found.eigenvalues[k].real) == pytest.approx([slow, fast])
    assert np.all(np.abs(np.diff(np.abs(found.eigenvalues[2:]), axis=0)) > 0)
    assert all(np.ptp(np.sign(np.diff(line))) == 0 for line in np.abs(found.eigenvalues[2:]).T)
    assert np.isnan(found.eigenvalues[:2]).sum(axis=0).tolist() == [0, 2]


def test_a_jump_is_noted() -> None:
    """Shapes that have turned by 60 degrees from one value to the next."""
    shapes = [[1.0, 0.0], [0.5, np.sqrt(0.75)]]
    modes = [[Mode(1j, dict(zip("qr", shape, strict=True)))] for shape in shapes]
    found = tracks("d", "", [1.0, 2.0], modes, [np.eye(2)] * 2)
    assert found.assurance[1, 0] == pytest.approx(0.25)
    (note,) = found.notes
    assert "the smallest 0.25 for mode 1 from d = 1 to 2" in note


def test_keys_that_change_the_coordinates() -> None:
    section = {"length": 1.0, "density": 1e3, "area": 1e-4, "E": 1e9, "G": 4e8, "Iy": 1e-9, "Iz": 1e-9, "J": 2e-9}
    data = machine(beam("beam", section | {"elements": 2}, "fixed"))
    with pytest.raises(DescriptionError, match="changes the number or names of coordinates"):
        gp.Model(from_data(data)).modes_along("links.beam.beam.elements", [2, 3])
