"""Remarks on parameters and lookup tables that the description defines but does not use."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.system import System
from ..description.uses import unused
from .remark import Remark


def unused_names(model: System) -> Iterator[Remark]:
    """Yield remarks on parameters and lookup tables that neither the description nor a case uses."""
    for key, names in unused(model.chain).items():
        for name in names:
            yield Remark(
                "unused_name",
                f"{key}.{name}",
                "no number or expression uses this name",
                "is the name misspelled or obsolete?",
            )
