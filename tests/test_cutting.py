"""Machines that are cut: where, into which parts, and that the parts together are the machine."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from fmpy.ssp import ssd as ssp_reader
from helpers_backends import Once
from helpers_cli import Command, fails
from helpers_coupling import error
from helpers_examples import EXAMPLES
from helpers_masters import need_master, run_apart
from helpers_parts import X, Y, Z, body, link, machine
from helpers_schemas import schema_errors

import gpmelica as gp
from gpmelica.analysis import poses
from gpmelica.analysis.system import System, assemble_system
from gpmelica.api.model import Model
from gpmelica.core.errors import DescriptionError
from gpmelica.coupling.fmus import FmuPart
from gpmelica.coupling.network import Pin
from gpmelica.coupling.redundancy import PinBasis
from gpmelica.coupling.report import lines
from gpmelica.cutting.cuts import cuts_at, turning
from gpmelica.cutting.description_text import description_text
from gpmelica.cutting.fmus import FmuBuilder
from gpmelica.cutting.laws import Bushing, bushing
from gpmelica.cutting.parts import MachinePart, parts_of
from gpmelica.cutting.pins import PinStatics
from gpmelica.cutting.split import _about_bushings
from gpmelica.description.load import from_data

_UP = [0.0, -1.0, 0.0]  # positive angles lift a link along x


def boom(joint: str = "revolute", **tables: Any) -> dict[str, Any]:
    """Two uniform links of 3 and 2 m in a vertical plane, which turns slowly about the vertical axis."""
    axis = {"revolute": (_UP,)}.get(joint, ())
    lower = link("lower", "revolute", _UP, "mast", position=0.6, velocity=0.3) | body(
        800.0, [1.5, 0.0, 0.0], [10.0, 600.0, 600.0]
    )
    upper = link("upper", joint, *axis, parent="lower", xyz=[3.0, 0.0, 0.0])
    if joint == "revolute":
        upper["joint"] |= {"position": -1.0, "velocity": -0.2}
    upper |= body(200.0, [1.0, 0.0, 0.0], [5.0, 66.0, 66.0])
    mast = link("mast", "revolute", Z, velocity=0.5) | body(100.0, [0.0, 0.0, 0.5], [20.0, 20.0, 10.0])
    simulation = {"stop": 0.5, "output_step": 0.01, "start": "description"}
    points = {"tip": {"link": "upper", "position": [2.0, 0.0, 0.0]}, "low": {"link": "lower"}}
    return machine(mast, lower, upper, name="Boom", points=points, simulation=simulation) | tables


def prepared(data: dict[str, Any]) -> System:
    """The machine ready to run."""
    return assemble_system(from_data(data))


def parts(data: dict[str, Any], *at: str) -> list[MachinePart]:
    """Parts of a machine that is cut."""
    model = prepared(data)
    return parts_of(model, cuts_at(model, at, "file.toml"), "file.toml")


# ---- Places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joint", "count"), [("spherical", 1), ("revolute", 2), ("fixed", 3)])
def test_pairs_of_points(joint: str, count: int) -> None:
    """A joint becomes one, two or three pairs of points; both points of a pair are at the same place."""
    model = prepared(boom(joint))
    [cut] = cuts_at(model, ["upper"], "file.toml")
    assert len(cut.pairs) == count
    frames = dict(
        zip((b.link for b in model.mechanism.bodies), poses(model.mechanism, model.start[0]), strict=True)
    )
    for pair in cut.pairs:
        a, b = (frames[s.link][:3, :3] @ s.position + frames[s.link][:3, 3] for s in pair.sides)
        assert a == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize("axis", [X, Y, Z, _UP, [0.6, 0.0, 0.8]])
def test_turning(axis: list[float]) -> None:
    """The rotation turns z to the axis, and is a rotation."""
    found = turning(np.array(axis))
    assert found[:, 2] == pytest.approx(axis)
    assert found @ found.T == pytest.approx(np.eye(3))
    assert np.linalg.det(found) == pytest.approx(1.0)


_SPRING = {"name": "spring", "a": {"link": "lower"}, "b": {"link": "upper"}, "stiffness": 1e3, "rest": 1.0}


@pytest.mark.parametrize(
    ("change", "at", "sentence"),
    [
        ({}, "uper", "cut at uper: there is no joint, closure or rope 'uper'; did you mean 'upper'?"),
        ({}, "mast", "one of its sides is the ground, which does not move; cut between two links"),
        ({"lines": [_SPRING]}, "upper", "does not separate lower from upper, which lines.spring also connects"),
        (
            {"forces": [{"name": "motor", "joint": "upper", "effort": 1.0}]},
            "upper",
            "its joint is driven by motor; cut the mechanism at a joint without a drive",
        ),
        (
            {"programmed": [{"name": "hold", "expression": "upper.angle + 1"}]},
            "upper",
            "does not separate lower from upper, which programmed.hold also connects",
        ),
        (
            {"lines": [_SPRING]},
            "spring",
            "does not separate lower from upper, which joint upper also connects; also cut or remove one",
        ),
        (
            {"lines": [_SPRING, _SPRING | {"name": "damper"}]},
            "upper",
            "which lines.spring, lines.damper also connect; also cut",
        ),
        (
            {"lines": [{k: v for k, v in _SPRING.items() if k not in ("stiffness", "rest")} | {"input": True}]},
            "upper,spring",
            "cut at spring: its force or length is an input",
        ),
    ],
)
def test_places_that_cannot_be_cut(change: dict[str, Any], at: str, sentence: str) -> None:
    """The message names the place, the reason and what to do."""
    with pytest.raises(DescriptionError) as caught:
        parts(boom(**change), *at.split(","))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("joint", "keys", "sentence"),
    [
        ("universal", {}, "expected a spherical, revolute, fixed joint"),
        ("spherical", {"stiffness": 5.0}, "its joint has stiffness, which points cannot transmit"),
        ("spherical", {"damping": [0.0, 5.0, 0.0]}, "its joint has damping, which points cannot transmit"),
    ],
)
def test_joints_that_cannot_be_cut(joint: str, keys: dict[str, Any], sentence: str) -> None:
    """Points carry forces along three axes and nothing else."""
    data = boom(joint)
    data["links"][2]["joint"] |= keys
    with pytest.raises(DescriptionError, match=sentence):
        parts(data, "upper")


def test_springs_of_zero_stiffness_can_be_cut() -> None:
    """A joint whose springs and dampers have zeros along all axes has no force of its own."""
    data = boom("spherical")
    data["links"][2]["joint"] |= {"stiffness": [0.0, 0.0, 0.0], "damping": [0, 0, 0]}
    assert len(parts(data, "upper")) == 2


def test_more_parts_than_letters() -> None:
    """A part is called by a letter; more cuts than these are refused."""
    joints = [link("k0", "revolute", Z) | body(1.0, X)]
    joints += [link(f"k{n}", "revolute", Z, f"k{n - 1}", xyz=X) | body(1.0, X) for n in range(1, 27)]
    with pytest.raises(DescriptionError, match="expected at most 26 parts, got 27; cut fewer joints"):
        parts(machine(*joints, simulation={"start": "description"}), *(f"k{n}" for n in range(1, 27)))


# ---- Parts --------------------------------------------------------------------------------------------------


def test_distribution() -> None:
    """Each entry goes to the part of its links; a link that is cut off hangs on a free joint."""
    rope = {"name": "rope", "a": {"link": "mast"}, "b": {"link": "lower", "point": X}, "stiffness": 1.0}
    rope["rest"] = "length"
    outputs = {"loads": "all", "points": ["tip"], "expressions": {"both": "tip.x - low.x", "high": "tip.z"}}
    data = boom(lines=[rope], outputs=outputs, parameters={"length": 1.0})
    first, second = parts(data, "upper")
    assert (first.links, second.links) == ({"mast", "lower"}, {"upper"})
    assert [line["name"] for line in first.tables["lines"]] == ["rope"]
    assert "lines" not in second.tables
    assert [entry["name"] for entry in second.tables["links"]] == ["upper_carrier", "upper"]
    assert {*first.tables["points"]} == {"low", "upper_pin1", "upper_pin2"}
    assert first.tables["outputs"] == {"loads": ["lower", "mast"]}
    assert second.tables["outputs"] == {"points": ["tip"], "expressions": {"high": {"expression": "tip.z"}}}
    assert (
        first.notes + second.notes == ("output both is omitted, because it depends on links of several parts",) * 2
    )
    assert (first.tables["parameters"], second.tables.get("parameters")) == (
        {"length": {"value": 1.0}},
        {},
    )


def test_actuated_joints_of_the_parts() -> None:
    """Each part keeps its own actuated joints; a joint that is cut is a free one, and none of them."""
    task = {"name": "task", "expression": "lower.angle - 0.6 - 0.3*t"}
    data = boom(constraints={"actuated": ["lower", "upper"]}, programmed=[task])
    first, second = parts(data, "upper")
    assert first.tables["constraints"]["actuated"] == ["lower"]
    assert not second.tables.get("constraints", {}).get("actuated")
    for part in (first, second):
        prepared(part.tables)


def test_names_that_are_taken() -> None:
    """Ports, their forces and the carrier of a link that is cut off get names that nothing else has."""
    data = boom(forces=[{"name": "upper_pin1_f", "joint": "lower", "effort": 1.0}])
    data["links"].append(link("upper_carrier", "revolute", Z, "upper") | body(1.0, X))
    first, second = parts(data, "upper")
    assert [force["name"] for force in first.tables["forces"]] == ["upper_pin1_f", "upper_pin1__f", "upper_pin2_f"]
    assert second.tables["links"][0]["name"] == "upper_carrier_"


def test_points_on_a_beam_keep_their_distance() -> None:
    """A joint whose axis lies along a flexible beam is no cut, since its points would be in two elements."""
    data = boom()
    lower = data["links"][1]
    data["links"][1] = {k: v for k, v in lower.items() if k not in ("mass", "com", "inertia")}
    section = {"area": 0.01, "density": 7800.0, "E": 2e11, "G": 8e10, "Iy": 1e-5, "Iz": 1e-5, "J": 1e-5}
    data["links"][1]["beam"] = section | {"length": 3.0, "elements": 2}
    assert len(parts(data, "upper")) == 2
    data["links"][2]["joint"]["axis"] = X
    with pytest.raises(DescriptionError, match="several elements of the beam lower"):
        parts(data, "upper")


def test_initial_state_of_the_parts() -> None:
    """Pin points of both parts have equal positions and velocities, in a plane that turns."""
    found = []
    for part in parts(boom(), "upper"):
        model = prepared(part.tables)
        q, rate = model.start
        frames, names = poses(model.mechanism, np.array([q, q + 1e-6 * rate, q - 1e-6 * rate])), {}
        for name in ("upper_pin1", "upper_pin2"):
            place = model.mechanism.points[name]
            position = frames[:, place.body, :3, :3] @ place.position + frames[:, place.body, :3, 3]
            names[name] = np.concatenate([position[0], (position[1] - position[2]) / 2e-6])
        found.append(names)
    for name, value in found[0].items():
        assert value == pytest.approx(found[1][name], abs=1e-8)
        assert np.linalg.norm(value[3:]) > 1.0


def test_description_of_a_part(tmp_path: Path) -> None:
    """The text of a part is a description with the same tables."""
    first, _ = parts(boom(), "upper")
    text = description_text(first.tables, ["Part a"])
    assert tomllib.loads(text) == first.tables
    (tmp_path / "part.toml").write_text(text, encoding="utf-8")
    assert gp.load(tmp_path / "part.toml").check().data()["n"] == 2


# ---- Redundant forces ---------------------------------------------------------------------------------------


def _pins(points: int) -> list[Pin]:
    port = ("a", "x")
    return [Pin(port, port, port, port, joint="pin") for _ in range(3 * points)]


@pytest.mark.parametrize(("points", "size"), [(1, 3), (2, 5), (3, 6)])
def test_redundant_forces_are_left_out(points: int, size: int) -> None:
    """The basis keeps as many forces as the joint has constraints, and none along lines between points."""
    positions = np.random.default_rng(1).normal(size=(points, 3))
    basis = PinBasis(_pins(points), np.arange(3 * points))
    basis.update(positions.ravel())
    assert basis.size == size
    forces = basis.full(np.eye(size)).reshape(points, 3, size)
    moments = np.cross(positions[:, :, None], forces, axisa=1, axisb=1, axisc=1)
    resultant = np.concatenate([forces.sum(axis=0), moments.sum(axis=0)])
    assert np.linalg.matrix_rank(resultant, tol=1e-9) == size


def test_basis_turns_with_the_joint() -> None:
    """A small turn changes the basis little, so that a Jacobian stays valid."""
    basis, points = PinBasis(_pins(2), np.arange(6)), np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    basis.update(points.ravel())
    before = basis.full(np.eye(5))
    basis.update((points + np.array([[1e-4, 0.0, 0.0], [-1e-4, 0.0, 0.0]])).ravel())
    assert basis.full(np.eye(5)) == pytest.approx(before, abs=1e-3)


# ---- Archives -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def split_boom(once: Once) -> Path:
    """The boom, cut at its pin, FMI 3.0."""

    def build(folder: Path) -> None:
        Model(from_data(boom())).split("upper", folder, fmi="3.0")

    return once("split_boom", build)


@pytest.mark.slow
def test_parts_are_the_machine(split_boom: Path) -> None:
    """At 10 ms the rigid archive differs from the uncut mechanism by less than 1e-5, with closed gaps."""
    run = gp.cosim(split_boom / "Boom_rigid.ssp", step=0.01)
    whole = run.coupled.whole
    assert whole is not None
    assert whole.exact
    assert whole.difference < 1e-5
    assert run.coupled.gap < 1e-9
    assert run.data()["groups"][0]["method"] == "pin"
    assert run.ok


@pytest.mark.slow
@pytest.mark.campaign
def test_elastic_boom(tmp_path: Path) -> None:
    """A boom with a flexible beam has an error of 1e-6 with automatic steps; 10 ms do not resolve its modes.

    The eigenfrequencies are those of the uncut mechanism, and the highest one with ten steps per period is named.
    """
    data = boom()
    data["links"][1] = {k: v for k, v in data["links"][1].items() if k not in ("mass", "com", "inertia")}
    section = {"area": 0.034, "density": 7800.0, "E": 2e11, "G": 8e10, "Iy": 3e-5, "Iz": 3e-5, "J": 1e-5}
    data["links"][1]["beam"] = section | {"length": 3.0, "elements": 2}
    data["simulation"]["tolerance"] = 1e-10
    model = Model(from_data(data))
    path = model.split("upper", tmp_path, fmi="3.0").archives["rigid"]
    run = gp.cosim(path, stop=0.3, tolerance=1e-6)
    assert run.coupled.whole is not None
    assert run.coupled.whole.difference < 1e-6
    assert run.ok
    coarse = gp.cosim(path, stop=0.3, step=0.01)
    assert not coarse.ok
    swinging = [m.frequency for m in model.modes() if m.eigenvalue.imag > 0.0 and not m.rigid_body]
    modes = coarse.data()["modes"]
    assert modes["frequencies"] == pytest.approx(swinging, rel=1e-3)
    assert modes["highest_resolved"] == pytest.approx(8.28, rel=1e-2)
    text = "resolve 3 of 5 vibration modes, the highest with 8.28 Hz; the next one has 22.9 Hz"
    assert any(text in line for line in lines(coarse.coupled))


@pytest.mark.slow
@pytest.mark.campaign
def test_bushings_change_the_model(split_boom: Path) -> None:
    """The coupling of the bushings agrees, and their change of the model is told apart from its error."""
    run = gp.cosim(split_boom / "Boom_bushing.ssp")
    whole = run.coupled.whole
    assert whole is not None
    assert not whole.exact
    assert run.error < 1e-4 < whole.difference < 1.0
    assert run.ok


@pytest.mark.parametrize(("force", "divisor"), [(0.0, 1), (100.0, 1), (1e5, 10), (1e9, 100)])
def test_step_of_bushings(force: float, divisor: int) -> None:
    """A bushing deflects by at most the given length, if a hundredth of the longest step suffices for this."""
    statics = PinStatics({"pin": np.array([0.0, 0.0, force])}, np.diag([0.01, 0.02, 0.04]))
    step = statics.step([["pin"]], 1e-3, 4e-3)
    assert step == pytest.approx(1e-3 / divisor)
    stiffness, damping = statics.bushing(["pin"], step)
    deflection = Bushing(stiffness, damping, statics.forces).deflection
    [*remarks] = _about_bushings({"pin": Bushing(stiffness, damping, statics.forces)}, 4e-3, step, 1e-3)
    assert any("bushing at pin: a deflection of" in text for text in remarks) is (divisor == 100)
    assert any(f"a communication step of {step:.3g} s" in text for text in remarks) is (divisor > 1)
    assert (deflection > 4.1e-3) is (divisor == 100)


@pytest.mark.slow
def test_archives_follow_the_standards(split_boom: Path, tmp_path: Path) -> None:
    """The structures are valid, connectors are called `port.member`, and FMI 3.0 has them as terminals."""
    for kind, count in (("rigid", 2), ("bushing", 3)):
        path = split_boom / f"Boom_{kind}.ssp"
        assert [schema_errors(path, version) for version in ("1.0", "2.0")] == [[], []]
        system = ssp_reader.read_ssd(str(path)).system  # validates
        assert len(system.elements) == count
        names = {c.name for c in system.elements[0].connectors}
        assert {"upper_pin1.x", "upper_pin1.vx"} <= names
        assert ("upper_pin1.fx" in names) is (kind == "bushing")  # in the other one the master gives the force
    with zipfile.ZipFile(split_boom / "Boom_rigid.ssp") as archive:
        archive.extract("resources/part_a.fmu", tmp_path)
    with zipfile.ZipFile(tmp_path / "resources" / "part_a.fmu") as fmu:
        terminals = fmu.read("terminalsAndIcons/terminalsAndIcons.xml").decode()
    assert '<Terminal name="upper_pin1"' in terminals
    assert 'variableName="upper_pin1.fx" memberName="fx"' in terminals


@pytest.mark.slow
def test_bushings_in_ecos(split_boom: Path) -> None:
    """Ecos runs the archive as it is, with an error of order 1 against the iterated run."""
    _check_master("ecos", split_boom / "Boom_bushing.ssp")


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("master", ["FMPy", "libcosim", "ecos"])
def test_bushings_of_fmi_2_in_other_masters(master: str, once: Once) -> None:
    """Masters for FMI 2.0 run the archive as it is."""

    def build(folder: Path) -> None:
        Model(from_data(boom())).split("upper", folder)

    _check_master(master, once("split_boom_2.0", build) / "Boom_bushing.ssp")


def _check_master(master: str, archive: Path) -> None:
    """Compare another master, at the step of the archive and at half of it, with the iterated run."""
    need_master(master)
    stop, steps = 0.1, (1e-3, 5e-4)
    own, signal = gp.cosim(archive, step=steps[0], stop=stop), "part_b.tip_x"
    errors = [
        error(values, np.interp(time, own.time, own[signal]))
        for time, values in run_apart(master, archive, steps, stop, [signal])
    ]
    assert own.error < 1e-6
    assert errors[0] < 5e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", pytest.param("3.0", marks=pytest.mark.campaign)])
def test_slopes_of_a_law(fmi: str, tmp_path: Path) -> None:
    """The forces of a bushing change with the slopes of its inputs, from which its courses follow."""
    model = prepared(boom("spherical"))
    [cut] = cuts_at(model, ["upper"], "file.toml")
    law = bushing("Law", cut, Bushing(1e3, 10.0, {"upper_pin": np.array([5.0, 0.0, 0.0])}), {})
    FmuBuilder(fmi).law(law, model.chain, tmp_path / "Law.fmu")
    part = FmuPart("law", tmp_path / "Law.fmu", tmp_path / "unpacked")
    try:
        inputs, outputs = ([s.name for s in signals] for signals in (part.inputs, part.outputs))
        given, rates = np.zeros(len(inputs)), np.zeros(len(inputs))
        given[inputs.index("b.x")], rates[inputs.index("b.x")], rates[inputs.index("a.vx")] = 0.01, 2.0, 3.0
        part.start(0.0, given)
        part.begin()
        force = outputs.index("a.fx")
        assert part.outputs_now()[force] == pytest.approx(15.0)
        assert part.slopes_now(rates)[force] == pytest.approx(1970.0)
        gains = part.gains()
        assert gains is not None
        assert gains[force, inputs.index("b.x")] == pytest.approx(1e3)
    finally:
        part.close()


@pytest.mark.slow
@pytest.mark.campaign
def test_rope_between_two_parts(tmp_path: Path) -> None:
    """A load on a rope that is slack for a while, cut at the rope, moves as the uncut mechanism does.

    The rope has the name of a file in the archive.
    """
    cart = link("cart", "prismatic", X, stiffness=2e3) | body(50.0)
    load = link("load", "free", xyz=[0.3, 0.0, -2.0], velocity=[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]) | body(100.0)
    rope = {"name": "Whole", "a": {"link": "cart"}, "b": {"link": "load"}, "stiffness": 1e5, "damping": 50.0}
    rope |= {"rest": "length", "tension_only": True}
    data = machine(
        cart,
        load,
        name="Hoist",
        lines=[rope],
        parameters={"length": 2.0},
        points={"hook": {"link": "load"}},
        simulation={"stop": 0.4, "start": "description"},
    )
    found = Model(from_data(data)).split(["Whole"], tmp_path)
    run = gp.cosim(found.archives["rope"])
    assert run.coupled.whole is not None
    assert run.coupled.whole.difference < 1e-4
    assert run.ok
    assert np.min(run["Whole_.Whole_force"]) == 0.0 < np.max(run["Whole_.Whole_force"])


@pytest.mark.slow
@pytest.mark.campaign
def test_loop_cut_at_its_closure(tmp_path: Path) -> None:
    """A four-bar linkage in two parts, whose joints hold most of the pin's forces, moves as the whole one."""
    found = gp.load(EXAMPLES / "four_bar_3d.toml").split("pin", tmp_path)
    run = gp.cosim(found.archives["rigid"], stop=0.3)
    assert run.coupled.whole is not None
    assert run.coupled.whole.difference < 1e-4
    assert run.ok


def test_command(tmp_path: Path, gpmelica: Command) -> None:
    """A place that cannot be cut ends the command with bad input, before anything is compiled."""
    (tmp_path / "boom.toml").write_text(toml(boom()), encoding="utf-8")
    answer = gpmelica("split", tmp_path / "boom.toml", "--at", "mast", "--out", tmp_path / "out")
    fails(answer, 2, "cut at mast: one of its sides is the ground")
    assert not (tmp_path / "out").exists()
