"""What several commands of the command line take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OK, DISAGREES, QUESTIONABLE = 0, 1, 5


def exit_status(ok: bool, questionable: bool) -> int:
    """Return the exit status of a command that judges; questionable counts with --strict alone."""
    if not ok:
        return DISAGREES
    return QUESTIONABLE if questionable else OK


File = Annotated[Path, typer.Argument(help="description of the mechanism, TOML")]
Case = Annotated[str | None, typer.Option(help="case of the description")]
Out = Annotated[Path | None, typer.Option(help="folder for what is written (default: Name, or Name_CASE)")]
Json = Annotated[bool, typer.Option("--json", help="print JSON for scripts")]
Strict = Annotated[bool, typer.Option("--strict", help="exit status 5 if all is ok but something is questionable")]
Input = Annotated[
    Path | None, typer.Option("--input", help="FMU inputs over time: CSV with a column time and one per input")
]
Platforms = Annotated[
    str | None,
    typer.Option(help="systems to build for, such as linux64,win64,darwin64 (default: this machine's)"),
]
March = Annotated[
    str,
    typer.Option(
        help="processors to build for: native, this one | x86-64-v3, with AVX2 and FMA (default: all)",
        show_default=False,
    ),
]
ReferenceResults = Annotated[
    bool, typer.Option("--reference-results", help="write Name_ref.csv, Name_ref.opt and so on beside the FMU")
]

AtTime = Annotated[float | None, typer.Option("--time", help="time of the run, s, whose state it is about")]
AtState = Annotated[
    Path | None, typer.Option("--state", help='JSON file {"t": 0.0, "q": […], "qd": […]} that it is about')
]
AtEquilibrium = Annotated[bool, typer.Option("--equilibrium", help="about the equilibrium that statics finds")]
AtTrim = Annotated[bool, typer.Option("--trim", help="about a rest that the inputs hold: finds them")]

Fmi = Annotated[str, typer.Option(help="FMI version: 2.0 | 3.0")]
CompilerName = Annotated[str, typer.Option(help="auto | native | openmodelica")]
OmcPath = Annotated[str | None, typer.Option(help="omc to use: a path, or docker:IMAGE")]
Timeout = Annotated[float, typer.Option(help="longest time that omc, and rumoca's run, may take, s")]
