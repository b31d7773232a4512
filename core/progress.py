"""Progress reports of long computations, for the caller of a task."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Function of an activity's name and its completed fraction, 0 to 1; always 0 if the fraction is unknown."""


def silent(what: str, fraction: float) -> None:
    """Ignore a progress report."""


def renamed(progress: Progress, name: str) -> Progress:
    """Return a progress function that reports every activity under `name`.

    A placeholder `{}` in `name` is replaced by the activity's own name.

    >>> renamed(lambda what, fraction: print(what, fraction), "FMU by omc: {}")("compiling", 0.5)
    FMU by omc: compiling 0.5
    """
    return lambda what, fraction: progress(name.format(what), fraction)
