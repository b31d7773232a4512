"""Functions that describe the verdict on a coupled simulation by words, sentences and key numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...report.plots.number_text import decimal, scientific
from ..verdict import Coupled
from .series import step_lengths


def findings(run: Coupled) -> list[tuple[str, str]]:
    """Return the lines of the verdict: a word such as `agrees`, and sentences that explain the word."""
    count = len(run.remarks)
    plausible = "No remark." if not count else f"{count} remark{'s' * (count > 1)}."
    return [
        *_incomplete(run),
        ("consistent", _consistent(run)),
        ("agrees" if run.agrees else "disagrees", " ".join(_agrees(run))),
        ("holds" if run.holds else "violated", " ".join(_holds(run))),
        ("questionable" if count else "plausible", plausible),
    ]


def _incomplete(run: Coupled) -> Iterator[tuple[str, str]]:
    if not run.complete:
        yield "incomplete", f"{run.ended_by} has ended the run at {decimal(float(run.time[-1]))} s."


def numbers(run: Coupled) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each key number of a run."""
    yield "estimated error, relative to the range", scientific(run.error)
    if run.whole is not None:
        label = "error against the uncut mechanism" if run.whole.exact else "change of the model by bushings"
        yield label, scientific(run.whole.difference)
    if run.residuals:
        yield "largest energy residual, relative", scientific(run.energy_residual)
    if run.network.pins:
        yield "largest gap of a pin, relative", scientific(run.gap)
    record = run.record
    yield "communication steps", str(len(record.pieces))
    yield "rejected steps", str(record.rejected)
    yield "events", str(len(record.events))
    yield "time of the run", f"{decimal(record.wall_s, 2)} s"


def steps_text(run: Coupled) -> str:
    """Return the step length, ms, as text.

    If the step length varies, the text contains the least, the largest and the median value.
    """
    lengths = 1e3 * step_lengths(run)
    if lengths.max() <= 1.001 * lengths.min():
        return f"{decimal(float(lengths[0]), 3)} ms"
    chosen = (lengths.min(), lengths.max(), np.median(lengths))
    least, largest, median = (decimal(float(length), 3) for length in chosen)
    return f"{least} to {largest} ms, median {median} ms"


def _consistent(run: Coupled) -> str:
    network = run.network
    driven, loops = int(network.driven.sum()), sum(group.loops for group in network.groups)
    text = f"Each of {driven} connected inputs has one driver, and the units of the connections convert."
    if not loops:
        return text
    solved = "the loop" if loops == 1 else f"all {loops} loops"
    return f"{text} The initial values solve {solved}."


def _agrees(run: Coupled) -> Iterator[str]:
    sign = "within" if run.error <= run.tolerance else "above"
    order = "" if run.order is None else f" The observed order is {run.order:.1f}."
    yield (
        f"A finer run differs by {scientific(run.error)} of the range in {run.worst}, {sign} the tolerance of"
        f" {scientific(run.tolerance)}.{order}"
    )
    whole = run.whole
    if whole is not None and whole.exact:
        sign = "within" if whole.difference <= run.tolerance else "above"
        yield (
            f"The uncut mechanism differs by {scientific(whole.difference)} in {whole.worst}, {sign} the"
            " tolerance; this is the error of the coupling."
        )
    elif whole is not None:
        yield (
            f"The uncut mechanism differs by {scientific(whole.difference)} in {whole.worst}; this is the change"
            " of the model by bushings and is not judged."
        )


def _holds(run: Coupled) -> Iterator[str]:
    if run.network.pins:
        yield f"The gaps of the pins stay below {scientific(run.gap)} of the range."
    if run.residuals:
        worst = max(run.residuals, key=lambda residual: abs(residual.relative))
        verb = "creates" if worst.created > 0.0 else "loses"
        yield (
            f"The coupling {verb} at most {scientific(abs(worst.relative))} of the energy transferred at a"
            f" connection, at {worst.where}."
        )
    if not run.network.pins and not run.residuals:
        yield "There are no pins, and no connection is known to transmit energy."
