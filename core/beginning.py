"""Time at which gpmelica was imported. Files with later modification times have changed since then."""

from __future__ import annotations

import time

BEGUN = time.time()  # The module was imported at this Unix time, s.
_SETTING = BEGUN - time.monotonic()  # At the import, the monotonic clock lags the wall clock by this time, s.
_MOST = 1.0  # The wall clock counts as set back only if it was set back by more than this time, s.


def is_set_back() -> bool:
    """Return whether the clock of this computer was set back after gpmelica was imported."""
    return time.time() - time.monotonic() < _SETTING - _MOST
