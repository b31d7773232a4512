"""Page that compares the cases of a study: verdicts, motion, differences, loads and constraint violations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from ..description import Description
from ..runs.compare.outcome import CaseRun, Outcome
from . import comparison_tables as tables
from .page import CommandLine, HeadedTable, InlineFigure, Listing, Paragraph, Part, ReportPage, Section
from .plots import Picture
from .plots.number_text import NOTHING, decimal, scientific

_CASES = """The runs of each case are compared with the reference solver's run of the same case; the report of
the case has the details. ‖Φ‖ is the norm of the constraint equations in the reference run; it should be
zero."""
_DECAY = """Baumgarte's stabilisation makes constraints fulfil Φ̈ + 2αΦ̇ + β²Φ = 0, so that violations decay
with the slow root −α + √(α² − β²) of the characteristic equation. The fitted rate is the slope of a straight
line through ln ‖Φ‖. The line begins ten time constants of the fast root after the initial time and is as long
as possible with a scatter of ‖Φ‖ about the line of at most 0.3 %."""


def page(
    chain: Description, outcomes: Sequence[Outcome], figures: Mapping[str, Sequence[Picture]], command: str
) -> ReportPage:
    """Return the page that compares cases.

    Parameters
    ----------
    chain
        Description with its cases.
    outcomes
        Result of each case in the order of presentation.
    figures
        Figures of the groups `motion`, `differences`, `loads` and `violations`.
    command
        Command line that repeats the study.
    """
    ran = [outcome for outcome in outcomes if isinstance(outcome, CaseRun)]
    verdict = "agrees" if all(outcome.result["ok"] for outcome in outcomes) else "disagrees"
    return ReportPage(
        name=chain.name,
        case=f"{len(outcomes)} cases" if len(outcomes) > 1 else "one case",
        description=chain.description,
        verdict=verdict,
        findings=[(verdict, _sentence(outcomes))],
        remarks=[f"{run.case}: {entry['text']}" for run in ran for entry in run.result["plausible"]],
        numbers=_key_numbers(outcomes, ran),
        content=[
            Section("cases", "Cases", [*_cases(chain, outcomes)]),
            Section("motion", "Motion", [*map(InlineFigure, figures["motion"])]),
            Section("differences", "Differences", [*_differences(ran, figures["differences"])]),
            Section("loads", "Loads", [*_loads(ran, figures["loads"])]),
            Section("violation", "Constraint violation", [*_violations(ran, figures["violations"])]),
            Section("reproduce", "Reproduce", [CommandLine(command), Paragraph(_FOR_SCRIPTS)]),
        ],
    )


_FOR_SCRIPTS = Markup('The verdicts of all cases for scripts are in <a href="cases.json">cases.json</a>.')


def _cases(chain: Description, outcomes: Sequence[Outcome]) -> Iterator[Part]:
    yield HeadedTable(tables.overview(chain, outcomes))
    yield Listing([(o.case, tables.remark(o)) for o in outcomes if not o.result["ok"]])
    yield Paragraph(_CASES)
    wall_times = tables.wall_times(outcomes)
    if len(wall_times.headers) > 1:
        yield HeadedTable(wall_times, "Wall time")
        yield Paragraph("Cases are run at the same time, which makes each of them slower.")


def _differences(ran: Sequence[CaseRun], figures: Sequence[Picture]) -> Iterator[Part]:
    if len(ran) < 2:
        return
    largest = tables.largest_differences(ran)
    distances = ", ".join(f"{case} {tables.percent(value)}" for case, value in largest.items())
    yield Paragraph(
        f"Largest difference of each case from {ran[0].case}, in the coordinate's unit and relative to the"
        " coordinate's range over all cases." + (f" Over all joints: {distances}." if distances else "")
    )
    yield HeadedTable(tables.differences(ran))
    yield from map(InlineFigure, figures)


def _loads(ran: Sequence[CaseRun], figures: Sequence[Picture]) -> Iterator[Part]:
    yield from map(InlineFigure, figures)
    table = tables.load_table(ran)
    if table.rows:
        yield HeadedTable(table, "Root mean square of the forces in the joints")
        yield Paragraph(
            "Forces in N over the run, without the initial transient of the constraint stabilisation; the change"
            f" from {ran[0].case} is in parentheses."
        )


def _violations(ran: Sequence[CaseRun], figures: Sequence[Picture]) -> Iterator[Part]:
    yield from map(InlineFigure, figures)
    table = tables.decays(ran)
    if table.rows:
        yield HeadedTable(table, "Rate of decay")
        yield Paragraph(_DECAY)


def _sentence(outcomes: Sequence[Outcome]) -> str:
    bad = {
        word: [outcome.case for outcome in outcomes if tables.verdict(outcome) == word]
        for word in (*tables.NOT.values(), "failed")
    }
    if any(bad.values()):
        parts = [f"{_number(cases, word)} ({', '.join(cases)})" for word, cases in bad.items() if cases]
        return f"Of {len(outcomes)} cases, {' and '.join(parts)}."
    count = sum(len(outcome.result["runs"]) - 1 for outcome in outcomes)
    cases = f"In each of {len(outcomes)} cases" if len(outcomes) > 1 else "In the only case"
    return f"{cases}, all runs agree with the reference solver: {count} runs in total."


def _number(cases: Sequence[str], word: str) -> str:
    """Return a text that states how many cases have a verdict, such as `1 disagrees` or `2 disagree`."""
    return f"{len(cases)} {word if len(cases) == 1 else word.removesuffix('s')}"


def _key_numbers(outcomes: Sequence[Outcome], ran: Sequence[CaseRun]) -> list[tuple[str, str]]:
    errors = [error for run in ran for error in tables.errors(run)]
    times = {decimal(run.reference.time[-1] - run.reference.time[0]) for run in ran}
    sizes = sorted(run.mechanism.n for run in ran)
    constrained = [run for run in ran if "violation_position" in run.reference.signals]
    roots: dict[str, set[str]] = {}
    for run in constrained:
        roots.setdefault(run.stabilisation.name, set()).add(decimal(run.stabilisation.slow_root, 3))
    return [
        ("cases", str(len(outcomes))),
        ("coordinates", " to ".join(dict.fromkeys(str(n) for n in (sizes[0], sizes[-1]))) if sizes else NOTHING),
        ("simulated time", f"{' / '.join(sorted(times)) or NOTHING} s"),
        ("largest relative error", scientific(max(filter(math.isfinite, errors), default=None))),
        *((name, f"{' / '.join(sorted(found))} 1/s") for name, found in roots.items()),
    ]
