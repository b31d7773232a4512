"""Parser of the output of the OpenModelica compiler omc: values and messages of scripts and
sessions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEVELS = ("Error", "Warning", "Notification")
_SCRIPTED = re.compile(
    rf"^(?:\[(?P<file>.*):(?P<line>\d+):\d+-\d+:\d+:\w+\] )?(?P<level>{'|'.join(_LEVELS)}): ?(?P<text>.*)$"
)
_IN_SESSION = re.compile(
    r"^\d+: \[\w+:(?P<level>\w+):\d+\] \[(?P<file>.*):\w+:(?P<line>\d+):\d+:\d+:\d+\] ?(?P<text>.*)$"
)
_LOGGED = re.compile(r"^\[OMC log for .*\]: \[\w+:(?P<level>\w+):\d+\] ?(?P<text>.*)$")
_ESCAPED = re.compile(r'\\([\\"])')


@dataclass(frozen=True)
class Message:
    """Message of omc.

    Attributes
    ----------
    level : str
        "error", "warning" or "notification".
    text : str
        Text of the message.
    file, line : str, int
        Place in the Modelica model, lines counted from 1; "" and 0 if omc does not name a place.
    """

    level: str
    text: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Answer:
    """Answer of omc to a statement.

    `value` is the printed value without the quotes of a string, or "" if the statement has no value.
    """

    value: str
    messages: tuple[Message, ...] = ()

    @property
    def errors(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.level == "error")


def of_script(output: str, before: int) -> Answer | None:
    """Read omc's answer to a statement from the output of a script; return None if the output is incomplete.

    The output consists of three parts: the values of `before` earlier statements, the value of the
    statement, and the messages that `getErrorString()` returns.
    """
    lines = output.splitlines()
    values: list[str] = []
    while lines and len(values) <= before:
        values.append(_take_value(lines))
    if len(values) <= before or not lines:
        return None
    # All remaining output lines of omc belong to the last value, so quotes inside the value need no parsing.
    return Answer(values[-1], script_messages(unquoted("\n".join(lines))))


def _take_value(lines: list[str]) -> str:
    """Remove the first value from the lines of omc's output and return it.

    A string value may extend over several lines.
    """
    taken = [lines.pop(0)]
    while taken[0].startswith('"') and lines and not _closes(taken):
        taken.append(lines.pop(0))
    return unquoted("\n".join(taken))


def _closes(lines: list[str]) -> bool:
    text = _ESCAPED.sub("", "\n".join(lines))
    return len(text) > 1 and text.endswith('"')


def unquoted(value: str) -> str:
    """Return the text of a string value without quotes and escape characters; return any other value unchanged."""
    value = value.strip()
    if len(value) > 1 and value.startswith('"') and value.endswith('"'):
        return _ESCAPED.sub(r"\1", value[1:-1]).strip()
    return value


def script_messages(text: str) -> tuple[Message, ...]:
    """Return the messages in the result of `getErrorString()`."""
    return _messages(text, _SCRIPTED)


def session_messages(text: str) -> tuple[Message, ...]:
    """Return the messages in the text of an OMPython exception."""
    return _messages(text, _IN_SESSION)


def logged_messages(text: str) -> tuple[Message, ...]:
    """Return the messages of omc that OMPython has logged.

    OMPython does not log the locations of messages in the Modelica source.
    """
    return _messages(text, _LOGGED)


def _messages(text: str, pattern: re.Pattern[str]) -> tuple[Message, ...]:
    found: list[Message] = []
    for line in text.splitlines():
        if match := pattern.match(line):
            parts = match.groupdict()
            level, file, number = parts["level"].lower(), parts.get("file") or "", int(parts.get("line") or 0)
            found.append(Message(level, parts["text"], file, number))
        elif found and line.strip():
            last = found[-1]
            found[-1] = Message(last.level, f"{last.text}\n{line}".strip(), last.file, last.line)
    return tuple(found)
