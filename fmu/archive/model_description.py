"""Model description of the native FMU (modelDescription.xml), and the build description of FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.templates import fill
from ...core.zip_archive import build_time
from ...description import Description
from ...description.types import units
from ...generator.program.program import EquationSystem
from ...generator.variables import Variable
from ..code.model_structure import ModelStructure


@dataclass(frozen=True)
class Unit:
    """Physical unit as a product of powers of the SI base units.

    `exponents` contains the name and the exponent of each base unit whose exponent is not zero.
    """

    name: str
    exponents: tuple[tuple[str, int], ...]


def unit(name: str) -> Unit:
    """Return the unit with a Modelica name such as `N.m/rad`, `kg.m2` or `1/s`."""
    return Unit(name, tuple((base, e) for base, e in units.exponents(name).items() if e))


def render(
    program: EquationSystem,
    chain: Description,
    variables: Sequence[Variable],
    structure: ModelStructure,
    *,
    fmi: str,
    token: str,
    version: str,
    sources: Sequence[str],
) -> str:
    """Return the XML text of modelDescription.xml.

    Parameters
    ----------
    program : EquationSystem
        Equations of the model.
    chain : Description
        Description of the mechanism, with the settings of the simulation.
    variables : sequence of Variable
        Variables in order of their value references.
    structure : ModelStructure
        Unknowns and their dependencies.
    fmi : str
        Version of FMI, "2.0" or "3.0".
    token : str
        Instantiation token (GUID) of the FMU.
    version : str
        Version of gpmelica.
    sources : sequence of str
        C files to compile, which FMI 2.0 lists in the model description.
    """
    template = (
        "fmu/archive/model_description.xml.jinja" if fmi == "2.0" else "fmu/archive/model_description_3.xml.jinja"
    )
    return fill(
        template,
        {
            "program": program,
            "simulation": chain.simulation,
            "variables": variables,
            "arrays": [(i, v, variables[i : i + v.elements]) for i, v in enumerate(variables) if v.elements],
            "units": [unit(name) for name in sorted({v.unit for v in variables if v.unit})],
            "structure": structure,
            "lists": _lists(structure, 1 if fmi == "2.0" else 0),
            "indicators": [i for i, v in enumerate(variables) if v.kind == "indicator"],
            "token": token,
            "version": version,
            "date": build_time().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sources": sources,
        },
    )


def _lists(structure: ModelStructure, first: int) -> dict[tuple[int, ...], str]:
    """Return a mapping from dependency lists to their text in the XML file.

    A dependency list contains variable indices, counted from 0. In the XML file, the first variable has
    the index `first`: 1 in FMI 2.0, 0 in FMI 3.0.
    """
    unknowns = (*structure.outputs, *structure.derivatives, *structure.initial)
    lists = {unknown.dependencies for unknown in unknowns}
    return {references: " ".join(str(k + first) for k in references) for references in lists}


def build_description(identifier: str, sources: Sequence[str]) -> str:
    """Return the text of FMI 3.0's `sources/buildDescription.xml`, which lists the C files to
    compile.
    """
    return fill("fmu/archive/build_description.xml.jinja", {"identifier": identifier, "sources": sources})
