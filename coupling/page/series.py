"""Errors, gaps and step lengths of a coupled run over time."""

from __future__ import annotations

import numpy as np

from ...core.trajectory import Array
from ..comparison import away_from_events, relative_errors
from ..verdict import Coupled, compared_rows


def step_lengths(run: Coupled) -> Array:
    """Return the lengths of the communication steps, s, shape (steps,)."""
    return np.diff(np.array(run.record.times))


def errors_by_finer_run(run: Coupled) -> dict[str, Array]:
    """Return the estimated error of each compared output over the output times, relative to its range.

    Values in the neighbourhood of events are NaN, because both runs pass them at slightly different times.
    """
    if run.finer is None:
        return {}
    rows = compared_rows(run.network, run.choices)
    a, b = run.record.sample(run.time)[rows], run.finer.sample(run.time)[rows]
    kept = away_from_events(run.record, run.finer, run.time)
    if not kept.any():
        return {}
    errors = np.full(a.shape, np.nan)
    names = [".".join(run.network.outputs[row]) for row in rows]
    errors[:, kept] = _relative(a[:, kept], b[:, kept], [run.units[name] for name in names])
    return dict(zip(names, errors, strict=True))


def errors_by_whole(run: Coupled) -> dict[str, Array]:
    """Return the difference of each output to the uncut machine over the output times, relative to its range."""
    if run.whole is None or not run.whole.signals:
        return {}
    names = list(run.whole.signals)
    found = np.array([run.signals[name] for name in names])
    expected = np.array([run.whole.signals[name] for name in names])
    errors = _relative(found, expected, [run.units[name] for name in names])
    return dict(zip(names, errors, strict=True))


def _relative(a: Array, b: Array, units: list[str]) -> Array:
    """Return the differences of n signals at k times, whose maxima are the relative errors, shape (n, k)."""
    off = np.abs(a - b)
    peak = off.max(axis=1)
    return np.asarray(off * (relative_errors(a, b, units) / np.where(peak > 0.0, peak, 1.0))[:, None])


def gaps(run: Coupled) -> Array:
    """Return the gap of each pin at all communication points, m or rad, shape (steps + 1, pins)."""
    values, pairs = np.array(run.record.values), run.network.pairs
    return np.asarray(np.abs(values[:, pairs[:, 0]] - values[:, pairs[:, 1]]))
