"""`report.html`: what the model is, whether its runs agree, and how to repeat it; one file that needs no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import plausibility
from ..core.files import write_atomically
from ..core.progress import Progress, silent
from ..core.templates import fill
from ..mechanism import Mechanism
from ..runs.compare.context import RunReport
from . import tables
from .headline import headline
from .player import player_of
from .plots import Picture, pictures, save
from .plots.inline_svg import inline_svg
from .plots.number_text import decimal, scientific

__all__ = ["RunReport", "write_report"]


def write_report(out: Path, report: RunReport, progress: Progress = silent) -> Path:
    """Write `report.html` and `figures/*.png`, `figures/*.svg` into the folder; returns the report's path.

    Parameters:
        progress  function that is called with the title of each figure once it is drawn
    """
    drawn = []
    for picture in pictures(report):
        save(picture, out / "figures")
        drawn.append(picture)
        progress(picture.title, 0.0)
    path = out / "report.html"
    write_atomically(path, render(report, drawn))
    return path


def render(report: RunReport, drawn: list[Picture]) -> str:
    """The page's text."""
    return fill("report/report.html.jinja", _content(report, drawn))


def _content(report: RunReport, drawn: list[Picture]) -> dict[str, Any]:
    mechanism = report.mechanism
    figures = [(picture, inline_svg(picture.svg, picture.name, picture.title)) for picture in drawn]
    return {
        "name": mechanism.name,
        "case": report.case,
        "description": mechanism.chain.description,
        "verdict": ", ".join(badge for badge, _, _ in lines(report)),
        "findings": [(badge, text) for badge, text, _ in lines(report)],
        "remarks": [remark.text for remark in report.plausible],
        "worst": _sentence(report),
        "numbers": headline(report),
        "player": player_of(report.scene),
        "facts": dict(_key_numbers(report)) | _facts(report),
        "notes": report.remarks,
        "constraints": report.model.rows,
        "bodies": tables.bodies(mechanism),
        "coordinates": tables.coordinates(mechanism, report.reference, report.model.dependent),
        "task": tables.task(mechanism),
        "knife_edges": tables.knife_edges(mechanism),
        "closures": tables.closures(mechanism),
        "forces": tables.forces(mechanism),
        "supports": tables.supports(mechanism),
        "lines": tables.lines(mechanism),
        "contacts": tables.contacts(mechanism),
        "elements": tables.elements(mechanism),
        "events": tables.events(report.reference),
        "verdicts": tables.verdicts(report),
        "relative": tables.signals(report, relative=True),
        "absolute": tables.signals(report, relative=False),
        "compilers": tables.pairs("tool", "version", ("text", "text"), report.compilers),
        "files": tables.pairs("file", "content", ("link", "text"), report.files),
        "reading": _reading(len(report.runs)),
        "command": report.command,
        "model_figures": [figure for figure in figures if figure[0].name == "schematic"],
        "figures": [figure for figure in figures if figure[0].name != "schematic"],
    }


_WORDS = {
    "consistent": ("consistent", "inconsistent"),
    "agrees": ("agrees", "disagrees"),
    "holds": ("holds", "violated"),
}


def lines(report: RunReport) -> list[tuple[str, str, str]]:
    """Return the lines of the verdict: a word, a sentence, and `green`, `amber` or `red`."""
    found = [(word(name, report), f.text, "green" if f.ok else "red") for name, f in report.findings.items()]
    remarks = report.plausible
    colour = "amber" if remarks else "green"
    return [*found, (plausibility.word(remarks), plausibility.sentence(remarks), colour)]


def word(name: str, report: RunReport) -> str:
    """A finding in one word."""
    if name == "agrees" and not report.others:
        return "not compared"
    return _WORDS[name][not report.findings[name].ok]


def _sentence(report: RunReport) -> str:
    """Sentence about the run that comes nearest to its tolerance."""
    finite = [c for c in report.others if np.isfinite(c.max_rel_error)]
    if not finite:
        return ""
    worst = max(finite, key=lambda comparison: comparison.max_rel_error / comparison.tolerance)
    where = f" in {worst.worst_signal}" if worst.worst_signal else ""
    return (
        f"Nearest to its tolerance comes {worst.name}{where}: a relative error of"
        f" {scientific(worst.max_rel_error)}, where {scientific(worst.tolerance)} is granted."
    )


def _reading(runs: int) -> str:
    """Hint for reading lines that cover each other."""
    if runs < 2:
        return "The grey line is the reference, the thin one the run." if runs else ""
    return "Runs are dashed lines on the grey reference; where they agree, their dashes form one striped line."


def _key_numbers(report: RunReport) -> list[tuple[str, str]]:
    others = report.others
    worst = scientific(max(comparison.max_rel_error for comparison in others)) if others else "–"
    return [
        ("degrees of freedom", str(report.model.degrees_of_freedom)),
        ("coordinates", str(report.mechanism.n)),
        ("constraint rows", str(len(report.model.rows))),
        ("bodies", str(len(report.mechanism.bodies))),
        ("horizon", f"{decimal(report.reference.time[-1] - report.reference.time[0])} s"),
        ("largest relative error", worst),
    ]


def _facts(report: RunReport) -> dict[str, str]:
    mechanism, chain = report.mechanism, report.mechanism.chain
    tolerance = report.reference.extra.get("tolerance", chain.simulation.tolerance)
    facts = {
        "total mass": f"{decimal(sum(float(body.mass) for body in mechanism.bodies))} kg",
        "gravity": f"{', '.join(decimal(float(g)) for g in np.asarray(mechanism.gravity))} m/s²",
        "integrator of the reference": f"{chain.simulation.method}, relative tolerance {scientific(tolerance)}",
        "start": "static equilibrium" if chain.simulation.start == "statics" else "as described",
    }
    if report.model.rows:
        facts |= {**_stabilisation(mechanism), "dependent coordinates": ", ".join(report.model.dependent)}
    if report.smallest_determinant is not None:
        value, time = report.smallest_determinant
        facts["smallest |det C_d|"] = f"{decimal(value, 3)} at t = {decimal(time, 3)} s"
    if report.modes:
        facts["stiffest mode"] = tables.mode_text(report.modes[0])
        facts["longest stable step of RK4"] = f"{scientific(report.modes[0].longest_rk4_step)} s, by that mode"
    return facts | dict(report.facts)


def _stabilisation(mechanism: Mechanism) -> dict[str, str]:
    if mechanism.formulation == "gpme_reduced":
        return {"position feedback": f"κ = {decimal(float(mechanism.kappa))} 1/s"}
    alpha, beta = (decimal(float(number)) for number in (mechanism.alpha, mechanism.beta))
    return {"stabilisation (Baumgarte)": f"α = {alpha} 1/s, β = {beta} 1/s"}
