"""Schemas of the standard SSP (System Structure and Parameterization) for tests of archives."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest
from lxml import etree

# Folder of the schemas in a package that contains them, by the version of the standard.
_FOLDERS = {"1.0": ("fmpy", "ssp/schema"), "2.0": ("pyssp_standard", "resources/ssp2")}
_SCHEMAS = {".ssd": "SystemStructureDescription", ".ssv": "SystemStructureParameterValues"}


def schema_errors(archive: Path, version: str) -> list[str]:
    """Errors of all descriptions and parameter files in an archive by the schemas of a version of SSP."""
    with zipfile.ZipFile(archive) as file:
        texts = {name: file.read(name) for name in file.namelist() if Path(name).suffix in _SCHEMAS}
    assert "SystemStructure.ssd" in texts
    return [
        f"{name}: {error.message}"
        for name, text in texts.items()
        for error in _errors(text, _schema(version, _SCHEMAS[Path(name).suffix]))
    ]


def text_errors(text: str, version: str = "") -> list[str]:
    """Errors of a structure description by the schema of a version of SSP, by default its own one."""
    version = version or str(etree.fromstring(text.encode()).get("version"))
    return [error.message for error in _errors(text.encode(), _schema(version, _SCHEMAS[".ssd"]))]


def _errors(text: bytes, schema: etree.XMLSchema) -> list[etree._LogEntry]:
    schema.validate(etree.fromstring(text))
    return list(schema.error_log)


def _schema(version: str, name: str) -> etree.XMLSchema:
    package, folder = _FOLDERS[version]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"the schemas of SSP {version} are in {package}, which is not installed")
    return etree.XMLSchema(etree.parse(Path(spec.origin).parent / folder / f"{name}.xsd"))
