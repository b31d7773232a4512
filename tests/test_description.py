"""Valid descriptions: cases, defaults, JSON Schema, what is accepted."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_cli import Command
from helpers_parts import X, Y, body, link, machine
from helpers_reference import manipulator
from helpers_stages import StagedModel
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from strategies import AXES, beams, descriptions, trees

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description import Description, load, schema
from gpmelica.description.fields.numbers import value_of, values_of
from gpmelica.description.load import faulty_cases, from_data
from gpmelica.description.tables.frame import Frame
from gpmelica.description.tables.inertia import Inertial
from gpmelica.description.types.joints import JOINT_TYPES
from gpmelica.mechanism import build, placement_order
from gpmelica.mechanism.algebra import Numbers

PROFILE = settings(max_examples=60, deadline=None, derandomize=True, database=None)
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.toml"))


def _with_case(**changes: Any) -> dict[str, Any]:
    support = {"position": [0.0, 0.0, 0.0], "stiffness": [1.0, 2.0, 3.0]}
    base = body() | {"supports": [dict(support) for _ in range(3)]}
    cases = [{"name": "varied", "set": changes}, {"name": "same"}]
    return manipulator(base=base, gravity=[0.0, 0.0, -9.81], cases=cases)


def test_cases_set_keys() -> None:
    """Keys lead through tables, and through lists by name, index or `*`; the description itself stays."""
    data = _with_case(
        **{
            "base.supports.*.stiffness": [7.0, 8.0, 9.0],
            "base.supports.1.position": [1.0, 1.0, 1.0],
            "base.supports.2": {"position": [2.0, 2.0, 2.0], "stiffness": [1.0, 1.0, 1.0]},
            "base.linearized": True,
            "links.lower.mass": 5.0,
            "links.0.joint.damping": 0.5,
            "points.E.position": [0.1, 0.2, 0.3],
            "gravity.2": -1.62,
            "gravity.0": "a - 1",
            "simulation": {"stop": 3.0},
            "parameters": {"a": 1.0},
        }
    )
    before = copy.deepcopy(data)
    varied, same = from_data(data, "varied"), from_data(data, "same")
    assert data == before
    assert same == from_data(data)
    assert varied.base is not None
    assert [s.stiffness for s in varied.base.supports] == [(7, 8, 9), (7, 8, 9), (1, 1, 1)]
    assert [s.position[0] for s in varied.base.supports] == [0.0, 1.0, 2.0]
    assert varied.base.linearized
    assert [(link.mass, link.joint.damping) for link in varied.links] == [(2.0, 0.5), (5.0, 0.0)]
    assert varied.points["E"].position == (0.1, 0.2, 0.3)
    assert values_of(varied.gravity) == (0.0, 0.0, -1.62)
    assert (varied.simulation.stop, varied.parameter_values) == (3.0, {"a": 1.0})
    assert same.base is not None
    assert same.base.supports[0].stiffness == (1.0, 2.0, 3.0)


def test_cases_do_not_share_values() -> None:
    """A table that a case puts in several places is a copy in each."""
    everywhere = {"base.supports.*": {"position": [0, 0, 0], "stiffness": [1, 1, 1]}}
    base = from_data(_with_case(**everywhere, **{"base.supports.0.damping": [1, 1, 1]}), "varied").base
    assert base is not None
    assert [s.damping for s in base.supports] == [(1, 1, 1), (0, 0, 0), (0, 0, 0)]


def test_changes_add_keys_tables_and_named_members() -> None:
    """Tables that the file does not have are added, and so are members of a list that are tables."""
    data = _with_case(
        **{
            "statics.locked": ["upper"],
            "parameters.load": 3.0,
            "links.lower.mass": "load",
            "points.F": {"link": "upper"},
            "outputs.expressions.height": "F.z",
            "forces.push": {"joint": "upper", "effort": "load*t"},
            "forces.push.effort": "2*load*t",
            "links.tool": {"parent": "lower", "joint": {"type": "fixed"}},
        }
    )
    found = from_data(data, "varied")
    assert found.statics.locked == ("upper",)
    assert [value_of(link.mass or 0.0) for link in found.links] == [2.0, 3.0, 0.0]
    assert (found.links[2].name, found.links[2].parent) == ("tool", "lower")
    assert (found.forces[0].name, found.forces[0].effort) == ("push", "2*load*t")
    assert found.outputs.expressions["height"].expression == "F.z"


def test_a_parameter_may_be_changed_by_its_name_alone() -> None:
    """A key of the description of the same name has priority."""
    data = _with_case(load=2.0, gravity=[0.0, 0.0, -1.0]) | {"parameters": {"load": 1.0, "gravity": 9.0}}
    data["links"][0]["mass"], data["links"][1]["mass"] = "load", "gravity"
    found = from_data(data, "varied")
    assert found.parameter_values == {"load": 2.0, "gravity": 9.0}
    assert values_of(found.gravity) == (0.0, 0.0, -1.0)


def test_wildcards_add_keys_where_they_fit() -> None:
    """A fixed joint takes neither damping nor friction, a spherical one no friction; existing keys change."""
    friction = {"model": "coulomb", "effort": 2.0, "v_s": 0.01}
    data = _with_case(**{"links.*.joint.damping": 0.5, "links.*.joint.friction": friction})
    data["links"] += [
        {"name": "tool", "parent": "lower", "joint": {"type": "fixed"}},
        {"name": "ball", "parent": "tool", "joint": {"type": "spherical"}} | body(),
    ]
    joints = [link.joint for link in from_data(data, "varied").links]
    assert [joint.damping for joint in joints] == [0.5, 0.5, 0.0, 0.5]
    assert [joint.friction is not None for joint in joints] == [True, True, False, False]
    points = from_data(manipulator(cases=[{"name": "c", "set": {"points.*.link": "upper"}}]), "c").points
    assert {point.link for point in points.values()} == {"upper"}


@pytest.mark.parametrize("order", [1, -1])
def test_wildcards_use_parameters_of_the_same_case(order: int) -> None:
    """A wildcard adds an expression of a new parameter to the same members for each order of the settings."""
    settings = [("links.*.joint.damping", "k"), ("parameters.k", 0.5)]
    data = _with_case(**dict(settings[::order]))
    data["links"].append({"name": "tool", "parent": "lower", "joint": {"type": "fixed"}})
    joints = [link.joint for link in from_data(data, "varied").links]
    assert [value_of(joint.damping) for joint in joints] == [0.5, 0.5, 0.0]


def test_wildcards_do_not_hide_wrong_values() -> None:
    """A value that a member with the key refuses is an error, and so is a key that no member accepts."""
    data = _with_case(**{"links.*.mass": -1.0})
    data["links"][0].pop("mass")
    with pytest.raises(DescriptionError, match=r"links\[1\]\.mass \(lower\): expected at least 0, got -1"):
        from_data(data | {"links": [data["links"][0] | {"mass": 1.0}, data["links"][1]]}, "varied")
    for key, text in (("links.*.mas", "did you mean 'mass'"), ("lines.*.damping", "there is no key '\\*'")):
        with pytest.raises(DescriptionError, match=text):
            from_data(_with_case(**{key: 1.0}), "varied")


def test_a_faulty_case_blocks_only_itself(tmp_path: Path) -> None:
    """The description and its other cases load; the faulty case is refused, and its problems can be listed."""
    cases = [{"name": "good", "set": {"links.lower.mass": 3.0}}, {"name": "bad", "set": {"simulaton.stop": 2.0}}]
    data = manipulator(cases=cases)
    assert [value_of(from_data(data, case).links[1].mass or 0.0) for case in (None, "good")] == [2.0, 3.0]
    with pytest.raises(DescriptionError, match="did you mean 'simulation'"):
        from_data(data, "bad")
    path = tmp_path / "arm.toml"
    path.write_text(toml(data), encoding="utf-8")
    assert list(faulty_cases(path)) == ["bad"]


def test_names_of_parts_never_stand_alone_in_modelica(tmp_path: Path) -> None:
    """Words of Modelica are therefore valid names of parts, but not of parameters and constraint equations."""
    words = ["floor", "time", "end", "edge", "input", "output", "initial", "der"]
    names = dict(zip("abcdefgh", words, strict=True))
    (tmp_path / "push.csv").write_text("time,x\n0,0\n1,1\n", encoding="utf-8")
    plain = _parts(str(tmp_path / "push.csv"))
    named = json.loads(re.sub(r"NAME_(\w)", lambda found: names[found[1]], json.dumps(plain)))
    source = str(assemble_system(from_data(plain)).modelica())
    code = re.sub(r'"(\\.|[^"\\])*"|//.*', "", source)
    assert not re.search(r"\bNAME_[a-h]\b", code)
    assert from_data(named).links[0].name == "floor"
    for key in ("parameters", "programmed"):
        alone = {"time": 1.0} if key == "parameters" else [{"name": "time", "expression": "floor.angle"}]
        with pytest.raises(DescriptionError, match="'time' is a reserved word"):
            from_data(named | {key: alone})


def _parts(file: str) -> dict[str, Any]:
    """A machine with all kinds of parts that have names."""
    a, b = link("NAME_a", "revolute", Y, position=0.1), link("NAME_b", "revolute", Y, "NAME_a", xyz=X)
    ends = {"a": {"link": "NAME_b", "xyz": [1.0, 0.0, 0.0]}, "b": {"link": "ground", "xyz": [2.9, 0.0, 0.0]}}
    pressing = {"stiffness": 1e4, "damping": 10.0}
    return machine(
        a | body(2.0),
        b | body(1.0),
        points={"NAME_c": {"link": "NAME_b", "position": [1.0, 0.0, 0.0]}},
        lines=[{"name": "NAME_d", "a": {"link": "ground"}, "b": {"link": "NAME_b"}} | pressing],
        contacts=[{"name": "NAME_e", "link": "NAME_b", "plane": {"point": [0.0, 0.0, -3.0]}} | pressing],
        closures=[{"name": "NAME_f", "type": "distance", "length": 1.0} | ends],
        tables={"NAME_g": {"file": file, "value": "x"}},
        forces=[{"name": "f", "joint": "NAME_a", "effort": "table(NAME_g, t)"}],
        outputs={"loads": "all", "points": "all", "links": "all", "energy": True},
        simulation={"start": "description", "stop": 0.1},
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_and_their_cases(path: Path) -> None:
    """The examples load, with each of their cases, and every case changes something."""
    chain = load(path)
    names = [case.name for case in chain.cases]
    assert names
    variants = [load(path, name) for name in names]
    for case, variant in zip(chain.cases, variants, strict=True):
        assert (variant == chain) == all(_is_there(chain, key, value) for key, value in case.set.items())


def _is_there(chain: Description, key: str, value: Any) -> bool:
    """Whether a key already has the value."""
    places: list[Any] = [chain.model_dump(by_alias=True)]
    for word in key.split("."):
        places = [member for place in places for member in _members(place, word)]
    return all(json.dumps(place) == json.dumps(value) for place in places)


def _members(place: Any, word: str) -> list[Any]:
    if isinstance(place, dict):
        return [place[word]]
    return [m for i, m in enumerate(place) if word in ("*", str(i)) or m.get("name") == word]


@pytest.mark.slow
@PROFILE
@given(descriptions())
def test_round_trip(data: dict[str, Any]) -> None:
    """A description written out with all its defaults, as JSON has it, reads back as the same description."""
    chain = from_data(data)
    assert Description.model_validate(json.loads(chain.model_dump_json(by_alias=True))) == chain
    assert Description.model_validate(chain.model_dump(by_alias=True)) == chain


def test_defaults() -> None:
    """The defaults of design section 3."""
    chain = from_data(manipulator())
    assert chain.gravity == (0.0, 0.0, -9.81)
    assert chain.base is None
    assert (chain.constraints.formulation, chain.constraints.dependent) == ("gpme", "auto")
    assert (chain.simulation.start, chain.simulation.method) == ("statics", "Radau")
    joint = chain.links[0].joint
    assert (joint.velocity, joint.stiffness, joint.rest, joint.damping) == (0.0, 0.0, 0.0, 0.0)
    assert np.array_equal(chain.links[0].frame.rotation, np.eye(3))
    assert np.array_equal(chain.links[0].frame.offset, np.zeros(3))


def test_descriptions_are_immutable() -> None:
    """No part of a description can be changed after it is read."""
    chain = from_data(manipulator())
    for part in (chain, chain.links[0], chain.links[0].joint, chain.points["E"], chain.simulation):
        with pytest.raises(ValueError, match="frozen"):
            part.name = "other"


def test_whole_numbers_are_numbers() -> None:
    """Integers stand for numbers everywhere; TOML keeps them apart, descriptions do not."""
    arm = link("a", "revolute", [0, 1, 0], position=1, stiffness=2) | body(1, [1, 0, 0], [1, 1, 1])
    chain = from_data(machine(arm, gravity=[0, 0, -10], simulation={"stop": 1}))
    assert [type(x) for x in (chain.simulation.stop, chain.gravity[2], chain.links[0].mass)] == [float] * 3


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    """Files as Windows editors leave them are read like any other."""
    text = EXAMPLES[0].read_text(encoding="utf-8")
    path = tmp_path / "crane.toml"
    path.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert load(path) == load(EXAMPLES[0])


def test_expressions_over_several_lines() -> None:
    """A long expression may be broken into lines."""
    text = "E.z\n  - start(E.z)\n  - quintic(t, 0, 1, 0, 0.1)\n"
    one = assemble_system(from_data(manipulator(programmed=[{"name": "p", "expression": text}])))
    other = assemble_system(
        from_data(manipulator(programmed=[{"name": "p", "expression": " ".join(text.split())}]))
    )
    assert [o.name for o in one.program.outputs] == [o.name for o in other.program.outputs]
    assert one.start_values() == other.start_values()


@pytest.mark.parametrize("names", [("upper", "lower"), ("lower", "upper")])
def test_fully_prescribed_mechanism(names: tuple[str, str]) -> None:
    """If a mechanism has as many constraints as coordinates, the constraints alone determine the accelerations."""
    rows = [{"name": name, "expression": f"{name}.angle - start({name}.angle) - 0.1*t^2"} for name in names]
    model = assemble_system(from_data(manipulator(programmed=rows, simulation={"start": "description"})))
    assert model.degrees_of_freedom == 0
    expected = pytest.approx([0.2, 0.2], abs=1e-12)
    assert solving.evaluate(model.mechanism, 0.0, *model.start, start=model.start).qdd == expected
    assert StagedModel(model)(0.0, *model.start).qdd == expected


def test_schema_describes_the_description(gpmelica: Command) -> None:
    """The JSON Schema has all tables, refuses unknown keys everywhere, and knows what a name looks like."""
    found = gpmelica("schema").json
    assert found == schema()
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(found["properties"]) == {field.alias or name for name, field in Description.model_fields.items()}
    assert found["required"] == ["schema", "name"]
    tables = [found, *(part for part in found["$defs"].values() if part["type"] == "object")]
    assert len(tables) > 10
    assert all(table["additionalProperties"] is False for table in tables)
    assert set(found["$defs"]["Joint"]["properties"]["type"]["enum"]) == set(JOINT_TYPES)
    assert found["properties"]["name"]["pattern"].startswith("^[A-Za-z]")


@cache
def _validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_schema_accepts_the_examples(path: Path) -> None:
    """The schema is a schema, and the examples fulfil it; with a wrong key or value they do not."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    _validator().validate(data)
    for key, value in (("mass", -1.0), ("weight", 1.0), ("name", "two words"), ("joint", {"type": "loose"})):
        wrong = copy.deepcopy(data)
        wrong["links"][0][key] = value
        assert not _validator().is_valid(wrong)


