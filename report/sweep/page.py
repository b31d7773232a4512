"""Page `sweep.html`, which shows all runs of a sweep and needs no other file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.progress import Progress
from ...core.reasons import frequent_reasons
from ..page import CommandLine, HeadedTable, InlineFigure, Listing, NamedFacts, ReportPage, Section
from ..plots import Picture, save
from ..plots.number_text import NOTHING, decimal, scientific
from ..tables import Kind, TextTable, tabulate
from .content import Content, Effects, ExtremeRuns
from .figures import pictures

_RUNS = 10  # Number of runs in the table of the best runs, and in the table of the worst runs.


def write_page(folder: Path, content: Content, progress: Progress) -> Path:
    """Write `sweep.html` and `figures/*.png`, `figures/*.svg`, and return the path of the page."""
    drawn = []
    for picture in pictures(content):
        progress(picture.title, 0.0)
        save(picture, folder / "figures")
        drawn.append(picture)
    return _page(content, drawn).write(folder / "sweep.html")


def _page(content: Content, drawn: Sequence[Picture]) -> ReportPage:
    failures, reasons = sum(reason != "" for reason in content.reasons), frequent_reasons(content.reasons)
    first = content.ranking
    tables = [HeadedTable(_runs(content, end, first), end.title(first)) for end in _ends(content, first)]
    effects = _effects(content)
    unknown = [(name, why) for name, why in content.effects.items() if isinstance(why, str)]
    return ReportPage(
        name=content.name,
        case=f"{content.runs} runs",
        description=content.description,
        verdict=f"{failures} failed" if failures else "all ran",
        findings=[_finding(content.runs, failures)],
        numbers=[
            ("runs", str(content.runs)),
            ("failed", str(failures)),
            *(number for name in list(content.objectives)[:3] for number in _extremes(content, name)),
        ],
        content=[
            Section("notes", "", [Listing([("", note) for note in content.notes])]),
            Section("objectives", "Objectives", [HeadedTable(_objectives(content))]),
            Section(
                "runs", f"Best and worst runs by {first}" if first in content.goals else "Extreme runs", tables
            ),
            Section("failed", "Runs that failed", [Listing([("", text) for text in reasons])]),
            Section("figures", "Figures", [*map(InlineFigure, drawn)]),
            Section(
                "sensitivities",
                "Sensitivities",
                [*([] if effects is None else [HeadedTable(effects)]), Listing(unknown)],
            ),
            Section("reproduce", "Reproduce", [CommandLine(content.command), NamedFacts(content.facts)]),
        ],
    )


def _finding(runs: int, failures: int) -> tuple[str, str]:
    if not failures:
        return "ran", f"None of {runs} runs failed."
    said = f"{failures} of {runs} runs failed; the reasons are below and in the column `failed` of the table."
    return "failed", said


def _ends(content: Content, name: str) -> Sequence[ExtremeRuns]:
    return content.ends(name) if name else ()


def _extremes(content: Content, name: str) -> Iterator[tuple[str, str]]:
    """Yield labels and values of the worst and the best run of an objective.

    For an objective without a goal, only the largest value is yielded.
    """
    ends = content.ends(name) if name in content.goals else content.ends(name)[:1]
    for end in reversed(ends):
        runs = end.runs(name, 1)
        value = decimal(float(content.objectives[name][runs[0]]), 5) if len(runs) else NOTHING
        yield f"{end.word} {name}", value


def _objectives(content: Content) -> TextTable:
    def column(of: Callable[[Any], float]) -> Callable[[str], str]:
        def text(name: str) -> str:
            values = content.objectives[name]
            kept = values[np.isfinite(values)]
            return decimal(float(of(kept)), 5) if len(kept) else NOTHING

        return text

    columns: list[tuple[str, Kind, Callable[[str], str]]] = [
        ("objective", "code", lambda name: name),
        ("expression", "expression", lambda name: content.texts[name]),
        ("goal", "text", lambda name: content.goals.get(name, NOTHING)),
        ("least", "number", column(np.min)),
        ("median", "number", column(np.median)),
        ("mean", "number", column(np.mean)),
        ("largest", "number", column(np.max)),
        ("standard deviation", "number", column(np.std)),
    ]
    return tabulate(columns, list(content.objectives))


def _effects(content: Content) -> TextTable | None:
    known = {name: found for name, found in content.effects.items() if isinstance(found, Effects)}
    if not known:
        return None
    measures = list(next(iter(known.values())).measures)
    rows = [
        (name, key, *(scientific(float(found.measures[m][i])) for m in measures))
        for name, found in known.items()
        for i, key in enumerate(found.keys)
    ]
    numbers: tuple[Kind, ...] = tuple("number" for _ in measures)
    return TextTable(("objective", "key", *measures), ("code", "code", *numbers), tuple(rows))


def _runs(content: Content, end: ExtremeRuns, first: str) -> TextTable:
    names = [*content.keys, *content.objectives]
    columns = {**content.keys, **content.objectives}
    known = int(np.count_nonzero(~np.isnan(content.objectives[first])))
    # Each table lists at most half of the runs, so that no run appears in both tables.
    count = min(_RUNS, -(-known // 2))
    rows = [(str(int(run)), *(_cell(columns[name][run]) for name in names)) for run in end.runs(first, count)]
    numbers: tuple[Kind, ...] = tuple("number" for _ in names)
    return TextTable(("run", *names), ("number", *numbers), tuple(rows))


def _cell(value: Any) -> str:
    return decimal(float(value), 6) if isinstance(value, int | float | np.number) else str(value)
