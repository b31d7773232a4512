"""A reader of generated Modelica text, by its layout and apart from the code that writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TYPE = re.compile(r'^    type (\w+) = Real\(unit = "([^"]*)"(?:, displayUnit = "deg")?\);$', re.MULTILINE)
_STRING = r'"(?:[^"\\]|\\.)*"'
_DECLARATION = re.compile(
    r"(?P<prefix>(?:final )?(?:parameter |constant |discrete |input |output )?)"
    r"(?P<type>SI\.\w+|Real|RealInput|Boolean|Integer) "
    r"(?P<name>\w+)(?P<shape>\[[\d, ]+\])?"
    rf"(?P<modifiers>\((?:[^()\"]|{_STRING}|\([^()]*\))*\))?(?: = (?P<binding>.+?))? (?P<description>{_STRING})"
    r"(?: annotation\(.*\))?;"
)


@dataclass(frozen=True)
class Declaration:
    """One declaration; `binding` is empty where there is none.

    unit  that of its type, or its unit attribute
    """

    unit: str | None
    prefix: str
    type: str
    name: str
    shape: tuple[int, ...]
    modifiers: str
    binding: str
    description: str
    public: bool

    @property
    def numbers(self) -> list[float]:
        """Numbers of a binding that is a number or a list of numbers."""
        return [float(x) for x in self.binding.strip("{}").split(",")]


def class_text(text: str, name: str) -> str:
    """Lines of one class of the package, its first and last one included."""
    found = re.search(
        rf"^  (?:partial )?(?:model|function) {name} .*?^  end {name};$", text, re.DOTALL | re.MULTILINE
    )
    assert found, f"no class {name}"
    return found[0]


def declarations(text: str, name: str) -> list[Declaration]:
    """All declarations of a class."""
    lines, units = class_text(text, name).splitlines(), dict(_TYPE.findall(text))
    section = "public"
    found: list[Declaration] = []
    statement = ""
    for line in lines[1:]:
        if line.strip() in ("protected", "equation", "initial equation", "algorithm"):
            section = line.strip()
        elif not line.strip().startswith("//") and section in ("public", "protected"):
            statement = f"{statement} {line.strip()}".strip()
            if statement.endswith(('";', ")));")) or statement.startswith(("extends", "annotation", "end ")):
                found += _read(statement, section == "public", units)
                statement = ""
    return found


def _read(statement: str, public: bool, units: dict[str, str]) -> list[Declaration]:
    if statement.startswith(("extends", "annotation", "end ")):
        return []
    match = _DECLARATION.fullmatch(statement)
    assert match, f"not a declaration: {statement}"
    shape = tuple(int(x) for x in re.findall(r"\d+", match["shape"] or ""))
    named = (match["prefix"].strip(), match["type"], match["name"], shape)
    given = (match["modifiers"] or "", match["binding"] or "", match["description"][1:-1])
    attribute = re.search(r'unit = "([^"]*)"', given[0])
    is_typed = match["type"].startswith("SI.")
    unit = units[match["type"].removeprefix("SI.")] if is_typed else attribute and attribute[1]
    return [Declaration(unit, *named, *given, public)]


def equations(text: str, name: str) -> list[str]:
    """Equations of a class, each on one line and without its semicolon."""
    lines = class_text(text, name).splitlines()
    begin = lines.index("  equation") if "  equation" in lines else len(lines)
    code = " ".join(line.strip() for line in lines[begin + 1 : -1] if not line.strip().startswith("//"))
    return [part.strip() for part in code.partition("annotation(")[0].split(";") if part.strip()]


# ---- Undeclared names -------------------------------------------------------------------------------------------

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DECLARED = re.compile(r"\b(?:Real|RealInput|Integer|Boolean|SI\.\w+)(?:\[[^\]]*\])?\s+(\w+)")
_BUILT_IN = """
algorithm and annotation assert connector constant connect der discrete each else elseif end equation extends
false final flow for function if import in initial input loop model not or outer output package parameter
partial protected pre public record sample then time true type when within replaceable redeclare String Real
RealInput Integer Boolean SI encapsulated
"""


def undeclared(source: str) -> set[str]:
    """Names in a Modelica source that are neither declared anywhere in it nor part of the language.

    Modifiers (`start = …`), calls of functions and parts of dotted names are no uses.
    """
    code = _STRING_OR_COMMENT.sub(" ", source)
    known = {*_BUILT_IN.split(), *_DECLARED.findall(code), *re.findall(r"\bfor (\w+) in\b", code)}
    known |= {*re.findall(r"\b(?:model|package|function|type|end|extends) (\w+)", code)}
    used = re.findall(r"(?<![\w.])([A-Za-z_]\w*)(?!\w|\s*\(|\s*\.|\s*=[^=])", code)
    return set(used) - known
