"""Names of other formats → names that a description may have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

from ..description.fields.names import identifier

_LONGEST = 64
_TAKEN = ("base",)  # a table of the description


def identifiers(names: Iterable[str], prefix: str) -> dict[str, str]:
    """Each name → an identifier that is no reserved word; different ones for different names.

    prefix  of names that do not start with a letter
    """
    found: dict[str, str] = {}
    waiting = list(dict.fromkeys(names))
    # those that may stay as they are come first, so that no other takes their place
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
