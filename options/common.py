"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from .option import Option

Inputs: TypeAlias = Path | str | Mapping[str, Any]
"""Inputs of an FMU over time: a CSV file, or arrays by name with the times `time` in s."""

GivenInputs: TypeAlias = Annotated[
    Inputs | None,
    Option(
        "CSV file of FMU inputs over time: a column time, s, and one column per input",
        "--inputs --input",
        type=Path | None,
    ),
]
Out: TypeAlias = Annotated[
    Path | str | None,
    Option("folder for the files (default: Name, or Name_CASE)", type=Path | None),
]
OwnRumoca: TypeAlias = Annotated[bool, Option("also simulate the Modelica model in rumoca")]
CompilerName: TypeAlias = Annotated[str, Option("compiler of the FMU: auto | native | openmodelica")]
Fmi: TypeAlias = Annotated[str, Option("version of FMI: 2.0 | 3.0")]
March: TypeAlias = Annotated[
    str,
    Option(
        "processors to compile for: native (this one) | x86-64-v3, with AVX2 and FMA (default: all)",
        shows_default=False,
    ),
]
OmcPath: TypeAlias = Annotated[str | None, Option("OpenModelica compiler omc: a path, or docker:IMAGE")]
Timeout: TypeAlias = Annotated[float, Option("time limit for omc and for the simulation in rumoca, s")]
Seed: TypeAlias = Annotated[int, Option("seed of the samples; equal seeds give equal samples")]
Json: TypeAlias = Annotated[bool, Option("print JSON for scripts", "--json")]
Html: TypeAlias = Annotated[bool, Option("write a page that plays in a browser (default)", "--html")]
Live: TypeAlias = Annotated[
    bool, Option("let the page simulate in the browser, with other inputs and parameters", "--live")
]


Fresh: TypeAlias = Annotated[
    bool, Option("simulate again, even if the results of an earlier command can be reused", "--fresh")
]


@dataclass(frozen=True)
class Described:
    """Argument for the path of a description file."""

    file: Annotated[Path, Option("description of the mechanism, TOML", positional=True)]


@dataclass(frozen=True)
class DescribedCase(Described):
    """Command-line arguments that select a description file and one of its cases."""

    case: Annotated[str | None, Option("name of a case of the description")] = None


@dataclass(frozen=True)
class DescribedVariant(DescribedCase):
    """Command-line arguments that select a description file, one of its cases, and changes of keys."""

    changes: Annotated[
        tuple[str, ...],
        Option(
            "KEY=VALUE, may be repeated: another value of a dotted key or of a parameter, after the case",
            "--set",
            type=list[str],
            unset=(),
        ),
    ] = ()


@dataclass(frozen=True)
class Printed:
    """Option for the output format of a command."""

    as_json: Json = False


@dataclass(frozen=True)
class PrintedVerdict:
    """Options for the output format of a verdict, and for the exit status."""

    strict: Annotated[
        bool, Option("exit status 5 if the verdict is positive but a value is questionable", "--strict")
    ] = False
    as_json: Json = False
