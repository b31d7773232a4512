"""Compilation of C sources to a WebAssembly module by ziglang."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from ...core.progress import Progress, silent
from ...core.workers import cores
from . import compiler
from .kept import compile_object

TARGET = "wasm32-wasi"
_FLAGS = ("-O2", "-fno-math-errno", "-Iinclude")


def reactor(
    files: Mapping[str, str],
    flags: Mapping[str, Sequence[str]],
    exports: Sequence[str] = (),
    progress: Progress = silent,
) -> bytes:
    """Compile C sources to a WebAssembly module that initialises itself by `_initialize`.

    Parameters
    ----------
    files : mapping
        C sources and headers by their paths.
    flags : mapping
        Compiler options of individual sources; the others are compiled without warnings.
    exports : sequence of str
        C functions that the module exports. Functions with an export name in the C source need not be
        listed.
    progress : callable
        Function that is called with a text for each compiled source.

    Raises
    ------
    BuildError
        If the compiler fails.
    """
    zig = compiler.zig(TARGET)
    # Long sources are compiled first, so that the parallel compilations end at about the same time.
    sources = sorted((path for path in files if path.endswith(".c")), key=lambda path: -len(files[path]))
    with TemporaryDirectory() as temporary, ThreadPoolExecutor(cores()) as pool:
        folder = Path(temporary)
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")

        def compiled(source: str) -> str:
            options = (*_FLAGS, *flags.get(source, ("-w",)))
            compile_object(zig, source, f"{source}.o", options, folder=folder)
            return f"{source} for WebAssembly"

        for what in pool.map(compiled, sources):
            progress(what, 0.0)
        named = [f"-Wl,--export={name}" for name in exports]
        objects = [f"{source}.o" for source in sources]
        linking = ["-mexec-model=reactor", "-s", *named, *objects, "-o", "model.wasm", "-lm"]
        compiler.call([*zig.command, *linking], folder)
        return (folder / "model.wasm").read_bytes()
