"""Messages about unknown names, which suggest known names of similar spelling."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# A name is suggested only if its similarity by difflib reaches this value; less similar names would mislead.
_ALIKE = 0.75
_SHOWN = 16  # A message lists at most this number of known names.


def several(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single text is treated as one name."""
    return (names,) if isinstance(names, str) else tuple(names)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name: `there is no link 'bom'; did you mean 'boom'?`.

    If no known name is similar, the message lists the known names.
    """
    return f"there is no {what} {name!r}; {alternatives(name, known)}"


def alternatives(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the most similar known name, or a list of known names."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=_ALIKE)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], "…"]
    return f"known are: {', '.join(shown) or 'none'}"
