"""Time of the import of gpmelica, to find files that were changed since then."""

from __future__ import annotations

import time

BEGUN = time.time()  # s since 1970
_SETTING = BEGUN - time.monotonic()  # Difference between the wall clock and the monotonic clock, s.
_MOST = 1.0  # Corrections of the clock up to this, s, do not affect the comparison of file times.


def is_set_back() -> bool:
    """Return whether the clock of this computer was set back after gpmelica was imported."""
    return time.time() - time.monotonic() < _SETTING - _MOST
