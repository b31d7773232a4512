"""Binaries for several systems in one archive: what they export and need, that they run, and what is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from helpers_backends import Compiled, Fmu, Once, native_error, pendulum
from helpers_binaries import libraries, standard_functions
from helpers_c_layer import HEADERS, zig

from gpmelica.analysis.system import assemble_system
from gpmelica.api.model import Model
from gpmelica.core.errors import DescriptionError, MissingToolError
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.compilers import compiler
from gpmelica.fmu.compilers.binaries import FLAGS, toolchains
from gpmelica.fmu.compilers.platforms import TARGETS, Platform, here, named
from gpmelica.tasks.build import build_native

# FMI 3.0 for two of the same systems: most of their objects are those of FMI 2.0; a campaign has Linux on ARM
NAMES = {"2.0": ["linux64", "win64", "darwin64"], "3.0": ["aarch64-darwin", "x86_64-windows"]}
FOLDERS = [(fmi, name) for fmi, names in NAMES.items() for name in names]
SYSTEM = {"kernel32.dll", "/usr/lib/libSystem.B.dylib", "libc.so.6", "libm.so.6"}


@pytest.fixture(scope="module")
def portable(once: Once) -> dict[str, Compiled]:
    """The pendulum for three systems, in both versions of FMI, built on this one."""
    if zig() is None:
        pytest.skip("ziglang is not installed")
    model = assemble_system(from_data(pendulum()))

    def build(folder: Path) -> None:
        for fmi, names in NAMES.items():
            build_native(model, folder / fmi, fmi=fmi, platforms=named(names, fmi))
            fmpy.extract(str(folder / fmi / "Pendulum.fmu"), str(folder / fmi / "unpacked"))

    folder = once("portable", build)
    return {fmi: Compiled(model, folder / fmi / "Pendulum.fmu", folder / fmi / "unpacked") for fmi in NAMES}


# ---- What is in them --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("fmi", "folder"), FOLDERS)
def test_exports_are_the_standard(portable: dict[str, Compiled], fmi: str, folder: str) -> None:
    """A library exports every function of its FMI version, and nothing else."""
    fmu = portable[fmi].fmu
    assert len(standard_functions(fmu)) == {"2.0": 44, "3.0": 75}[fmi]
    _exports_the_standard(fmu, folder)


def _exports_the_standard(fmu: Path, folder: str) -> None:
    for library in libraries(fmu, folder):
        assert library.exports == standard_functions(fmu)


@pytest.mark.slow
@pytest.mark.parametrize(("fmi", "folder"), FOLDERS)
def test_only_the_c_runtime_is_needed(portable: dict[str, Compiled], fmi: str, folder: str) -> None:
    """A library loads the system's C runtime and no other library; on Linux glibc 2.17 is new enough."""
    _needs_the_c_runtime(portable[fmi].fmu, folder)


def _needs_the_c_runtime(fmu: Path, folder: str) -> None:
    for library in libraries(fmu, folder):
        others = library.needs - SYSTEM
        assert all(name.startswith("api-ms-win-crt-") for name in others), others
        assert max(library.glibc, default=(2, 17)) <= (2, 17)
        assert bool(library.glibc) == ("linux" in folder)


@pytest.mark.campaign
def test_linux_on_arm(tmp_path: Path) -> None:
    """A library for Linux on ARM exports the standard's functions and needs the C runtime alone."""
    if zig() is None:
        pytest.skip("ziglang is not installed")
    model, arm = assemble_system(from_data(pendulum())), "aarch64-linux"
    fmu = build_native(model, tmp_path, fmi="3.0", platforms=named([arm], "3.0")).path
    assert [library.processor for library in libraries(fmu, arm)] == ["AARCH64"]
    _exports_the_standard(fmu, arm)
    _needs_the_c_runtime(fmu, arm)


@pytest.mark.slow
def test_one_library_for_all_macs(portable: dict[str, Compiled]) -> None:
    """FMI 2.0 has one name for Macs, so its library has code for both processors."""
    processors = [library.processor for library in libraries(portable["2.0"].fmu, "darwin64")]
    assert processors == ["X86_64", "ARM64"]


