"""Time of the import of gpmelica, to find files that were changed since then."""

from __future__ import annotations

import time

BEGUN = time.time()  # s since 1970
_SETTING = BEGUN - time.monotonic()  # Wall clock minus monotonic clock at the import, s.
_MOST = 1.0  # Largest time by which a clock can be set back without an effect on the comparison of file times, s.


def is_set_back() -> bool:
    """Return whether the clock of this computer was set back after gpmelica was imported."""
    return time.time() - time.monotonic() < _SETTING - _MOST
