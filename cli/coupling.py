"""`cosim` of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .console import emit_strict, progress_bars, screen
from .options import Json, Out, Strict, exit_status


def cosim(
    system: Annotated[Path, typer.Argument(help="SSP archive of co-simulation FMUs")],
    tolerance: Annotated[
        float | None, typer.Option(help="admissible error, relative to the range of each signal (1e-4)")
    ] = None,
    method: Annotated[str, typer.Option(help="auto | sequential | hermite | mean_force | pin")] = "auto",
    step: Annotated[float | None, typer.Option(help="fixed communication step, s (default: by tolerance)")] = None,
    order: Annotated[
        int | None, typer.Option(help="degree of extrapolation of the sequential method, 0–2")
    ] = None,
    stop: Annotated[float | None, typer.Option(help="end of the run, s (default: the archive's)")] = None,
    out: Out = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Run the FMUs of an SSP archive together; judge the coupling; write result.json, report.txt, signals.csv."""
    from ..api.coupling import cosim as run_coupled
    from ..coupling.report import lines

    folder = out or Path(system.stem)
    for name in ("result.json", "report.txt", "signals.csv"):
        (folder / name).unlink(missing_ok=True)
    with progress_bars() as progress:
        run = run_coupled(
            system,
            folder,
            tolerance=tolerance,
            method=method,
            step=step,
            order=order,
            stop=stop,
            progress=progress,
        )
    if as_json:
        emit_strict(run.data())
    else:
        for line in lines(run.coupled):
            screen.print(line, markup=False)
        screen.print(f"report: {folder / 'report.txt'}", markup=False)
    raise typer.Exit(exit_status(run.ok, strict and bool(run.remarks)))


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(cosim)
