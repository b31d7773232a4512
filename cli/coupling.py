"""Commands `cosim` and `split`."""

from __future__ import annotations

from pathlib import Path

import typer

from ..core.progress import renamed
from ..options.common import DescribedVariant, Printed, PrintedVerdict
from ..options.coupling import CosimOptions, CosimSystem
from ..options.model import SplitOptions
from .console import command_line, emit_strict, progress_bars, screen, wrote
from .generated import command
from .status import exit_status, load


def cosim(context: typer.Context, source: CosimSystem, options: CosimOptions, answer: PrintedVerdict) -> None:
    """Simulate the coupled FMUs of an SSP archive and judge the result; write report.html,
    result.json, report.txt and signals.csv.
    """
    from ..api.coupling import cosim as run_coupled
    from ..coupling.report import lines
    from ..tasks.verdicts import withdraw_cosim

    withdraw_cosim(source.system, options.out)
    folder = Path(options.out or source.system.stem)
    with progress_bars() as progress:
        run = run_coupled(
            source.system,
            **vars(options) | {"out": folder, "command": command_line(context), "progress": progress},
        )
    if answer.as_json:
        emit_strict(run.data())
    else:
        for line in lines(run.coupled):
            screen.print(line, markup=False)
        screen.print(f"report: {folder / 'report.html'}", markup=False)
    raise typer.Exit(exit_status(run.ok, answer.strict and bool(run.remarks)))


def split(source: DescribedVariant, options: SplitOptions, answer: Printed) -> None:
    """Cut a mechanism at joints, loop closures or ropes; write the parts, and SSP archives that couple them."""
    model = load(source)
    with progress_bars() as progress:
        found = model.split(**vars(options) | {"progress": renamed(progress, "compiling: {}")})
    wrote(found.files, answer.as_json)
    if not answer.as_json:
        for line in found.lines():
            screen.print(line, markup=False)


def add_to(app: typer.Typer) -> None:
    """Add the commands `cosim` and `split` to the command line."""
    command(app)(cosim)
    command(app)(split)
