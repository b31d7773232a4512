"""Import of URDF: what a file says stands in the description, number by number, and Pinocchio moves as it does."""

from __future__ import annotations

import doctest
import json
import tomllib
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
import trimesh
from helpers_cli import Command
from helpers_parts import X, beam, body, link
from helpers_random import random_chain
from helpers_stages import StagedModel
from helpers_urdf import Dynamics, GeneratedMatrices, PinocchioRobot, dissipated, pin, robot, robots

import gpmelica as gp
from gpmelica import analysis
from gpmelica.analysis.system import System
from gpmelica.api.exchange import convert_urdf, to_urdf
from gpmelica.api.model import Model
from gpmelica.description.fields.numbers import value_of, values_of
from gpmelica.description.load import from_data
from gpmelica.exchange.import_urdf import imported
from gpmelica.exchange.toml_text import toml_text
from gpmelica.exchange.urdf import read_urdf
from gpmelica.mechanism import build

TOLERANCE = 1e-9
MACHINE = """\
<?xml version="1.0" encoding="utf-8"?>
<!-- a comment -->
<robot name="my-robot" xmlns:xacro="http://wiki.ros.org/xacro">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="2nd/arm">
    <inertial>
      <origin xyz="0.1 0 -0.2" rpy="0 0 1.5707963267948966"/>
      <mass value="2.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/>
    </inertial>
    <visual><origin xyz="0 0 0.1"/><geometry><box size="1 2 3"/></geometry><material name="grey"/></visual>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="slide">
    <inertial><mass value="1"/>
      <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial>
    <visual><geometry>
      <mesh filename="package://mine/parts/slide.stl" scale="0.001 0.001 0.001"/>
    </geometry></visual>
  </link>
  <link name="wheel">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"/></inertial>
    <visual><geometry><capsule/></geometry></visual>
    <visual><geometry><mesh filename="a.dae"/></geometry></visual>
    <visual><geometry><mesh filename="a.stl"/></geometry></visual>
  </link>
  <link name="tool0"><inertial><mass value="0"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="2nd/arm"/>
    <origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="2" effort="30" velocity="3"/>
    <dynamics damping="0.7" friction="0.2"/>
    <safety_controller soft_lower_limit="-0.9" k_position="20"/>
  </joint>
  <joint name="guide" type="prismatic">
    <parent link="2nd/arm"/><child link="slide"/>
    <limit lower="0" upper="0.4" effort="30" velocity="3"/>
  </joint>
  <joint name="drive" type="continuous">
    <parent link="slide"/><child link="wheel"/><axis xyz="0 1 0"/>
    <mimic joint="guide" multiplier="-2.5" offset="0.25"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="slide"/><child link="tool0"/><origin xyz="0 0.1 0"/></joint>
  <transmission name="gear"><type>simple</type><joint name="shoulder"/>
    <actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="slide"/>
</robot>
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A file that has all that is read."""
    path, mesh = tmp_path / "mine" / "urdf" / "machine.urdf", tmp_path / "mine" / "parts" / "slide.stl"
    path.parent.mkdir(parents=True)
    path.write_text(MACHINE, encoding="utf-8")
    mesh.parent.mkdir()
    mesh.write_text("solid", encoding="utf-8")
    return path


def _close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=0, atol=1e-16)


