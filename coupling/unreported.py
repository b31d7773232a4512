"""Search for events that no FMU reports, by a comparison of two runs with different step lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.trajectory import Array
from .comparison import bounded_ranges
from .master import Record
from .network import Network
from .ports import RoundingSizes
from .system import CouplingRemark

# A change in one communication step may be a jump if it exceeds this fraction of the output's range.
_LARGE = 0.1
# A change of an output counts as a rounding error if it is below this fraction of the output's magnitude.
_ROUNDING = 1e-9
# An output jumps if one of several shorter steps contains more than this fraction of the whole change.
_STAYS = 0.8


def unreported_events(
    network: Network, rows: Sequence[int], run: Record, fine: Record
) -> Iterator[CouplingRemark]:
    """Yield remarks on outputs that jump although no FMU reports an event.

    With shorter steps, a continuous output changes less in each step, but a jump keeps its size. An
    error above the tolerance in the shortest possible step also indicates a jump, of the output or
    of its slope.

    Parameters
    ----------
    network : FMUs and their connections
    rows : indices of the outputs that the coupling computes accurately
    run, fine : results of the run, and of a run with shorter steps
    """
    if run.missed:
        text = (
            f"outputs jump or kink inside {run.missed} steps that cannot be shortened further, so an FMU has"
            " events that it does not report; use an FMU 3.0 with event mode"
        )
        yield CouplingRemark("unreported_event", "system", text)
        return
    (times, changes), (_, before) = _largest(network, fine), _largest(network, run)
    values = np.array(fine.values)[:, : network.n_y]
    magnitudes = np.max(np.abs(values), axis=0)
    rounding = 10.0 * RoundingSizes(network.signals, fine.times[-1] - fine.times[0]).at(magnitudes)
    large = np.maximum(_LARGE * bounded_ranges(fine, network), np.maximum(_ROUNDING * magnitudes, rounding))
    jumps = (changes > large) & (changes > _STAYS * before)
    for row in sorted({*np.flatnonzero(jumps).tolist()} & {*rows}):
        name = ".".join(network.outputs[row])
        text = (
            f"{name} changes by {changes[row]:.3g} in one step near t = {times[row]:.4g} s, with shorter steps"
            f" also, and {network.outputs[row][0]} reports no event: the output jumps or vibrates inside the"
            " step; use an FMU 3.0 with event mode, or shorten --step"
        )
        yield CouplingRemark("unreported_event", name, text)


def _largest(network: Network, run: Record) -> tuple[Array, Array]:
    """Return time, s, and size of the largest change of each output during one communication step.

    Both arrays have the shape (n_y,) for n_y outputs. Steps that end at an event are ignored. For
    outputs that change only at events, the change is zero.
    """
    times = np.array(run.times)
    changes = np.abs(np.diff(np.array(run.values)[:, : network.n_y], axis=0))
    changes[np.isin(times[1:], run.events)] = 0.0
    changes[:, [signal.discrete for signal in network.signals]] = 0.0
    worst = np.argmax(changes, axis=0)
    return times[worst], changes[worst, np.arange(network.n_y)]
