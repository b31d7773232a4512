"""Names as people give them, and words for those that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.75  # of difflib's measure; below it suggestions mislead
_SHOWN = 16


def several(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names; a text is one of them, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`there is no link 'bom'; did you mean 'boom'?`, or else which ones there are."""
    return f"there is no {what} {name!r}; {alternatives(name, known)}"


def alternatives(name: str, known: Iterable[str]) -> str:
    """The known name that is like this one, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=_ALIKE)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], "…"]
    return f"known are: {', '.join(shown) or 'none'}"