@pytest.mark.slow
@PROFILE
@given(descriptions())
def test_schema_accepts_valid_descriptions(data: dict[str, Any]) -> None:
    """Every description that loads conforms to the JSON schema."""
    from_data(data)
    assert [error.message for error in _validator().iter_errors(data)] == []


@pytest.mark.parametrize(
    "word", ["model", "der", "time", "sin", "Real", "t", "pi", "start", "ground", "quintic_1"]
)
def test_reserved_words(word: str) -> None:
    """Keywords, built-in names and the language's own words are no names for models, links, points or forces."""
    with pytest.raises(DescriptionError, match=f"name: '{word}' is a reserved word; choose another name"):
        from_data(manipulator(name=word))


# ---- Equal forms mean equal mechanisms --------------------------------------------------------------------------


def test_right_angles_are_exact() -> None:
    """A frame turned by π/2 has zeros and ones, no 6e-17: the generated text shows its form."""
    for turns in product((0.0, np.pi / 2, -np.pi / 2, np.pi, 2 * np.pi), repeat=3):
        assert set(np.abs(Frame(rpy=turns).rotation).ravel()) == {0.0, 1.0}
        assert set(np.abs(Frame(dh=(0.3, turns[0], 1.0, turns[1])).rotation).ravel()) == {0.0, 1.0}


