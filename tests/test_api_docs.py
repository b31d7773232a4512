"""Docstrings of the public interface: numpydoc sections, parameters as in the signature, examples that run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any

import numpydoc.validate
import pytest
from helpers_cli import Command
from matplotlib import pyplot

import gpmelica as gp

ROOT = Path(__file__).resolve().parent.parent

# Checks of numpydoc: known sections in the right order, a summary that is one sentence, a description of each
# parameter of the signature, a section `Returns`. Types are annotations of the signature.
CHECKS = {"GL06", "GL07", "GL08", "SS02", "SS03", "SS04", "PR01", "PR02", "PR03", "PR07", "PR08", "PR09", "PR10"}
CHECKS |= {"RT01", "RT03", "RT04", "RT05"}
OLD_FORM = re.compile(r"^ *(Parameters|Returns|Raises):|^Raises [A-Z]\w+Error", re.MULTILINE)


def _public() -> Iterator[str]:
    """Names of the public functions and classes, and of the public methods and properties of these classes."""
    for name in gp.__all__:
        yield f"gpmelica.{name}"
        found = getattr(gp, name)
        for key, value in vars(found).items() if isinstance(found, type) else ():
            if not key.startswith("_") and isinstance(value, FunctionType | property | cached_property):
                yield f"gpmelica.{name}.{key}"


def _found(path: str) -> Any:
    """Function, class or property of a dotted name."""
    return attrgetter(path.removeprefix("gpmelica."))(gp)


PUBLIC = list(_public())
FUNCTIONS = [path for path in PUBLIC if isinstance(_found(path), FunctionType)]
CLASSES = [path for path in PUBLIC if isinstance(_found(path), type)]


def _docstring(path: str) -> str:
    return inspect.getdoc(_found(path)) or ""


def _has_example(path: str) -> bool:
    return bool(doctest.DocTestParser().get_examples(_docstring(path)))


@pytest.mark.parametrize("path", PUBLIC)
def test_docstrings_have_the_sections_of_numpydoc(path: str) -> None:
    found = numpydoc.validate.validate(path)
    assert [error for error in found["errors"] if error[0] in CHECKS] == []
    assert OLD_FORM.search(_docstring(path)) is None


@pytest.mark.parametrize("path", FUNCTIONS)
def test_functions_have_an_example(path: str) -> None:
    """A method may rely on the example of its class."""
    owner = path.rpartition(".")[0]
    assert _has_example(path) or (owner in CLASSES and _has_example(owner))


@pytest.mark.parametrize("path", CLASSES)
def test_classes_have_an_example(path: str) -> None:
    """A class may rely on the example of a function that returns its instances, or on that of its base class."""
    name = path.rpartition(".")[2]
    makers = [f for f in FUNCTIONS if inspect.signature(_found(f)).return_annotation == name]
    bases = [f"gpmelica.{base.__name__}" for base in _found(path).__mro__ if base.__name__ in gp.__all__]
    assert any(map(_has_example, (*bases, *makers)))


@pytest.mark.slow
def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpmelica: Command) -> None:
    """All examples run alone, in a folder with the examples of the repository."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    gpmelica("ssp", "examples/four_bar_3d.toml")
    runner, parser = doctest.DocTestRunner(), doctest.DocTestParser()
    for path in ["gpmelica", *PUBLIC]:
        text = gp.__doc__ or "" if path == "gpmelica" else _docstring(path)
        runner.run(parser.get_doctest(text, {}, path, None, None))
    pyplot.close("all")
    assert runner.failures == 0
    assert runner.tries > len(FUNCTIONS + CLASSES)
