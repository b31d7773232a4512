"""Fixtures for the whole suite: FMUs, each compiled once per session."""

from __future__ import annotations

import hashlib
import math
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import fmpy
import pytest
from awkward_machines.judge import toml
from helpers_backends import Compile, Compiled, CompileData, CompileModel, Once, example_model, pendulum
from helpers_cli import ARM, Answer, Command

from gpmelica.analysis.system import System, assemble_system
from gpmelica.cli import app
from gpmelica.description.load import from_data
from gpmelica.fmu.backends.native import build_bare
from gpmelica.fmu.compilers.kept import kept_objects
from gpmelica.tasks.build import build_native

os.environ["GPMELICA_CACHE"] = "off"  # Tests compute; those of the cache itself set a folder.

_LONGEST = 300.0  # s, that a worker waits for another one's build


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--unit-seconds",
        type=float,
        default=math.inf,
        help="longest processor time of a test that is not marked as slow, without its fixtures, s (default: any)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let the workers of a parallel run take the files in the order of `pytest_collection_modifyitems`."""
    config.option.loadscopereorder = False  # by default, pytest-xdist begins with files of many tests


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files whose tests are slow, however few: at the end, no worker waits long for another one."""
    files: dict[Path, list[bool]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item.get_closest_marker("slow") is not None)
    order = sorted(files, key=lambda path: (-sum(files[path]) / len(files[path]), -len(files[path])))
    ranks = {path: rank for rank, path in enumerate(order)}
    items.sort(key=lambda item: ranks[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that takes too long for the fast loop, by processor time: other processes do not lengthen it."""
    begin = _processor_time()
    result = yield
    seconds, longest = _processor_time() - begin, item.config.getoption("--unit-seconds")
    if seconds > longest and item.get_closest_marker("slow") is None:
        pytest.fail(
            f"expected at most {longest:g} s of processor time, found {seconds:.2f} s; make the test faster, let a"
            " fixture share what it builds, or mark it: @pytest.mark.slow",
            pytrace=False,
        )
    return result


def _processor_time() -> float:
    """Seconds of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all workers of a parallel run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def once(shared: Path) -> Once:
    """Builds in a folder of the given name, once for all workers; returns the folder."""

    def built(name: str, build: Callable[[Path], None]) -> Path:
        _first_builds(shared / name, build)
        return shared / name

    return built


def _first_builds(folder: Path, build: Callable[[Path], None]) -> None:
    """The first one to make the folder builds in it; the others wait for that."""
    done = folder.with_suffix(".done")
    try:
        folder.mkdir()
    except FileExistsError:
        begin = time.monotonic()
        while not done.exists():
            assert time.monotonic() < begin + _LONGEST, f"no build in {folder}"
            time.sleep(0.05)
        return
    try:
        build(folder)
    finally:
        done.touch()


@pytest.fixture(scope="session", autouse=True)
def _objects(shared: Path) -> Iterator[None]:
    """Compiles a C file once in a run: the fixed sources are the same in every FMU."""
    (shared / "objects").mkdir(exist_ok=True)
    with kept_objects(shared / "objects"):
        yield


@pytest.fixture
def compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every C file of the test is compiled, wherever it was compiled before."""
    monkeypatch.delenv("GPMELICA_OBJECTS")


@pytest.fixture(scope="session")
def compile_model(once: Once) -> CompileModel:
    """Model and FMU of a description, by FMI 2.0 or 3.0: as users get it, or without what most tests do not need.

    The documents and the optimisation of the equations take more than half of the processor time of a build.
    """

    def compiled(model: System, fmi: str = "2.0", finished: bool = False) -> Compiled:
        text = f"{fmi} {finished} {model.chain.model_dump_json(by_alias=True)}"

        def build(folder: Path) -> None:
            if finished:
                fmu = build_native(model, folder, fmi=fmi).path
            else:
                fmu = build_bare(model, folder, fmi, optimised=False)
            fmpy.extract(str(fmu), str(folder / "unpacked"))

        folder = once(f"fmu_{hashlib.sha256(text.encode()).hexdigest()[:16]}", build)
        return Compiled(model, folder / f"{model.name}.fmu", folder / "unpacked")

    return compiled


@pytest.fixture(scope="session")
def compile_example(compile_model: CompileModel) -> Compile:
    """Return a function that compiles one case of an example."""
    return lambda example, case, *how, **options: compile_model(example_model(example, case), *how, **options)


@pytest.fixture(scope="session")
def compile_data(compile_model: CompileModel) -> CompileData:
    """Return a function that compiles a raw description."""

    def compiled(data: dict[str, Any], *how: Any, **options: Any) -> Compiled:
        return compile_model(assemble_system(from_data(data)), *how, **options)

    return compiled


@pytest.fixture(scope="session")
def hanging(compile_data: CompileData) -> Compiled:
    """The pendulum of `helpers_backends`."""
    return compile_data(pendulum())


@pytest.fixture
def gpmelica(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["gpmelica", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            app.main()
        said = capsys.readouterr()
        return Answer(int(exit_info.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """File of the description in `helpers_cli`."""
    path = tmp_path / "arm.toml"
    path.write_text(toml(ARM), encoding="utf-8")
    return path
