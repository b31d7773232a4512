"""modelDescription.xml of the native FMU (FMI 2.0)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from ..generator.description import Chain
from ..generator.interface import Variable
from ..generator.program import Program
from .archive import build_time
from .dependencies import Dependencies

_BASE = ("kg", "m", "s", "rad")
_DERIVED = {"N": {"kg": 1, "m": 1, "s": -2}, "Pa": {"kg": 1, "m": -1, "s": -2}}


@dataclass(frozen=True)
class Unit:
    """A unit and its SI base exponents, those that are not 0."""

    name: str
    exponents: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Unknown:
    """Entry of ModelStructure: one-based index, and those of what it depends on, separated by spaces."""

    index: int
    dependencies: str


def unit(name: str) -> Unit:
    """Base exponents of a Modelica unit such as `N.m/rad`, `kg.m2`, `1/s`."""
    exponents = dict.fromkeys(_BASE, 0)
    for position, factors in enumerate(name.split("/")):
        for factor in factors.split("."):
            match = re.fullmatch(r"([A-Za-z]+)(-?\d*)", factor)
            if match is None:
                continue  # the 1 of 1/s
            power = int(match[2] or 1) * (1 if position == 0 else -1)
            for base, exponent in _DERIVED.get(match[1], {match[1]: 1}).items():
                exponents[base] += exponent * power
    return Unit(name, tuple((base, e) for base, e in exponents.items() if e))


def render(
    program: Program,
    chain: Chain,
    variables: Sequence[Variable],
    dependencies: Dependencies,
    *,
    token: str,
    version: str,
    sources: Sequence[str],
) -> str:
    """The XML text."""
    environment = Environment(
        loader=PackageLoader("gpmelica", "fmu"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("model_description.xml.jinja").render(
        program=program,
        simulation=chain.simulation,
        variables=variables,
        units=[unit(name) for name in sorted({v.unit for v in variables if v.unit})],
        token=token,
        version=version,
        date=build_time().strftime("%Y-%m-%dT%H:%M:%SZ"),
        sources=sources,
        **_structure(variables, dependencies),
    )


def _structure(variables: Sequence[Variable], dependencies: Dependencies) -> dict[str, list[object]]:
    unknowns: dict[str, list[object]] = {"outputs": [], "derivatives": [], "initial_unknowns": []}
    columns = [i + 1 for v in ("state", "input") for i, x in enumerate(variables) if x.kind == v]
    for position, variable in enumerate(variables, start=1):
        if variable.kind == "state":
            unknowns["outputs"].append(Unknown(position, str(position)))
        elif variable.kind == "output":
            unknowns["outputs"].append(_unknown(position, dependencies.outputs[variable.index], columns))
        elif variable.kind == "correction":
            unknowns["outputs"].append(Unknown(position, ""))
        elif variable.kind == "derivative":
            unknowns["derivatives"].append(_unknown(position, dependencies.derivatives[variable.index], columns))
        if variable.kind in ("state", "output", "derivative", "correction"):
            unknowns["initial_unknowns"].append(position)
    return unknowns


def _unknown(position: int, row: np.ndarray, columns: list[int]) -> Unknown:
    return Unknown(position, " ".join(str(i) for i in sorted(np.array(columns, dtype=int)[row])))
