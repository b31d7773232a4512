"""Verdict of one run as lines of a word and a sentence."""

from __future__ import annotations

from .. import plausibility
from ..runs.compare.context import RunReport

_WORDS = {
    "consistent": ("consistent", "inconsistent"),
    "agrees": ("agrees", "disagrees"),
    "holds": ("holds", "violated"),
}


def lines(report: RunReport) -> list[tuple[str, str, str]]:
    """Return the lines of the verdict: a word, a sentence, and the colour `green`, `amber` or `red`.

    Questionable values are the first line, unless a finding is negative.
    """
    found = [(word(name, report), f.text, "green" if f.ok else "red") for name, f in report.findings.items()]
    remarks = report.plausible
    plausible = (plausibility.word(remarks), plausibility.sentence(remarks), "amber" if remarks else "green")
    return [plausible, *found] if remarks and report.ok else [*found, plausible]


def word(name: str, report: RunReport) -> str:
    """Return the finding `consistent`, `agrees` or `holds` of a run in one word."""
    if name == "agrees" and not report.others:
        return "not compared"
    return _WORDS[name][not report.findings[name].ok]