def test_import_keeps_all_numbers(machine: Path) -> None:
    """Links, frames, numbers and joints are kept; rotated inertia tensors are transformed, and
    axes are unit vectors.
    """
    tables = tomllib.loads(convert_urdf(machine, folder=machine.parent / "out").text)
    links = {link["name"]: link for link in tables["links"]}
    assert tables["name"] == "my_robot"
    assert list(links) == ["base_", "link_2nd_arm", "slide", "wheel", "tool0"]
    assert links["base_"] == {"name": "base_", "alias": "base", "parent": "ground", "joint": {"type": "fixed"}}
    arm = links["link_2nd_arm"]
    assert arm["frame"] == {"xyz": [0.0, 0.0, 0.5], "rpy": [0.1, 0.2, 0.3]}
    friction = {"model": "coulomb", "effort": 0.2, "v_s": 0.01}
    limits = {"lower": -1.0, "upper": 2.0, "effort": 30.0, "velocity": 3.0}
    joint = {"type": "revolute", "name": "shoulder", "axis": [0.0, 0.0, 1.0], "damping": 0.7, "friction": friction}
    assert arm["joint"] == joint | {"limits": limits}
    assert arm["alias"] == "2nd/arm"
    assert (arm["mass"], arm["com"]) == (2.5, [0.1, 0.0, -0.2])
    _close(arm["inertia"], np.diag([0.02, 0.01, 0.025]))
    assert arm["shape"] == {
        "type": "box",
        "size": [1.0, 2.0, 3.0],
        "frame": {"xyz": [0.0, 0.0, 0.1]},
        "colour": "#808080",
    }
    assert links["slide"]["shape"] == {"type": "mesh", "file": "../../parts/slide.stl", "scale": 0.001}
    guide = {"type": "prismatic", "name": "guide", "axis": [1.0, 0.0, 0.0]}
    assert links["slide"]["joint"] == guide | {"limits": limits | {"lower": 0.0, "upper": 0.4}}
    assert links["slide"]["inertia"] == [[0.01, 0.001, 0.0], [0.001, 0.02, 0.0], [0.0, 0.0, 0.025]]
    assert links["wheel"]["joint"] == {
        "type": "revolute",
        "name": "drive",
        "axis": [0.0, 1.0, 0.0],
        "position": 0.25,
    }
    assert links["wheel"]["physical"] is False
    assert links["tool0"] == {
        "name": "tool0",
        "parent": "slide",
        "frame": {"xyz": [0.0, 0.1, 0.0]},
        "joint": {"type": "fixed", "name": "flange"},
    }
    row = {"name": "mimic_wheel", "expression": "wheel.angle + 2.5*slide.position - 0.25"}
    assert tables["programmed"] == [row]


