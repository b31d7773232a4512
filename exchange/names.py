"""Conversion of names from other file formats to valid names in a description."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, count

from ..description.fields.names import prefix as part_name

_LONGEST = 64
# Links cannot have these names, because the description has tables with the same names.
_TAKEN = ("base",)


def identifiers(names: Iterable[str], prefix: str, valid: Callable[[str], str] = part_name) -> dict[str, str]:
    """Return a unique valid name for each given name.

    Parameters
    ----------
    names
        Names in a file of another format.
    prefix
        Text that precedes names that do not begin with a letter.
    valid
        Function that returns a valid name unchanged, and raises ValueError for an invalid name.

    Returns
    -------
    dict
        Mapping from given names to valid names. Names that are already valid remain unchanged.
    """

    def is_free(name: str, taken: Iterable[str]) -> bool:
        try:
            return valid(name) not in (*_TAKEN, *taken)
        except ValueError:
            return False

    found: dict[str, str] = {}
    waiting = list(dict.fromkeys(names))
    # Valid names are treated first, so that no converted name takes the place of a valid one.
    for name in sorted(waiting, key=lambda name: not is_free(name, ())):
        taken = {*found.values()}
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        word = (word if re.match("[A-Za-z]", word) else prefix + word)[:_LONGEST]
        numbered = (f"{word[: _LONGEST - 6]}_{i}" for i in count(2))
        found[name] = next(x for x in chain((word, f"{word[: _LONGEST - 1]}_"), numbered) if is_free(x, taken))
    return {name: found[name] for name in waiting}


def printable(text: str) -> str:
    """Return a name in which `?` replaces all characters that are not printable."""
    return "".join(c if c.isprintable() else "?" for c in text)
