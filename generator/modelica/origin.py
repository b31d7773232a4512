"""Modelica text → which link, constraint or force of the description a line or variable comes from.

The headings in the text are the map: `parts` writes them, this module reads them back.
"""

from __future__ import annotations

import re

_HEADING = re.compile(r"\s+// (.+)")  # those at the margin are about the whole file
_CLASS = re.compile(r"\s*(?:package|function|connector|(?:partial )?model) (\w+)")
_BELONGING = re.compile(r"(?:derived )?parameters of (?:the )?")
_NAME = re.compile(r"(?<=ariable )[A-Za-z]\w*|\b[A-Za-z]\w*_\w+")  # words of prose may be names too
_DECLARATION = re.compile(r"\s*(?:final )?(?:parameter |input |output )?(?:Real|RealInput) (\w+)")


class Origins:
    """What each line and variable of a generated text stands for."""

    def __init__(self, text: str) -> None:
        self._of_line: list[str] = []
        self._of_name: dict[str, str] = {}
        heading = ""
        for line in text.splitlines():
            if opened := _CLASS.match(line):
                heading = opened[1]
            elif found := _HEADING.fullmatch(line):
                heading = _BELONGING.sub("", found[1])
            self._of_line.append(heading)
            if declared := _DECLARATION.match(line):
                self._of_name.setdefault(declared[1], heading)

    def line(self, number: int) -> str:
        """Link, constraint, force or section of a line, counted from 1; empty outside the text."""
        return self._of_line[number - 1] if 1 <= number <= len(self._of_line) else ""

    def names(self, message: str) -> tuple[str, ...]:
        """Origins of the variables that a message speaks of, without repetition."""
        found = (self._of_name.get(name, "") for name in _NAME.findall(message))
        return tuple(dict.fromkeys(origin for origin in found if origin))
