"""Wrong closures, friction and loads: each ends with exit status 2, the key and what was expected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers_bad_input import CommandLine

BARS = """\
schema = 1
name = "Bars"
gravity = [0.0, -9.81, 0.0]

[[links]]
name = "crank"
parent = "ground"
mass = 0.8
inertia = [0.01, 0.08, 0.08]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0], position = 0.7 }

[[links]]
name = "coupler"
parent = "crank"
frame = { xyz = [0.4, 0.0, 0.0] }
mass = 2.0
inertia = [0.01, 0.2, 0.2]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0], position = -0.2 }

[[links]]
name = "rocker"
parent = "ground"
frame = { xyz = [1.0, 0.0, 0.0] }
mass = 1.6
inertia = [0.01, 0.16, 0.16]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0], position = 1.3 }

[[closures]]
name = "pin"
type = "point_on_line"
a = { link = "coupler", xyz = [1.0, 0.0, 0.0] }
b = { link = "rocker", xyz = [0.8, 0.0, 0.0] }

[simulation]
stop = 1.0
"""
_TYPE, _B, _CRANK = 'type = "point_on_line"', '{ link = "rocker", xyz = [0.8, 0.0, 0.0] }', "position = 0.7 }"
_SOFT = 'type = "spherical"\nmodel = "spring_damper"\n'
_LUGRE = 'model = "lugre", sigma0 = 1e3, mu_s = 0.2, mu_k = 0.15, v_s = 0.1'
_WHOLE = 'six numbers go with model = "spring_damper", and only with it'
_JOURNAL = "a revolute joint needs its journal's diameter, a prismatic one has none"
Change = tuple[str, str]


def _closure(text: str) -> Change:
    return _TYPE, text


def _friction(text: str) -> Change:
    return _CRANK, f"position = 0.7, friction = {{ {text} }} }}"


WRONG: dict[str, tuple[Change, str]] = {
    "itself": (
        (_B, '{ link = "coupler" }'),
        "closures[0].b.link (pin): expected another link than that of a, 'coupler'",
    ),
    "unknown link": (
        (_B, '{ link = "rokcer" }'),
        "closures[0].b.link (pin): there is no link 'rokcer'; did you mean 'rocker'?",
    ),
    "no frame": ((f"b = {_B}\n", ""), "closures[0].b (pin): is missing"),
    "unknown type": (
        _closure('type = "hinge"'),
        "closures[0].type (pin): expected one of revolute, spherical, universal, prismatic, fixed, distance,"
        " point_on_line, got 'hinge'",
    ),
    "unknown model": (
        _closure('type = "spherical"\nmodel = "spring"'),
        "closures[0].model (pin): expected 'constraint' or 'spring_damper', got 'spring'",
    ),
    "unknown key": (
        _closure('type = "spherical"\nstifness = 1.0'),
        "closures[0].stifness (pin): unknown key; did you mean 'stiffness'?",
    ),
    "no stiffness": (_closure(_SOFT), f"closures[0].stiffness (pin): {_WHOLE}"),
    "five stiffnesses": (
        _closure(_SOFT + "stiffness = [1e6, 1e6, 1e6, 0.0, 0.0]"),
        "closures[0].stiffness (pin): expected 6 values, got 5",
    ),
    "negative stiffness": (
        _closure(_SOFT + "stiffness = [1e6, 1e6, -1e6, 0.0, 0.0, 0.0]"),
        "closures[0].stiffness[2] (pin): expected at least 0, got -1000000.0",
    ),
    "negative damping": (
        _closure(_SOFT + "stiffness = [1, 1, 1, 1, 1, 1]\ndamping = [0, 0, 0, 0, 0, -1]"),
        "closures[0].damping[5] (pin): expected at least 0, got -1",
    ),
    "stiffness of a constraint": (
        _closure(f"{_TYPE}\nstiffness = [1, 1, 1, 1, 1, 1]"),
        f"closures[0].stiffness (pin): {_WHOLE}",
    ),
    "damping of a constraint": (
        _closure(f"{_TYPE}\ndamping = [1, 1, 1, 1, 1, 1]"),
        'closures[0].damping (pin): goes with model = "spring_damper" only',
    ),
    "axes of a constraint": (
        _closure(f'{_TYPE}\naxes = "world"'),
        'closures[0].axes (pin): goes with model = "spring_damper" only',
    ),
    "unknown axes": (
        _closure(_SOFT + 'stiffness = [1, 1, 1, 1, 1, 1]\naxes = "body"'),
        "closures[0].axes (pin): expected 'local' or 'world', got 'body'",
    ),
    "no length": (
        _closure('type = "distance"'),
        "closures[0].length (pin): goes with a distance closure, and only with it",
    ),
    "length of a line": (
        _closure(f"{_TYPE}\nlength = 0.3"),
        "closures[0].length (pin): goes with a distance closure, and only with it",
    ),
    "negative length": (
        _closure('type = "distance"\nlength = -0.3'),
        "closures[0].length (pin): expected a number above 0, got -0.3",
    ),
    "springs along a distance": (
        _closure('type = "distance"\nlength = 0.3\nmodel = "spring_damper"\nstiffness = [1, 1, 1, 1, 1, 1]'),
        "closures[0].model (pin): a distance closure is a constraint; use a spherical spring_damper for springs",
    ),
    "name twice": (
        (
            "[simulation]",
            f'[[closures]]\nname = "pin"\n{_TYPE}\na = {{ link = "crank" }}\nb = {_B}\n\n[simulation]',
        ),
        "closures[1].name: the name 'pin' is taken by closures[0]; names must be unique",
    ),
    "friction without a diameter": (_friction(_LUGRE), f"links[0].joint.friction.diameter (crank): {_JOURNAL}"),
    "diameter of a slide": (
        (
            'type = "revolute", axis = [0.0, 0.0, 1.0], position = 0.7 }',
            f'type = "prismatic", axis = [0.0, 0.0, 1.0], friction = {{ {_LUGRE}, diameter = 0.1 }} }}',
        ),
        f"links[0].joint.friction.diameter (crank): {_JOURNAL}",
    ),
    "friction of a spherical joint": (
        (
            'type = "revolute", axis = [0.0, 0.0, 1.0], position = 0.7 }',
            f'type = "spherical", friction = {{ {_LUGRE}, diameter = 0.1 }} }}',
        ),
        "links[0].joint.friction (crank): expected a revolute or prismatic joint, got spherical",
    ),
    "kinetic above static friction": (
        _friction(_LUGRE.replace("mu_k = 0.15", "mu_k = 0.3") + ", diameter = 0.1"),
        "links[0].joint.friction.mu_k (crank): expected at most mu_s = 0.2, got 0.3",
    ),
    "gamma": (
        _friction('model = "dahl", sigma0 = 1e3, mu_s = 0.2, gamma = 2.5, diameter = 0.1'),
        "links[0].joint.friction.gamma (crank): expected at most 2, got 2.5",
    ),
    "unknown friction": (
        _friction('model = "coulomb", mu = 0.2'),
        "links[0].joint.friction.model (crank): expected one of 'lugre', 'dahl', got 'coulomb'",
    ),
    "no friction model": (
        _friction("mu = 0.2"),
        "links[0].joint.friction.model (crank): is missing",
    ),
    "friction is a word": (
        (_CRANK, 'position = 0.7, friction = "lugre" }'),
        "links[0].joint.friction (crank): expected a table, got 'lugre'",
    ),
    "key of the other friction": (
        _friction('model = "dahl", sigma0 = 1e3, mu_s = 0.2, v_s = 0.1, diameter = 0.1'),
        "links[0].joint.friction.v_s (crank): unknown key;"
        " known are: model, sigma0, mu_s, gamma, diameter, normal_force",
    ),
    "no normal force": (
        _friction(_LUGRE + ", diameter = 0.1, normal_force = 0.0"),
        "links[0].joint.friction.normal_force (crank): expected a number above 0, got 0.0",
    ),
    "load of an unknown link": (
        ("[simulation]", '[outputs]\nloads = ["crank", "elbow"]\n\n[simulation]'),
        "outputs.loads[1]: there is no link 'elbow'; known are: crank, coupler, rocker",
    ),
    "loads are another word": (
        ("[simulation]", '[outputs]\nloads = "every"\n\n[simulation]'),
        "outputs.loads: expected 'all' or an array of names, got 'every'",
    ),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in this process."""
    return CommandLine(tmp_path, monkeypatch, capsys)


