"""Origins of the lines and variables of a Modelica source: entries of the description or derivation steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...description.types.origin import Origin

# A word in a compiler message is a variable name if it follows "variable", has a subscript or has an underscore.
# If a variable name in a compiler message has several subscripts, the match ends after the first subscript.
_NAME = re.compile(r"(?<=ariable )[A-Za-z]\w*(?:\[\d+)?|\b[A-Za-z]\w*\[\d+|\b[A-Za-z]\w*_\w+")


@dataclass(frozen=True)
class Origins:
    """Origins of the lines and variables of a generated Modelica source.

    The origin is the entry of the description, or the step of the derivation, from which a line or
    variable was generated. Lines are counted from 1.
    """

    lines: Mapping[int, Origin] = field(default_factory=dict)
    names: Mapping[str, Origin] = field(default_factory=dict)

    def line(self, number: int) -> str:
        """Return the origin of a line: a link, a constraint, a force or a step of the derivation.

        The text is empty for a line without an origin.
        """
        return str(self.lines.get(number, ""))

    def of_names(self, message: str) -> tuple[str, ...]:
        """Return the origins, without duplicates, of all variables that a compiler's message mentions."""
        found = (self.names.get(name, self.names.get(name.partition("[")[0])) for name in _NAME.findall(message))
        return tuple(dict.fromkeys(str(origin) for origin in found if origin))


@dataclass(frozen=True)
class Source:
    """Generated source text with the origins of its lines and variables."""

    text: str
    origins: Origins
