"""Errors of the OpenModelica compiler omc."""

from __future__ import annotations

from ....core.errors import BuildError
from .answers import Message


class OmcError(BuildError):
    """Error raised if omc rejects or cannot compile a Modelica model.

    `messages` are omc's own messages.
    """

    def __init__(self, text: str, messages: tuple[Message, ...] = ()) -> None:
        super().__init__(text)
        self.messages = messages


class OmcTimeout(BuildError):
    """Error raised if omc exceeds the time limit.

    When the error is raised, omc and its child processes have been terminated.
    """


class OmcDied(BuildError):
    """Error raised if omc ends, or stops responding, without an answer to a statement.

    Parameters
    ----------
    statement : str
        Statement that omc did not answer.
    status : int or None
        Exit status, or the negative signal number if a signal ended omc. None if omc still runs but
        does not answer.
    output : str
        Output of omc.
    """

    def __init__(self, statement: str, status: int | None, output: str) -> None:
        how = f"signal {-status}" if status is not None and status < 0 else f"exit status {status}"
        said = output.strip()[-2000:]
        super().__init__(
            f"omc ended ({how}) without an answer to {statement}\n"
            f"{f'output: {said}' if said else 'no output'}\n"
            "this is an error of omc: use another version, or --compiler native"
        )
