"""Time at which this process imported gpmelica, for comparison with the times of files."""

from __future__ import annotations

import time

BEGUN = time.time()  # s since 1970
_SETTING = BEGUN - time.monotonic()  # Setting of the clock, s.
_MOST = 1.0  # Largest correction of the clock, s, after which times of files are still comparable.


def is_set_back() -> bool:
    """Return whether the clock of this computer has been set back since gpmelica was imported."""
    return time.time() - time.monotonic() < _SETTING - _MOST
