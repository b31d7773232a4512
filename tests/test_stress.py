"""A generated FMU with an importer in C: lives, resets, threads, and calls that cannot be done."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers_backends import driven
from helpers_c_layer import DATA, HEADERS, compiler

from gpmelica.fmu import native
from gpmelica.generator.description.load import from_data
from gpmelica.model import prepare

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the importer needs POSIX threads")
SANITIZERS = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
VERSIONS = ("2.0", "3.0")


def _importer(folder: Path, fmi: str, *flags: str) -> Path | None:
    """The importer with the driven pendulum's sources; None if the compiler does not know the flags."""
    model = prepare(from_data(driven()))
    sources = native.generate(model.native_program, model.chain, fmi)
    for name, text in sources.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = compiler()
    if command is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")
    files = [DATA / "instances.c", *sorted(folder.glob("**/*.c"))]
    options = ["-std=c99", "-pthread", f"-I{HEADERS}", f"-I{folder}", *_definitions(sources.description, fmi)]
    target = folder / "importer"
    line = [*command, *options, *flags, *map(str, files), "-o", str(target), "-lm"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if flags and done.returncode != 0:
        return None
    assert done.returncode == 0, done.stderr
    return target


def _definitions(description: str, fmi: str) -> list[str]:
    """FMI_VERSION, TOKEN and the value references as options of the compiler."""
    root = ElementTree.fromstring(description)
    references = {v.get("name"): v.get("valueReference") for v in root.iter() if v.get("valueReference")}
    token = root.get("guid") or root.get("instantiationToken")
    names = {"INPUT": "push", "OUTPUT": "cart_position", "MAX_STEPS": "solver_max_steps"}
    return [
        f"-DFMI_VERSION={fmi[0]}",
        f'-DTOKEN="{token}"',
        *(f"-D{macro}={references[name]}u" for macro, name in names.items()),
    ]


def _run(importer: Path, count: int) -> str:
    done = subprocess.run([str(importer), str(count)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("fmi", VERSIONS)
def test_ten_thousand_lives_and_resets(tmp_path: Path, fmi: str) -> None:
    """10,000 lives and 10,000 resets need no memory beyond what the first tenth does; 8 threads do not disturb
    each other; steps of any size, values that are not finite and calls out of order end in a logged error."""
    importer = _importer(tmp_path, fmi, "-O2")
    assert importer is not None
    growth = re.search(r"growth (\S+)", _run(importer, 10_000))
    assert growth is not None
    assert float(growth[1]) < 0.02


@pytest.mark.parametrize("fmi", VERSIONS)
def test_stress_under_sanitizers(tmp_path: Path, fmi: str) -> None:
    """The same calls do nothing that AddressSanitizer or UndefinedBehaviorSanitizer finds fault with."""
    importer = _importer(tmp_path, fmi, *SANITIZERS)
    if importer is None:
        pytest.skip("the compiler has no sanitizers")
    _run(importer, 200)
