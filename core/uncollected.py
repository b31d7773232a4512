"""Suspension of the garbage collector during work that creates many long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the cyclic garbage collector in a `with` block or a decorated function.

    Afterwards, the collector is enabled again if it was enabled before.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