@pytest.mark.slow
@pytest.mark.parametrize("fmi", NAMES)
def test_archive_has_one_library_per_platform(portable: dict[str, Compiled], fmi: str) -> None:
    """Each requested platform has a library with the standard's name, and FMPy lists the same
    platforms.
    """
    with zipfile.ZipFile(portable[fmi].fmu) as archive:
        folders = {name.split("/")[1] for name in archive.namelist() if name.startswith("binaries/")}
    assert folders == set(NAMES[fmi])
    if fmi == "2.0":
        assert set(fmpy.supported_platforms(str(portable[fmi].fmu))) == {*NAMES[fmi], "c-code"}


# ---- They run ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(here("2.0").name != "linux64", reason="the library is for another system")
def test_linux_binary_agrees(portable: dict[str, Compiled]) -> None:
    """The library that ziglang made for Linux gives the reference's accelerations."""
    compiled = portable["2.0"]
    assert native_error(compiled.model, compiled.fmu, seed=31, count=20) <= 1e-9


@pytest.mark.slow
@pytest.mark.skipif(here("2.0").name != "linux64", reason="the run to compare with is one on Linux")
def test_windows_binary_agrees(portable: dict[str, Compiled], tmp_path: Path) -> None:
    """Under wine, the library for Windows runs to the same state as the one for Linux."""
    if shutil.which("wine") is None:
        pytest.skip("wine is not installed")
    compiled = portable["2.0"]
    host = _windows_host(tmp_path)
    names = [state.name for state in compiled.model.program.states]
    variables = {v.name: v.valueReference for v in compiled.description.modelVariables}
    library = compiled.folder / "binaries" / "win64" / "Pendulum.dll"
    run = [str(host), str(library), compiled.description.guid, "60", "0.01", *(str(variables[n]) for n in names)]
    wine = {**os.environ, "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"}
    answer = subprocess.run(["wine", *run], env=wine, capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0, answer.stderr
    with Fmu(compiled) as fmu:
        expected = fmu.start(tolerance=1e-9).run(np.linspace(0.0, 0.6, 61), names)[-1]
    assert [float(line) for line in answer.stdout.split()] == pytest.approx(expected.tolist(), rel=1e-7, abs=1e-9)


def _windows_host(folder: Path) -> Path:
    """The importer; compiled as the library is, so that zig makes its runtime for Windows (a minute) only once."""
    windows, source = compiler.zig(TARGETS["x86_64-windows"]), Path(__file__).parent / "data" / "windows_host.c"
    compiler.compile_object(windows, str(source), "host.o", ("-O2", f"-I{HEADERS}"), folder=folder)
    subprocess.run([*windows.command, "-s", "host.o", "-o", "host.exe"], cwd=folder, check=True)
    return folder / "host.exe"


# ---- What can be asked for --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "fmi", "folders"),
    [
        (["linux64", "win32"], "2.0", ["linux64", "win32"]),
        (["x86_64-linux", "x86_64-darwin", "x86-windows"], "2.0", ["linux64", "darwin64", "win32"]),
        (["linux64", "x86_64-linux"], "2.0", ["linux64"]),
        (["linux64", "aarch64-darwin"], "3.0", ["x86_64-linux", "aarch64-darwin"]),
        (["darwin64"], "3.0", ["x86_64-darwin", "aarch64-darwin"]),
    ],
)
def test_either_spelling(names: list[str], fmi: str, folders: list[str]) -> None:
    """Platforms can be given as FMI 2.0 or as 3.0 names them; the folders are named as the version asks."""
    assert [platform.name for platform in named(names, fmi)] == folders


@pytest.mark.parametrize(
    ("name", "fmi", "message"),
    [
        ("aarch64-linux", "2.0", r"aarch64-linux: FMI 2\.0 has no name for this platform; use --fmi 3\.0"),
        ("beos", "2.0", r"beos: unknown platform; expected one or more of linux64"),
        ("arm64-linux", "3.0", r"arm64-linux: unknown platform; expected one or more of x86_64-linux"),
    ],
)
def test_unknown_platforms(name: str, fmi: str, message: str) -> None:
    """An unknown platform is rejected with a list of known ones."""
    with pytest.raises(DescriptionError, match=message):
        named([name], fmi)


