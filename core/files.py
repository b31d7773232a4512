"""Atomic writing of files: a file is written completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4


def write_all(folder: Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write several files to a folder, each atomically, and return their paths.

    The mapping `contents` contains the content of each file by file name.
    """
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return [folder / name for name in contents]


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, and create its folder if necessary.

    Text is encoded as UTF-8 with unchanged newlines. The content is written to a temporary file in the same
    folder, which then replaces the target. Readers therefore see either the old or the new content.

    Raises
    ------
    OSError
        If writing fails; an existing file remains unchanged.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    # The module `tempfile` is unsuitable, because only the owner could read the resulting file.
    partial = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with partial.open("xb") as stream:
            stream.write(data)
        partial.replace(path)
    except OSError as error:  # Python's error for a full disk does not name the file.
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        partial.unlink(missing_ok=True)
