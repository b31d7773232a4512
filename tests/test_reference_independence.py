"""What makes an agreement with the reference mean something: it shares data with the generator, not equations."""

from __future__ import annotations

import ast
from pathlib import Path

import gpmelica.reference

FOLDER = Path(gpmelica.reference.__file__).parent
SHARED = {"errors", "trajectory", "generator.language.expressions", "generator.mechanism", "generator.types"}
SHARED |= {"generator.language.ir.Expr"}  # the node alone, not what simplifies it


def imported(path: Path) -> set[str]:
    """Modules of gpmelica that a module of the reference takes something from, outside the reference."""
    depth = len(path.relative_to(FOLDER).parts)
    outside = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level > depth
    ]
    return {
        f"{node.module}.{alias.name}" if node.module else alias.name for node in outside for alias in node.names
    }


def test_imports() -> None:
    """The reference takes the mechanism's data and description, expressions, joint and closure types."""
    found = set().union(*map(imported, FOLDER.rglob("*.py")))
    assert {"generator.mechanism.Mechanism", "errors.SolveError"} <= found
    tables = "generator.description.tables."
    foreign = {
        name for name in found if not name.startswith((tables, *(f"{s}." for s in SHARED))) and name not in SHARED
    }
    assert foreign == set()
