"""FMUs with importers in C: lives, resets, threads, damaged states, all calls that can be done, and any calls."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers_backends import driven
from helpers_c_layer import DATA, HEADERS, compiler, flat
from helpers_projection import ON

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers import compiler as compilers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the importer needs POSIX threads")
SANITIZERS = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
VERSIONS = ("2.0", "3.0")


def _constrained() -> System:
    """The driven pendulum with a task that is there twice, least norm, projected."""
    task = "cart.position + 0.3*sin(rod.angle) - start(cart.position + 0.3*sin(rod.angle)) - 0.1*t^3"
    rows = [{"name": "task", "expression": task}, {"name": "again", "expression": f"2*({task})"}]
    return assemble_system(
        from_data(driven() | {"programmed": rows, "constraints": {"redundant": "minimum_norm", **ON}})
    )


# what an importer accesses, by its macros
VARIABLES = {
    "TIME": "time",
    "INPUT": "push",
    "OUTPUT": "cart_position",
    "STATE": "cart_position_state",
    "ACCELERATION": "cart_position_ddot",
    "MAX_STEPS": "solver_max_steps",
    "SOLVER_METHOD": "solver_method",
}


def _importer(
    folder: Path, files: Mapping[str, str], source: str, *flags: str, defined: Sequence[str] = ()
) -> Path:
    """An importer in C with a model's sources, each compiled once for all tests that do it with these flags."""
    command = _command(folder, flags)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    objects = [f"{name}.o" for name in files if name.endswith(".c")]
    for name in objects:
        by = compilers.Compiler(tuple(command), "")
        compilers.compile_object(by, name.removesuffix(".o"), name, ("-Iinclude", *flags), folder=folder)
    options = ["-std=c99", "-pthread", f"-I{HEADERS}", "-I.", *defined, *flags]
    line = [*command, *options, str(DATA / source), *objects, "-o", "importer", "-lm"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "importer"


def _with_model(folder: Path, model: System, fmi: str, source: str, *flags: str) -> Path:
    """An importer with a description's FMU."""
    sources = native.generate(model.native_program, model.chain, fmi)
    defined = [*_definitions(sources.description, fmi), f"-DN_STATES={len(model.native_program.states)}"]
    return _importer(folder, sources.files, source, *flags, defined=defined)


def _command(folder: Path, flags: Sequence[str]) -> list[str]:
    """The C compiler; skips the test where there is none, or none that knows the flags."""
    command = compiler()
    if command is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")
    probe = folder / "probe.txt"
    probe.write_text("int main(void) { return 0; }\n")
    line = [*command, *flags, "-x", "c", str(probe), "-o", str(folder / "probe")]
    if subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no sanitizers")
    return command


def _definitions(description: str, fmi: str) -> list[str]:
    """FMI_VERSION, TOKEN and the value references as options of the compiler."""
    root = ElementTree.fromstring(description)
    references = {v.get("name"): v.get("valueReference") for v in root.iter() if v.get("valueReference")}
    token = root.get("guid") or root.get("instantiationToken")
    return [
        f"-DFMI_VERSION={fmi[0]}",
        f'-DTOKEN="{token}"',
        *(f"-D{macro}={references[name]}u" for macro, name in VARIABLES.items()),
    ]


def _run(importer: Path, *arguments: str) -> str:
    done = subprocess.run([str(importer), *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("fmi", VERSIONS)
def test_ten_thousand_lives_and_resets(tmp_path: Path, fmi: str) -> None:
    """10,000 lives and 10,000 resets need no memory beyond what the first tenth does; 8 threads do not disturb
    each other; no damaged state is taken, or none that does harm."""
    importer = _with_model(tmp_path, assemble_system(from_data(driven())), fmi, "instances.c", "-O2")
    growth = re.search(r"growth (\S+)", _run(importer, "10000"))
    assert growth is not None
    assert float(growth[1]) < 0.02


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the linker has no --wrap")
def test_a_run_allocates_nothing(tmp_path: Path) -> None:
    """By no solver, with a task that is projected: who has to keep real time can rely on it."""
    wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]
    _run(_with_model(tmp_path, _constrained(), "2.0", "allocations.c", "-O2", *wrapped))


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("fmi", VERSIONS)
def test_stress_under_sanitizers(tmp_path: Path, fmi: str) -> None:
    """AddressSanitizer and UndefinedBehaviorSanitizer report no fault during the stress calls."""
    importer = _with_model(tmp_path, assemble_system(from_data(driven())), fmi, "instances.c", *SANITIZERS)
    _run(importer, "200")


@pytest.mark.campaign
@pytest.mark.slow
def test_everything_under_sanitizers(tmp_path: Path) -> None:
    """Nor do all solvers, projections, derivatives and states of a model whose rows depend on each other."""
    importer = _with_model(tmp_path, _constrained(), "3.0", "everything.c", *SANITIZERS)
    _run(importer)


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("fmi", VERSIONS)
def test_any_calls_under_sanitizers(tmp_path: Path, fmi: str) -> None:
    """Nor do 100,000 calls in any order and mode on a hand-written model; in 3.0 from the callback, too."""
    _run(_importer(tmp_path, flat("oscillator"), f"stress_fmi{fmi[0]}.c", *SANITIZERS))
