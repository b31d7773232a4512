"""Names of the description that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.prepared import Prepared
from ..description.uses import unused
from .remark import Remark


def unused_names(model: Prepared) -> Iterator[Remark]:
    """Parameters and tables without effect, neither in the description nor in one of its cases."""
    for key, names in unused(model.chain).items():
        for name in names:
            yield Remark(
                "unused_name",
                f"{key}.{name}",
                "no number and no expression uses it",
                "misspelled, or left over?",
            )
