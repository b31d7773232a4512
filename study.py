"""All cases of a description: each is run and verified, and the papers' figures overlay them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from .fmu.case_report import CaseRun, write_case_report
from .fmu.result import result
from .fmu.verify import Options, run
from .generator.description import load
from .model import prepare

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Study:
    """What the cases came to; `report` is the page that compares them."""

    runs: tuple[CaseRun, ...]
    report: Path

    @property
    def ok(self) -> bool:
        """Whether every run of every case agrees with its reference."""
        return all(entry.result["ok"] for entry in self.runs)

    def data(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"cases": {entry.case: entry.result for entry in self.runs}, "ok": self.ok}

    def table(self) -> Table:
        """For a terminal."""
        table = Table("case", "n", "dof", "largest relative error", "verdict")
        for entry in self.runs:
            errors = [run["max_rel_error"] for run in entry.result["runs"]]
            worst = "failed" if None in errors else f"{max(errors):.2g}"
            verdict = "[green]agrees[/green]" if entry.result["ok"] else "[red]disagrees[/red]"
            table.add_row(entry.case, str(entry.result["n"]), str(entry.result["dof"]), worst, verdict)
        return table


def study_cases(file: Path, out: Path | None, progress: Progress) -> Study:
    """Run all cases of a description in parallel; writes one folder per case and the page that compares them.

    Raises DescriptionError if the file is wrong, GpmelicaError if a case cannot be built.
    """
    chain = load(file)
    folder = out or Path(f"{chain.name}_study")
    cases: list[str | None] = [case.name for case in chain.cases] or [None]
    done: dict[str | None, CaseRun] = {}
    with ProcessPoolExecutor(max_workers=min(len(cases), os.cpu_count() or 1)) as pool:
        waiting = {pool.submit(_run_case, file, case, folder): case for case in cases}
        progress("cases", 0.0)
        for future in as_completed(waiting):
            done[waiting[future]] = future.result()
            progress("cases", len(done) / len(cases))
    runs = tuple(done[case] for case in cases)
    return Study(runs, write_case_report(folder, chain, runs))


def _run_case(file: Path, case: str | None, folder: Path) -> CaseRun:
    model = prepare(load(file, case), str(file))
    name = case or "default"
    command = f"gpmelica run {file}" + (f" --case {case}" if case else "")
    report = run(model, Options(folder / name, case or "", command))
    return CaseRun(name, result(report), report.reference, report.mechanism)

