"""Names that a description gives: identifiers of Modelica and of the FMU."""

from __future__ import annotations

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
# of the expression language, of descriptions, and of the functions in the generated text
_OWN = "t pi start quintic ground quintic_0 quintic_1 quintic_2"

RESERVED = frozenset(f"{_MODELICA_KEYWORDS} {_MODELICA_BUILT_IN} {_OWN}".split())


def _identifier(name: str) -> str:
    if not re.fullmatch(_PATTERN, name):
        raise ValueError(
            f"expected a name of at most 64 letters, digits and '_' that starts with a letter, got {name!r}"
        )
    if name in RESERVED:
        raise ValueError(f"{name!r} is a reserved word; choose another name")
    return name


Name = Annotated[str, AfterValidator(_identifier), WithJsonSchema({"type": "string", "pattern": f"^{_PATTERN}$"})]
