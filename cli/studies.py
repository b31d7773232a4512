"""Commands that make many runs of one description: study, sweep, optimize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..core.errors import DescriptionError, Problem
from .console import command_line, emit_strict, progress_bars, screen
from .options import Case, File, Json, Out, Strict, exit_status

Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="KEY=VALUES, may come again: a,b,c | first:last:count | normal(mean,deviation) | uniform(least,most)",
    ),
]
Asked = Annotated[
    list[str] | None,
    typer.Option("--objective", help="name=expression of signals, such as top=peak(E_z); may come again"),
]
Scheduler = Annotated[
    str,
    typer.Option(help="auto: processes | processes | here | dask | address of a Dask scheduler, tcp://…"),
]
Seed = Annotated[int, typer.Option(help="the same one gives the same samples")]


def study(
    file: File,
    cases: Annotated[bool, typer.Option("--cases", help="all cases of the description")] = False,
    out: Out = None,
    rumoca: Annotated[bool, typer.Option(help="run the Modelica text in rumoca too")] = True,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Run all cases and compare them in one report."""
    from ..tasks.study import study_cases
    from ..tasks.verdicts import withdraw_study

    withdraw_study(file, out)
    if not cases:
        text = "say what to vary; --cases runs all cases of the description, and sweep varies its numbers"
        raise DescriptionError("study", text)
    with progress_bars() as progress:
        outcome = study_cases(file, out, progress, rumoca)
    if as_json:
        emit_strict(outcome.data())
    else:
        screen.print(outcome.table())
        screen.print(f"report: {outcome.report}", markup=False)
    raise typer.Exit(exit_status(outcome.ok, strict and outcome.questionable))


def sweep(
    context: typer.Context,
    file: File,
    case: Case = None,
    settings: Setting = None,
    objectives: Asked = None,
    samples: Annotated[int | None, typer.Option(help="of the distributions, per point of the grid")] = None,
    sampler: Annotated[str, typer.Option(help="sobol | lhs | random | saltelli | morris")] = "sobol",
    seed: Seed = 0,
    signals: Annotated[
        list[str] | None,
        typer.Option("--signal", help="to be kept of each run, may come again (default: the objectives')"),
    ] = None,
    scheduler: Scheduler = "auto",
    out: Annotated[Path | None, typer.Option(help="folder of the results (default: Name_sweep)")] = None,
    as_json: Json = False,
) -> None:
    """Run with many values of numbers, on all cores or a cluster; the same command goes on where it was ended."""
    from ..api.model import load
    from ..api.sweeps import sweep as run_sweep
    from ..tasks.verdicts import withdraw_sweep

    withdraw_sweep(file, case, out)
    model = load(file, case)
    with progress_bars() as progress:
        found = run_sweep(
            model,
            settings or [],
            objectives or [],
            out,
            samples=samples,
            sampler=sampler,
            seed=seed,
            signals=signals,
            scheduler=scheduler,
            command=command_line(context),
            progress=progress,
        )
    if as_json:
        files = {"table": str(found.path), "report": str(found.report)}
        emit_strict({"runs": found.runs, "failed": found.failures, **files})
        return
    table = found.table
    shown = Table("objective", "least", "mean", "largest", "run of the largest")
    for name in found.objectives:
        column = table[name].dropna()
        numbers = [f"{x:.6g}" for x in (column.min(), column.mean(), column.max())] if len(column) else ["–"] * 3
        shown.add_row(name, *numbers, str(table["run"][column.idxmax()]) if len(column) else "–")
    screen.print(shown)
    screen.print(f"{found.runs} runs, {found.failures} failed", markup=False)
    screen.print(f"table: {found.path}\nreport: {found.report}", markup=False)


def optimize(
    file: File,
    case: Case = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=uniform(least,most), may come again")
    ] = None,
    objective: Annotated[
        str, typer.Option(help="expression of signals to be made small, such as peak(E_z) or -final(E_x)")
    ] = "",
    constraints: Annotated[
        list[str] | None, typer.Option("--constraint", help="expression <= number, or >=; may come again")
    ] = None,
    method: Annotated[
        str, typer.Option(help="evolution (differential) | simplex (Nelder and Mead)")
    ] = "evolution",
    evaluations: Annotated[int, typer.Option(help="most runs")] = 1000,
    seed: Seed = 0,
    scheduler: Scheduler = "processes",
    verify: Annotated[bool, typer.Option("--verify", help="run the best values in full, with a report")] = False,
    out: Annotated[Path | None, typer.Option(help="folder of what is written (default: Name_optimum)")] = None,
    as_json: Json = False,
) -> None:
    """Find values within bounds that make an objective small, by many runs."""
    from ..api.model import load
    from ..api.optimum import optimize as search_for
    from ..api.optimum import verified
    from ..core.files import write_atomically
    from ..core.strict_json import strict_json
    from ..tasks.verdicts import withdraw_optimum

    withdraw_optimum(file, case, out)
    if not objective:
        raise DescriptionError("optimize", [Problem("--objective", "is missing; expected one such as peak(E_z)")])
    model = load(file, case)
    folder = out or Path(f"{model.folder(None)}_optimum")
    with progress_bars() as progress:
        found = search_for(
            model,
            settings or [],
            objective,
            folder,
            constraints=constraints or [],
            method=method,
            evaluations=evaluations,
            seed=seed,
            scheduler=scheduler,
            progress=progress,
        )
        write_atomically(folder / "optimum.json", strict_json(found.data()))
        report = verified(model, file, found, folder / "run", progress) if verify else None
    ok = found.feasible and (report is None or report.ok)
    if as_json:
        emit_strict(found.data() | ({} if report is None else {"ok": report.ok}))
        raise typer.Exit(0 if ok else 1)
    table = Table("key", "best value")
    for key, value in found.values.items():
        table.add_row(key, f"{value:.9g}")
    screen.print(table)
    screen.print(f"objective {objective} = {found.objective:.9g}", markup=False)
    for text, value in found.constraints.items():
        screen.print(f"constraint {text}: {value:.9g}", markup=False)
    if not found.feasible:
        screen.print("no run fulfils the constraints; these values violate them least", markup=False)
    ended = "the search has converged" if found.converged else "the search ended at --evaluations"
    screen.print(f"{found.runs} runs, {found.failures} failed; {ended}", markup=False)
    if report is not None:
        word = "agrees, holds and is consistent" if report.ok else "is red"
        screen.print(f"run with these values: {word}; report: {folder / 'run' / 'report.html'}", markup=False)
    raise typer.Exit(0 if ok else 1)


def add_to(app: typer.Typer) -> None:
    """Make them commands of the application."""
    for command in (study, sweep, optimize):
        app.command()(command)
