"""Coupled systems from SSP archives: reading, checks in words, FMUs of both versions together, the command."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_backends import Once
from helpers_cli import Command, fails
from helpers_coupling import couple, error, order, two_masses_exact
from helpers_masters import controller, plant, slewing
from helpers_parts import X, body, link, machine
from helpers_schemas import text_errors

import gpmelica as gp
from gpmelica.analysis.system import System
from gpmelica.api.model import load
from gpmelica.core.errors import DescriptionError
from gpmelica.coupling.ssp import read_ssp
from gpmelica.coupling.system import open_system
from gpmelica.coupling.units import PhysicalUnit, by_name, conversion
from gpmelica.coupling.verdict import Options
from gpmelica.coupling.verdict import couple as judged
from gpmelica.exchange.ssp.system import write_ssp
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.tasks.build import build_native

pytest_plugins = ["fixtures_openmodelica"]

SSD = "http://ssp-standard.org/SSP1/SystemStructureDescription"
SSC = "http://ssp-standard.org/SSP1/SystemStructureCommon"
_UNITS = """<ssd:Units>
  <ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
  <ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
  <ssc:Unit name="kg"><ssc:BaseUnit kg="1"/></ssc:Unit>
</ssd:Units>"""


def structure(system: str, after: str = _UNITS + '<ssd:DefaultExperiment startTime="0" stopTime="1"/>') -> str:
    """A structure description around the content of its system."""
    return (
        f'<ssd:SystemStructureDescription xmlns:ssd="{SSD}" xmlns:ssc="{SSC}" version="1.0" name="Test">'
        f'<ssd:System name="Test">{system}</ssd:System>{after}</ssd:SystemStructureDescription>'
    )


def connector(name: str, kind: str, unit: str = "") -> str:
    """A connector of a real signal."""
    given = f' unit="{unit}"' if unit else ""
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:Real{given}/></ssd:Connector>'


def component(name: str, *connectors: str, source: str = "resources/a.fmu", more: str = "") -> str:
    """An FMU with its connectors."""
    inner = f"<ssd:Connectors>{''.join(connectors)}</ssd:Connectors>{more}"
    return f'<ssd:Component name="{name}" source="{source}">{inner}</ssd:Component>'


def connection(start: str, end: str, inner: str = "") -> str:
    """A connection between ELEMENT.CONNECTOR and another; no element is the system."""
    ends = ""
    for side, port in (("start", start), ("end", end)):
        element, _, name = port.rpartition(".")
        ends += f' {side}Element="{element}"' * bool(element) + f' {side}Connector="{name}"'
    return f"<ssd:Connection{ends}>{inner}</ssd:Connection>"


def archive(folder: Path, text: str, **files: bytes | str) -> Path:
    """An archive with a structure, checked by the schema of its version, and resources."""
    assert text_errors(text) == []
    path = folder / "Test.ssp"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("SystemStructure.ssd", text)
        for name, content in ({"a.fmu": b"no FMU"} | files).items():
            file.writestr(f"resources/{name}", content)
    return path


def _read(tmp_path: Path, text: str, **files: str) -> Any:
    return read_ssp(archive(tmp_path, text, **files), tmp_path / "unpacked")


# ---- Reading ------------------------------------------------------------------------------------------------


def test_nested_systems_and_units_are_flattened(tmp_path: Path) -> None:
    """A signal goes through the connectors of a nested system, with conversions and transformations on its way."""
    inner = (
        f"<ssd:Connectors>{connector('in', 'input', 'mm')}</ssd:Connectors>"
        f"<ssd:Elements>{component('part', connector('u', 'input', 'm'))}</ssd:Elements>"
        f"<ssd:Connections>{connection('in', 'part.u')}</ssd:Connections>"
    )
    linear = '<ssc:LinearTransformation factor="2" offset="500"/>'
    text = structure(
        f"<ssd:Elements>{component('source', connector('y', 'output', 'm'))}"
        f'<ssd:System name="inner">{inner}</ssd:System></ssd:Elements>'
        f"<ssd:Connections>{connection('source.y', 'inner.in', linear)}</ssd:Connections>"
    )
    found = _read(tmp_path, text)
    [link_] = found.links
    assert (link_.source, link_.target) == (("source", "y"), ("inner.part", "u"))
    assert link_.factor == pytest.approx(2.0)  # 1 m is 1,000 mm, doubled 2,000 mm, which is 2 m
    assert link_.offset == pytest.approx(0.5)
    assert (found.start, found.stop) == (0.0, 1.0)


def test_two_drivers_and_units_that_do_not_fit(tmp_path: Path) -> None:
    """All problems come together, each with the names of both sides."""
    parts = component("a", connector("y", "output", "kg"), connector("z", "output", "m"))
    parts += component("b", connector("u", "input", "m"))
    text = structure(
        f"<ssd:Elements>{parts}</ssd:Elements>"
        f"<ssd:Connections>{connection('a.z', 'b.u')}{connection('a.y', 'b.u')}</ssd:Connections>"
    )
    with pytest.raises(DescriptionError) as caught:
        _read(tmp_path, text)
    said = str(caught.value)
    assert "input b.u: is connected to two outputs, a.z and a.y; remove one of the connections" in said
    assert "connection to b.u: expected a unit that converts to m, got kg at a.y" in said


def test_connection_of_an_element_that_does_not_exist(tmp_path: Path) -> None:
    """A connection from nowhere is an error with the elements that there are."""
    part = component("b", connector("u", "input", "m"))
    text = structure(
        f"<ssd:Elements>{part}</ssd:Elements><ssd:Connections>{connection('a.y', 'b.u')}</ssd:Connections>"
    )
    with pytest.raises(
        DescriptionError, match=r"connection from a\.y to b\.u: expected an element .*known are: b"
    ):
        _read(tmp_path, text)


def test_parameter_sets_and_mappings(tmp_path: Path) -> None:
    """Values of a file get the names and the scale of a mapping; other names stay."""
    namespaces = 'xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="p"'
    one = '<ssv:Parameter name="{}"><ssv:Real value="{}"/></ssv:Parameter>'
    values = f"<ssv:ParameterSet {namespaces}><ssv:Parameters>{one.format('mass', 2)}{one.format('k', 5)}"
    mapping = (
        '<ssd:ParameterMapping><ssm:ParameterMapping version="1.0"'
        ' xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping">'
        '<ssm:MappingEntry source="mass" target="m"><ssc:LinearTransformation factor="1000"/></ssm:MappingEntry>'
        "</ssm:ParameterMapping></ssd:ParameterMapping>"
    )
    binding = (
        '<ssd:ParameterBindings><ssd:ParameterBinding source="resources/p.ssv">'
        + mapping
        + "</ssd:ParameterBinding>"
        "</ssd:ParameterBindings>"
    )
    text = structure(f"<ssd:Elements>{component('a', connector('y', 'output'), more=binding)}</ssd:Elements>")
    found = _read(tmp_path, text, **{"p.ssv": values + "</ssv:Parameters></ssv:ParameterSet>"})
    assert found.elements["a"].parameters == {"m": 2000.0, "k": 5.0}


def test_annotations(tmp_path: Path) -> None:
    """Step, tolerance, sample periods and pins are annotations; so is the step of OMSimulator."""
    own = (
        '<ssd:Annotations><ssc:Annotation type="org.gpmelica.coupling"><Coupling xmlns="" tolerance="1e-5">'
        '<Sampled element="b" period="0.02"/><Pin first="a.x" second="b.x" force="a.f" reaction="b.f"/></Coupling>'
        '</ssc:Annotation><ssc:Annotation type="org.openmodelica"><oms:FixedStepMaster'
        ' xmlns:oms="https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"'
        ' stepSize="0.005"/></ssc:Annotation></ssd:Annotations>'
    )
    parts = component("a", connector("x", "output")) + component("b", connector("x", "output"))
    found = _read(tmp_path, structure(f"<ssd:Elements>{parts}</ssd:Elements>", own))
    assert (found.step, found.tolerance, found.periods) == (0.005, 1e-5, {"b": 0.02})
    assert found.pins[0].first == ("a", "x")
    assert found.pins[0].reaction == ("b", "f")


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ({"source": "resources/none.fmu"}, "element a: expected the file resources/none.fmu in the archive"),
        ({"source": "../../etc/passwd"}, "element a: expected the file ../../etc/passwd in the archive"),
    ],
)
def test_missing_files(tmp_path: Path, element: dict[str, str], expected: str) -> None:
    """An FMU that is not inside the archive is named."""
    text = structure(f"<ssd:Elements>{component('a', connector('y', 'output'), **element)}</ssd:Elements>")
    with pytest.raises(DescriptionError, match=expected):
        _read(tmp_path, text)


def test_no_archive(tmp_path: Path, gpmelica: Command) -> None:
    """A file that is no archive, and an archive without a structure, are bad input."""
    (tmp_path / "a.ssp").write_text("text")
    fails(gpmelica("cosim", tmp_path / "a.ssp", "--out", tmp_path / "out"), 2, "a.ssp: is not an SSP archive")
    with zipfile.ZipFile(tmp_path / "b.ssp", "w") as file:
        file.writestr("readme.txt", "")
    fails(gpmelica("cosim", tmp_path / "b.ssp", "--out", tmp_path / "out"), 2, "has no SystemStructure.ssd")
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())


def test_units_convert() -> None:
    """Values go through base units, with offsets."""
    celsius = PhysicalUnit((0, 0, 0, 0, 1, 0, 0), 1.0, 273.15)
    fahrenheit = PhysicalUnit((0, 0, 0, 0, 1, 0, 0), 5.0 / 9.0, 459.67 * 5.0 / 9.0)
    factor, offset = conversion(celsius, fahrenheit)
    assert factor * 100.0 + offset == pytest.approx(212.0)
    assert by_name("N.m") == PhysicalUnit((1, 2, -2, 0, 0, 0, 0))
    assert by_name("furlong") is None


# ---- FMUs ---------------------------------------------------------------------------------------------------


def _slider(stiffness: float, velocity: float, folder: Path) -> System:
    """A mass of 1 kg on a spring that takes a force."""
    part = link("mass", "prismatic", X, stiffness=stiffness, velocity=velocity) | body(1.0, [0, 0, 0], [1, 1, 1])
    force = {"name": "f", "joint": "mass", "input": True}
    data = machine(part, name="Slider", forces=[force], simulation={"stop": 1.0, "tolerance": 1e-10})
    file = folder / "slider.toml"
    file.write_text(toml(data), encoding="utf-8")
    return load(file).prepared


@pytest.fixture(scope="module")
def sliders(once: Once) -> dict[str, bytes]:
    """FMUs of two masses, of FMI 2.0 and 3.0, and of the spring between them by pythonfmu."""
    builder: Any = pytest.importorskip("pythonfmu").FmuBuilder

    def build(folder: Path) -> None:
        for name, stiffness, velocity, fmi in (("a", 10.0, 100.0, "2.0"), ("b", 1000.0, -100.0, "3.0")):
            (folder / name).mkdir()
            slider = _slider(stiffness, velocity, folder / name)
            build_native(slider, folder / name, fmi=fmi).path.rename(folder / f"{name}.fmu")
        for name, options in (("plain", {}), ("restoring", {"canGetAndSetFMUstate": True})):
            script = Path(__file__).with_name("data_law_fmi2.py")
            builder.build_FMU(script, dest=folder, **options).rename(folder / f"{name}.fmu")

    folder = once("coupled_sliders", build)
    return {path.name: path.read_bytes() for path in folder.glob("*.fmu")}


def _pair(folder: Path, sliders: dict[str, bytes], law: str) -> Path:
    masses = "".join(
        component(
            name,
            *(connector(n, k, u) for n, k, u in _MASS),
            source=f"resources/{name}.fmu",
        )
        for name in "ab"
    )
    signals = [(f"{kind}{side}", k) for side in "ab" for kind, k in (("x", "input"), ("f", "output"))]
    spring = component("law", *(connector(n, k) for n, k in signals), source=f"resources/{law}.fmu")
    wires = "".join(
        connection(f"{side}.mass_position", f"law.x{side}") + connection(f"law.f{side}", f"{side}.f")
        for side in "ab"
    )
    text = structure(
        f"<ssd:Elements>{masses}{spring}</ssd:Elements><ssd:Connections>{wires}</ssd:Connections>", _UNITS
    )
    return archive(folder, text, **sliders)


_MASS = (("f", "input", ""), ("mass_position", "output", "m"))


@pytest.mark.slow
def test_fmus_of_both_versions_together(sliders: dict[str, bytes], tmp_path: Path) -> None:
    """FMUs 2.0, 3.0 and of pythonfmu, by the iterated method: the order and the error of the exact solution."""
    opened = open_system(_pair(tmp_path, sliders, "restoring"), tmp_path / "unpacked")
    try:
        assert [p.abilities.restores for p in opened.network.parts] == [True, True, True]
        assert {r.id for r in opened.remarks} == {"missing_unit"}
        runs = [couple(opened.network, "mean_force", 0.5, step) for step in (0.01, 0.005)]
    finally:
        opened.close()
    errors = [error(run["a.mass_position"], two_masses_exact(run.time)) for run in runs]
    assert errors[0] < 1e-2
    assert order(errors) == pytest.approx(2.0, abs=0.2)


def _pinned(folder: Path, sliders: dict[str, bytes]) -> Path:
    """Two masses that a pin holds together, both with a velocity of 1 m/s at the start."""
    ssv = 'xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"'
    start = (
        "<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>"
        f'<ssv:ParameterSet {ssv} version="1.0" name="start"><ssv:Parameters>'
        '<ssv:Parameter name="mass_position_dot_start"><ssv:Real value="1"/></ssv:Parameter>'
        "</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"
    )
    masses = "".join(
        component(n, *(connector(*c) for c in _MASS), source=f"resources/{n}.fmu", more=start) for n in "ab"
    )
    pin = (
        '<ssd:Annotations><ssc:Annotation type="org.gpmelica.coupling"><Coupling xmlns="">'
        '<Pin first="a.mass_position" second="b.mass_position" force="a.f" reaction="b.f"/>'
        "</Coupling></ssc:Annotation></ssd:Annotations>"
    )
    return archive(folder, structure(f"<ssd:Elements>{masses}</ssd:Elements>", _UNITS + pin), **sliders)


@pytest.mark.slow
def test_pin_between_fmus(sliders: dict[str, bytes], tmp_path: Path) -> None:
    """FMUs 2.0 and 3.0 on both sides of a rigid pin vibrate as one mass, and the verdict has the gap."""
    run = gp.cosim(_pinned(tmp_path, sliders), stop=0.5, step=0.01)
    w = np.sqrt(1010.0 / 2.0)
    assert error(run["a.mass_position"], np.sin(w * run.time) / w) < 1e-5
    assert run.data()["groups"][0]["method"] == "pin"
    assert run.data()["gap"] < 1e-9
    assert run.coupled.holds
    automatic = gp.cosim(_pinned(tmp_path, sliders), stop=0.5)
    assert automatic.ok, automatic.data()


@pytest.mark.slow
def test_fmu_that_cannot_restore(sliders: dict[str, bytes], tmp_path: Path) -> None:
    """The loop runs in sequence, and the verdict names the FMU that costs the accuracy."""
    run = gp.cosim(_pair(tmp_path, sliders, "plain"), stop=0.5, step=0.001)
    [group] = run.data()["groups"]
    assert group["method"] == "sequential"
    assert "law cannot restore a state" in group["reason"]
    assert "cannot_restore" in {remark.id for remark in run.remarks}
    exact = two_masses_exact(run.time)
    assert error(run["a.mass_position"], exact) < 1e-3
    true = max(error(run["a.mass_position"], exact), 1e-12)
    assert run.error > true / 5.0  # of the worst signal, which this one need not be


@pytest.fixture(scope="module")
def by_omc(omc: Omc, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """FMU by omc of the mass in `a.fmu`."""
    folder = tmp_path_factory.mktemp("by_omc")
    return openmodelica.build(_slider(10.0, 100.0, folder), folder, omc=omc).fmu.read_bytes()


@pytest.mark.openmodelica
@pytest.mark.parametrize(("fmi", "law"), [("2.0", "restoring"), ("3.0", "plain")])
def test_fmu_by_omc(by_omc: bytes, sliders: dict[str, bytes], tmp_path: Path, fmi: str, law: str) -> None:
    """A mass by omc with a native one of either version and a spring by pythonfmu: exact motion, and a verdict.

    The FMU by omc claims what it cannot do. The results are those of a native FMU without these claims.
    """
    other = build_native(_slider(1000.0, -100.0, tmp_path), tmp_path / "other", fmi=fmi).path.read_bytes()
    runs = {}
    for kind, first in (("omc", by_omc), ("native", sliders["a.fmu"])):
        (tmp_path / kind).mkdir()
        path = _pair(tmp_path / kind, sliders | {"a.fmu": first, "b.fmu": other}, law)
        opened = open_system(path, tmp_path / kind / "unpacked")
        lacking = opened.network.parts[0]
        if kind == "native":
            lacking.abilities = replace(lacking.abilities, restores=False, takes_courses=False, gives_slopes=False)
        try:
            runs[kind] = judged(opened, Options(stop=0.5, step=0.001))
        finally:
            opened.close()
    found, expected = runs["omc"].signals["a.mass_position"], runs["native"].signals["a.mass_position"]
    assert error(found, two_masses_exact(runs["omc"].time)) < 1e-3
    assert error(found, expected) < 1e-5
    assert {c.method for c in runs["omc"].choices} == {"sequential"}
    assert re.match("a(, law)? cannot restore a state", runs["omc"].choices[0].reason)
    said = {remark.id: remark.text for remark in runs["omc"].remarks if remark.where == "a"}
    assert re.match("a claims to save and restore its state, but reports an error", said["restores_wrongly"])
    assert re.match("a claims to interpolate its inputs, but reports an error", said["ignores_slopes"])


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_slewing_crane_against_one_model(once: Once, tmp_path: Path, fmi: str) -> None:
    """Quadratic extrapolation without rollback at 10 and 5 ms: order 3 against one model of plant and controller.

    The controller is an FMU 2.0 in both cases, so that versions are mixed.
    """
    model = slewing("closed")
    begin = {"start": model.start, "dependent": model.dependent}
    truth = solving.simulate(model.mechanism, **begin, stop=0.4, output_step=0.005, tolerance=1e-9, loads=[])
    opened = open_system(write_ssp(plant(once, fmi), tmp_path, controller("2.0", tmp_path)), tmp_path / "unpacked")
    errors = []
    try:
        for step in (0.01, 0.005):
            run = couple(opened.network, "sequential", 0.4, step)
            expected = truth.signals["column_angle"][:: round(step / 0.005)]
            errors.append(float(np.max(np.abs(run["Plant.column_angle"] - expected))))
    finally:
        opened.close()
    assert errors[0] < 1e-6  # rad
    assert order(errors) == pytest.approx(3.0, abs=0.2)


@pytest.mark.slow
def test_slewing_crane(once: Once, tmp_path: Path, gpmelica: Command) -> None:
    """The plant with its controller by the command: files, verdict, and the names in it."""
    path = write_ssp(plant(once, "2.0"), tmp_path, controller("2.0", tmp_path))
    answer = gpmelica("cosim", path, "--stop", "0.2", "--out", tmp_path / "out", "--json")
    assert answer.status == 0, answer
    assert json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8")) == answer.json
    assert answer.json["groups"][0]["fmus"] == ["Plant", "Controller"]
    assert answer.json["steps"] < 100  # 20 of the 10 ms that the archive gives, and shorter ones at the start
    assert (tmp_path / "out" / "signals.csv").read_text(encoding="utf-8").startswith("time,Plant.")
    text = (tmp_path / "out" / "report.txt").read_text(encoding="utf-8")
    assert "Controller cannot restore a state" in text
    bad = gpmelica("cosim", path, "--method", "jacobi", "--out", tmp_path / "out")
    fails(bad, 2, "method: expected one of auto, sequential, hermite, mean_force, pin, got jacobi")
    assert np.isfinite(answer.json["energy_residual"])
