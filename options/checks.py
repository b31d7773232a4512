"""Checks of option values that do not need the description of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core.errors import DescriptionError

FMI_VERSIONS = ("2.0", "3.0")


def one_of(what: str, value: str, known: Sequence[str]) -> None:
    """Raise DescriptionError if `value` is not one of the known values."""
    if value not in known:
        raise DescriptionError(what, f"expected one of {', '.join(known)}, got {value!r}")


def above_zero(what: str, value: float) -> None:
    """Raise DescriptionError if a number is not positive and finite."""
    if not 0.0 < value < math.inf:
        raise DescriptionError(what, f"expected a number above 0, got {value:g}")
