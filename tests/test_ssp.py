"""SSP archives: valid by the standard's schemas, complete, and fitting."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from awkward_machines.judge import toml
from fmpy.ssp import ssd as ssp_reader
from fmpy.ssp.simulation import simulate_ssp
from helpers_backends import Compiled, CompileData, Once, driven
from helpers_cli import Command
from helpers_masters import controller
from helpers_masters import plant as slewing_plant
from helpers_parts import X, Z, body, link, machine
from lxml import etree

from gpmelica.core.errors import DescriptionError
from gpmelica.coupling.ssp import read_ssp
from gpmelica.exchange.ssp.system import write_ssp


@pytest.fixture(scope="module")
def plant(compile_data: CompileData) -> Compiled:
    """The driven pendulum with its FMU."""
    return compile_data(driven())


def _connections(system: Any) -> set[tuple[str | None, ...]]:
    return {(c.startElement, c.startConnector, c.endElement, c.endConnector) for c in system.connections}


def test_archive_without_a_controller(plant: Compiled, tmp_path: Path) -> None:
    """The plant is the only element; both structures and the parameter values match the schemas."""
    path = write_ssp(plant.fmu, tmp_path)
    system = ssp_reader.read_ssd(str(path)).system  # validates
    ports = {(v.name, v.causality) for v in plant.description.modelVariables if v.causality in ("input", "output")}
    assert [e.name for e in system.elements] == ["Plant"]
    assert {(c.name, c.kind) for c in system.elements[0].connectors} == {p for p in ports if p[1] == "output"}
    assert system.connectors == system.connections == []
    with zipfile.ZipFile(path) as archive:
        slot = etree.parse(archive.open("Controller.ssd")).getroot()
        main = etree.parse(archive.open("SystemStructure.ssd")).getroot()
        assert archive.read("resources/Plant.fmu") == plant.fmu.read_bytes()
    ssp_reader.validate_tree(slot, "SystemStructureDescription.xsd")
    assert main.get("name") != slot.get("name")  # SSP 2.0, and OMSimulator refuses equal ones
    place = slot.find("ssd:System/ssd:Elements/ssd:System", ssp_reader.ns)
    kinds = {c.get("name"): c.get("kind") for c in place.iterfind("ssd:Connectors/ssd:Connector", ssp_reader.ns)}
    assert kinds == {name: "input" if kind == "output" else "output" for name, kind in ports}


def test_parameter_values(plant: Compiled, tmp_path: Path) -> None:
    """Plant.ssv has every parameter of the FMU with its start value, type and unit."""
    path = write_ssp(plant.fmu, tmp_path)
    found = ssp_reader.read_ssv(str(path), "resources/Plant.ssv").parameters  # validates
    expected = [v for v in plant.description.modelVariables if v.causality == "parameter"]
    assert [(p.name, p.type, float(p.value), p.unit) for p in found] == [
        (v.name, v.type, float(v.start), v.unit) for v in expected
    ]


def test_units_are_defined(plant: Compiled, tmp_path: Path) -> None:
    """Every unit of a connector is defined, with the base exponents of the FMU."""
    path = write_ssp(plant.fmu, tmp_path)
    defined = {u.name: (u.kg, u.m, u.s, u.rad) for u in ssp_reader.read_ssd(str(path)).units}
    bases = {u.name: u.baseUnit for u in plant.description.unitDefinitions}
    used = {v.unit for v in plant.description.modelVariables if v.causality == "output"}
    assert defined == {name: (bases[name].kg, bases[name].m, bases[name].s, bases[name].rad) for name in used}


def test_runs_in_fmpy(plant: Compiled, tmp_path: Path) -> None:
    """The plant alone runs as a system, with the motion of the FMU."""
    found = simulate_ssp(str(write_ssp(plant.fmu, tmp_path)), stop_time=0.1, step_size=0.05)
    expected = fmpy.simulate_fmu(str(plant.fmu), fmi_type="CoSimulation", stop_time=0.1, output_interval=0.05)
    assert found["Plant.cart_position"][-1] == pytest.approx(expected["cart_position"][-1], rel=1e-6)


def test_steps_for_other_masters(plant: Compiled, tmp_path: Path) -> None:
    """OMSimulator and OSP read the step of the default experiment, and so does cosim."""
    path = write_ssp(plant.fmu, tmp_path)
    step = float(plant.description.defaultExperiment.stepSize)
    assert read_ssp(path, tmp_path / "unpacked").step == step
    with zipfile.ZipFile(path) as archive:
        text = archive.read("SystemStructure.ssd").decode()
    assert f'<oms:FixedStepMaster description="oms-ma" stepSize="{step}"' in text
    assert f'<osp:FixedStepAlgorithm baseStepSize="{step}"/>' in text


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_controller_is_connected_by_name(once: Once, tmp_path: Path, fmi: str) -> None:
    """Inputs and outputs of the same name are connected, and nothing else; the system needs no connectors."""
    path = write_ssp(slewing_plant(once, "2.0"), tmp_path, controller(fmi, tmp_path))
    system = ssp_reader.read_ssd(str(path)).system
    angles = ("column_angle", "column_angle_dot")
    assert _connections(system) == {
        *(("Plant", name, "Controller", name) for name in angles),
        ("Controller", "slewing", "Plant", "slewing"),
    }
    assert system.connectors == []


def test_controller_that_does_not_fit(plant: Compiled, tmp_path: Path) -> None:
    """A controller without an output for any input of the plant is refused, with the names of both."""
    with pytest.raises(DescriptionError, match="outputs named like the plant's inputs, push, wind_x"):
        write_ssp(plant.fmu, tmp_path, controller("2.0", tmp_path))
    (tmp_path / "no.fmu").write_text("nothing")
    with pytest.raises(DescriptionError, match="is not an FMU that FMPy can read"):
        write_ssp(plant.fmu, tmp_path, tmp_path / "no.fmu")


_CONTROLLER = """<fmiModelDescription fmiVersion="3.0" modelName="C" instantiationToken="c">
  <CoSimulation modelIdentifier="C"/>
  <UnitDefinitions>
    <Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>
    <Unit name="kg"><BaseUnit kg="1"/></Unit>
    <Unit name="vague"/>
    <Unit name="m"><BaseUnit m="1" factor="{metre}"/></Unit>
  </UnitDefinitions>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <{type} name="cart_position" valueReference="1" causality="input" start="0"{unit}/>
    <Float64 name="push" valueReference="2" causality="output" unit="vague"/>
    <Float64 name="level" valueReference="3" causality="input" start="0" unit="m"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="2"/></ModelStructure>
