"""Content of an FMU's shared libraries: exported functions, required libraries, versions of glibc."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# what the linker marks in every Mach-O library; no functions
_LABELS = {"__mh_dylib_header", "___dso_handle"}


@dataclass(frozen=True)
class Library:
    """One processor's code in a shared library.

    needs    names of the libraries that it loads
    exports  names of its functions, as C has them
    glibc    versions of glibc's symbols that it uses, such as (2, 14)
    """

    processor: str
    needs: frozenset[str]
    exports: frozenset[str]
    glibc: frozenset[tuple[int, ...]] = frozenset()


def libraries(fmu: Path, folder: str) -> list[Library]:
    """Return the libraries in the folder `binaries` of an FMU; a universal library yields one per processor."""
    lief = pytest.importorskip("lief", reason="lief, which reads libraries of all systems, is not installed")
    lief.logging.disable()
    with zipfile.ZipFile(fmu) as archive:
        (name,) = [n for n in archive.namelist() if n.startswith(f"binaries/{folder}/")]
        content = list(archive.read(name))
    if name.endswith(".so"):
        return [_elf(lief.ELF.parse(content))]
    if name.endswith(".dll"):
        return [_pe(lief.PE.parse(content))]
    processors = lief.MachO.parse(content)  # its parts do not keep it alive
    return [_macho(processors.at(k)) for k in range(processors.size)]


def _elf(binary: Any) -> Library:
    versions = [a.name for need in binary.symbols_version_requirement for a in need.get_auxiliary_symbols()]
    glibc = frozenset(tuple(map(int, v.removeprefix("GLIBC_").split("."))) for v in versions)
    exports = frozenset(str(s.name) for s in binary.exported_symbols)
    return Library(binary.header.machine_type.name, frozenset(binary.libraries), exports, glibc)


def _pe(binary: Any) -> Library:
    needs = frozenset(library.name.lower() for library in binary.imports)
    return Library(binary.header.machine.name, needs, frozenset(e.name for e in binary.get_export().entries))


def _macho(binary: Any) -> Library:
    own = {command.name for command in binary.commands if command.command.name == "ID_DYLIB"}
    needs = frozenset(library.name for library in binary.libraries) - own
    names = {s.name for s in binary.exported_symbols} - _LABELS
    return Library(binary.header.cpu_type.name, needs, frozenset(n.removeprefix("_") for n in names))


def standard_functions(fmu: Path) -> frozenset[str]:
    """All functions of the FMI version that an FMU's own header names."""
    with zipfile.ZipFile(fmu) as archive:
        (header,) = [n for n in archive.namelist() if re.search(r"/fmi\dFunctions\.h$", n)]
        text = archive.read(header).decode()
    return frozenset(re.findall(r"^#define (\w+)\s+fmi\dFullName\(\w+\)", text, re.MULTILINE))
