"""Options that several tasks share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from .option import Option

Inputs: TypeAlias = Path | str | Mapping[str, Any]
"""Inputs of an FMU over time: a CSV file, or arrays by name, `time` (s) among them."""

GivenInputs: TypeAlias = Annotated[
    Inputs | None,
    Option("FMU inputs over time: CSV with a column time and one per input", "--input", type=Path | None),
]
Out: TypeAlias = Annotated[
    Path | str | None,
    Option("folder for what is written (default: Name, or Name_CASE)", type=Path | None),
]
OwnRumoca: TypeAlias = Annotated[bool, Option("run the Modelica text in rumoca too")]
CompilerName: TypeAlias = Annotated[str, Option("auto | native | openmodelica")]
Fmi: TypeAlias = Annotated[str, Option("FMI version: 2.0 | 3.0")]
March: TypeAlias = Annotated[
    str,
    Option(
        "processors to build for: native, this one | x86-64-v3, with AVX2 and FMA (default: all)",
        shows_default=False,
    ),
]
OmcPath: TypeAlias = Annotated[str | None, Option("omc to use: a path, or docker:IMAGE")]
Timeout: TypeAlias = Annotated[float, Option("longest time that omc, and rumoca's run, may take, s")]
Seed: TypeAlias = Annotated[int, Option("the same one gives the same samples")]
Json: TypeAlias = Annotated[bool, Option("print JSON for scripts", "--json")]
Html: TypeAlias = Annotated[bool, Option("page that plays in a browser (default)", "--html")]


@dataclass(frozen=True)
class Described:
    """File of a description."""

    file: Annotated[Path, Option("description of the mechanism, TOML", positional=True)]


@dataclass(frozen=True)
class DescribedCase(Described):
    """Description that a command reads, with one of its cases."""

    case: Annotated[str | None, Option("case of the description")] = None


@dataclass(frozen=True)
class Printed:
    """Form of a command's answer."""

    as_json: Json = False


@dataclass(frozen=True)
class PrintedVerdict:
    """Form of a verdict."""

    strict: Annotated[bool, Option("exit status 5 if all is ok but something is questionable", "--strict")] = False
    as_json: Json = False
