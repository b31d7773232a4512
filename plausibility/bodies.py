"""Remarks on masses and lengths of bodies that are probably given in a wrong unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..analysis.system import System
from ..mechanism import GROUND
from .geometry import Mark, described, extent, marks, own_size, radius_of_gyration
from .places import link
from .remark import Remark

_LARGEST = 5.0  # A radius of gyration is implausible if it exceeds this multiple of the mechanism's extent.
_SMALLEST = 1e-3  # A radius of gyration is implausible if it is below this fraction of the body's own size.
_ROUNDING = 1e-9  # A body counts as a point mass if its radius of gyration is at most this fraction of its size.
# A length was possibly entered in mm instead of m if it exceeds this many times the next smaller length.
_APART = 200.0
_LONGEST = 10.0  # A length up to this value, m, is always plausible.


def inertias(model: System) -> Iterator[Remark]:
    """Yield remarks on rigid bodies whose radius of gyration does not fit their size.

    Point masses are ignored.
    """
    whole = extent(model)
    for index, body in enumerate(model.mechanism.bodies):
        table = described(model, body)
        if table is None or not table.has_inertia or not table.physical or not body.mass:
            continue
        radius, size = radius_of_gyration(body), own_size(model, index)
        where = f"{link(model.chain, body.link)}, inertia"
        if radius > _LARGEST * whole:
            yield Remark(
                "inertia_unlikely",
                where,
                f"the radius of gyration is {radius:.3g} m, beyond the mechanism's extent of {whole:.3g} m",
                "is the inertia in kg·mm² or g·mm² instead of kg·m²?",
                radius,
                "m",
                _LARGEST * whole,
            )
        elif _ROUNDING * size < radius < _SMALLEST * size:
            yield Remark(
                "inertia_unlikely",
                where,
                f"the radius of gyration is {radius:.3g} m, less than a thousandth of the body's size of"
                f" {size:.3g} m",
                "is the inertia in t·m² instead of kg·m², or a length in mm? a point mass has inertia = [0, 0, 0]",
                radius,
                "m",
                _SMALLEST * size,
            )


def lengths(model: System) -> Iterator[Remark]:
    """Yield remarks on lengths that exceed all other lengths by orders of magnitude.

    Such a length was probably given in millimetres instead of metres.
    """
    found = [(float(np.linalg.norm(mark.position)), mark) for mark in marks(model) if mark.body != GROUND]
    sized = sorted(((length, mark) for length, mark in found if length > 0.0), key=lambda entry: entry[0])
    first = _first_apart([length for length, _ in sized])
    for length, mark in sized[first:]:
        yield _too_long(mark, length, _APART * sized[first - 1][0])


def _first_apart(ascending: list[float]) -> int:
    """Return the index of the first length that is far larger than its predecessor in the list.

    The lengths are in ascending order, and only the second half of the list is searched. Lengths below
    a fixed limit are ignored. If no length meets these conditions, the result is the number of lengths.
    """
    for k in range((len(ascending) + 1) // 2, len(ascending)):
        if ascending[k] > max(_APART * ascending[k - 1], _LONGEST):
            return k
    return len(ascending)


def _too_long(mark: Mark, length: float, limit: float) -> Remark:
    return Remark(
        "length_unlikely",
        mark.key,
        f"a length of {length:.4g} m is more than {_APART:g} times the lengths of the other bodies",
        "is the length in millimetres instead of metres?",
        length,
        "m",
        max(limit, _LONGEST),
    )
