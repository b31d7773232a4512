"""Page of one case: model, agreement of its runs, figures, and how to repeat the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from markupsafe import Markup

from .. import analysis
from ..analysis.system import System
from ..mechanism import Mechanism
from ..runs.compare.compare import listed
from ..runs.compare.context import RunReport
from . import tables
from .findings import lines
from .headline import headline
from .page import (
    CommandLine,
    HeadedTable,
    InlineFigure,
    Listing,
    NamedFacts,
    Paragraph,
    Part,
    ReportPage,
    Section,
)
from .player import player_of
from .plots import Picture
from .plots.number_text import decimal, scientific

_ERRORS = """The absolute error of a signal is its largest difference from the reference solver's run over the
compared time. The relative error is the absolute error divided by the signal's scale. The scale is the range of
the signal in the reference run, but at least a tenth of the signal's own magnitude, a hundredth of the largest
magnitude with the same unit at the same link or point, and a thousandth of the largest magnitude with the same
unit in the whole mechanism. The magnitude of an acceleration is the acceleration that the forces alone would
cause; the magnitude of an effort is the effort that this acceleration would take; the magnitude of a joint
reaction is its largest value; the magnitude of an angle is 1 rad, and of a length the size of the mechanism.
These lower limits prevent rounding errors of parts at rest from appearing as large relative errors. A run
agrees with the reference solver if no signal's relative error exceeds the tolerance. Constraint violations Φ
should be zero; they are reported and not compared."""


def page(report: RunReport, figures: Mapping[str, Sequence[Picture]]) -> ReportPage:
    """Return the page of one case.

    The argument `figures` maps names of groups to figures. The figures of the group `model` are in the
    section about the model.
    """
    verdict = lines(report)
    others = [picture for group, drawn in figures.items() if group != "model" for picture in drawn]
    return ReportPage(
        name=report.mechanism.name,
        case=report.case,
        description=report.mechanism.chain.description,
        verdict=", ".join(badge for badge, _, _ in verdict),
        findings=[(badge, text) for badge, text, _ in verdict],
        remarks=[remark.text for remark in report.plausible],
        numbers=headline(report),
        player=player_of(report.scene),
        content=[
            Section("model", "Model", [*_model(report, figures.get("model", ()))]),
            Section("verdict", "Verdict", [*_verdict(report)]),
            Section("figures", "Figures", [Paragraph(_reading(len(report.runs))), *map(InlineFigure, others)]),
            Section("signals", "Signals", [*_signals(report)]),
            Section("reproduce", "Reproduce", [*_reproduction(report)]),
        ],
    )


def _model(report: RunReport, figures: Sequence[Picture]) -> Iterator[Part]:
    mechanism, equations = report.mechanism, report.model.rows
    yield NamedFacts(_key_numbers(report) | _facts(report))
    yield from map(InlineFigure, figures)
    yield HeadedTable(tables.bodies(mechanism), "Bodies")
    yield HeadedTable(tables.coordinates(mechanism, report.reference, report.model.dependent), "Coordinates")
    yield HeadedTable(tables.closures(mechanism), "Closures")
    yield HeadedTable(tables.task(mechanism), "Task")
    yield HeadedTable(tables.knife_edges(mechanism), "Knife edges", "in the link's frame")
    if equations:
        names = Markup(", ").join(Markup("<code>{}</code>").format(name) for name in equations)
        yield Paragraph(Markup("Constraint equations, in order: {}.").format(names))
    yield HeadedTable(tables.forces(mechanism), "Applied forces")
    yield HeadedTable(tables.lines(mechanism), "Two-point force elements")
    yield HeadedTable(tables.contacts(mechanism), "Contacts")
    for heading, table in tables.elements(mechanism).items():
        yield HeadedTable(table, heading)
    yield HeadedTable(
        tables.supports(mechanism),
        "Supports of the base",
        "spring-dampers along x, y and z of the world frame",
        folded=True,
    )


def _verdict(report: RunReport) -> Iterator[Part]:
    events = tables.events(report.reference)
    yield HeadedTable(tables.verdicts(report))
    yield Paragraph(_nearest_to_tolerance(report))
    yield Listing(report.remarks)
    yield HeadedTable(
        events,
        "Events",
        f"{len(events.rows)} changes of conditions in the reference run",
        folded=True,
    )
    yield Paragraph(_ERRORS)


def _signals(report: RunReport) -> Iterator[Part]:
    relative = tables.signals(report, relative=True)
    if not relative.rows:
        yield Paragraph("No signals were compared.")
    yield HeadedTable(relative, "Relative errors", "of each signal, by run", folded=True)
    absolute = tables.signals(report, relative=False) if relative.rows else relative
    yield HeadedTable(absolute, "Absolute errors", "in the signal's unit, by run", folded=True)


def _reproduction(report: RunReport) -> Iterator[Part]:
    yield CommandLine(report.command)
    yield HeadedTable(tables.pairs("tool", "version", ("text", "text"), report.compilers), "Versions")
    yield HeadedTable(tables.pairs("file", "content", ("link", "text"), report.files), "Files")


def _nearest_to_tolerance(report: RunReport) -> str:
    """Return a sentence about the run with the largest ratio of its error to its tolerance.

    The result is empty if no run has a finite error.
    """
    finite = [c for c in report.others if np.isfinite(c.max_rel_error)]
    if not finite:
        return ""
    worst = max(finite, key=lambda comparison: comparison.max_rel_error / comparison.tolerance)
    where = f" in {worst.worst_signal}" if worst.worst_signal else ""
    return (
        f"The largest error relative to its tolerance is that of {worst.name}{where}: a relative error of"
        f" {scientific(worst.max_rel_error)} with a tolerance of {scientific(worst.tolerance)}."
    )


def _reading(runs: int) -> str:
    """Return an explanation of the line styles in figures with several runs.

    The result is empty if there is only the reference run.
    """
    if runs == 0:
        return ""
    if runs == 1:
        return "The thick grey line is the reference solver; the thin line is the run."
    return (
        "The thick grey line is the reference solver; dashed lines are the other runs. Where runs agree, their"
        " dashes form one striped line."
    )


def _key_numbers(report: RunReport) -> dict[str, str]:
    others = report.others
    worst = scientific(max(comparison.max_rel_error for comparison in others)) if others else "–"
    return {
        "degrees of freedom": str(report.model.degrees_of_freedom),
        "coordinates": str(report.mechanism.n),
        "constraint equations": str(len(report.model.rows)),
        "bodies": str(len(report.mechanism.bodies)),
        "simulated time": f"{decimal(report.reference.time[-1] - report.reference.time[0])} s",
        "largest relative error": worst,
    }


def _facts(report: RunReport) -> dict[str, str]:
    mechanism, chain = report.mechanism, report.mechanism.chain
    tolerance = report.reference.extra.get("tolerance", chain.simulation.tolerance)
    facts = {
        "total mass": f"{decimal(sum(float(body.mass) for body in mechanism.bodies))} kg",
        "gravity": f"{', '.join(decimal(float(g)) for g in np.asarray(mechanism.gravity))} m/s²",
        "integrator of the reference solver": (
            f"{chain.simulation.method}, relative tolerance {scientific(tolerance)}"
        ),
        "initial state": initial_state(report.model),
    }
    if report.model.rows:
        facts |= {**_stabilisation(mechanism), "dependent coordinates": ", ".join(report.model.dependent)}
    if report.smallest_determinant is not None:
        value, time = report.smallest_determinant
        facts["smallest |det C_d|"] = f"{decimal(value, 3)} at t = {decimal(time, 3)} s"
    if report.modes:
        facts["stiffest mode"] = tables.mode_text(report.modes[0])
        facts["longest stable step of RK4"] = (
            f"{scientific(report.modes[0].longest_rk4_step)} s, limited by the stiffest mode"
        )
    return facts | dict(report.facts)


def initial_state(model: System) -> str:
    """Return a phrase that lists coordinates in static equilibrium and coordinates at described positions."""
    mechanism = model.mechanism
    if mechanism.chain.simulation.start != "statics":
        return "as described"
    names = [c.name for c in mechanism.coordinates]
    free = analysis.free_coordinates(mechanism, model.start[0])
    in_loops = [k for k in free if _closes_a_loop(mechanism, k)]
    resting = [names[k] for k in free if k not in in_loops]
    held = [name for k, name in enumerate(names) if k not in free]
    loops = [f"{listed([names[k] for k in in_loops])} from the closed loops"] if in_loops else []
    if not resting:
        return "; ".join(["as described, without elastic coordinates", *loops])
    described = [f"{listed(held)} as described"] if held else []
    if not described and not loops:
        return "static equilibrium"
    return "; ".join([f"static equilibrium of {listed(resting)}", *described, *loops])


def _closes_a_loop(mechanism: Mechanism, k: int) -> bool:
    """Whether the loop closures determine a coordinate during the search for the static equilibrium.

    The coordinate must be free to move in this search. The result is True for a joint coordinate
    without a spring if the description does not contain the key `statics.locked`.
    """
    coordinate, locked = mechanism.coordinates[k], mechanism.chain.statics.locked
    return coordinate.role == "joint" and coordinate.stiffness is None and locked is None


def _stabilisation(mechanism: Mechanism) -> dict[str, str]:
    if mechanism.formulation == "gpme_reduced":
        return {"position feedback": f"κ = {decimal(float(mechanism.kappa))} 1/s"}
    alpha, beta = (decimal(float(number)) for number in (mechanism.alpha, mechanism.beta))
    return {"stabilisation (Baumgarte)": f"α = {alpha} 1/s, β = {beta} 1/s"}
