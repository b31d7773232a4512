"""The systems an FMU can hold a binary for, by the names of FMI 2.0 and 3.0."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.errors import DescriptionError, Problem

# FMI 3.0's name of a system → zig's. 2.17 is the oldest glibc that the binary runs with, 11.0 the oldest macOS
TARGETS = {
    "x86_64-linux": "x86_64-linux-gnu.2.17",
    "x86-linux": "x86-linux-gnu.2.17",
    "aarch64-linux": "aarch64-linux-gnu.2.17",
    "x86_64-windows": "x86_64-windows-gnu",
    "x86-windows": "x86-windows-gnu",
    "aarch64-windows": "aarch64-windows-gnu",
    "x86_64-darwin": "x86_64-macos.11.0",
    "aarch64-darwin": "aarch64-macos.11.0",
}

# FMI 2.0's name → FMI 3.0's. 2.0 does not tell Macs apart, so its one library has code for both processors
_FMI2 = {
    "linux64": ("x86_64-linux",),
    "linux32": ("x86-linux",),
    "win64": ("x86_64-windows",),
    "win32": ("x86-windows",),
    "darwin64": ("x86_64-darwin", "aarch64-darwin"),
}
_SUFFIXES = {"linux": ".so", "windows": ".dll", "darwin": ".dylib"}
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


@dataclass(frozen=True)
class Platform:
    """A folder below an FMU's `binaries`.

    name     of the folder, as the FMI version has it
    systems  FMI 3.0's names of the systems that its library runs on
    """

    name: str
    systems: tuple[str, ...]

    @property
    def suffix(self) -> str:
        """Suffix of the library's file name."""
        return _SUFFIXES[self.systems[0].split("-")[1]]


def here(fmi: str) -> Platform:
    """The platform of this machine."""
    system = platform.system().lower()
    machine = platform.machine().lower()
    architecture = "x86" if sys.maxsize < 2**32 else _MACHINES.get(machine, machine)
    own = f"{architecture}-{system}"
    if fmi != "2.0":
        return Platform(own, (own,))
    bits = "32" if architecture == "x86" else "64"
    # the names of FMI 2.0 leave the processor open, and importers take them so
    return Platform({"windows": "win"}.get(system, system) + bits, (own,))


def named(names: Sequence[str], fmi: str) -> tuple[Platform, ...]:
    """Platforms by their names in either FMI version, each once.

    Raises DescriptionError for names that nobody knows, and for systems that this FMI version has no name for.
    """
    found = [_platforms(name, fmi) for name in names]
    problems = [problem for problem in found if isinstance(problem, Problem)]
    if problems:
        raise DescriptionError("--platforms", problems)
    platforms = [platform for entry in found if not isinstance(entry, Problem) for platform in entry]
    return tuple(dict.fromkeys(platforms))


def _platforms(name: str, fmi: str) -> tuple[Platform, ...] | Problem:
    if fmi != "2.0":
        systems = _FMI2.get(name, (name,))
        if set(systems) <= TARGETS.keys():
            return tuple(Platform(system, (system,)) for system in systems)
        return Problem(name, f"is no platform; expected some of {', '.join([*TARGETS, *_FMI2])}")
    folders = {systems[0]: folder for folder, systems in _FMI2.items()} | {folder: folder for folder in _FMI2}
    if name in folders:
        return (Platform(folders[name], _FMI2[folders[name]]),)
    if name in TARGETS:
        return Problem(name, f"FMI 2.0 has no name for it; take --fmi 3.0, or some of {', '.join(_FMI2)}")
    return Problem(name, f"is no platform; expected some of {', '.join(_FMI2)}")
