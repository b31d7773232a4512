"""Fixtures for the tests of the C layer, which name this module in their `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from helpers_backends import Once
from helpers_c_layer import SOURCES, Fmu, Fmu3, Make, compile_c, compiler, flat

from gpmelica.fmu.compilers import binaries

SOLVERS = ("linear_solve", "constrained_solve", "stage_matrix", "symmetric_solve", "tree_solve", "tree_rows")


@pytest.fixture(scope="session")
def libraries(once: Once) -> dict[str, Path]:
    """Shared libraries of the hand-written models, built as FMUs' are, and of the solvers."""
    cc = compiler()
    if cc is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")

    def build(folder: Path) -> None:
        for model in ("oscillator", "singular", "cart"):
            (library,) = binaries.build(model, flat(model), {}, binaries.toolchains("2.0")).values()
            (folder / f"{model}.so").write_bytes(library)
        solvers = [SOURCES / "algebra" / f"{name}.c" for name in SOLVERS]
        compile_c(cc, folder / "solvers.so", solvers, "-O2", "-shared", "-fPIC")

    folder = once("c_layer", build)
    return {name: folder / f"{name}.so" for name in ("oscillator", "singular", "cart", "solvers")}


@pytest.fixture
def make(libraries: dict[str, Path]) -> Iterator[Make]:
    """Instantiates models by FMI 2.0; frees them at the end."""
    yield from _made(libraries, Fmu)


@pytest.fixture
def make3(libraries: dict[str, Path]) -> Iterator[Make]:
    """Instantiates models by FMI 3.0; frees them at the end."""
    yield from _made(libraries, Fmu3)


@pytest.fixture(params=[Fmu, Fmu3], ids=["2.0", "3.0"])
def either(request: pytest.FixtureRequest, libraries: dict[str, Path]) -> Iterator[Make]:
    """Run a test with both solvers, one after the other."""
    yield from _made(libraries, request.param)


def _made(libraries: dict[str, Path], kind: type[Fmu | Fmu3]) -> Iterator[Make]:
    with ExitStack() as alive:
        yield lambda model, **options: alive.enter_context(kind(libraries[model], model, **options))