def test_flat_bodies_are_bodies() -> None:
    """A thin plate, whose largest moment is the sum of the others, is accepted in every form.

    A body without com has it at the origin of its frame.
    """
    moments = [1.0, 2.0, 3.0]
    plates = [
        {"mass": 4.0, "inertia": moments},
        {"mass": 4.0, "inertia": np.diag(moments).tolist()},
        {"pseudo_inertia": np.diag([2.0, 1.0, 0.0, 4.0]).tolist()},
    ]
    for plate in plates:
        _, com, inertia = Inertial(**plate).about_com()
        assert np.array_equal(com, np.zeros(3))
        assert np.array_equal(inertia, np.diag(moments))
    for angle in np.linspace(0.1, 3.0, 9):
        R = Rotation.from_euler("XY", (angle, 0.7 * angle)).as_matrix()
        inertia = R @ np.diag(moments) @ R.T
        tilted = Inertial(mass=4.0, inertia=((inertia + inertia.T) / 2).tolist())
        assert tilted.about_com()[2] == pytest.approx(inertia, rel=1e-15)


def test_craigs_frame_is_four_motions() -> None:
    """Rot(x, alpha)·Trans(x, a)·Rot(z, theta)·Trans(z, d), by matrices and by each of the frame's own formulas."""
    a, alpha, d, theta = 0.3, 0.4, 0.5, -0.7
    about_x, about_z = Rotation.from_euler("x", alpha), Rotation.from_euler("z", theta)
    axes, origin = (about_x * about_z).as_matrix(), about_x.apply([a, 0.0, d])
    frame, numbers = Frame(dh=(a, alpha, d, theta)), Numbers()
    assert frame.rotation == pytest.approx(axes, abs=1e-15)
    assert frame.offset == pytest.approx(origin, abs=1e-15)
    assert np.array(frame.axes(numbers)) == pytest.approx(axes, abs=1e-15)
    assert frame.origin(numbers) == pytest.approx(origin, abs=1e-15)


