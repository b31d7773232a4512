"""Tables that compare the cases of a study, with every cell as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..description import Description
from ..runs.compare.compare import on_common_grid
from ..runs.compare.decay import Decay
from ..runs.compare.outcome import CaseFailure, CaseRun, Outcome
from .plots.load_rms import load_rms
from .plots.number_text import NOTHING, decimal, scientific, unit_text
from .plots.overlay import case_overlay
from .tables import Kind, TextTable, tabulate

_Columns = list[tuple[str, Kind, Callable[[Outcome], str]]]


def overview(chain: Description, outcomes: Sequence[Outcome]) -> TextTable:
    """Return a table of cases: changed settings, verdict, errors and constraint violations."""
    changes = {case.name: _settings(case.set) for case in chain.cases}
    columns: _Columns = [
        ("case", "code", lambda o: o.case),
        ("verdict", "verdict", verdict),
        ("plausible", "verdict", plausible),
        ("changes", "expression", lambda o: changes.get(o.case) or NOTHING),
        ("n", "number", lambda o: str(o.result.get("n", NOTHING))),
        ("dof", "number", lambda o: str(o.result.get("dof", NOTHING))),
        ("relative error", "number", largest_error),
        ("largest ‖Φ‖", "number", lambda o: _violation(o, max)),
        ("‖Φ‖ at the end", "number", lambda o: _violation(o, lambda values: values[-1])),
        ("report", "open", lambda o: f"{o.case}/report.html" if isinstance(o, CaseRun) else ""),
    ]
    return tabulate(columns, outcomes)


def wall_times(outcomes: Sequence[Outcome]) -> TextTable:
    """Return a table of wall times, s, with one row per case and one column per run."""
    times = {o.case: {run["name"]: run["wall_s"] for run in o.result["runs"]} for o in outcomes}
    names = dict.fromkeys(name for of_case in times.values() for name in of_case)
    texts = {case: {name: decimal(s, 2) for name, s in of_case.items() if s} for case, of_case in times.items()}
    rows = [(case, *(of_case.get(name, NOTHING) for name in names)) for case, of_case in texts.items()]
    numbers: tuple[Kind, ...] = tuple("number" for _ in names)
    return TextTable(("case", *(f"{name}, s" for name in names)), ("code", *numbers), tuple(rows))


def decays(runs: Sequence[CaseRun]) -> TextTable:
    """Return a table of decay rates, 1/s, by case.

    The fitted decay rate of the norm ‖Φ‖ of the constraint residuals is compared with the slow
    characteristic root of the constraint stabilisation.
    """
    fitted = [(run, run.stabilisation.decay) for run in runs]
    rows = [_decay_row(run, decay) for run, decay in fitted if decay is not None]
    headers = (
        "case",
        "slow root, 1/s",
        "fitted rate, 1/s",
        "difference",
        "time of the fit, s",
        "initial ‖Φ‖ of the fit",
        "final ‖Φ‖ of the fit",
    )
    return TextTable(headers, ("code", *(("number",) * 6)), tuple(rows))


def differences(runs: Sequence[CaseRun]) -> TextTable:
    """Return a table of the largest difference of each case from the first case, rad or m, by joint coordinate."""
    apart = [_apart(runs, run) for run in runs[1:]]
    rows = [
        (
            c.name,
            unit_text(c.unit),
            decimal(_range(runs, c.symbol), 3),
            *(f"{scientific(d[c.symbol][0])} ({percent(d[c.symbol][1])})" for d in apart),
        )
        for c in case_overlay(runs).shared_coordinates("joint")
    ]
    kinds: tuple[Kind, ...] = tuple("number" for _ in runs)
    headers = ("coordinate", "unit", "range", *(run.case for run in runs[1:]))
    return TextTable(headers, ("code", "text", *kinds), tuple(rows))


def load_table(runs: Sequence[CaseRun]) -> TextTable:
    """Return a table of the root mean squares of joint forces, N, by case.

    The table also contains the changes from the first case.
    """
    found = [load_rms(run.mechanism, run.reference, run.stabilisation.settled) for run in runs]
    shared = [link for link in found[0] if all(link in of_case for of_case in found)] if found else []
    rows = []
    for link, part in product(shared, ("axial", "normal")):
        first, *others = (getattr(of_case[link], part) for of_case in found)
        relative = (f"{decimal(v, 4)} ({percent(v / first - 1) if first else NOTHING})" for v in others)
        doubtful = any(part in run.not_unique.get(link, ()) for run in runs)
        rows.append((link, f"{part}, not unique" if doubtful else part, decimal(first, 4), *relative))
    numbers: tuple[Kind, ...] = tuple("number" for _ in runs)
    return TextTable(("joint", "force", *(run.case for run in runs)), ("code", "text", *numbers), tuple(rows))


def largest_differences(runs: Sequence[CaseRun]) -> dict[str, float]:
    """Return the largest relative difference of each case from the first case.

    All joint coordinates that both cases have are compared. A difference is relative to the range of
    the coordinate.
    """
    distances = {run.case: _apart(runs, run) for run in runs[1:]}
    return {case: max(ratio for _, ratio in d.values()) for case, d in distances.items() if d}


# The report uses these words for findings whose value in `result.json` is `false`.
NOT = {
    "consistent": "inconsistent",
    "agrees": "disagrees",
    "holds": "violated",
}


def verdict(outcome: Outcome) -> str:
    """Return the verdict of a case in one word.

    For a failed case, the word is `failed`. If a check is negative, the word names the first negative
    check, such as `inconsistent`. Otherwise, the word is `agrees`.
    """
    if isinstance(outcome, CaseFailure):
        return "failed"
    wrong = [word for key, word in NOT.items() if not outcome.result[key]]
    return wrong[0] if wrong else "agrees"


def plausible(outcome: Outcome) -> str:
    """Return `plausible` or `questionable` for the values of a case, and a dash for a failed case."""
    if isinstance(outcome, CaseFailure):
        return NOTHING
    return "questionable" if outcome.result["plausible"] else "plausible"


def percent(ratio: float) -> str:
    """Return a ratio as a percentage with two digits, such as `0.41 %`."""
    return f"{decimal(100 * ratio, 2)}\u00a0%"


def largest_error(outcome: Outcome) -> str:
    """Return the largest relative error of all runs of a case, or `failed` if a run has no result."""
    found = errors(outcome)
    if not found:
        return NOTHING
    return scientific(max(found)) if all(map(math.isfinite, found)) else "failed"


def errors(outcome: Outcome) -> list[float]:
    """Return the largest relative error of each run of a case; infinite for a run without a result."""
    found = [run["max_rel_error"] for run in outcome.result["runs"]]
    return [math.inf if error is None else float(error) for error in found]


def remark(outcome: Outcome) -> str:
    """Return the reasons for a case's negative verdict as one text.

    For a failed case, the text is its error message. Otherwise, the text contains notes or errors of
    disagreeing runs, and the texts of failed checks.
    """
    if isinstance(outcome, CaseFailure):
        return outcome.message
    of_runs = (
        f"{run['name']}: " + (run["note"] or f"{scientific(run['max_rel_error'])} in {run['worst_signal']}")
        for run in outcome.result["runs"]
        if not run["ok"]
    )
    others = (outcome.result["because"][key] for key in ("consistent", "holds") if not outcome.result[key])
    return "; ".join([*of_runs, *others])


def _settings(changes: Mapping[str, Any]) -> str:
    """Return changed settings as text `key = value, key = value`.

    The text can be broken into lines only between two settings.
    """
    return ", ".join(f"{key} = {_value(value)}".replace(" ", "\u00a0") for key, value in changes.items())


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    return decimal(value) if isinstance(value, float) else str(value)


def _violation(outcome: Outcome, of: Callable[[Any], float]) -> str:
    if isinstance(outcome, CaseFailure) or "violation_position" not in outcome.reference.signals:
        return NOTHING
    return scientific(float(of(outcome.reference.signals["violation_position"])))


def _decay_row(run: CaseRun, decay: Decay) -> tuple[str, ...]:
    root = run.stabilisation.slow_root
    return (
        run.case,
        decimal(root, 5),
        decimal(decay.rate, 5),
        percent(decay.rate / root - 1) if root else NOTHING,
        f"{decimal(decay.begin, 3)} … {decimal(decay.end, 3)}",
        scientific(decay.first),
        scientific(decay.last),
    )


def _apart(runs: Sequence[CaseRun], other: CaseRun) -> dict[str, tuple[float, float]]:
    """Return the largest difference between a case and the first case over time, rad or m, by coordinate.

    Each difference is paired with its ratio to the range of the coordinate.
    """
    grid = on_common_grid(runs[0].reference, other.reference)
    differences = grid.differences()
    symbols = [c.symbol for c in case_overlay(runs).shared_coordinates("joint")]
    largest = {symbol: float(np.max(differences[symbol])) for symbol in symbols}
    return {symbol: (value, value / (_range(runs, symbol) or math.inf)) for symbol, value in largest.items()}


def _range(runs: Sequence[CaseRun], symbol: str) -> float:
    values = np.concatenate([run.reference.signals[symbol] for run in runs])
    return float(np.ptp(values))
