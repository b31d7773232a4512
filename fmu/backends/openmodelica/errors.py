"""Errors of an installed omc."""

from __future__ import annotations

from ....core.errors import BuildError
from .answers import Message


class OmcError(BuildError):
    """omc refused the Modelica text or could not compile it; `messages` are its own."""

    def __init__(self, text: str, messages: tuple[Message, ...] = ()) -> None:
        super().__init__(text)
        self.messages = messages


class OmcTimeout(BuildError):
    """omc took longer than it was given; it and what it had started have been ended."""


class OmcDied(BuildError):
    """omc ended without an answer.

    Parameters:
        statement  that it was to answer
        status     its exit status, negative for a signal; None if it has not ended but says nothing either
        output     what it printed
    """

    def __init__(self, statement: str, status: int | None, output: str) -> None:
        how = f"signal {-status}" if status is not None and status < 0 else f"exit status {status}"
        said = output.strip()[-2000:]
        super().__init__(
            f"omc ended ({how}) without an answer to {statement}\n"
            f"{f'it said: {said}' if said else 'it said nothing'}\n"
            "this is a fault of omc: try another version, or --compiler native"
        )