def test_pseudo_inertia_is_the_second_moments_of_the_mass() -> None:
    """Σ m r rᵀ of point masses, their first moments and their sum, by both of the formulas that read it."""
    rng = np.random.default_rng(3)
    masses, places = rng.uniform(0.5, 2.0, 6), np.column_stack([rng.uniform(-1.0, 1.0, (6, 3)), np.ones(6)])
    body = Inertial(pseudo_inertia=((masses * places.T) @ places).tolist())
    com = masses @ places[:, :3] / masses.sum()
    arms = places[:, :3] - com
    inertia = sum(m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    six = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    mass, centre, moments = body.numbers(float)
    assert (mass, *centre, *moments) == pytest.approx((masses.sum(), *com, *six), rel=1e-12)
    assert body.about_com()[2] == pytest.approx(inertia, rel=1e-12)


@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_joints(kind: str) -> None:
    """Every joint type loads with one value for all coordinates, with one per coordinate, and with none."""
    motions = JOINT_TYPES[kind]
    axis = AXES[3] if any(motion.axis is None for motion in motions) else None
    values = [0.1 * (i + 1) for i in range(len(motions))]
    variants: list[dict[str, Any]] = (
        [{}] if not motions else [{}, {"position": 0.25}, {"position": values, "stiffness": values}]
    )
    for keys in variants:
        links = [link("a", kind, axis, **keys), link("b", "prismatic", X, "a")]
        mechanism = build(from_data(machine(*links)))
        own = mechanism.coordinates[: len(motions)]
        assert [c.name for c in own] == [f"a.{motion.coordinate}" for motion in motions]
        assert [c.unit for c in own] == ["rad" if motion.kind == "rotation" else "m" for motion in motions]
        position = keys.get("position", 0.0)
        assert [c.position for c in own] == (position if isinstance(position, list) else [position] * len(own))
        assert [c.stiffness for c in own] == keys.get("stiffness", [None] * len(own))


def test_axes_are_normalised() -> None:
    """An axis that is a unit vector but for rounding becomes one."""
    axis = from_data(machine(link("a", "revolute", [0.7071068, 0, 0.7071068]))).links[0].joint.axis
    assert axis == pytest.approx((0.5**0.5, 0.0, 0.5**0.5), rel=1e-7)
    assert np.linalg.norm(np.array(axis)) == pytest.approx(1.0, rel=1e-15)


def _order(links: list[dict[str, Any]]) -> list[str]:
    """Design section 3: again and again the first link of the file whose parent is already placed."""
    placed: list[str] = []
    while len(placed) < len(links):
        possible = [x["name"] for x in links if x["parent"] in ("ground", "base", *placed)]
        placed.append(next(name for name in possible if name not in placed))
    return placed


TREE = (("a", "ground"), ("b", "a"), ("c", "a"), ("d", "c"), ("e", "ground"))


@pytest.mark.parametrize("order", list(permutations(TREE))[::5])
def test_links_in_any_order(order: tuple[tuple[str, str], ...]) -> None:
    """Coordinates are placed parents first, else in the file's order; the mechanism stays the same."""

    def chain(pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        frame = {"xyz": [0.5, 0.1, 0.2], "rpy": [0.3, 0.0, 0.2]}
        return machine(*(link(name, "revolute", Y, parent, **frame) for name, parent in pairs))

    data = chain(order)
    mechanism, sorted_one = build(from_data(data)), build(from_data(chain(TREE)))
    expected = _order(data["links"])
    assert [body.name for body in mechanism.bodies] == expected
    assert [c.name for c in mechanism.coordinates] == [f"{name}.angle" for name in expected]
    assert [link.name for link in placement_order(mechanism.chain.links)] == expected
    q = np.linspace(-1.0, 1.0, len(TREE))
    place = [expected.index(name) for name, _ in TREE]
    q_moved = np.empty_like(q)
    q_moved[place] = q
    qdd = solving.evaluate(mechanism, 0.0, q_moved, q_moved).qdd
    assert qdd[place] == pytest.approx(solving.evaluate(sorted_one, 0.0, q, q).qdd, rel=1e-10)


@pytest.mark.slow
@PROFILE
@given(trees())
def test_random_trees_are_placed_in_order(data: dict[str, Any]) -> None:
    """The order of bodies is the design's, also with a base and with beams; every parent comes first."""
    mechanism = build(from_data(data))
    owners = list(dict.fromkeys(body.link for body in mechanism.bodies))
    assert owners == [*(["base"] if "base" in data else []), *_order(data["links"])]
    assert all(body.parent < index for index, body in enumerate(mechanism.bodies))


@PROFILE
@given(beams(), st.integers(1, 4))
def test_elements_alone_make_a_beam_flexible(beam: dict[str, Any], elements: int) -> None:
    """With another number of elements the rest of the mechanism is the same: joints, springs, points, mass."""
    data = manipulator()
    data["links"][0] = {k: v for k, v in data["links"][0].items() if k not in body()}
    data["links"][0]["beam"] = beam | {"flexible": True, "elements": elements}
    one = copy.deepcopy(data)
    one["links"][0]["beam"]["elements"] = 1
    changed, rigid = build(from_data(data)), build(from_data(one))
    assert [c for c in changed.coordinates if c.role == "joint"] == list(rigid.coordinates)
    assert sum(b.mass for b in changed.bodies) == pytest.approx(sum(b.mass for b in rigid.bodies), rel=1e-14)
    assert len(changed.coordinates) - len(rigid.coordinates) == 3 * (elements - 1)
