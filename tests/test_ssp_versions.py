"""Archives of SSP 1.0 and 2.0: exports are valid by both schemas, imports may have types of FMI 3.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers_backends import Compiled, CompileData, driven
from helpers_coupling_fmus import DESCRIPTION, fmu_of_types
from helpers_schemas import schema_errors, text_errors
from test_coupling_systems import archive, component, connection, structure

from gpmelica.core.errors import DescriptionError
from gpmelica.coupling.fmus import FmuPart
from gpmelica.coupling.ssp import SystemStructure, read_ssp
from gpmelica.exchange.ssp.system import write_ssp

VERSIONS = ("1.0", "2.0")


@pytest.fixture(scope="module")
def plant(compile_data: CompileData) -> Compiled:
    """The driven pendulum with its FMU."""
    return compile_data(driven())


@pytest.mark.parametrize("version", VERSIONS)
def test_exported_archive_is_valid(plant: Compiled, tmp_path: Path, version: str) -> None:
    """Structure, place of the controller and parameter values follow the schemas of both versions."""
    assert schema_errors(write_ssp(plant.fmu, tmp_path), version) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_schemas_notice_errors(version: str) -> None:
    """A connection without an end is invalid by both schemas."""
    wrong = '<ssd:Connections><ssd:Connection startConnector="y"/></ssd:Connections>'
    assert text_errors(structure(wrong), version)
    assert not text_errors(structure(""), version)


# ---- SSP 2.0 ------------------------------------------------------------------------------------------------


def typed(name: str, kind: str, inner: str) -> str:
    """A connector with a type as SSP 2.0 has it."""
    return f'<ssd:Connector name="{name}" kind="{kind}">{inner}</ssd:Connector>'


def read(tmp_path: Path, system: str, **files: Any) -> SystemStructure:
    """Write an archive of version 2.0, checked by the schema, and read it."""
    text = structure(system).replace('version="1.0"', 'version="2.0"')
    return read_ssp(archive(tmp_path, text, **files), tmp_path / "unpacked")


def pair(source: str, target: str, more: str = "") -> str:
    """Two FMUs whose connectors `y` and `u` are connected."""
    parts = component("a", typed("y", "output", source)) + component("b", typed("u", "input", target), more=more)
    wire = connection("a.y", "b.u")
    return f"<ssd:Elements>{parts}</ssd:Elements><ssd:Connections>{wire}</ssd:Connections>"


def test_types_of_fmi_3(tmp_path: Path) -> None:
    """Connectors of the types of FMI 3.0 have units, which are converted."""
    found = read(tmp_path, pair('<ssc:Float64 unit="mm"/>', '<ssc:Float32 unit="m"/>'))
    assert found.links[0].factor == pytest.approx(1e-3)
    assert read(tmp_path, pair("<ssc:UInt8/>", "<ssc:Int64/>")).links[0].factor == 1.0


@pytest.mark.parametrize(
    ("inner", "got"),
    [
        ('<ssc:Float64/><ssc:Dimension size="3"/>', "an array"),
        ("<ssc:Binary/>", "binary data"),
        ('<ssc:Clock intervalVariability="constant"/>', "a clock or a clocked variable"),
        ('<ssc:Float64/><ssd:Clock name="tick"/>', "a clock or a clocked variable"),
        ("<ssc:String/>", "a text"),
    ],
)
def test_signals_that_are_not_supported(tmp_path: Path, inner: str, got: str) -> None:
    """The message names the connector and what it is; without a connection, such signals are ignored."""
    with pytest.raises(DescriptionError) as caught:
        read(tmp_path, pair("<ssc:Float64/>", inner))
    assert f"connector b.u: expected a scalar number, Boolean or enumeration, got {got}" in str(caught.value)
    part = component("a", typed("y", "output", inner), typed("x", "output", "<ssc:Float64/>"))
    assert read(tmp_path, f"<ssd:Elements>{part}</ssd:Elements>").elements


def values(*parameters: str) -> str:
    """A binding of parameter values."""
    space = 'xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"'
    one = f"<ssv:Parameters>{''.join(parameters)}</ssv:Parameters>"
    inner = f'<ssv:ParameterSet {space} version="2.0" name="p">{one}</ssv:ParameterSet>'
    binding = f"<ssd:ParameterBinding><ssd:ParameterValues>{inner}</ssd:ParameterValues></ssd:ParameterBinding>"
    return f"<ssd:ParameterBindings>{binding}</ssd:ParameterBindings>"


def parameter(name: str, kind: str, value: str) -> str:
    """One value."""
    return f'<ssv:Parameter name="{name}"><ssv:{kind} value="{value}"/></ssv:Parameter>'


def test_parameter_values_of_fmi_3(tmp_path: Path) -> None:
    """Values have the types of FMI 3.0; integers of 64 bits keep all digits."""
    large = 2**63 + 1
    given = values(
        parameter("x", "Float64", "0.5"), parameter("n", "UInt64", str(large)), parameter("on", "Boolean", "true")
    )
    found = read(tmp_path, pair("<ssc:Float64/>", "<ssc:Float64/>", given))
    assert found.elements["b"].parameters == {"x": 0.5, "n": large, "on": True}


@pytest.mark.parametrize(("kind", "value"), [("Float64", "1 2 3"), ("Boolean", "true false")])
def test_arrays_of_parameters(tmp_path: Path, kind: str, value: str) -> None:
    """Several values are refused, not taken as the first one or as false."""
    with pytest.raises(DescriptionError, match=f"parameter x: expected one value, got the array {value}"):
        read(tmp_path, pair("<ssc:Float64/>", "<ssc:Float64/>", values(parameter("x", kind, value))))


def test_structural_parameter(tmp_path: Path) -> None:
    """A value for a structural parameter is refused in words."""
    line = '<Int32 name="length" valueReference="6" causality="output"/>'
    size = '<UInt64 name="size" valueReference="7" causality="structuralParameter" variability="fixed" start="3"/>'
    fmu = fmu_of_types(tmp_path, DESCRIPTION.replace(line, line + size))
    with pytest.raises(DescriptionError, match="parameter size: structural parameters are not supported"):
        FmuPart("a", fmu, tmp_path / "unpacked", {"size": 2})
