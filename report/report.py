"""Files of a report: pages, figures and data.

A report of one case is `report.html`. A comparison of several cases is `cases.html` with
`cases.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..browser import LivePart
from ..core.files import write_atomically
from ..core.progress import Progress, silent
from ..core.strict_json import strict_json
from ..description import Description
from ..runs.compare.context import RunReport
from ..runs.compare.outcome import CaseRun, Outcome
from . import comparison, one_case
from .plots import Picture, save
from .plots.choice import Groups, of_cases, of_one_case


def write_report(out: Path, report: RunReport, progress: Progress = silent, live: LivePart | None = None) -> Path:
    """Write `report.html` and `figures/*.png`, `figures/*.svg` of one case into a folder.

    Parameters
    ----------
    out
        Folder of the report.
    report
        Results of the run.
    progress
        Function that is called with the title of each finished figure.
    live
        Interactive simulation on the report page, or None.

    Returns
    -------
    Path
        Path of `report.html`.
    """
    figures = _drawn(of_one_case(report), out, progress)
    return replace(one_case.page(report, figures), live=live).write(out / "report.html")


def write_comparison(
    folder: Path, chain: Description, outcomes: Sequence[Outcome], command: str = "", progress: Progress = silent
) -> Path:
    """Write `cases.html`, `cases.json` and `figures/*.png`, `figures/*.svg` that compare cases into a folder.

    Parameters
    ----------
    folder
        Folder of the comparison; the report of each case is `<case>/report.html` in it.
    chain
        Description with its cases.
    outcomes
        Result of each case in the order of presentation.
    command
        Command line that repeats the study.
    progress
        Function that is called with the title of each finished figure.

    Returns
    -------
    Path
        Path of `cases.html`.
    """
    figures = _drawn(of_cases([o for o in outcomes if isinstance(o, CaseRun)]), folder, progress)
    write_atomically(folder / "cases.json", strict_json(cases_data(chain, outcomes)))
    return comparison.page(chain, outcomes, figures, command).write(folder / "cases.html")


def render(report: RunReport, drawn: Iterable[Picture]) -> str:
    """Return the report of one case as HTML that contains the given figures."""
    figures: dict[str, list[Picture]] = {"model": [], "others": []}
    for picture in drawn:
        figures["model" if picture.name == "schematic" else "others"].append(picture)
    return one_case.page(report, figures).html()


def cases_data(chain: Description, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the contents of `cases.json`: the results of each case, or the error of a failed case."""
    return {
        "model": chain.name,
        "cases": {outcome.case: outcome.result for outcome in outcomes},
        "ok": all(outcome.result["ok"] for outcome in outcomes),
    }


def _drawn(groups: Groups, folder: Path, progress: Progress) -> dict[str, list[Picture]]:
    figures: dict[str, list[Picture]] = {}
    for group, pictures in groups.items():
        figures[group] = []
        for picture in pictures:
            save(picture, folder / "figures")
            figures[group].append(picture)
            progress(picture.title, 0.0)
    return figures