@pytest.mark.parametrize(
    ("given", "axis"),
    [
        ('<axis xyz="2 -3 6"/>', (2 / 7, -3 / 7, 6 / 7)),
        ('<axis xyz="-0.6 0 -.8"/>', (-0.6, 0.0, -0.8)),
        ('<axis xyz="0 +1e-3 -1E-3"/>', (0.0, 0.5**0.5, -(0.5**0.5))),
        ("<axis/>", (1.0, 0.0, 0.0)),
        ("", (1.0, 0.0, 0.0)),
    ],
)
def test_axes(tmp_path: Path, given: str, axis: tuple[float, ...]) -> None:
    """Joint axes have length 1 and default to the x axis."""
    ends = '<parent link="a"/><child link="b"/>'
    joint = f'<joint name="j" type="revolute">{ends}{given}</joint>'
    (tmp_path / "robot.urdf").write_text(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>')
    assert read_urdf(tmp_path / "robot.urdf").joints[0].axis == pytest.approx(axis, abs=1e-16)


def test_nothing_is_dropped_in_silence(machine: Path, gpmelica: Command) -> None:
    """Notes on changes and omissions of an import are printed, head the file, and are part of the model."""
    notes = [
        "unchanged: the inertia of link 'wheel' is not physical: no rigid body can have principal moments"
        " [1, 1, 3] about the com; the largest must not exceed the sum of the other two",
        "changed: invalid names were replaced, 'my-robot' by 'my_robot', 'base' by 'base_', '2nd/arm' by"
        " 'link_2nd_arm'",
        "chosen: friction of joints (1) reaches its full value at v_s = 0.01 rad/s or m/s, which URDF does not"
        " define",
        "omitted: soft_lower_limit, k_position of joints; comments in the file contain the values",
        "unchanged: joint limits have no effect; add a stiffness to turn limits into end stops",
        "unchanged: the links base_, tool0 have no inertia; replace the placeholders in the comments of the file",
        "omitted: transmission gear of shoulder, mechanicalReduction 50",
        "omitted: 1 × <collision> of link",
        "omitted: 1 × <gazebo> of robot",
        "omitted: 1 × <visual> of link, after the first",
        "omitted: 1 × <visual> of link: the geometry capsule is not supported",
        "omitted: 2 × <visual> of link: the mesh file is missing",
    ]
    out = machine.with_name("out.toml")
    answer = gpmelica("import", "urdf", machine, "--out", out)
    assert answer.status == 0
    assert answer.out.splitlines()[1:] == notes
    text = out.read_text(encoding="utf-8")
    assert [line[2:] for line in text.splitlines()[1 : len(notes) + 1]] == notes
    assert "# joint shoulder: revolute, soft_lower_limit -0.9 rad, k_position 20" in text.splitlines()
    assert text.count("# mass = 1.0  # this link has no inertia") == 2
    assert list(gp.from_urdf(machine).notes) == notes
    data = json.loads(gpmelica("import", "urdf", machine, "--out", out, "--json").out)
    assert data == {"files": [str(out)], "notes": notes}


def test_ignored_parts_are_reported(machine: Path) -> None:
    """Ignored attributes and repeated elements are reported; an unsupported quaternion is an
    error.
    """
    springs = MACHINE.replace('damping="0.7"', 'damping="0.7" spring_stiffness="40"')
    text = springs.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>')
    machine.write_text(text, encoding="utf-8")
    robot = read_urdf(machine)
    assert "1 × spring_stiffness of <dynamics>" in robot.not_carried
    assert "1 × <axis> of joint, after the first" in robot.not_carried
    machine.write_text(MACHINE.replace('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 1 0"'), encoding="utf-8")
    with pytest.raises(gp.DescriptionError, match=r"'shoulder', <origin>: quat_xyzw is not supported.*: rpy"):
        read_urdf(machine)


def test_namespace_of_the_file(machine: Path) -> None:
    """`xmlns` of the whole file, as in robots of Drake, changes nothing."""
    plain = read_urdf(machine)
    machine.write_text(MACHINE.replace("<robot ", '<robot xmlns="http://drake.mit.edu" '), encoding="utf-8")
    assert read_urdf(machine) == plain


@pytest.mark.parametrize("place", ["", "package://"])
def test_name_that_no_file_has(machine: Path, place: str) -> None:
    """A mesh whose name is too long for a file is one that is not there."""
    text = MACHINE.replace("package://mine/parts/slide", place + 300 * "slide")
    machine.write_text(text, encoding="utf-8")
    assert "3 × <visual> of link: the mesh file is missing" in read_urdf(machine).not_carried


def test_changed_names_are_reported(machine: Path) -> None:
    """Invalid names are replaced and reported; the ground has no name to change."""
    text = MACHINE.replace('"base"', '"ground"').replace('"slide"', '"planet-carrier"')
    machine.write_text(text, encoding="utf-8")
    names = "'my-robot' by 'my_robot', '2nd/arm' by 'link_2nd_arm', 'planet-carrier' by 'planet_carrier'"
    assert f"changed: invalid names were replaced, {names}" in convert_urdf(machine).notes


def test_mimic_joint_starts_on_its_constraint(machine: Path) -> None:
    """A joint that mimics another one satisfies its constraint at the initial time and in the
    equations.
    """
    model = gp.from_urdf(machine)
    assert model.check().consistent
    assert model.check().data()["dof"] == 2


def test_floating_and_fixed_base(machine: Path) -> None:
    """The root link has six coordinates or is fixed to the ground; a root frame named `world` is
    the ground.
    """
    machine.write_text(MACHINE.replace('"base"', '"world"'), encoding="utf-8")
    model = gp.from_urdf(machine)
    assert model.description.links[0].name == "link_2nd_arm"
    assert "changed: the root link 'world' has become the ground" in model.notes
    with pytest.raises(gp.DescriptionError, match=r"world\.psi.*can move together without moving mass"):
        gp.from_urdf(machine, base="floating")  # it turns about the arm's axis, and the arm back
    body = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    machine.write_text(
        MACHINE.replace('<link name="base"/>', f'<link name="base">{body}</link>'), encoding="utf-8"
    )
    assert gp.from_urdf(machine, base="floating").coordinates[0].name == "base_.x"
    with pytest.raises(gp.DescriptionError, match="expected one of fixed, floating, got 'flying'"):
        gp.from_urdf(machine, base="flying")


def test_names_that_modelica_reserves_stay(machine: Path) -> None:
    """A link is always the beginning of a longer name; only the words of expressions are replaced."""
    text = MACHINE.replace('"wheel"', '"floor"').replace('"slide"', '"end"').replace('"tool0"', '"t"')
    machine.write_text(text, encoding="utf-8")
    names = [link.name for link in gp.from_urdf(machine).description.links]
    assert names == ["base_", "link_2nd_arm", "end", "floor", "t_"]


def test_masses_by_density(machine: Path, tmp_path: Path) -> None:
    """Links without inertia get that of their shapes: box, cylinder, sphere and a mesh of the same box."""
    box = trimesh.creation.box(extents=(0.2, 0.4, 0.6))
    box.export(tmp_path / "box.stl")
    turned = '<origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>'
    shapes = {
        "a": '<box size="0.2 0.4 0.6"/>',
        "b": '<mesh filename="box.stl"/>',
        "c": '<cylinder radius="0.1" length="0.5"/>',
        "d": '<sphere radius="0.1"/>',
    }
    links = "".join(
        f'<link name="{name}"><visual>{turned}<geometry>{shape}</geometry></visual></link>'
        f'<joint name="j{name}" type="revolute"><parent link="root"/><child link="{name}"/></joint>'
        for name, shape in shapes.items()
    )
    path = tmp_path / "shapes.urdf"
    path.write_text(f'<robot name="r"><link name="root"/>{links}</robot>', encoding="utf-8")
    a, b, c, d = gp.from_urdf(path, density=1000.0).description.links[1:]
    assert values_of(a.com or ()) == pytest.approx((0.1, 0.0, 0.0))
    assert value_of(a.mass or 0.0) == pytest.approx(48.0) == value_of(b.mass or 0.0)
    inertia = [[48.0 / 12 * (0.2**2 + 0.6**2), 0, 0], [0, 48.0 / 12 * (0.4**2 + 0.6**2), 0], [0, 0, 0.8]]
    tables = {x["name"]: x for x in tomllib.loads(convert_urdf(path, density=1000.0).text)["links"]}
    for name in "ab":
        np.testing.assert_allclose(tables[name]["inertia"], inertia, atol=1e-6)
    assert value_of(c.mass or 0.0) == pytest.approx(1000.0 * np.pi * 0.1**2 * 0.5)
    assert np.diag(tables["c"]["inertia"])[2] == pytest.approx(0.5 * tables["c"]["mass"] * 0.01)
    assert np.diag(tables["d"]["inertia"]) == pytest.approx([0.4 * tables["d"]["mass"] * 0.01] * 3)
    assert value_of(d.mass or 0.0) == pytest.approx(1000.0 * 4 / 3 * np.pi * 1e-3)
    assert (
        "chosen: inertia of link 'b', computed from its shape with a density of 1000 kg/m³"
        in gp.from_urdf(path, density=1e3).notes
    )


def test_the_file_is_written_in_any_case(tmp_path: Path, gpmelica: Command) -> None:
    """A robot without mass: status 2 with the reason, and a file with values to replace, which then loads."""
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'
    path, out = tmp_path / "bare.urdf", tmp_path / "bare.toml"
    path.write_text(f'<robot name="bare"><link name="a"/><link name="b"/>{joint}</robot>', encoding="utf-8")
    answer = gpmelica("import", "urdf", path, "--out", out)
    assert answer.status == 2 and "b.angle" in answer.err
    text = out.read_text(encoding="utf-8")
    for key in ("mass", "com", "inertia"):
        text = text.replace(f"# {key} = ", f"{key} = ")
    out.write_text(text, encoding="utf-8")
    assert gpmelica("check", out).status == 0


def test_limits_and_joint_names_are_exported(machine: Path, tmp_path: Path) -> None:
    """URDF → TOML → URDF keeps names of links and joints, and all limits."""
    path, _ = _again(gp.from_urdf(machine), tmp_path)
    before, after = read_urdf(machine), read_urdf(path)
    assert {*before.links} <= {*after.links}
    joints = {joint.name: joint for joint in after.joints}
    for joint in before.joints:
        found = joints[joint.name]
        assert (found.parent, found.child) == (joint.parent, joint.child)
        assert joint.type == "continuous" or found.limits == joint.limits


def test_planar_joint(machine: Path) -> None:
    """Moves in the plane normal to its axis, and turns about it, whichever axis that is."""
    axis = np.array([1.0, 2.0, 2.0]) / 3
    text = MACHINE.replace('type="revolute"', 'type="planar"').replace("0 0 2", "1 2 2")
    machine.write_text(text, encoding="utf-8")
    numbers = gp.from_urdf(machine).prepared.mechanism
    names = [c.name for c in numbers.coordinates]
    assert names[:3] == [f"link_2nd_arm_plane.{key}" for key in ("x", "y", "angle")]
    link = next(b for b, body in enumerate(numbers.bodies) if body.name == "link_2nd_arm")
    still, moved = (analysis.poses(numbers, q)[link] for q in (np.zeros(5), np.array([0.3, -0.4, 0.7, 0, 0])))
    step = still[:3, :3].T @ (moved[:3, 3] - still[:3, 3])
    assert step @ axis == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(step) == pytest.approx(0.5, rel=1e-14)
    turn = still[:3, :3].T @ moved[:3, :3]
    np.testing.assert_allclose(turn @ axis, axis, rtol=0, atol=1e-15)
    assert np.trace(turn) == pytest.approx(1 + 2 * np.cos(0.7), rel=1e-14)


# ---- against Pinocchio's own reader -----------------------------------------------------------------------------


def _held_against(truth: PinocchioRobot, model: System, count: int) -> float:
    """Largest relative error of M, h and q̈ of the generated equations."""
    matrices, staged = GeneratedMatrices(model), StagedModel(model)
    return max(
        Dynamics(*matrices(q, qd), staged(0.0, q, qd).qdd).error(truth(q, qd))
        for q, qd in truth.states(count, seed=1)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("double_pendulum_continuous.urdf", "fixed"),  # joints without limits
        ("ur5_robot.urdf", "fixed"),  # links on frames
        ("panda.urdf", "fixed"),  # a finger that follows the other one
        ("bolt.urdf", "fixed"),  # inertia without mass
        ("solo12.urdf", "floating"),
        ("hyq_no_sensors.urdf", "floating"),  # moments that no body has
        ("kinova.urdf", "floating"),
    ],
)
def test_pinocchio_agrees(name: str, base: str) -> None:
    """M, h and forward dynamics of generated equations and reference at random states."""
    model = gp.from_urdf(robot(name), base).prepared
    truth = PinocchioRobot(robot(name), model, base == "floating")
    assert _held_against(truth, model, count=20) <= TOLERANCE
    q, qd = next(truth.states(1, seed=2))
    found = solving.evaluate(model.mechanism, 0.0, q, qd, start=model.start)
    assert (
        Dynamics(found.M, found.h - found.Q - dissipated(model.mechanism, qd), found.qdd).error(truth(q, qd))
        <= TOLERANCE
    )


