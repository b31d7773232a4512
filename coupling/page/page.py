"""Writer of the HTML report `report.html` of a coupled run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...core.version import __version__
from ...report.page import (
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
from ...report.plots import Picture, save
from ...report.plots.number_text import decimal
from ...report.tables import TextTable
from ..verdict import Coupled
from . import tables
from .figures import comparison_pictures, error_pictures, signal_pictures
from .findings import findings, numbers

_ERRORS = """The estimated error of an output is its largest difference to a finer run, relative to its range.
The range counts as at least a thousandth of the largest range of outputs with the same unit. An output that the
method does not reproduce with its order, such as an acceleration at a pin, is not compared."""
_ENERGY = """At each connection that transmits power, the energy that one part receives should be the energy that
the other part supplies. The residual is the largest difference since the initial time, relative to the energy
transferred there in both directions. It is computed from the inputs that the FMUs have received."""
_TIMES = """The share of the simulation master contains the iteration, the interpolation and the recording.
Capabilities are those that the FMUs have shown in tests at the initial time."""
_FILES = (
    ("result.json", "verdict, methods, errors, energy and times as data"),
    ("report.txt", "the verdict as text"),
    ("signals.csv", "all outputs over time"),
)


def write_page(folder: Path, run: Coupled, command: str = "") -> Path:
    """Write the report of a coupled run, `report.html`, and its figures (PNG and SVG) into a folder.

    Parameters
    ----------
    folder
        Folder of the page.
    run
        Run with its verdict.
    command
        Command line that repeats the run.

    Returns
    -------
    Path
        Path of the file `report.html`.
    """
    drawn = {
        "errors": [*error_pictures(run)],
        "signals": [*signal_pictures(run)],
        "comparison": [*comparison_pictures(run)],
    }
    for picture in (picture for group in drawn.values() for picture in group):
        save(picture, folder / "figures")
    return _page(run, drawn, command).write(folder / "report.html")


def _page(run: Coupled, drawn: dict[str, list[Picture]], command: str) -> ReportPage:
    verdict = findings(run)
    return ReportPage(
        name=run.name,
        case="co-simulation",
        description=_description(run),
        verdict=", ".join(word for word, _ in verdict),
        findings=verdict,
        remarks=[remark.text for remark in run.remarks],
        numbers=[*numbers(run)],
        content=[
            Section("methods", "Coupling methods", [*_methods(run)]),
            Section("errors", "Errors", [*_errors(run, drawn["errors"])]),
            Section("energy", "Energy and gaps", [*_energy(run)]),
            Section("signals", "Signals and steps", [*map(InlineFigure, drawn["signals"])]),
            Section("times", "Time spent", [HeadedTable(tables.times(run)), Paragraph(_TIMES)]),
            Section("comparison", "Comparison of methods", [*_comparison(run, drawn["comparison"])]),
            Section("reproduce", "Reproduce", [*_reproduction(command)]),
        ],
    )


def _description(run: Coupled) -> str:
    network, times = run.network, run.record.times
    count = int(network.driven.sum()) - 2 * len(network.pins)
    pins = f", {len(network.pins)} pairs of pinned positions" if network.pins else ""
    return (
        f"{len(network.parts)} FMUs, {count} connections{pins}, from {decimal(times[0])} to {decimal(times[-1])} s"
    )


def _methods(run: Coupled) -> Iterator[Part]:
    yield HeadedTable(tables.groups(run))
    yield Listing(tables.meanings(run))
    connections = tables.connections(run)
    yield HeadedTable(connections, "Connections", f"{len(connections.rows)} inputs with a source", folded=True)


def _errors(run: Coupled, figures: list[Picture]) -> Iterator[Part]:
    yield HeadedTable(tables.origins(run))
    yield from map(InlineFigure, figures)
    yield HeadedTable(tables.errors(run), "Errors of all outputs", "relative to the range", folded=True)
    yield Paragraph(_ERRORS)


def _energy(run: Coupled) -> Iterator[Part]:
    energy = tables.energy(run)
    yield HeadedTable(energy, "Energy of each connection")
    yield Paragraph(_ENERGY if energy.rows else "No connection is known to transmit energy.")
    yield HeadedTable(tables.gaps(run), "Gaps of rigid pins")


def _comparison(run: Coupled, figures: list[Picture]) -> Iterator[Part]:
    yield from map(InlineFigure, figures)
    compared = tables.comparison(run)
    yield HeadedTable(compared, "Compared runs", folded=True)
    yield Listing(tables.failures(run))


def _reproduction(command: str) -> Iterator[Part]:
    yield CommandLine(command)
    yield NamedFacts({"gpmelica": __version__})
    yield HeadedTable(TextTable(("file", "content"), ("link", "text"), _FILES), "Files")
