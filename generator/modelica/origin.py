"""Parts of the description from which the lines and variables of a Modelica source come."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...description.types.origin import Origin

# pattern of variable names in a message: a word after "variable", with a subscript, or with an underscore
# for a name with several subscripts, the match ends after the first subscript
_NAME = re.compile(r"(?<=ariable )[A-Za-z]\w*(?:\[\d+)?|\b[A-Za-z]\w*\[\d+|\b[A-Za-z]\w*_\w+")


@dataclass(frozen=True)
class Origins:
    """Origins of the lines and variables of a generated Modelica source.

    An origin is a part of the description or a step of the derivation. Lines are counted from 1.
    """

    lines: Mapping[int, Origin] = field(default_factory=dict)
    names: Mapping[str, Origin] = field(default_factory=dict)

    def line(self, number: int) -> str:
        """Return the link, constraint, force or step of the derivation from which a line comes;
        empty for other lines.
        """
        return str(self.lines.get(number, ""))

    def of_names(self, message: str) -> tuple[str, ...]:
        """Return the origins of the variables that a compiler's message names, without repetition."""
        found = (self.names.get(name, self.names.get(name.partition("[")[0])) for name in _NAME.findall(message))
        return tuple(dict.fromkeys(str(origin) for origin in found if origin))


@dataclass(frozen=True)
class Source:
    """Generated source text with the origins of its lines and variables."""

    text: str
    origins: Origins
