"""Platforms for which an FMU can contain binaries, and their names in FMI 2.0 and 3.0."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.errors import DescriptionError, Problem

# Binaries for Linux require glibc 2.17 or later, and binaries for macOS require macOS 11.0 or later.
TARGETS = {
    "x86_64-linux": "x86_64-linux-gnu.2.17",
    "x86-linux": "x86-linux-gnu.2.17",
    "aarch64-linux": "aarch64-linux-gnu.2.17",
    "x86_64-windows": "x86_64-windows-gnu",
    "x86-windows": "x86-windows-gnu",
    "aarch64-windows": "aarch64-windows-gnu",
    "x86_64-darwin": "x86_64-macos.11.0",
    "aarch64-darwin": "aarch64-macos.11.0",
    "wasm32-wasip2": "wasm32-wasi",
}
# Users can request the short platform name `wasm32` for FMI 2.0 and for FMI 3.0.
_SHORT = {"wasm32": "wasm32-wasip2"}

# Each FMI 2.0 platform name corresponds to one or more FMI 3.0 platform names.
# FMI 2.0 has a single platform name for all Macs, so one library contains code for two processor types.
_FMI2 = {
    "linux64": ("x86_64-linux",),
    "linux32": ("x86-linux",),
    "win64": ("x86_64-windows",),
    "win32": ("x86-windows",),
    "darwin64": ("x86_64-darwin", "aarch64-darwin"),
}
_SUFFIXES = {"linux": ".so", "windows": ".dll", "darwin": ".dylib", "wasip2": ".wasm"}
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


@dataclass(frozen=True)
class Platform:
    """Platform for which an FMU contains a binary.

    Attributes
    ----------
    name : str
        Name of the binary's folder below `binaries`; FMI 2.0 and FMI 3.0 prescribe different names.
    systems : tuple of str
        FMI 3.0 names of the platforms on which the binary runs, such as `x86_64-linux`.
    """

    name: str
    systems: tuple[str, ...]

    @property
    def suffix(self) -> str:
        return _SUFFIXES[self.systems[0].split("-")[1]]

    @property
    def is_webassembly(self) -> bool:
        """Whether the binary is a WebAssembly component, which an engine runs on any system."""
        return self.suffix == ".wasm"


def here(fmi: str) -> Platform:
    """Return the platform of this machine in an FMI version."""
    system = platform.system().lower()
    machine = platform.machine().lower()
    architecture = "x86" if sys.maxsize < 2**32 else _MACHINES.get(machine, machine)
    own = f"{architecture}-{system}"
    if fmi != "2.0":
        return Platform(own, (own,))
    bits = "32" if architecture == "x86" else "64"
    # FMI 2.0 platform names omit the processor, so importers on aarch64 search for the names of x86 platforms.
    return Platform({"windows": "win"}.get(system, system) + bits, (own,))


def named(names: Sequence[str], fmi: str) -> tuple[Platform, ...]:
    """Return platforms by their FMI 2.0 or FMI 3.0 names, without duplicates.

    Raises
    ------
    DescriptionError
        If a name is unknown, or if the FMI version has no name for the system.
    """
    found = [_platforms(_SHORT.get(name, name), fmi) for name in names]
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
        return Problem(name, f"unknown platform; expected one or more of {', '.join([*TARGETS, *_FMI2, *_SHORT])}")
    folders = {systems[0]: folder for folder, systems in _FMI2.items()} | {folder: folder for folder in _FMI2}
    if name in folders:
        return (Platform(folders[name], _FMI2[folders[name]]),)
    if name in TARGETS:
        return Problem(
            name, f"FMI 2.0 has no name for this platform; use --fmi 3.0, or platforms among {', '.join(_FMI2)}"
        )
    return Problem(name, f"unknown platform; expected one or more of {', '.join(_FMI2)}")
