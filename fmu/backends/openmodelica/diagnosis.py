"""Translation of messages of the OpenModelica compiler omc to the terms of the mechanism's
description.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from ....generator.modelica import Origins
from .answers import Message
from .errors import OmcError

_SHOWN = 8  # An error text contains at most this many messages of omc.
_LONGEST = 2000  # Messages are cut to this many characters, because the log of a C compiler can be long.


class Diagnosis:
    """Translator of messages about a Modelica model to errors that name the link, constraint or force.

    Parameters
    ----------
    origins : Origins
        Elements of the description from which the lines and variables of the Modelica model were
        generated.
    path : Path
        File of the Modelica model, which error messages name.
    log : Path
        File with all messages.
    """

    def __init__(self, origins: Origins, path: Path, log: Path) -> None:
        self._origins, self._path, self._log = origins, path, log

    def error(self, what: str, messages: Iterable[Message], hint: str = "") -> OmcError:
        """Return an error whose text contains omc's first error messages and warnings."""
        all_messages = tuple(messages)
        # A warning often explains an error, for example "Variable x does not have any remaining equation".
        told = [m for m in all_messages if m.level == "error"] + [m for m in all_messages if m.level == "warning"]
        lines = [f"OpenModelica: {what}", *(f"  {self._told(m)}" for m in told[:_SHOWN])]
        if not told:
            lines.append("  omc reports neither an error nor a warning")
        lines.append(f"Modelica source file: {self._path}; file with all messages of omc: {self._log}")
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
