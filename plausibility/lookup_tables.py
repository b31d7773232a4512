"""Remarks on lookup tables whose interpolated values leave the range of the tabulated values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..analysis.system import System
from ..description.tables.table import Table
from ..language import piecewise
from .remark import Remark

# The overshoot of a spline is admissible up to this fraction of the range of the lookup table's values.
_LIMIT = 0.01
# Splines are sampled at these fractions of the interval between two points of a lookup table.
_SAMPLES = np.linspace(0.0, 1.0, 33)[1:-1]


def overshooting_tables(model: System) -> Iterator[Remark]:
    """Yield a remark for each cubic spline whose overshoot exceeds 1 % of the range of the tabulated values."""
    for name, table in model.chain.tables.items():
        if table.interpolation != "cubic":
            continue
        time, overshoot = largest_overshoot(table)
        if overshoot > _LIMIT:
            yield Remark(
                "table_overshoots",
                f"tables.{name}",
                f"the cubic spline overshoots its points by {100.0 * overshoot:.3g} % of their range at"
                f" {time:.4g} s of the table",
                'add points, or set interpolation = "pchip", which forces and rest lengths accept',
                value=overshoot,
                limit=_LIMIT,
            )


def largest_overshoot(table: Table) -> tuple[float, float]:
    """Return the time, s, and the size of the largest overshoot of a cubic spline.

    The size is relative to the range of the values at the points.

    If the data are monotone near two neighbouring points, the spline must stay between the values at
    these two points. Elsewhere, the spline must stay between the smallest and the largest value of
    all points.
    """
    time, values = table.points
    spread = float(np.ptp(values))
    if spread == 0.0:
        return float(time[0]), 0.0
    least, most = _admissible(values)
    at = time[:-1, None] + np.diff(time)[:, None] * _SAMPLES
    found = piecewise.cubic(time, values, at_rest=table.ends == "rest")(at.ravel()).reshape(at.shape)
    excess = np.maximum(found - most[:, None], least[:, None] - found) / spread
    largest = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return float(at[largest]), max(float(excess[largest]), 0.0)


def _admissible(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and largest admissible values of a spline in each interval, shape (N − 1,) each.

    Each interval lies between two neighbouring points of a lookup table with N points.
    """
    rises = np.pad(np.sign(np.diff(values)), 1)
    near = np.array([rises[:-2], rises[1:-1], rises[2:]])
    monotone = np.all(near >= 0.0, axis=0) | np.all(near <= 0.0, axis=0)
    pairs = np.array([values[:-1], values[1:]])
    least = np.where(monotone, pairs.min(axis=0), values.min())
    return least, np.where(monotone, pairs.max(axis=0), values.max())
