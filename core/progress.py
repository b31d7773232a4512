"""Progress of long work, as the caller of a task receives it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Function of an activity and the fraction of it that is done, 0 to 1; 0 throughout if it is not known."""


def silent(what: str, fraction: float) -> None:
    """Report no progress."""


def renamed(progress: Progress, name: str) -> Progress:
    """Return progress that reports every activity under a name, in which `{}` is the activity's own name.

    >>> renamed(lambda what, fraction: print(what, fraction), "FMU by omc: {}")("compiling", 0.5)
    FMU by omc: compiling 0.5
    """
    return lambda what, fraction: progress(name.format(what), fraction)
