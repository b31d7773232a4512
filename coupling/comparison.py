"""Comparison of two runs of a coupled system: relative differences of signals, and the observed order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..core.trajectory import Array
from .master import Record
from .network import Network
from .participant import PortSignal
from .ports import RoundingSizes

_SMALL = 1e-3  # smallest range of a signal, relative to the largest range of signals with the same unit
_ROUNDING = 1e-6  # smallest range of a unitless signal of any kind, relative to the largest range of such signals
_SAME_EVENT = 0.25  # largest time difference of one event in two runs, relative to the time between events
_ORDERS = (0.02, 12.0)  # smallest and largest observed order of convergence that is accepted


def difference(network: Network, rows: Sequence[int], run: Record, fine: Record, grid: Array) -> tuple[float, str]:
    """Return the largest difference of two runs, relative to the range of each signal, and the signal's name.

    Times near events are left out. If no other time remains, the difference is infinite.

    Parameters
    ----------
    network : parts and their connections
    rows : indices of the outputs that are compared
    run, fine : the run and a run with finer settings
    grid : times of the comparison, s
    """
    grid = grid[away_from_events(run, fine, grid)]
    if not len(grid):
        return math.inf, ""
    signals = [network.signals[row] for row in rows]
    errors = relative_errors(run.sample(grid)[rows], fine.sample(grid)[rows], signals, grid[-1])
    k = int(np.argmax(errors))
    return float(errors[k]), ".".join(network.outputs[rows[k]])


def relative_errors(a: Array, b: Array, signals: Sequence[PortSignal], span: float) -> Array:
    """Return the largest difference of each pair of signals, relative to the larger of both ranges, shape (n,).

    A range counts as at least a thousandth of the largest range of the signals with the same unit, or a
    millionth for signals without a unit. Velocities of a machine at rest are rounding errors and count
    as errors of zero.

    Parameters
    ----------
    a, b : signals at the same times, shape (n, k)
    signals : names and units of the signals
    span : duration of the run, s
    """
    units = [signal.unit for signal in signals]
    off = np.max(np.abs(a - b), axis=1)
    spread = np.maximum(np.ptp(a, axis=1), np.ptp(b, axis=1))
    for unit in set(units):
        alike = np.array([other == unit for other in units])
        spread[alike] = np.maximum(spread[alike], (_SMALL if unit else _ROUNDING) * spread[alike].max())
    magnitudes = np.maximum(np.max(np.abs(a), axis=1), np.max(np.abs(b), axis=1))
    floor = np.maximum(np.maximum(1e-9 * magnitudes, RoundingSizes(signals, span).at(magnitudes)), 1e-300)
    errors = off / np.maximum(spread, floor)
    errors[(off <= floor) & (spread <= floor)] = 0.0  # the signal is constant in both runs
    return np.asarray(errors)


def away_from_events(run: Record, fine: Record, grid: Array) -> NDArray[np.bool_]:
    """Return whether each time is so far from each event that both runs have passed the event, or neither has.

    If only one run has found an event, the times near this event are kept, because the runs really
    differ there.
    """
    away, own = np.ones(len(grid), dtype=bool), np.array(run.events)
    gaps = np.diff([grid[0], *fine.events, grid[-1]])
    for event, before, after in zip(fine.events, gaps, gaps[1:], strict=False):
        off = float(np.min(np.abs(own - event), initial=np.inf))
        same = off <= _SAME_EVENT * min(before, after)
        away &= np.abs(grid - event) > max(2.0 * off if same else 0.0, 1e-9)
    return away


def observed_order(coarse: tuple[float, float], fine: float) -> float | None:
    """Return the order of convergence p of three runs whose errors are proportional to the p-th power of the step.

    The three runs are called the coarse run, the run and the fine run. Returns None if no order
    explains the differences.

    Parameters
    ----------
    coarse : difference between the coarse and the fine run, divided by that between the run and the
        fine run; and the step of the coarse run, divided by the step of the run
    fine : step of the fine run, divided by the step of the run
    """
    outer, step = coarse

    def excess(p: float) -> float:
        return float((step**p - fine**p) / (1.0 - fine**p)) - outer

    least, most = _ORDERS
    if excess(least) * excess(most) > 0.0:
        return None
    return float(brentq(excess, least, most))
