"""Compilation of an FMU's C sources to WebAssembly, which a browser can run."""

from __future__ import annotations

from importlib.resources import files

from ..core.errors import MissingToolError
from ..fmu.backends.native import Sources, flags
from ..fmu.compilers import compiler
from ..fmu.compilers.reactor import reactor
from .frames import Frames

_SHIM, _FRAMES = "browser_shim.c", "browser_frames.c"
_EXPORTED = (
    "browser_allocate",
    "browser_frames",
    "browser_instantiate",
    "browser_message",
    "fmi2SetupExperiment",
    "fmi2EnterInitializationMode",
    "fmi2ExitInitializationMode",
    "fmi2SetReal",
    "fmi2SetRealInputDerivatives",
    "fmi2GetReal",
    "fmi2DoStep",
)


def check_compiler() -> None:
    """Raise MissingToolError if ziglang is not installed."""
    if not compiler.has_zig():
        raise MissingToolError("simulation in the browser needs ziglang; pip install ziglang")


def webassembly(sources: Sources, frames: Frames) -> bytes:
    """Compile the FMI 2.0 C sources of a native FMU to a WebAssembly module that needs no imports.

    The module exports its memory, the FMI functions of a co-simulation, and the functions of
    `shim.c`. The functions of `shim.c` create an FMU instance and compute the frames of all bodies.

    Raises
    ------
    MissingToolError
        If ziglang is not installed.
    BuildError
        If the compiler fails.
    """
    check_compiler()
    shim = files(__package__).joinpath("shim.c").read_text(encoding="utf-8")
    texts = {**sources.files, _SHIM: shim, _FRAMES: frames.code}
    special = {**flags(sources.files), _SHIM: (*compiler.STRICT, f"-DFRAMES_WORK={frames.work + 1}")}
    return reactor(texts, special, _EXPORTED)
