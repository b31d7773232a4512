"""Functions that compute curves over time for the report of a coupled run.

The curves are the errors, the differences of rigidly connected positions, and the step lengths.
"""

from __future__ import annotations

import numpy as np

from ...core.trajectory import Array
from ..comparison import away_from_events, relative_errors
from ..verdict import Coupled, compared_rows


def step_lengths(run: Coupled) -> Array:
    """Return the lengths of all communication steps of a run, s, shape (steps,)."""
    return np.diff(np.array(run.record.times))


def errors_by_finer_run(run: Coupled) -> dict[str, Array]:
    """Return the estimated error of each compared output over time, relative to the range of the output.

    Values near events are NaN, because the finer run, from which errors are estimated, has slightly
    different event times.
    """
    if run.finer is None:
        return {}
    rows = compared_rows(run.network, run.choices)
    fine = run.finer.sample(run.time)[rows]
    fine[:, ~away_from_events(run.record, run.finer, run.time)] = np.nan
    names = [".".join(run.network.outputs[row]) for row in rows]
    return _relative(run, names, run.record.sample(run.time)[rows], fine)


def errors_by_whole(run: Coupled) -> dict[str, Array]:
    """Return the difference of each output from the uncut mechanism over time.

    The difference is relative to the range of the output. The uncut mechanism is the whole
    mechanism as one FMU. Values near events are NaN.
    """
    if run.whole is None or not run.whole.signals:
        return {}
    names = list(run.whole.signals)
    found = np.array([run.signals[name] for name in names])
    return _relative(run, names, found, np.array([run.whole.signals[name] for name in names]))


def _relative(run: Coupled, names: list[str], a: Array, b: Array) -> dict[str, Array]:
    """Return the error of each output over time, relative to the range of the output.

    The maximum over time equals the relative error of the output. The arguments `a` and `b` are the
    values of the outputs in the run and in the reference. At times at which `b` is NaN, the error
    is NaN.
    """
    kept = np.isfinite(b).all(axis=0)
    if not kept.any():
        return {}
    known = {".".join(port): k for k, port in enumerate(run.network.outputs)}
    signals = [run.network.signals[known[name]] for name in names]
    errors = relative_errors(a[:, kept], b[:, kept], signals, float(run.time[-1] - run.time[0]))
    off = np.abs(a - b)
    peak = off[:, kept].max(axis=1)
    return dict(zip(names, off * (errors / np.where(peak > 0.0, peak, 1.0))[:, None], strict=True))


def gaps(run: Coupled) -> Array:
    """Return the difference of two positions at each pin, m or rad, shape (steps + 1, pins).

    A pin is a rigid connection of two positions. Each row belongs to one communication point.
    """
    values, pairs = np.array(run.record.values), run.network.pairs
    return np.asarray(np.abs(values[:, pairs[:, 0]] - values[:, pairs[:, 1]]))
