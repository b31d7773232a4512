"""Complete contents of a description, for checking whether two descriptions are equal."""

from __future__ import annotations

from typing import Any

from .load import tables_of
from .plain import plain
from .tables.chain import Description


def contents(chain: Description) -> dict[str, Any]:
    """Return all tables of a description twice: with expressions as written, and with numbers in their place.

    If two descriptions have equal contents, they have equal equations, initial states and
    simulations. Lookup tables are included as points. The points were read together with the
    description; later changes of the files have no effect.
    """
    return {"written": tables_of(chain), "numbers": plain(chain)}
