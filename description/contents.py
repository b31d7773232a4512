"""All contents of a description, by which two descriptions are distinguished."""

from __future__ import annotations

from typing import Any

from .load import tables_of
from .plain import plain
from .tables.chain import Description


def contents(chain: Description) -> dict[str, Any]:
    """Return the keys of a description as they are written, and as numbers with the points of all lookup tables.

    Descriptions with equal contents have equal equations, initial states and simulations. The points are
    those that were read together with the description, whatever their files contain now.
    """
    return {"written": tables_of(chain), "numbers": plain(chain)}
