"""Ranges of evenly spaced numbers in the notation `first:last:count`."""

from __future__ import annotations

import math
import re

import numpy as np


def numbers_of(text: str, most: int) -> list[float]:
    """Return the evenly spaced numbers of a range `first:last:count`.

    The range must not have more than `most` numbers.

    Raises
    ------
    ValueError
        If the range is invalid; the message explains the problem.

    >>> numbers_of("0:1:3", 100)
    [0.0, 0.5, 1.0]
    """
    first, last, count = (part.strip() for part in text.split(":"))
    ends = finite(first), finite(last)
    if not re.fullmatch(r"\d+", count) or not 1 <= int(count) <= most:
        raise ValueError(
            f"range {text.strip()!r}: expected a count from 1 to {most} as third number, got {count or 'none'}"
        )
    if int(count) == 1 and ends[0] != ends[1]:
        raise ValueError(f"range {ends[0]:g} to {ends[1]:g}: expected a count of at least 2, got 1")
    return [float(x) for x in np.linspace(*ends, int(count))]


def finite(text: str) -> float:
    """Return the number in a text; raise ValueError if the text is not a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {text.strip()[:40]!r}")
    return value
