"""Origins of the lines and variables of a Modelica source in the description."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...description.types.origin import Origin

# words of prose may be names, too; of an element of an array with its first subscript
_NAME = re.compile(r"(?<=ariable )[A-Za-z]\w*(?:\[\d+)?|\b[A-Za-z]\w*\[\d+|\b[A-Za-z]\w*_\w+")


@dataclass(frozen=True)
class Origins:
    """Origins of lines, counted from 1, and of variables of a generated Modelica source."""

    lines: Mapping[int, Origin] = field(default_factory=dict)
    names: Mapping[str, Origin] = field(default_factory=dict)

    def line(self, number: int) -> str:
        """Link, constraint, force or step of the derivation; empty for lines that have none."""
        return str(self.lines.get(number, ""))

    def of_names(self, message: str) -> tuple[str, ...]:
        """Origins of the variables that a compiler's message names, without repetition."""
        found = (self.names.get(name, self.names.get(name.partition("[")[0])) for name in _NAME.findall(message))
        return tuple(dict.fromkeys(str(origin) for origin in found if origin))


@dataclass(frozen=True)
class Source:
    """A generated text and where its parts come from."""

    text: str
    origins: Origins
