"""Names that a Modelica source uses and does not declare."""

from __future__ import annotations

import re

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DECLARED = re.compile(r"\b(?:Real|RealInput|Integer|Boolean|SI\.\w+)(?:\[[^\]]*\])?\s+(\w+)")
_BUILT_IN = [
    "algorithm",
    "and",
    "annotation",
    "assert",
    "connector",
    "constant",
    "connect",
    "der",
    "discrete",
    "each",
    "else",
    "elseif",
    "end",
    "equation",
    "extends",
    "false",
    "final",
    "flow",
    "for",
    "function",
    "if",
    "import",
    "in",
    "initial",
    "input",
    "loop",
    "model",
    "not",
    "or",
    "outer",
    "output",
    "package",
    "parameter",
    "partial",
    "protected",
    "pre",
    "public",
    "record",
    "sample",
    "then",
    "time",
    "true",
    "type",
    "when",
    "within",
    "replaceable",
    "redeclare",
    "String",
    "Real",
    "RealInput",
    "Integer",
    "Boolean",
    "SI",
    "encapsulated",
]


def undeclared(source: str) -> set[str]:
    """Names in a Modelica source that are neither declared anywhere in it nor part of the language.

    Modifiers (`start = …`), calls of functions and parts of dotted names are no uses.
    """
    code = _STRING_OR_COMMENT.sub(" ", source)
    known = {*_BUILT_IN, *_DECLARED.findall(code), *re.findall(r"\bfor (\w+) in\b", code)}
    known |= {*re.findall(r"\b(?:model|package|function|type|end|extends) (\w+)", code)}
    used = re.findall(r"(?<![\w.])([A-Za-z_]\w*)(?!\w|\s*\(|\s*\.|\s*=[^=])", code)
    return set(used) - known
