"""Rules of the package's own code: signatures and names that a reader can keep in mind."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_rooms import MODULES

MOST = 8  # parameters of a function outside the command line
# types of CasADi, which has none; numbers of one or of many states at once, floats or arrays
UNTYPED = {"fmu.code.casadi_eval.SX", "reference.kinematics.jet.Number", "oracle.expressions.jets.Slope"}


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Names of a function's parameters, without `self` and `cls`."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names += [a.arg for a in (given.vararg, given.kwarg) if a is not None]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_functions_have_few_parameters() -> None:
    """Outside the command line at most eight; records hold the others."""
    production = {name: path for name, path in MODULES.items() if name.split(".")[0] != "cli"}
    found = {
        f"{module}.{function.name}"
        for module, path in production.items()
        for function in functions(path)
        if len(parameters(function)) > MOST
    }
    assert len(production) > 300
    assert found == set()


def test_class_names_are_used_once() -> None:
    """No two classes share a name, except that the oracle, which shares no code, may repeat one of the package."""
    found: Counter[tuple[bool, str]] = Counter()
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[module.split(".")[0] == "oracle", node.name] += 1
    assert found.total() > 300
    assert {name for (_, name), count in found.items() if count > 1} == set()


def test_numbers_have_types() -> None:
    """A quantity of a new module has a type that is not `Any`."""
    found = {
        f"{module}.{ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)}"
        for module, path in MODULES.items()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Any"
    }
    assert found == UNTYPED


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(self, a, /, b, *c, d=1, **e): ...", ["a", "b", "d", "c", "e"]),
        ("async def f(a): ...", ["a"]),
        ("def f(): ...", []),
    ],
)
def test_parameters_are_counted(source: str, expected: list[str]) -> None:
    """Positional, keyword and variadic ones, without the instance."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    assert parameters(function) == expected
