"""Verdict of one run as lines of text. Each line has a word such as `agrees` and an explanatory sentence."""

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

    One line is about unusual values. If the verdict is positive and some values are unusual, this line
    is the first line. Otherwise it is the last line.
    """
    found = [(word(name, report), f.text, "green" if f.ok else "red") for name, f in report.findings.items()]
    remarks = report.plausible
    plausible = (plausibility.word(remarks), plausibility.sentence(remarks), "amber" if remarks else "green")
    return [plausible, *found] if remarks and report.ok else [*found, plausible]


def word(name: str, report: RunReport) -> str:
    """Return the word that states one finding of the verdict, such as `agrees` or `disagrees`."""
    if name == "agrees" and not report.others:
        return "not compared"
    return _WORDS[name][not report.findings[name].ok]