@pytest.mark.slow
def test_every_robot_is_read() -> None:
    """All that is shipped is a sound description, or refused for a reason that is true."""
    refused: dict[str, str] = {}
    for path in robots():
        try:
            from_data(tomllib.loads(toml_text(imported(read_urdf(path), False, path.name), [])))
        except gp.DescriptionError as error:
            refused[path.name] = error.problems[0].message
    assert len(robots()) >= 60
    assert refused.pop("alex_psyonic_hands.urdf") == "joint 'Left_index_q2': mimic: there is no joint 'index_q1'"
    assert refused.pop("ur3.urdf") == "robot: name is missing"
    assert {*refused} == {"iris_simple.urdf", "quadrotor_base.urdf"}
    assert all("nothing can move" in message for message in refused.values())


def test_motions_without_mass() -> None:
    """Anywhere: refused, and Pinocchio's mass matrix has a zero there. At the start alone: said."""
    path = robot("romeo_laas_small.urdf")
    with pytest.raises(gp.DescriptionError, match=r"l_gripper\.angle moves no mass"):
        gp.from_urdf(path)
    pinocchio = pin.buildModelFromUrdf(str(path))
    M = pin.crba(pinocchio, pinocchio.createData(), np.full(pinocchio.nq, 0.3))
    assert M.diagonal().min() == 0.0
    assert (
        "the initial state is inadmissible: neck_2.angle, head.angle can move"
        in convert_urdf(robot("icub.urdf")).notes[-1]
    )


ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="2"/><origin xyz="0.3 0 0"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="slide"><inertial><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="50" velocity="2"/></joint>
<joint name="guide" type="prismatic"><parent link="upper"/><child link="slide"/>
<limit lower="0" upper="0.5" effort="50" velocity="2"/></joint></robot>
"""


def test_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/urdf.md, on the file that it speaks of."""
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(ARM, encoding="utf-8")
    page = Path(__file__).parents[1] / "docs" / "urdf.md"
    outcome = doctest.testfile(str(page), module_relative=False)
    assert outcome.attempted >= 6
    assert outcome.failed == 0


