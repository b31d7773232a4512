"""Compilation of an FMU's C sources to WebAssembly, which a browser can run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.errors import MissingToolError
from ..core.workers import cores
from ..fmu.backends.native import Sources, flags
from ..fmu.compilers import compiler
from ..fmu.compilers.kept import compile_object
from .frames import Frames

_TARGET = "wasm32-wasi"
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
_FLAGS = ("-O2", "-fno-math-errno", "-Iinclude")


def check_compiler() -> None:
    """Raise MissingToolError if ziglang is not installed."""
    if not compiler.has_zig():
        raise MissingToolError("simulation in the browser needs ziglang; pip install ziglang")


def webassembly(sources: Sources, frames: Frames) -> bytes:
    """Compile the FMI 2.0 C sources of a native FMU to a WebAssembly module that needs no imports.

    The module exports its memory, the FMI functions of a co-simulation, and the functions of `shim.c`.
    The latter functions create an instance and compute the frames of all bodies.

    Raises
    ------
    MissingToolError
        If ziglang is not installed.
    BuildError
        If the compiler fails.
    """
    check_compiler()
    zig = compiler.zig(_TARGET)
    shim = files(__package__).joinpath("shim.c").read_text(encoding="utf-8")
    texts = {**sources.files, _SHIM: shim, _FRAMES: frames.code}
    special = {**flags(sources.files), _SHIM: (*compiler.STRICT, f"-DFRAMES_WORK={frames.work + 1}")}
    names = sorted((name for name in texts if name.endswith(".c")), key=lambda name: -len(texts[name]))
    with TemporaryDirectory() as temporary, ThreadPoolExecutor(cores()) as pool:
        folder = Path(temporary)
        for name, text in texts.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        jobs = [(name, (*_FLAGS, *special.get(name, ("-w",)))) for name in names]
        list(pool.map(lambda job: compile_object(zig, job[0], f"{job[0]}.o", job[1], folder=folder), jobs))
        return _link(zig, [f"{name}.o" for name in names], folder)


def _link(zig: compiler.Compiler, objects: list[str], folder: Path) -> bytes:
    exports = [f"-Wl,--export={name}" for name in _EXPORTED]
    compiler.call(
        [*zig.command, "-mexec-model=reactor", "-s", *exports, *objects, "-o", "model.wasm", "-lm"], folder
    )
    return (folder / "model.wasm").read_bytes()
