"""`cases.html` and `cases.json`: all cases of a study side by side; the page needs no other file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from ... import analysis
from ...core.files import write_atomically
from ...core.strict_json import strict_json
from ...core.templates import fill
from ...core.trajectory import Array
from ...description import Chain
from ..plots import Picture, save
from ..plots.inline_svg import inline_svg
from ..plots.number_text import NOTHING, decimal, scientific
from . import tables
from .beam_shape import beam_shape, flexible_links
from .figures import difference_pictures, motion_pictures, violation_pictures
from .load_figures import Shapes, load_pictures
from .outcome import CaseFailure, CaseRun, Outcome

__all__ = ["CaseFailure", "CaseRun", "Outcome", "cases_data", "write_case_report"]


_FIGURES = ("motion", "apart", "loads", "violations")  # sections of the page that have some
_SHAPES = 4  # equal parts of the run at whose ends flexible links are drawn


def write_case_report(folder: Path, chain: Chain, runs: Sequence[Outcome], command: str = "") -> Path:
    """Write `cases.html`, `cases.json` and `figures/*.png`, `figures/*.svg`; returns the page's path.

    Parameters:
        runs     one per case, in the order of presentation; links lead to `<case>/report.html`
        command  the command line that repeats the study
    """
    page = _content(chain, runs, command)
    for section in _FIGURES:
        for picture, _ in page[section]:
            save(picture, folder / "figures")
    write_atomically(folder / "cases.json", strict_json(cases_data(chain, runs)))
    path = folder / "cases.html"
    write_atomically(path, fill("report/cases/cases.html.jinja", page))
    return path


def cases_data(chain: Chain, runs: Sequence[Outcome]) -> dict[str, Any]:
    """Contents of `cases.json`: case → contents of its `result.json`, or its error."""
    return {
        "model": chain.name,
        "cases": {run.case: run.result for run in runs},
        "ok": all(run.result["ok"] for run in runs),
    }


def _targets(runs: Sequence[CaseRun]) -> dict[str, dict[str, Array]]:
    """Point → case → programmed positions, shape (N, 3), m."""
    targets: dict[str, dict[str, Array]] = {}
    for run in runs:
        for point, path in run.targets.items():
            targets.setdefault(point, {})[run.case] = path
    return targets


def _shapes(runs: Sequence[CaseRun]) -> list[Shapes]:
    """Flexible links of any case, at the ends of equal parts of the shortest run."""
    links = dict.fromkeys(link for run in runs for link in flexible_links(run.mechanism))
    shortest = min((run.reference.time for run in runs), key=len, default=np.zeros(1))
    times = shortest[np.linspace(0, len(shortest) - 1, _SHAPES + 1).round().astype(int)[1:]]
    return [
        Shapes(
            link, times, {r.case: _shapes_of(r, link, times) for r in runs if link in flexible_links(r.mechanism)}
        )
        for link in links
    ]


def _shapes_of(run: CaseRun, link: str, times: Array) -> list[Array]:
    samples = np.searchsorted(run.reference.time, times - 1e-9 * times[-1])
    q = np.column_stack([run.reference.signals[c.symbol] for c in run.mechanism.coordinates])
    return [beam_shape(run.mechanism, analysis.poses(run.mechanism, at), link) for at in q[samples]]


def _content(chain: Chain, runs: Sequence[Outcome], command: str) -> dict[str, Any]:
    ran = [run for run in runs if isinstance(run, CaseRun)]
    comparable = len(ran) > 1
    return {
        "name": chain.name,
        "case": f"{len(runs)} cases" if len(runs) > 1 else "one case",
        "description": chain.description,
        "verdict": _verdict(runs),
        "findings": [(_verdict(runs), _sentence(runs))],
        "numbers": _key_numbers(runs, ran),
        "overview": tables.overview(chain, runs),
        "messages": [(run.case, tables.remark(run)) for run in runs if not run.result["ok"]],
        "remarks": [f"{run.case}: {entry['text']}" for run in ran for entry in run.result["plausible"]],
        "wall_times": tables.wall_times(runs),
        "motion": _inlined(motion_pictures(ran, _targets(ran))),
        "first": ran[0].case if ran else "",
        "differences": tables.differences(ran) if comparable else None,
        "distances": _distances(ran) if comparable else "",
        "apart": _inlined(difference_pictures(ran)),
        "loads": _inlined(load_pictures(ran, _shapes(ran))),
        "load_rms": tables.load_table(ran),
        "violations": _inlined(violation_pictures(ran)),
        "decays": tables.decays(ran),
        "command": command,
    }


def _inlined(pictures: Iterable[Picture]) -> list[tuple[Picture, Markup]]:
    """Figures with their SVG elements for the page."""
    return [(picture, inline_svg(picture.svg, picture.name, picture.title)) for picture in pictures]


def _verdict(runs: Sequence[Outcome]) -> str:
    return "agrees" if all(run.result["ok"] for run in runs) else "disagrees"


def _sentence(runs: Sequence[Outcome]) -> str:
    bad = {
        word: [run.case for run in runs if tables.verdict(run) == word]
        for word in (*tables.NOT.values(), "failed")
    }
    if any(bad.values()):
        said = [f"{_number(cases, word)} ({', '.join(cases)})" for word, cases in bad.items() if cases]
        return f"Of {len(runs)} cases, {' and '.join(said)}."
    count = sum(len(run.result["runs"]) - 1 for run in runs)
    cases = f"In each of {len(runs)} cases" if len(runs) > 1 else "In its only case"
    return f"{cases}, all runs agree with the reference solver: {count} runs in total."


def _number(cases: Sequence[str], word: str) -> str:
    """`1 disagrees`, `2 disagree`, `1 inconsistent`."""
    return f"{len(cases)} {word if len(cases) == 1 else word.removesuffix('s')}"


def _key_numbers(runs: Sequence[Outcome], ran: Sequence[CaseRun]) -> list[tuple[str, str]]:
    errors = [error for run in ran for error in tables.errors(run)]
    horizons = {decimal(run.reference.time[-1] - run.reference.time[0]) for run in ran}
    sizes = sorted(run.mechanism.n for run in ran)
    roots = {decimal(run.slow_root, 3) for run in ran if "violation_position" in run.reference.signals}
    return [
        ("cases", str(len(runs))),
        ("coordinates", " to ".join(dict.fromkeys(str(n) for n in (sizes[0], sizes[-1]))) if sizes else NOTHING),
        ("horizon", f"{' / '.join(sorted(horizons)) or NOTHING} s"),
        ("largest relative error", scientific(max(filter(math.isfinite, errors), default=None))),
        *([("slow Baumgarte root", f"{' / '.join(sorted(roots))} 1/s")] if roots else []),
    ]


def _distances(ran: Sequence[CaseRun]) -> str:
    """Text that gives each case's largest difference from the first case, in percent."""
    distances = tables.largest_differences(ran)
    return ", ".join(f"{case} {tables.percent(value)}" for case, value in distances.items())
