"""Object files that several builds have in common, compiled once: the C layer is the same in every FMU."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from . import compiler

_FOLDER = "GPMELICA_OBJECTS"  # of this process and of those that it starts
_INCLUDE = re.compile(r'^ *# *include "(.+?)"', re.MULTILINE)


@contextmanager
def kept_objects(folder: Path | None = None) -> Iterator[None]:
    """Inside, and in processes started there, an object file is compiled once; until the end, or in a folder."""
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
    """Compile a source, or copy the object of an equal compiler, options, source and headers.

    Others may write the same file at the same time. A folder that cannot be used is as if there was none.
    """
    kept, target = os.environ.get(_FOLDER), folder / object_file
    if kept is None:
        compiler.compile_object(by, source, object_file, flags, folder=folder)
        return
    key = hashlib.sha256(repr((by, source, flags)).encode())
    for path in _with_headers(folder, source):
        key.update((folder / path).read_bytes())
    copy = Path(kept) / f"{key.hexdigest()}.o"
    try:
        shutil.copyfile(copy, target)
    except OSError:
        compiler.compile_object(by, source, object_file, flags, folder=folder)
        with suppress(OSError):
            whole = copy.with_name(f".{uuid4().hex}")
            shutil.copyfile(target, whole)
            whole.replace(copy)


def _with_headers(folder: Path, source: str) -> list[str]:
    """A C file and all headers below the folder that it reaches, so that both versions of FMI share the rest."""
    found = [source]
    for path in found:  # which grows
        for name in _INCLUDE.findall((folder / path).read_text(encoding="utf-8")):
            places = (place for place in (name, f"include/{name}") if (folder / place).is_file())
            found += [place for place in places if place not in found]
    return found