# ---- Export of URDF ---------------------------------------------------------------------------------------------


EXAMPLES = Path(__file__).parents[1] / "examples"
RIGID = ("revolute", "prismatic", "planar", "free", "fixed")


def _again(model: Model, folder: Path) -> tuple[Path, Model]:
    path = folder / "again.urdf"
    path.write_text(to_urdf(model).text, encoding="utf-8")
    return path, gp.from_urdf(path)


def _matrices(model: Model, q: Any, qd: Any) -> tuple[Any, Any]:
    """M, and h with gravity, by the reference, without forces."""
    numbers = analysis.ReferenceModel(build(model.description))
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
    section = {"length": 1.2, "area": 0.002, "density": 2700.0, "E": 7e8, "G": 3e8}
    section |= {"Iy": 2e-6, "Iz": 3e-6, "J": 4e-6}
    matrix = [[0, -1, 0, 0.3], [1, 0, 0, 0.1], [0, 0, 1, 0.2], [0, 0, 0, 1]]
    axis = [0.0, 0.6, 0.8] if joint == "revolute" else None
    boom = beam("boom", section | {"elements": elements}, joint, axis, matrix=matrix)
    tip = link("tip", "prismatic", X, "boom", xyz=[1.2, 0.0, 0.1], rpy=[0.1, 0.2, 0.3], damping=0.4)
    links = [boom, tip | body(2.0, inertia=[0.1, 0.1, 0.1])]
    model = Model(from_data({"schema": 1, "name": "Arm", "links": links}))
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


