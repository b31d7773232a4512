"""Report of a coupled run as a short text for the terminal and for a file."""

from __future__ import annotations

from collections.abc import Iterator

from .verdict import Coupled


def lines(run: Coupled) -> Iterator[str]:
    """Yield the lines of the report of a coupled run, the verdict first."""
    yield f"{run.name}: {_verdict(run)}"
    for group, choice in zip(run.network.groups, run.choices, strict=True):
        names = ", ".join(run.network.parts[k].name for k in group.parts)
        yield f"  {names}: {choice.method} ({choice.reason})"
    order = "" if run.order is None else f", observed order {run.order:.1f}"
    sign = "≤" if run.agrees else ">"
    yield f"  agrees: estimated error {run.error:.2g} of the range {sign} {run.tolerance:g}, in {run.worst}{order}"
    if run.whole is not None:
        whole, meaning = (
            run.whole,
            "error of the coupling" if run.whole.exact else "change of the model by bushings",
        )
        yield f"  whole machine: difference {whole.difference:.2g} of the range in {whole.worst}, {meaning}"
    if run.modes is not None:
        yield f"  modes: {run.modes.sentence()}"
    if len(run.network.pairs):
        yield f"  holds: gaps of the pins up to {run.gap:.2g} of the range"
    for residual in run.residuals:
        turned = f"{residual.turned_over:.3g} J transferred"
        yield f"  energy at {residual.where}: {residual.created:.3g} J created of {turned}"
    record = run.record
    counts = f"{len(record.pieces)} steps, {record.rejected} rejected, {len(record.events)} events"
    yield f"  {counts}, {record.wall_s:.2f} s"
    for name, seconds in sorted(record.seconds.items(), key=lambda item: -item[1]):
        yield f"  time in {name}: {seconds:.2f} s"
    for remark in run.remarks:
        yield f"  remark: {remark.text}"


def _verdict(run: Coupled) -> str:
    if not run.complete:
        return f"the run is incomplete, {run.ended_by} has ended it at t = {run.time[-1]:.9g} s"
    return "the coupling agrees and holds" if run.ok else "the coupling is not good enough"
