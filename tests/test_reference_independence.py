"""What makes an agreement with the reference mean something: it shares data with the generator, not equations."""

from __future__ import annotations

import ast
from pathlib import Path

import gpmelica.reference

FOLDER = Path(gpmelica.reference.__file__).parent
SHARED = {
    "generator",
    "generator.closures",
    "generator.mechanism",
    "generator.expressions",
    "generator.joints",
    "errors",
    "trajectory",
}


def test_imports() -> None:
    """The reference takes the mechanism's data and description, expression trees, joint and closure types."""
    modules = sorted(FOLDER.glob("*.py"))
    imported = {
        node.module or ""
        for module in modules
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 2
    }
    names = {
        alias.name
        for module in modules
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module == "generator"
        for alias in node.names
    }
    assert {"generator.mechanism", "errors"} <= imported
    assert {module for module in imported if not module.startswith("generator.description")} <= SHARED
    assert names == {"expressions"}
