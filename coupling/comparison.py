"""Comparison of two runs of a coupled system: relative differences and observed order of convergence."""

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

# A signal's error is divided by at least this fraction of the largest range of all signals with the same unit.
_SMALL = 1e-3
# If a signal has no unit, its error is divided by at least this fraction of the largest range of such signals.
_ROUNDING = 1e-6
# Two runs contain the same event if the event times differ by at most this fraction of the time between events.
_SAME_EVENT = 0.25
# An order of convergence is reported only if it lies between these two limits.
_ORDERS = (0.02, 12.0)


def difference(network: Network, rows: Sequence[int], run: Record, fine: Record, grid: Array) -> tuple[float, str]:
    """Return the largest relative difference of two runs, and the name of the signal in which it occurs.

    Each difference is divided by the range of the signal (largest minus smallest value). Times near
    events are ignored, because the event times of the two runs differ slightly. If all times are
    near events, the difference is infinite.

    Parameters
    ----------
    network : FMUs and their connections
    rows : indices of the compared outputs
    run, fine : results of a run, and of a second run with a shorter step or a smaller tolerance
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
    """Return the largest relative difference between `a` and `b` for each of n signals, shape (n,).

    Each difference is divided by the range of the signal in `a` or in `b`, whichever is larger. A
    range is the largest minus the smallest value over time. The divisor is at least a thousandth of
    the largest range among all signals of the same unit. For signals without a unit, the divisor is
    at least a millionth of the largest range among these signals. Signals that contain only
    rounding errors, such as constraint violations, have the error zero.

    Parameters
    ----------
    a, b : values of the n signals in two runs at the same k times, shape (n, k)
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
    # A signal without range in both runs has the relative error zero if its values agree within rounding errors.
    errors[(off <= floor) & (spread <= floor)] = 0.0
    return np.asarray(errors)


def bounded_ranges(run: Record, network: Network) -> Array:
    """Return the range of each output in a run, shape (n_y,).

    A range is the largest minus the smallest value. If a range is below a lower bound, the result
    contains the bound. The lower bound is the largest of three values:

    - a thousandth of the signal's largest magnitude,
    - a thousandth of the largest range among signals of the same unit,
    - the size of the signal's rounding errors.
    """
    values = np.array(run.values)[:, : network.n_y]
    magnitudes = np.max(np.abs(values), axis=0)
    rounding = RoundingSizes(network.signals, run.times[-1] - run.times[0]).at(magnitudes)
    found = np.maximum(np.maximum(np.ptp(values, axis=0), _SMALL * magnitudes), rounding)
    for rows in network.alike:
        found[rows] = np.maximum(found[rows], _SMALL * found[rows].max())
    return np.asarray(found)


def away_from_events(run: Record, fine: Record, grid: Array) -> NDArray[np.bool_]:
    """Return a mask that is True at the times in `grid` at which two runs can be compared.

    Two runs find the same event at slightly different times, between which their values differ. The
    mask is False near such an event, up to a distance of twice the difference of the event times. Near
    an event in only one of the runs, the mask is True, because the two solutions really differ.
    """
    away, own = np.ones(len(grid), dtype=bool), np.array(run.events)
    gaps = np.diff([grid[0], *fine.events, grid[-1]])
    for event, before, after in zip(fine.events, gaps, gaps[1:], strict=False):
        off = float(np.min(np.abs(own - event), initial=np.inf))
        same = off <= _SAME_EVENT * min(before, after)
        away &= np.abs(grid - event) > max(2.0 * off if same else 0.0, 1e-9)
    return away


def observed_order(coarse: tuple[float, float], fine: float) -> float | None:
    """Return the order of convergence p that explains the differences between runs with three step lengths.

    The error of a run is assumed to be proportional to step^p. The runs are called coarse, medium
    and fine. The result is None if no order between 0.02 and 12 explains the differences.

    Parameters
    ----------
    coarse : ratios (e_c/e_m, h_c/h_m) of the coarse to the medium run. Here e is the difference
        between a run and the fine run, and h is the step of a run.
    fine : ratio h_f/h_m, the step of the fine run divided by the step of the medium run
    """
    outer, step = coarse

    def excess(p: float) -> float:
        return float((step**p - fine**p) / (1.0 - fine**p)) - outer

    least, most = _ORDERS
    if excess(least) * excess(most) > 0.0:
        return None
    return float(brentq(excess, least, most))
