"""Export of URDF: Pinocchio moves as the description's tree does, and reading it again gives the same numbers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from helpers_cli import Command
from helpers_parts import X, body, link
from helpers_random import random_chain
from helpers_urdf import robot

import gpmelica as gp
from gpmelica import reference
from gpmelica.exchange import convert_urdf, to_urdf
from gpmelica.generator.description.load import from_data
from gpmelica.generator.mechanism import build
from gpmelica.model import Model

EXAMPLES = Path(__file__).parents[1] / "examples"
RIGID = ("revolute", "prismatic", "planar", "free", "fixed")


def _again(model: Model, folder: Path) -> tuple[Path, Model]:
    path = folder / "again.urdf"
    path.write_text(to_urdf(model).text, encoding="utf-8")
    return path, gp.from_urdf(path)


def _matrices(model: Model, q: Any, qd: Any) -> tuple[Any, Any]:
    """M, and h with gravity, by the reference, without forces."""
    numbers = reference.Model(build(model.description))
    state = numbers.state(0.0, q, qd)
    M, h = numbers.mass(state.posture)
    return M, h - numbers.forces(state).gravity


@pytest.mark.parametrize("seed", range(8))
def test_round_trip(seed: int, tmp_path: Path) -> None:
    """TOML → URDF → TOML: the same links, frames, inertias, axes and dampers, and the same M and h."""
    data = random_chain(np.random.default_rng(seed), links=5, joints=RIGID, beams=False, springs=False)
    data["gravity"] = [0.0, 0.0, -9.81]
    model = Model(from_data(data))
    _, again = _again(model, tmp_path)
    before, after = (build(m.description) for m in (model, again))
    assert [c.name for c in before.coordinates] == [c.name for c in after.coordinates]
    assert [c.axis for c in before.coordinates] == [c.axis for c in after.coordinates]
    links = {link.name: link for link in again.description.links}
    for part, other in zip(before.bodies, after.bodies, strict=True):
        assert (part.name, part.parent, part.mass) == (other.name, other.parent, other.mass)
        for mine, theirs in ((part.offset, other.offset), (part.com, other.com), (part.inertia, other.inertia)):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(part.rotation, other.rotation, rtol=0, atol=1e-15)
        described = next(link for link in model.description.links if link.name == part.name)
        if described.frame.rpy:
            assert links[part.name].frame.rpy == described.frame.rpy
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-1, 1, before.n), rng.normal(size=before.n)
    for mine, theirs in zip(_matrices(model, q, qd), _matrices(again, q, qd), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13 * np.abs(mine).max())


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "talos_left_arm.urdf"])
def test_robot_comes_back(name: str, tmp_path: Path) -> None:
    """URDF → TOML → URDF → TOML: the same tables of all links, dampers and friction among them, but for shapes."""
    first = convert_urdf(robot(name))
    path, _ = _again(gp.from_urdf(robot(name)), tmp_path)
    before, after = ({x["name"]: x for x in tomllib.loads(c.text)["links"]} for c in (first, convert_urdf(path)))
    for each in before.values():
        each.pop("shape", None)
    assert after == before


@pytest.mark.parametrize("joint", ["universal", "spherical", "revolute"])
@pytest.mark.parametrize("elements", [1, 3])
def test_pinocchio_has_the_same_tree(joint: str, elements: int, tmp_path: Path) -> None:
    """Joints of several coordinates with frames between them, and the elements of a beam."""
    beam = {"length": 1.2, "area": 0.002, "density": 2700.0, "E": 7e8, "G": 3e8, "Iy": 2e-6, "Iz": 3e-6, "J": 4e-6}
    data: dict[str, Any] = {
        "schema": 1,
        "name": "Arm",
        "links": [
            {
                "name": "boom",
                "parent": "ground",
                "frame": {"matrix": [[0, -1, 0, 0.3], [1, 0, 0, 0.1], [0, 0, 1, 0.2], [0, 0, 0, 1]]},
                "beam": beam | {"elements": elements},
                "joint": {"type": joint} | ({"axis": [0.0, 0.6, 0.8]} if joint == "revolute" else {}),
            },
            link("tip", "prismatic", X, "boom", xyz=[1.2, 0.0, 0.1], rpy=[0.1, 0.2, 0.3], damping=0.4)
            | body(2.0, inertia=[0.1, 0.1, 0.1]),
        ],
    }
    model = Model(from_data(data))
    path, _ = _again(model, tmp_path)
    truth, n = pin.buildModelFromUrdf(str(path)), len(model.coordinates)
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-1, 1, n), rng.normal(size=n)
    rows = [truth.joints[truth.getJointId(c.symbol)].idx_v for c in model.coordinates]
    assert sorted(rows) == list(range(n))
    order = np.argsort(rows)
    # joints without limits have cosine and sine
    parts = [[np.cos(q[k]), np.sin(q[k])] if model.coordinates[k].unit == "rad" else [q[k]] for k in order]
    given, rates = np.concatenate(parts), qd[order]
    upper = np.triu(pin.crba(truth, truth.createData(), given))
    M = (upper + np.triu(upper, 1).T)[np.ix_(rows, rows)]
    h = pin.nonLinearEffects(truth, truth.createData(), given, rates)[rows]
    mine = _matrices(model, q, qd)
    np.testing.assert_allclose(mine[0], M, rtol=0, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(mine[1], h, rtol=0, atol=1e-12 * np.abs(h).max())


def test_what_is_left_out_is_said(tmp_path: Path, gpmelica: Command) -> None:
    """The crane is more than a tree of links."""
    out = tmp_path / "crane.urdf"
    answer = gpmelica("export", "urdf", EXAMPLES / "crane.toml", "--out", out)
    assert answer.status == 0
    said = answer.out.splitlines()
    assert said[0] == f"wrote {out}"
    for what in ("supports of the base", "points", "programmed constraints", "springs between beam elements"):
        assert any(line.endswith(what) for line in said[1:]), what
    assert pin.buildModelFromUrdf(str(out)).nv == len(gp.load(EXAMPLES / "crane.toml").coordinates)


def test_files_are_not_overwritten(tmp_path: Path, gpmelica: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that nobody has given is not that of another file."""
    monkeypatch.chdir(tmp_path)
    command = ("import", "urdf", robot("finger_edu.urdf"))
    assert gpmelica(*command).status == 0
    (path,) = tmp_path.glob("*.toml")
    path.write_text("edited", encoding="utf-8")
    answer = gpmelica(*command)
    assert answer.status == 2
    assert "is there already; say --out" in answer.err
    assert path.read_text(encoding="utf-8") == "edited"
    assert gpmelica(*command, "--out", path).status == 0
