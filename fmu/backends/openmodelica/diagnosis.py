"""omc's messages in the words of the description."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from ....generator.modelica import Origins
from .answers import Message
from .errors import OmcError

_SHOWN = 8  # messages
_LONGEST = 2000  # characters of one message: a failed build brings the C compiler's log


class Diagnosis:
    """Turns messages about a Modelica text into errors that name the link, constraint or force.

    Parameters:
        origins  of the lines and variables of the text
        path     where its user finds it
        log      where all messages are
    """

    def __init__(self, origins: Origins, path: Path, log: Path) -> None:
        self._origins, self._path, self._log = origins, path, log

    def error(self, what: str, messages: Iterable[Message], hint: str = "") -> OmcError:
        """An error with the messages that matter."""
        all_messages = tuple(messages)
        # what leads to an error often says more than the error: "Variable x does not have any remaining equation"
        told = [m for m in all_messages if m.level == "error"] + [m for m in all_messages if m.level == "warning"]
        lines = [f"OpenModelica: {what}", *(f"  {self._told(m)}" for m in told[:_SHOWN])]
        if not told:
            lines.append("  it gives no reason")
        lines.append(f"the text is {self._path}, everything omc said is in {self._log}")
        return OmcError("\n".join([*lines, *([hint] if hint else [])]), all_messages)

    def _told(self, message: Message) -> str:
        text = message.text if len(message.text) <= _LONGEST else f"{message.text[:_LONGEST]} …"
        return f"{self._place(message)}{text}"

    def _place(self, message: Message) -> str:
        if PurePath(message.file).name == self._path.name:
            origin = self._origins.line(message.line)
            return f"{self._path.name}:{message.line}{f', {origin}' if origin else ''}: "
        origins = self._origins.of_names(message.text)
        return f"{', '.join(origins)}: " if origins else ""
