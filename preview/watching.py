"""Files that belong to a description, and the detection of their changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Signature = tuple[int, int, int] | None


def files_of(tables: Any) -> Iterator[Path]:
    """Yield the files that a description's tables name: lookup tables and meshes.

    The name of a file is the value of a key `file`. In a case, it is the value of a key that ends with
    `.file`.
    """
    if isinstance(tables, list):
        for member in tables:
            yield from files_of(member)
    elif isinstance(tables, dict):
        for key, value in tables.items():
            if key.rpartition(".")[2] == "file" and isinstance(value, str):
                yield Path(value)
            else:
                yield from files_of(value)


class FileWatch:
    """Detection of changed files by size, time of modification and inode.

    An editor alters at least one of these properties when it saves a file. A change is reported only
    when two successive checks agree. A file is thus not read while an editor writes it.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._known = self._seen = {path: _signature(path) for path in paths}

    def watch(self, paths: Iterable[Path]) -> None:
        """Replace the list of watched files.

        If a file was already watched, its changes before this call are still reported.
        """
        self._known = self._seen = {
            path: self._known[path] if path in self._known else _signature(path) for path in paths
        }

    def changed(self) -> bool:
        """Whether a file has changed, appeared or disappeared since the last call that returned True."""
        present = {path: _signature(path) for path in self._known}
        before, self._seen = self._seen, present
        if present == self._known or present != before:
            return False
        self._known = present
        return True


def _signature(path: Path) -> Signature:
    try:
        found = path.stat()
    except (OSError, ValueError):  # a file name with a null character causes a ValueError
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
