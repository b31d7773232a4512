"""modelDescription.xml of the native FMU, and what FMI 3.0 has beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.templates import fill
from ...core.zip_archive import build_time
from ...description import Chain
from ...description.types import units
from ...generator.program.program import Program
from ...generator.variables import Variable
from ..code.model_structure import ModelStructure


@dataclass(frozen=True)
class Unit:
    """A unit and its SI base exponents, those that are not 0."""

    name: str
    exponents: tuple[tuple[str, int], ...]


def unit(name: str) -> Unit:
    """Base exponents of a Modelica unit such as `N.m/rad`, `kg.m2`, `1/s`."""
    return Unit(name, tuple((base, e) for base, e in units.exponents(name).items() if e))


def render(
    program: Program,
    chain: Chain,
    variables: Sequence[Variable],
    structure: ModelStructure,
    *,
    fmi: str,
    token: str,
    version: str,
    sources: Sequence[str],
) -> str:
    """The XML text; `sources` are the C files to compile, which FMI 2.0 names here."""
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
    """Texts of the lists of dependencies, which many unknowns share; first: what the first variable counts as."""
    unknowns = (*structure.outputs, *structure.derivatives, *structure.initial)
    lists = {unknown.dependencies for unknown in unknowns}
    return {references: " ".join(str(k + first) for k in references) for references in lists}


def build_description(identifier: str, sources: Sequence[str]) -> str:
    """FMI 3.0's `sources/buildDescription.xml`: the C files to compile."""
    return fill("fmu/archive/build_description.xml.jinja", {"identifier": identifier, "sources": sources})
