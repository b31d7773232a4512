"""Files that are there completely, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4


def write_all(folder: Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write files by their names, each as `write_atomically` does; returns their paths."""
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return [folder / name for name in contents]


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, its folder too; text as UTF-8 with newlines as they are.

    Readers see the old file or the new one, never half of it: the content goes to a temporary file in the
    same folder, which then takes the name. Raises OSError, and then leaves what was there before.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not `tempfile`: its files are readable by their owner alone, and the result would stay so.
    partial = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with partial.open("xb") as stream:
            stream.write(data)
        partial.replace(path)
    except OSError as error:  # a full disk does not say which file
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        partial.unlink(missing_ok=True)
