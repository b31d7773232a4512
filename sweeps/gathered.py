"""Collection of all errors in the arguments of a command, so that they are reported together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import DescriptionError, Problem


class GatheredComplaints:
    """Object that collects the errors in the arguments of a command, so that they are raised together."""

    def __init__(self, source: str) -> None:
        self._source, self._problems = source, list[Problem]()
        self._missing = object()

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and return its value; record a DescriptionError that the function raises.

        If the function fails, the result is a placeholder. If an argument is a placeholder, the
        function is not called and the result is also a placeholder.
        """
        if any(argument is self._missing for argument in arguments):
            return self._missing
        try:
            return function(*arguments)
        except DescriptionError as error:
            self._problems += error.problems
            return self._missing

    def all_well(self) -> None:
        """Raise DescriptionError with all collected errors, if there are any."""
        if self._problems:
            raise DescriptionError(self._source, self._problems)