def test_omissions_of_the_export_are_reported(tmp_path: Path, gpmelica: Command) -> None:
    """The export of the crane lists the parts that URDF cannot express."""
    out = tmp_path / "crane.urdf"
    answer = gpmelica("export", "urdf", EXAMPLES / "crane.toml", "--out", out)
    assert answer.status == 0
    said = answer.out.splitlines()
    assert said[0] == f"wrote {out}"
    for what in ("supports of the base", "points", "programmed constraints", "springs between beam elements"):
        assert any(line.endswith(what) for line in said[1:]), what
    assert pin.buildModelFromUrdf(str(out)).nv == len(gp.load(EXAMPLES / "crane.toml").coordinates)


def _model(links: list[Any], **tables: Any) -> Model:
    return Model(from_data({"schema": 1, "name": "Arm", "links": links} | tables))


def test_auxiliary_frames_have_unused_names(tmp_path: Path) -> None:
    """The frame between two coordinates of a joint does not have the name of a link."""
    arm = link("arm", "universal")
    other = link("arm_psi_frame", "prismatic", X, "arm")
    model = _model([arm, other])
    _, again = _again(model, tmp_path)
    assert len(again.coordinates) == len(model.coordinates) == 3


def test_dissipation_is_exported_or_reported() -> None:
    """The dampers of a universal joint are exported; those of planar joints and the velocity v_s
    are reported.
    """
    universal = to_urdf(_model([link("arm", "universal", damping=[0.5, 0.25])]))
    assert universal.notes == ()
    assert all(f'damping="{value}"' in universal.text for value in (0.5, 0.25))
    planar = to_urdf(_model([link("arm", "planar", damping=[0.0, 0.0, 0.5])]))
    assert planar.notes == ("omitted: 1 damping of free and planar joints",)
    friction = {"model": "coulomb", "effort": 2.0, "v_s": 0.3}
    rubbing = to_urdf(_model([link("arm", "prismatic", X, friction=friction)]))
    assert rubbing.notes == ("omitted: 1 velocities v_s at which joint friction is fully developed",)


def test_shape_of_the_base_is_reported() -> None:
    """The shape of the base is reported like that of any link."""
    base = body(5.0, inertia=[1, 1, 1]) | {"support": "rigid", "shape": {"type": "sphere", "radius": 0.1}}
    slide = link("slide", "prismatic", X, "base")
    assert "omitted: 1 shapes of links" in to_urdf(_model([slide], base=base)).notes


def test_files_are_not_overwritten(tmp_path: Path, gpmelica: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that nobody has given is not that of another file."""
    monkeypatch.chdir(tmp_path)
    command = ("import", "urdf", robot("finger_edu.urdf"))
    assert gpmelica(*command).status == 0
    (path,) = tmp_path.glob("*.toml")
    path.write_text("edited", encoding="utf-8")
    answer = gpmelica(*command)
    assert answer.status == 2
    assert "exists already; choose another file with --out" in answer.err
    assert path.read_text(encoding="utf-8") == "edited"
    assert gpmelica(*command, "--out", path).status == 0