</fmiModelDescription>"""


def _controller(folder: Path, **words: object) -> Path:
    """Write a model description whose input `cart_position` is in mm, apart from the given replacements."""
    path = folder / "C.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = _CONTROLLER.format(**{"type": "Float64", "unit": ' unit="mm"', "metre": 1} | words)
        archive.writestr("modelDescription.xml", text)
    return path


def test_units_of_a_controller_are_defined(plant: Compiled, tmp_path: Path) -> None:
    """Units that the controller defines in base units are written, so that simulation masters can convert
    values.
    """
    path = write_ssp(plant.fmu, tmp_path, _controller(tmp_path))
    units = ssp_reader.read_ssd(str(path)).units
    assert {(u.m, float(u.factor)) for u in units if u.name == "mm"} == {(1, 0.001)}
    with zipfile.ZipFile(path) as archive:
        named = etree.parse(archive.open("SystemStructure.ssd")).xpath("//@unit")
    assert set(named) == {u.name for u in units}


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"type": "Int32", "unit": ""}, "cart_position: expected an input of type Real, got Integer"),
        ({"unit": ' unit="kg"'}, "cart_position: expected a unit that converts to the plant's, m, got kg"),
        ({"metre": 0.3048}, "unit m: expected the plant's definition, m=1, got m=1 factor=0.3048"),
    ],
)
def test_controller_of_other_types_or_units(
    plant: Compiled, tmp_path: Path, words: dict[str, object], match: str
) -> None:
    """Refused: connectors of the same name whose values cannot be converted, and units that are two things."""
    with pytest.raises(DescriptionError, match=match):
        write_ssp(plant.fmu, tmp_path, _controller(tmp_path, **words))


# ---- Variables with different names -----------------------------------------------------------------------------


def test_pairs_of_other_names_are_connected(plant: Compiled, tmp_path: Path) -> None:
    """One output reaches an input of its own name and another one; a given pair replaces equal names."""
    given = ["cart_position=level", "wind_x = push"]
    path = write_ssp(plant.fmu, tmp_path, _controller(tmp_path), given)
    assert _connections(ssp_reader.read_ssd(str(path)).system) == {
        ("Plant", "cart_position", "Controller", "cart_position"),
        ("Plant", "cart_position", "Controller", "level"),
        ("Controller", "push", "Plant", "wind_x"),
        ("Controller", "push", "Plant", "push"),
        *((None, name, "Plant", name) for name in ("wind_y", "wind_z")),
    }


def test_a_given_pair_replaces_equal_names(plant: Compiled, tmp_path: Path) -> None:
    """The controller's input `cart_position` follows a point of the plant, and not the cart as well."""
    path = write_ssp(plant.fmu, tmp_path, _controller(tmp_path), ["E_z=cart_position"])
    starts = {c[1] for c in _connections(ssp_reader.read_ssd(str(path)).system) if c[3] == "cart_position"}
    assert starts == {"E_z"}


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("cart_positon=level", "no variable of the plant 'cart_positon'; did you mean 'cart_position'?"),
        ("cart_position=levle", "no variable of the controller 'levle'; did you mean 'level'?"),
        ("push=level", "push=level: expected an input and an output, got two inputs"),
        ("cart_position=push", "expected an input and an output, got two outputs"),
        ("level", "expected A=B with a variable A of the plant and a variable B of the controller"),
        ("rod_angle=level", "level: expected a unit that converts to the plant's, rad, got m"),
        ("cart_position_dot=level", "level: expected a unit that converts to the plant's, m/s, got m"),
    ],
)
def test_pairs_that_cannot_be_connected(plant: Compiled, tmp_path: Path, given: str, match: str) -> None:
    """Unknown names with similar ones, two inputs or outputs, and units that do not fit are refused."""
    with pytest.raises(DescriptionError, match=re.escape(match)):
        write_ssp(plant.fmu, tmp_path, _controller(tmp_path), [given])


