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
    """Return the lines of the verdict: a word, a sentence, and the colour `green`, `amber` or `red`."""
    found = [(word(name, report), f.text, "green" if f.ok else "red") for name, f in report.findings.items()]
    remarks = report.plausible
    colour = "amber" if remarks else "green"
    return [*found, (plausibility.word(remarks), plausibility.sentence(remarks), colour)]


def word(name: str, report: RunReport) -> str:
    """Return the finding `consistent`, `agrees` or `holds` of a run in one word."""
    if name == "agrees" and not report.others:
        return "not compared"
    return _WORDS[name][not report.findings[name].ok]
