"""Conversion of names in other formats to valid names of a description."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

from ..description.fields.names import identifier

_LONGEST = 64
_TAKEN = ("base",)  # Names of tables in a description.


def identifiers(names: Iterable[str], prefix: str) -> dict[str, str]:
    """Return a different valid identifier for each name.

    Valid names remain unchanged. `prefix` precedes names that do not begin with a letter.
    """
    found: dict[str, str] = {}
    waiting = list(dict.fromkeys(names))
    # Valid names come first, so that no converted name replaces them.
    for name in sorted(waiting, key=lambda name: not _free(name, ())):
        taken = {*found.values()}
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        word = (word if re.match("[A-Za-z]", word) else prefix + word)[:_LONGEST]
        numbered = (f"{word[: _LONGEST - 6]}_{i}" for i in count(2))
        found[name] = next(x for x in chain((word, f"{word[: _LONGEST - 1]}_"), numbered) if _free(x, taken))
    return {name: found[name] for name in waiting}


def _free(name: str, taken: Iterable[str]) -> bool:
    try:
        return identifier(name) not in (*_TAKEN, *taken)
    except ValueError:
        return False
