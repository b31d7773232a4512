"""Errors of several arguments, reported at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import DescriptionError, Problem


class GatheredComplaints:
    """Calls functions that check arguments, and keeps what they complain of."""

    def __init__(self, source: str) -> None:
        self._source, self._problems = source, list[Problem]()
        self._missing = object()

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the function's value, or a placeholder if it or an argument has failed."""
        if any(argument is self._missing for argument in arguments):
            return self._missing
        try:
            return function(*arguments)
        except DescriptionError as error:
            self._problems += error.problems
            return self._missing

    def all_well(self) -> None:
        """Raise DescriptionError with everything, if there was something."""
        if self._problems:
            raise DescriptionError(self._source, self._problems)