def test_pairs_need_a_controller_and_free_inputs(plant: Compiled, tmp_path: Path) -> None:
    """An input has one source, and without a controller there is nothing to connect."""
    twice = ["cart_position=level", "cart_position=level"]
    with pytest.raises(DescriptionError, match="the input level of the controller is connected already"):
        write_ssp(plant.fmu, tmp_path, _controller(tmp_path), twice)
    with pytest.raises(DescriptionError, match=r"connect: .* but there is no controller FMU"):
        write_ssp(plant.fmu, tmp_path, None, twice[:1])


@pytest.mark.slow
def test_names_do_not_change_the_motion(compile_data: CompileData, gpmelica: Command, tmp_path: Path) -> None:
    """A plant connected by --connect moves in FMPy like the same plant with the controller's names."""
    regulator, found = controller("2.0", tmp_path), []
    pairs = ("angle=column_angle", "angle_dot=column_angle_dot")
    for tower, torque in (("column", "slewing"), ("tower", "torque")):
        description, out = tmp_path / f"{tower}.toml", tmp_path / tower
        rotor = link(tower, "revolute", Z) | body(800.0, [0.0, 0.0, 0.8], [900.0, 900.0, 900.0])
        force = {"name": torque, "joint": tower, "input": True}
        description.write_text(toml(machine(rotor, name="Rotor", forces=[force])))
        connect = [f"--connect={pair}" for pair in (f"{torque}=slewing", *(f"{tower}_{pair}" for pair in pairs))]
        words = ("ssp", description, "--controller", regulator, "--out", out, "--json")
        answer = gpmelica(*words, *(connect if tower == "tower" else ()))
        run = simulate_ssp(answer.json["files"][1], stop_time=0.5, step_size=0.01)
        found.append([run[f"Plant.{tower}_angle"], run["Controller.slewing"]])
    assert np.ptp(found[0][0]) > 1e-3
    assert np.array_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_command(gpmelica: Command, tmp_path: Path, fmi: str) -> None:
    """`gpmelica ssp` writes the archive beside the FMU; a missing controller is bad input."""
    description = tmp_path / "slider.toml"
    push = {"name": "f", "joint": "mass", "input": True}
    description.write_text(toml(machine(link("mass", "prismatic", X), name="Slider", forces=[push])))
    answer = gpmelica("ssp", description, "--fmi", fmi, "--out", tmp_path / "out", "--json")
    assert answer.json["files"] == [str(tmp_path / "out" / name) for name in ("Slider.fmu", "Slider.ssp")]
    written = fmpy.read_model_description(answer.json["files"][0])
    assert (written.modelName, written.fmiVersion) == ("Slider", fmi)
    missing = gpmelica("ssp", description, "--out", tmp_path / "out", "--controller", tmp_path / "none.fmu")
    assert missing.status == 2
    assert "none.fmu" in missing.err


def test_archives_are_the_same_bytes(plant: Compiled, tmp_path: Path) -> None:
    """Nothing in the archive tells when it was packed."""
    path = write_ssp(plant.fmu, tmp_path)
    first = path.read_bytes()
    assert {entry.date_time[0] for entry in zipfile.ZipFile(path).infolist()} == {1980}
    assert write_ssp(plant.fmu, tmp_path).read_bytes() == first