def _changed(*changes: Change) -> str:
    text = BARS
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    return text


def test_the_sound_one(run: CommandLine) -> None:
    """The linkage that the others are made from is right, with friction, loads and a replacement joint, too."""
    load = ("[simulation]", '[outputs]\nloads = "all"\n\n[simulation]')
    soft = _closure(_SOFT + "stiffness = [1e6, 1e6, 1e6, 0.0, 0.0, 0.0]")
    for changes in ((), (load, _friction(_LUGRE + ", diameter = 0.1")), (soft,)):
        outcome = run.on_text(_changed(*changes))
        assert (outcome.status, outcome.problems) == (0, [])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables(run: CommandLine, name: str) -> None:
    """Each problem is one line with the key and what was expected; nothing is written."""
    change, expected = WRONG[name]
    outcome = run.on_text(_changed(change))
    assert (outcome.status, outcome.problems) == (2, [expected])
    assert (outcome.out, outcome.files) == ("", [])


@pytest.mark.parametrize("command", ["check", "modelica", "build", "run", "loads"])
def test_every_command(run: CommandLine, command: str) -> None:
    """Commands that make a model refuse a loop that cannot close, with its links and the gap in m and rad."""
    outcome = run.on_text(_changed(("xyz = [1.0, 0.0, 0.0] }\nb", "xyz = [5.0, 0.0, 0.0] }\nb")), command)
    assert (outcome.status, outcome.files, len(outcome.problems)) == (2, [], 1)
    # 5 m less crank, ground and rocker in one line
    assert outcome.problems[0].startswith(
        "closure pin cannot be closed: 2.8 m and 0 rad remain between its frames on coupler and rocker; "
    )


