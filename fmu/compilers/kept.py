"""Cache of object files: sources that are common to several FMUs are compiled once."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...core.fingerprint import machine_fingerprint
from ...core.store import Store
from . import compiler

# The environment variable contains the cache folder; child processes inherit the variable.
_FOLDER = "GPMELICA_OBJECTS"
_INCLUDE = re.compile(r'^ *# *include "(.+?)"', re.MULTILINE)


@contextmanager
def kept_objects(folder: Path | None = None) -> Iterator[None]:
    """Enable the cache of object files in this process and its child processes.

    The cache is stored in `folder`. By default, it is stored in a temporary folder that is removed at
    the end of the context.
    """
    with TemporaryDirectory(prefix="gpmelica-objects-", ignore_cleanup_errors=True) as temporary:
        before = os.environ.get(_FOLDER)
        os.environ[_FOLDER] = before or str(folder or temporary)
        try:
            yield
        finally:
            os.environ.pop(_FOLDER)
            os.environ.update({} if before is None else {_FOLDER: before})


def compile_object(
    by: compiler.Compiler, source: str, object_file: str, flags: Sequence[str], *, folder: Path
) -> None:
    """Compile a source, or copy a cached object file.

    A cached file is used if it was compiled from equal sources and headers with the same compiler and
    options.

    Several processes may write the same cached file at the same time. If the folder of the cache is not
    accessible, the source is compiled without a cache.
    """
    kept = os.environ.get(_FOLDER)
    if kept is None:
        compiler.compile_object(by, source, object_file, flags, folder=folder)
        return
    store, key = Store(Path(kept)), _key(by, source, flags, folder)
    known = store.read(key)
    if known is not None:
        (folder / object_file).write_bytes(known)
        return
    compiler.compile_object(by, source, object_file, flags, folder=folder)
    store.write(key, (folder / object_file).read_bytes())


def _key(by: compiler.Compiler, source: str, flags: Sequence[str], folder: Path) -> str:
    """Return a checksum of everything that an object file depends on."""
    key = hashlib.sha256(repr((by, _stamp(by), machine_fingerprint(), source, flags)).encode())
    for path in _with_headers(folder, source):
        content = (folder / path).read_bytes()
        key.update(f"\n{path} {len(content)}\n".encode() + content)
    return key.hexdigest()


def _stamp(by: compiler.Compiler) -> tuple[str, int, int] | None:
    """Return path, size and modification time of a compiler, or None if the compiler is not found.

    An update of the compiler changes size or time even if it keeps the version number.
    """
    try:
        program = Path(by.command[0]).resolve(strict=True)
        found = program.stat()
    except OSError:
        return None
    return str(program), found.st_size, found.st_mtime_ns


def _with_headers(folder: Path, source: str) -> list[str]:
    """Return a C file and all headers in `folder` that it includes directly or indirectly.

    The contents of these files are part of the cache key. A source that includes no FMI-specific header
    is therefore compiled only once for FMUs of FMI 2.0 and 3.0.
    """
    found = [source]
    for path in found:  # The loop also visits the headers that its body appends to the list.
        for name in _INCLUDE.findall((folder / path).read_text(encoding="utf-8")):
            places = (place for place in (name, f"include/{name}") if (folder / place).is_file())
            found += [place for place in places if place not in found]
    return found
