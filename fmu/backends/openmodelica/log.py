"""Log of the statements sent to the OpenModelica compiler omc and of its answers, for
`openmodelica.log`.
"""

from __future__ import annotations

import time

from .answers import Answer


class Log:
    """Log entries, each with the time since the log was created, s."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._entries: list[str] = []

    def add(self, text: str) -> None:
        self._entries.append(f"[{time.monotonic() - self._begin:8.2f} s] {text}")

    def exchange(self, statement: str, answer: Answer) -> None:
        """Append a statement, its value and omc's messages to the log."""
        self.add(f"> {statement}\n{answer.value or '(no value)'}")
        for m in answer.messages:
            place = f"{m.file}:{m.line}: " if m.file else ""
            self.add(f"{m.level}: {place}{m.text}")

    def text(self) -> str:
        return "\n".join(self._entries) + "\n"
