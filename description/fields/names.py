"""Checks of names in a description, because names become identifiers in Modelica and in FMUs."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

_PATTERN = "[A-Za-z][A-Za-z0-9_]{0,63}"

_MODELICA_KEYWORDS = """
    algorithm and annotation assert block break class connect connector constant constrainedby der discrete each
    else elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for
    function if import impure in initial inner input loop model not operator or outer output package parameter
    partial protected public pure record redeclare replaceable return stream then true type when while within
"""
# Names of Modelica types and functions that no element may have (Modelica 3.6, section 4.9).
_MODELICA_BUILT_IN = """
    Real Integer Boolean String ExternalObject Clock StateSelect AssertionLevel time
    abs sign sqrt div mod rem ceil floor integer sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10
    delay cardinality homotopy semiLinear inStream actualStream spatialDistribution getInstanceName
    terminal noEvent smooth sample pre edge change reinit terminate
    ndims size scalar vector matrix transpose outerProduct symmetric cross skew identity diagonal zeros ones fill
    linspace min max sum product cat promote
"""
# Reserved words that cannot be names, grouped by the reason.
_IN_EXPRESSIONS: dict[str, Sequence[str]] = {
    "keywords of Python, whose parser reads expressions": keyword.kwlist,
    "words of expressions and descriptions": ["t", "pi", "start", "quintic", "noevent", "table", "ground"],
}
_IN_MODELICA: dict[str, Sequence[str]] = {
    "keywords of Modelica": _MODELICA_KEYWORDS.split(),
    "built-in types and functions of Modelica": _MODELICA_BUILT_IN.split(),
    "classes and functions of the generated Modelica source": [
        *("RealInput", "Mechanism", "Plant", "Experiment", "SI", "quintic_0", "quintic_1", "quintic_2"),
        *("rotation", "symmetricMatrix", "inWorldAxes", "pointInertia"),
    ],
}
# Device names of Windows, which files and folders must not have, whatever the letter case and extension.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10))]
)


def identifier(name: str) -> str:
    """Return a name unchanged if it is a valid Modelica identifier.

    If the name is invalid or a reserved word, ValueError is raised.
    """
    return _unreserved(name, _IN_EXPRESSIONS | _IN_MODELICA)


def prefix(name: str) -> str:
    """Return a name unchanged if Modelica identifiers can begin with the name, such as `<name>_gap`.

    ValueError is raised if the name is invalid or a reserved word of expressions.
    """
    return _unreserved(name, _IN_EXPRESSIONS)


def _unreserved(name: str, reserved: Mapping[str, Sequence[str]]) -> str:
    if not re.fullmatch(_PATTERN, name):
        raise ValueError(
            f"expected a name of at most 64 letters, digits and '_' that starts with a letter, got {name!r}"
        )
    for what, words in reserved.items():
        if name in words:
            raise ValueError(f"{name!r} is a reserved word; choose another name (reserved are {what})")
    return name


def file_name(name: str) -> str:
    """Return an identifier unchanged, or raise ValueError if no file or folder can have this name."""
    identifier(name)
    if name.lower() in _DEVICES:
        raise ValueError(
            f"{name!r} is the name of a device on Windows, so no file or folder can have this name; choose another"
        )
    return name


_SCHEMA = WithJsonSchema({"type": "string", "pattern": f"^{_PATTERN}$"})
Name = Annotated[str, AfterValidator(identifier), _SCHEMA]
# Name of a link or another element. Generated Modelica names begin with it, such as `floor_gap`.
PartName = Annotated[str, AfterValidator(prefix), _SCHEMA]
# Name that must also be valid as the name of a file or folder.
FileName = Annotated[str, AfterValidator(file_name), _SCHEMA]
CaseName = Annotated[str, AfterValidator(prefix), AfterValidator(file_name), _SCHEMA]
