"""Commands that make many simulations: `study`, `sweep` and `optimize`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from ..core.errors import DescriptionError, Problem
from ..options.common import Described, DescribedCase, Printed, PrintedVerdict
from ..options.many import OptimizeOptions, StudyChoice, StudyOptions, SweepOptions, Verification
from .console import command_line, emit_strict, progress_bars, screen
from .generated import command
from .status import exit_status, load

if TYPE_CHECKING:
    from ..sweeps.results import Sweep


def study(described: Described, choice: StudyChoice, options: StudyOptions, answer: PrintedVerdict) -> None:
    """Simulate all cases of a description and compare them in one report."""
    from ..tasks.study import study_cases
    from ..tasks.verdicts import withdraw_study

    withdraw_study(described.file, options.out)
    if not choice.cases:
        text = "expected --cases, to simulate all cases of the description; use sweep to vary numbers"
        raise DescriptionError("study", text)
    with progress_bars() as progress:
        outcome = study_cases(described.file, replace(options, progress=progress))
    if answer.as_json:
        emit_strict(outcome.data())
    else:
        screen.print(outcome.table())
        screen.print(f"report: {outcome.report}", markup=False)
    raise typer.Exit(exit_status(outcome.ok, answer.strict and outcome.questionable))


def sweep(context: typer.Context, source: DescribedCase, options: SweepOptions, answer: Printed) -> None:
    """Simulate at many parameter values, on all cores or a cluster; continue an interrupted sweep."""
    from ..api.sweeps import sweep as run_sweep
    from ..tasks.verdicts import withdraw_sweep

    withdraw_sweep(source.file, source.case, options.out)
    model = load(source)
    with progress_bars() as progress:
        own = {"command": command_line(context), "progress": progress}
        found = run_sweep(model, **vars(options) | own)
    if answer.as_json:
        files = {"table": str(found.path), "csv": str(found.path.with_suffix(".csv")), "report": str(found.report)}
        emit_strict({"runs": found.runs, "failed": found.failures, "reasons": found.reasons(), **files})
        return
    header, rows = found.statistics()
    shown = Table(*header)
    for row in rows:
        shown.add_row(*(cell if isinstance(cell, str) else f"{cell:.6g}" for cell in row))
    screen.print(shown)
    for name in found.goals if found.runs - found.failures > 1 else ():
        screen.print(_best(found, name), markup=False)
    screen.print(f"{found.runs} runs, {found.failures} failed", markup=False)
    for reason in found.reasons():
        screen.print(f"failed: {reason}", markup=False)
    screen.print(
        f"table: {found.path}, {found.path.with_suffix('.csv').name}\nreport: {found.report}", markup=False
    )


def _best(found: Sweep, name: str) -> str:
    """Return a line of text with the number of the best run and the values of the varied keys in this run."""
    row = found.best(name)
    return f"best {name}: run {row['run']} with {', '.join(f'{key} = {_short(row[key])}' for key in found.keys)}"


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def optimize(source: DescribedCase, options: OptimizeOptions, then: Verification, answer: Printed) -> None:
    """Find the parameter values, within bounds, that minimise an objective."""
    from ..api.optimum import optimize as search_for
    from ..api.optimum import verified
    from ..core.files import write_atomically
    from ..core.strict_json import strict_json
    from ..tasks.verdicts import withdraw_optimum

    withdraw_optimum(source.file, source.case, options.out)
    if not options.objective:
        raise DescriptionError(
            "optimize", [Problem("--objective", "the option is missing; expected an expression such as peak(E_z)")]
        )
    model = load(source)
    folder = Path(options.out or f"{model.folder(None)}_optimum")
    with progress_bars() as progress:
        found = search_for(model, **vars(options) | {"out": folder, "progress": progress})
        write_atomically(folder / "optimum.json", strict_json(found.data()))
        report = verified(model, source.file, found, folder / "run", progress) if then.verify else None
    ok = found.feasible and (report is None or report.ok)
    if answer.as_json:
        emit_strict(found.data() | ({} if report is None else {"ok": report.ok}))
        raise typer.Exit(0 if ok else 1)
    table = Table("key", "best value")
    for key, value in found.values.items():
        table.add_row(key, f"{value:.9g}")
    screen.print(table)
    screen.print(f"objective {options.objective} = {found.objective:.9g}", markup=False)
    for text, value in found.constraints.items():
        screen.print(f"constraint {text}: {value:.9g}", markup=False)
    if not found.feasible:
        screen.print("no run fulfils the constraints; these values violate the constraints least", markup=False)
    ended = "the search has converged" if found.converged else "the search ended at --evaluations"
    screen.print(f"{found.runs} runs, {found.failures} failed; {ended}", markup=False)
    if report is not None:
        word = "positive verdict" if report.ok else "negative verdict"
        screen.print(f"run with these values: {word}; report: {folder / 'run' / 'report.html'}", markup=False)
    raise typer.Exit(0 if ok else 1)


def add_to(app: typer.Typer) -> None:
    """Add the commands `study`, `sweep` and `optimize` to the command line."""
    for function in (study, sweep, optimize):
        command(app)(function)
