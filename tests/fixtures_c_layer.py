"""Fixtures for the tests of the C layer, which name this module in their `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers_c_layer import SOURCES, Fmu, Make, compile_c, compiler, layer
from helpers_fmi3 import Fmu3, Make3


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Shared libraries of the two models and of the solvers."""
    cc = compiler()
    if cc is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")
    folder = tmp_path_factory.mktemp("c_layer")
    flags = ("-O2", "-shared", "-fPIC")
    built = {
        model: compile_c(cc, folder / f"{model}.so", layer(model), *flags, "-fvisibility=hidden")
        for model in ("oscillator", "singular")
    }
    solvers = [SOURCES / "algebra" / f"{name}.c" for name in ("linear_solve", "constrained_solve")]
    return built | {"solvers": compile_c(cc, folder / "solvers.so", solvers, *flags)}


@pytest.fixture
def make(libraries: dict[str, Path]) -> Iterator[Make]:
    """Instantiates models; frees them at the end."""
    alive: list[Fmu] = []

    def new(model: str, *, co_simulation: bool = True) -> Fmu:
        alive.append(Fmu(libraries[model], model, co_simulation=co_simulation))
        return alive[-1]

    yield new
    for fmu in alive:
        fmu.free()


@pytest.fixture
def make3(libraries: dict[str, Path]) -> Iterator[Make3]:
    """Instantiates models by FMI 3.0; frees them at the end."""
    alive: list[Fmu3] = []

    def new(model: str, **options: object) -> Fmu3:
        alive.append(Fmu3(libraries[model], model, **options))  # type: ignore[arg-type]
        return alive[-1]

    yield new
    for fmu in alive:
        fmu.free()
