"""Folder of stored results for reuse: one file per result, with a limit of the total size."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import DescriptionError
from .files import write_atomically

# Two environment variables set the cache folder and the maximum size of the cache in MB.
FOLDER, LIMIT = "GPMELICA_CACHE", "GPMELICA_CACHE_LIMIT"
_MOST = 1000.0  # By default, all stored results together have at most this size, MB.
# If the cache exceeds its maximum size, old results are deleted until this fraction of the size remains.
_LEFT = 0.8
_MAGIC = b"gpmelica result 1\n"
# An unfinished file older than this, s, counts as abandoned by the process that wrote the file.
_ABANDONED = 3600.0
# The regular expression matches the file names of stored results and of unfinished files.
_OWN = re.compile(r"[0-9a-f]{62}|\..*\.part")


@dataclass(frozen=True)
class Store:
    """Folder that stores each result in a file, identified by a key.

    A file contains a checksum of its key and content. If the checksum is wrong, the file is removed and
    counts as missing. Errors of the file system never reach the caller: a result that cannot be read
    counts as missing, and a result that cannot be written is not stored.

    Attributes
    ----------
    folder : Path
        Folder of the files, which need not exist.
    most : float
        Limit of the total size, bytes.
    """

    folder: Path
    most: float = _MOST * 1e6

    def read(self, key: str) -> bytes | None:
        """Return the content that was stored under a key, or None if no valid file exists."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        head, content = data[: len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
        if head != _head(key, content):
            with suppress(OSError):
                path.unlink()
            return None
        # The time of last use is recorded, because the least recently used results are deleted first.
        with suppress(OSError):
            os.utime(path)
        return content

    def write(self, key: str, content: bytes) -> None:
        """Write content to the file of a key; errors of the file system are ignored."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self._path(key), _head(key, content) + content)

    def clear(self) -> None:
        """Delete all stored results from the folder."""
        for _, _, path in self.files():
            with suppress(OSError):
                path.unlink()

    def files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield the time of the last use in s, the size in bytes and the path of each stored file.

        Users may keep other files in the folder. These files are skipped, because their names do not match
        the names of stored files.
        """
        for path in self._entries():
            if not _OWN.fullmatch(path.name):
                continue
            with suppress(OSError):
                found = path.stat()
                yield found.st_mtime, found.st_size, path

    def shrink(self) -> None:
        """Delete old unfinished files, and reduce the total size if it exceeds the limit.

        In the latter case, the least recently used results are deleted.
        """
        files, now = sorted(self.files()), time.time()
        total, aim = sum(size for _, size, _ in files), self.most
        aim = _LEFT * aim if total > aim else aim
        for used, size, path in files:
            is_abandoned = path.suffix == ".part" and used < now - _ABANDONED
            if total <= aim and not is_abandoned:
                continue
            with suppress(OSError):
                path.unlink()
                total -= size

    def _entries(self) -> list[Path]:
        try:
            return list(self.folder.glob("[0-9a-f][0-9a-f]/*")) if self.folder.is_dir() else []
        except OSError:  # The cache folder is unreadable, or another process has just deleted the folder.
            return []

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


def _head(key: str, content: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(key.encode() + b"\n" + content).digest()


def own_store() -> Store | None:
    """Return the user's store; None if the user has no home folder, or if GPMELICA_CACHE is `off`.

    Raises
    ------
    DescriptionError
        If the limit in GPMELICA_CACHE_LIMIT is not a positive number.
    """
    given = os.environ.get(FOLDER, "")
    if given.lower() == "off":
        return None
    try:
        folder = Path(given) if given else _user_folder()
    except RuntimeError:  # Python's function Path.home raises RuntimeError if the user has no home folder.
        return None
    # FMPy changes the working folder, so the path of the cache must be absolute.
    return Store(folder.absolute(), _limit() * 1e6)


def _limit() -> float:
    text = os.environ.get(LIMIT) or str(_MOST)
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not limit > 0.0:
        raise DescriptionError(LIMIT, f"expected the limit of the cache in MB, a number above 0, got {text!r}")
    return limit


def _user_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gpmelica" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gpmelica"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpmelica"
