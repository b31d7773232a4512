"""Command `cosim`."""

from __future__ import annotations

from pathlib import Path

import typer

from ..options.common import PrintedVerdict
from ..options.coupling import CosimOptions, CosimSystem
from .console import emit_strict, progress_bars, screen
from .generated import command
from .status import exit_status


def cosim(source: CosimSystem, options: CosimOptions, answer: PrintedVerdict) -> None:
    """Simulate the coupled FMUs of an SSP archive and judge the result; write result.json,
    report.txt, signals.csv.
    """
    from ..api.coupling import cosim as run_coupled
    from ..coupling.report import lines
    from ..tasks.verdicts import withdraw_cosim

    withdraw_cosim(source.system, options.out)
    folder = Path(options.out or source.system.stem)
    with progress_bars() as progress:
        run = run_coupled(source.system, **vars(options) | {"out": folder, "progress": progress})
    if answer.as_json:
        emit_strict(run.data())
    else:
        for line in lines(run.coupled):
            screen.print(line, markup=False)
        screen.print(f"report: {folder / 'report.txt'}", markup=False)
    raise typer.Exit(exit_status(run.ok, answer.strict and bool(run.remarks)))


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app)(cosim)
