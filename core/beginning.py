"""Time at which gpmelica was imported. Files with later modification times have changed since then."""

from __future__ import annotations

import time

BEGUN = time.time()  # time of the import in seconds since 1970
_SETTING = BEGUN - time.monotonic()  # Wall clock minus monotonic clock at the import, s.
_MOST = 1.0  # smaller backward changes of the clock, in s, are ignored in comparisons of file times


def is_set_back() -> bool:
    """Return whether the clock of this computer was set back after gpmelica was imported."""
    return time.time() - time.monotonic() < _SETTING - _MOST