def test_axes_that_cannot_be_parallel(run: CommandLine) -> None:
    """A revolute closure whose axis leans out of the plane lacks the angle, not the place."""
    revolute = _closure('type = "revolute"'), (_B, _B.replace("}", ", rpy = [0.5, 0.0, 0.0] }"))
    outcome = run.on_text(_changed(*revolute))
    assert outcome.status == 2
    found = re.match(r"closure pin cannot be closed: (\S+) m and (\S+) rad remain", outcome.problems[0])
    assert found
    assert float(found[1]) < 1e-9
    assert float(found[2]) == pytest.approx(0.5, abs=1e-3)


def test_locked_links_that_keep_a_loop_open(run: CommandLine) -> None:
    """Where locked links keep a loop open, they are named as what to unlock."""
    locked = ("[simulation]", '[statics]\nlocked = ["crank", "coupler"]\n\n[simulation]')
    outcome = run.on_text(_changed(locked))
    assert outcome.status == 2
    assert "closure pin cannot be closed: " in outcome.problems[0]
    assert "or unlock crank, coupler in [statics]" in outcome.problems[0]


def test_redundant_loop(run: CommandLine) -> None:
    """A planar linkage closed by a spatial revolute joint: of its five rows two count, and the others are named.

    The same where there are fewer coordinates than rows.
    """
    free = "\n".join(
        f'[[links]]\nname = "free{i}"\nparent = "ground"\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n'
        'joint = { type = "revolute", axis = [0.0, 0.0, 1.0] }\n'
        for i in range(3)
    )
    revolute = _closure('type = "revolute"')
    for text in (_changed(revolute), _changed(revolute, ("[[closures]]", f"{free}\n[[closures]]"))):
        outcome = run.on_text(text)
        assert (outcome.status, outcome.problems) == (0, [])
        assert "of rank 2" in outcome.out
        assert all(row in outcome.out.split("of rank 2")[1] for row in ("pin_z", "pin_xz", "pin_yz"))