def test_other_systems_need_ziglang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without ziglang there is a message and no FMU, not one with fewer binaries."""
    monkeypatch.setitem(sys.modules, "ziglang", None)
    foreign = next(p for p in named(["win64", "darwin64"], "2.0") if p != here("2.0"))
    with pytest.raises(MissingToolError, match=rf"binaries for {foreign.name} need ziglang.*pip install ziglang"):
        build_native(assemble_system(from_data(pendulum())), tmp_path, platforms=[here("2.0"), foreign])
    assert not list(tmp_path.iterdir())


def test_own_system_needs_no_ziglang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The local platform is built by the local compiler if ziglang is missing. A compiler that is given by a
    relative path is found from any folder.
    """
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho a compiler, version 1\n")
    compiler.chmod(0o755)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", "./cc -O1")
    (toolchain,) = toolchains("2.0", [here("2.0")])
    assert toolchain.platform == here("2.0")
    (found,) = toolchain.compilers
    assert (found.command, found.version) == ((str(compiler), "-O1"), "a compiler, version 1")


def test_own_platform_is_that_of_fmpy() -> None:
    """The library's folder for this machine is the folder that FMPy reads."""
    assert here("2.0") == Platform(fmpy.platform, (fmpy.platform_tuple,))
    assert here("3.0") == Platform(fmpy.platform_tuple, (fmpy.platform_tuple,))


# ---- Processors that are asked for ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not here("3.0").name.startswith("x86_64-"), reason="the processor is another one")
def test_code_for_a_processor(tmp_path: Path) -> None:
    """The binary uses the processor's instructions, names the processor, and gives the reference accelerations."""
    (made_by,) = toolchains("2.0", march="x86-64-v3")
    assert made_by.flags[: len(FLAGS)] == FLAGS == toolchains("2.0")[0].flags
    assert made_by.flags[-1] == "-mprefer-vector-width=128"  # gcc and clang call it so
    assert not compiler.has_zig() or compiler.zig().knows(
        (*FLAGS, *compiler.zig().march("x86-64-v3"), made_by.flags[-1])
    )
    fmu = build_native(assemble_system(from_data(pendulum())), tmp_path, march="native").path
    assert native_error(assemble_system(from_data(pendulum())), fmu, seed=31, count=20) <= 1e-9
    with zipfile.ZipFile(fmu) as archive:
        page = archive.read("documentation/index.html").decode()
    assert "on processors like the one that it was built on" in page
    assert "-march=native" in page


@pytest.mark.parametrize(
    ("march", "options", "message"),
    [
        ("haswell", {}, r"march: expected one of native, x86-64-v3, got 'haswell'. No FMU was written"),
        (
            "native",
            {"platforms": ["win64"]},
            r"march: native builds for this machine only",
        ),
        ("native", {"compiler": "openmodelica"}, r"march: openmodelica does not choose processors"),
        (
            "x86-64-v3",
            {},
            r"march: the compiler \(a compiler of 1999, for .*\) does not support the processor x86-64-v3",
        ),
    ],
)
def test_processors_that_cannot_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, march: str, options: dict[str, list[str]], message: str
) -> None:
    """Nothing is written, and the reason is said: no such processor, another system, an old compiler."""
    old = tmp_path / "cc"
    script = ['case "$*" in *--version*) echo a compiler of 1999; exit;; *-march=*) exit 1;; esac']
    script += ['for target; do :; done; : > "$target"']
    old.write_text("\n".join(["#!/bin/sh", *script]))
    old.chmod(0o755)
    monkeypatch.setenv("CC", str(old))
    machine = Model(from_data(pendulum()))
    monkeypatch.setattr(openmodelica, "find", lambda omc: None)
    for make in (machine.build, machine.run) if not options else (machine.build,):
        with pytest.raises(DescriptionError, match=message):
            make(tmp_path / "out", **({"compiler": "native"} | options), march=march)
    assert not (tmp_path / "out").exists()
