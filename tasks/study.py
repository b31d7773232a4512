"""Study of all cases of a description: each case is run and verified, and one page compares the cases."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..analysis.system import assemble_system
from ..core.errors import GpmelicaError, MissingToolError
from ..core.progress import Progress
from ..core.recalled import object_folder, reusing
from ..description import Description, load
from ..fmu.compilers.kept import kept_objects
from ..options.many import StudyOptions
from ..options.model import RunOptions
from ..report.comparison_tables import largest_error, plausible, remark, verdict
from ..report.plots.number_text import NOTHING
from ..report.report import cases_data, write_comparison
from ..runs.compare.outcome import CaseFailure, Outcome, case_run
from ..runs.compare.result import withdraw_verdict
from ..sweeps.pools import WorkerCrash, processes, results
from .run import run


@dataclass(frozen=True)
class Study:
    """Results of a study.

    Cases are in the order of the description. The HTML page `report` compares the cases.
    """

    chain: Description
    runs: tuple[Outcome, ...]
    report: Path

    @property
    def ok(self) -> bool:
        """Whether every run of every case agrees with its reference run."""
        return all(entry.result["ok"] for entry in self.runs)

    @property
    def questionable(self) -> bool:
        """Whether a case has remarks on values that are probably unintended."""
        return any(entry.result.get("plausible") for entry in self.runs)

    def data(self) -> dict[str, Any]:
        """Return the results of all cases, in the form in which `cases.json` contains them."""
        return cases_data(self.chain, self.runs)

    def table(self) -> Table:
        """Return a table of the cases and their verdicts for a terminal."""
        table = Table("case", "n", "dof", "relative error", "verdict", "plausible", *([] if self.ok else ["why"]))
        for entry in self.runs:
            word = verdict(entry)
            table.add_row(
                entry.case,
                str(entry.result.get("n", NOTHING)),
                str(entry.result.get("dof", NOTHING)),
                largest_error(entry),
                f"[{'green' if word == 'agrees' else 'red'}]{word}[/]",
                plausible(entry),
                *([] if self.ok else [escape(remark(entry))]),
            )
        return table


@dataclass(frozen=True)
class _Job:
    """Instruction to run one case of a study. The case is None if the description file contains no cases."""

    file: Path
    case: str | None
    folder: Path
    rumoca: bool
    fresh: bool

    @property
    def name(self) -> str:
        return self.case or "default"

    @property
    def command(self) -> str:
        options = [*(["--case", self.case] if self.case else []), "--out", str(self.folder / self.name)]
        options += [*([] if self.rumoca else ["--no-rumoca"]), *(["--fresh"] if self.fresh else [])]
        return shlex.join(["gpmelica", "run", str(self.file), *options])


def study_cases(file: Path, options: StudyOptions) -> Study:
    """Run all cases of a description in parallel, and write a page that compares the cases.

    The results of each case are in a separate folder. A case that cannot be built or run is
    reported as failed, and the study continues with the remaining cases.

    Parameters
    ----------
    file
        Description file. If it contains no cases, the description itself is run.
    options
        Options of the study.

    Raises
    ------
    DescriptionError
        If the file is wrong.
    MissingToolError
        If there is no C compiler.
    """
    chain = load(file)
    folder = Path(options.out or f"{chain.name}_study")
    cases: list[str | None] = [case.name for case in chain.cases] or [None]
    with reusing(options.fresh):
        jobs = [_Job(file, case, folder, options.rumoca, options.fresh) for case in cases]
        runs = _run_all(jobs, options.progress)
    options.progress("drawing the comparison", 0.0)
    command = ["gpmelica", "study", str(file), "--cases", *(["--out", str(options.out)] if options.out else [])]
    command += [*([] if options.rumoca else ["--no-rumoca"]), *(["--fresh"] if options.fresh else [])]
    return Study(chain, runs, write_comparison(folder, chain, runs, shlex.join(command)))


def _run_all(jobs: Sequence[_Job], progress: Progress) -> tuple[Outcome, ...]:
    """Run each case in a separate process.

    C code that all FMUs have in common is compiled only once.
    """
    done: dict[str, Outcome] = {}
    for job in jobs:  # Old verdicts are removed first, so that none of them remains if the study is interrupted.
        withdraw_verdict(job.folder / job.name)
    progress("cases", 0.0)
    with kept_objects(object_folder()):
        for job, came in results(processes(most=len(jobs)), _run_case, jobs):
            if isinstance(came, WorkerCrash):
                done[job.name] = CaseFailure(job.name, f"{came.reason}; try {job.command}")
            else:
                done[job.name] = came
            if isinstance(done[job.name], CaseFailure):
                withdraw_verdict(job.folder / job.name)
            progress("cases", len(done) / len(jobs))
    return tuple(done[job.name] for job in jobs)


def _run_case(job: _Job) -> Outcome:
    options = RunOptions(
        job.folder / job.name, rumoca=job.rumoca, compiler="native", fresh=job.fresh, command=job.command
    )
    try:
        report = run(assemble_system(load(job.file, job.case), str(job.file)), options, job.case or "")
    except MissingToolError:
        raise  # A missing tool affects every case, so the study ends.
    except GpmelicaError as error:
        return CaseFailure(job.name, str(error))
    return case_run(report, job.name)
