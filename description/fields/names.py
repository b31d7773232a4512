"""Names in a description, which become identifiers of Modelica and of the FMU."""

from __future__ import annotations

import keyword
import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

_PATTERN = "[A-Za-z][A-Za-z0-9_]{0,63}"

_MODELICA_KEYWORDS = """
    algorithm and annotation assert block break class connect connector constant constrainedby der discrete each
    else elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for
    function if import impure in initial inner input loop model not operator or outer output package parameter
    partial protected public pure record redeclare replaceable return stream then true type when while within
"""
# no element may be called like a type or function that the language has built in (Modelica 3.6, section 4.9)
_MODELICA_BUILT_IN = """
    Real Integer Boolean String ExternalObject Clock StateSelect AssertionLevel time
    abs sign sqrt div mod rem ceil floor integer sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10
    delay cardinality homotopy semiLinear inStream actualStream spatialDistribution getInstanceName
    terminal noEvent smooth sample pre edge change reinit terminate
    ndims size scalar vector matrix transpose outerProduct symmetric cross skew identity diagonal zeros ones fill
    linspace min max sum product cat promote
"""
# what a name may not be
_RESERVED = {
    "keywords of Modelica": _MODELICA_KEYWORDS.split(),
    "what is built into Modelica": _MODELICA_BUILT_IN.split(),
    "keywords of Python, as which expressions are read": keyword.kwlist,
    "words of expressions and descriptions": ["t", "pi", "start", "quintic", "noevent", "table", "ground"],
    "classes and functions of the generated text": [
        *("RealInput", "Mechanism", "Plant", "Experiment", "SI", "quintic_0", "quintic_1", "quintic_2"),
        *("rotation", "symmetricMatrix", "inWorldAxes", "pointInertia"),
    ],
}
# devices of Windows: no file or folder can be called so, whatever the case and the extension
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10))]
)


def identifier(name: str) -> str:
    """Return a name unchanged, or raise ValueError if it is no valid identifier or a reserved word."""
    if not re.fullmatch(_PATTERN, name):
        raise ValueError(
            f"expected a name of at most 64 letters, digits and '_' that starts with a letter, got {name!r}"
        )
    for what, words in _RESERVED.items():
        if name in words:
            raise ValueError(f"{name!r} is a reserved word; choose another name than {what}: {', '.join(words)}")
    return name


def _file_name(name: str) -> str:
    if name.lower() in _DEVICES:
        raise ValueError(f"{name!r} is a device on Windows, where no file or folder is called so; choose another")
    return name


_SCHEMA = WithJsonSchema({"type": "string", "pattern": f"^{_PATTERN}$"})
Name = Annotated[str, AfterValidator(identifier), _SCHEMA]
# of what a file or a folder is called after
FileName = Annotated[str, AfterValidator(identifier), AfterValidator(_file_name), _SCHEMA]
