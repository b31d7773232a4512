"""Storage of the intermediate results of a sweep.

Each file contains the results of several runs and is written atomically.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DescriptionError
from ..core.file_kinds import why
from ..core.files import write_atomically
from .runs import ResultChunk

Numbers = NDArray[np.int64]
_PLAN, _LOCK = "sweep.json", ".sweep.lock"


class Parts:
    """Results of finished runs in the folder of a sweep.

    Attributes
    ----------
    folder : Path
        Folder of the result files.
    place : ndarray, shape (runs, 2)
        Two indices for each run: its result file, and its position in this file. Both are −1 for
        runs that are not finished.
    done : int
        Number of finished runs.
    """

    def __init__(self, folder: Path, runs: int) -> None:
        self.folder, self._files = folder / "parts", list[Path]()
        self.place, self.done = np.full((runs, 2), -1, dtype=np.int64), 0
        for path in sorted(self.folder.glob("*.npz")):
            self._take(path)
        self._read = lru_cache(maxsize=16)(_read)

    def missing(self) -> Numbers:
        """Return the numbers of the runs that are not finished."""
        return np.flatnonzero(self.place[:, 0] < 0)

    def add(self, part: ResultChunk) -> None:
        """Write the results of several runs to a new file, and mark the runs as finished."""
        data = io.BytesIO()
        reasons = np.array(part.reasons, dtype=np.str_)
        np.savez(data, numbers=part.numbers, reasons=reasons, figures=part.figures, signals=part.signals)
        path = self.folder / f"{part.numbers[0]:08d}_{len(part.numbers)}.npz"
        write_atomically(path, data.getvalue())
        self._enter(path, part.numbers)

    def batches(self, size: int) -> Iterator[ResultChunk]:
        """Yield the results of all runs in chunks of `size` runs, in the order of their numbers.

        All runs must be finished.
        """
        for begin in range(0, len(self.place), size):
            yield self._batch(np.arange(begin, min(begin + size, len(self.place))))

    def _batch(self, numbers: Numbers) -> ResultChunk:
        found = [(self._read(self._files[file]), row) for file, row in self.place[numbers]]
        return ResultChunk(
            numbers,
            tuple(str(part.reasons[row]) for part, row in found),
            np.array([part.figures[row] for part, row in found]),
            np.array([part.signals[row] for part, row in found]),
        )

    def _take(self, path: Path) -> None:
        """Mark the runs in an existing result file as finished.

        An unreadable file is removed, so that its runs are repeated.
        """
        try:
            with path.open("rb") as file, np.load(file) as data:
                numbers = data["numbers"]
                # A file of another sweep can contain run numbers that are too large, which raises an IndexError.
                self.place[numbers]
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile):
            path.unlink(missing_ok=True)
            return
        self._enter(path, numbers)

    def _enter(self, path: Path, numbers: Numbers) -> None:
        # If the files contain two results of the same run, only the first result is used.
        rows = np.flatnonzero(self.place[numbers, 0] < 0)
        self.place[numbers[rows]] = np.column_stack([np.full(len(rows), len(self._files)), rows])
        self.done += len(rows)
        self._files.append(path)


def _read(path: Path) -> ResultChunk:
    with np.load(path) as data:
        return ResultChunk(data["numbers"], tuple(data["reasons"]), data["figures"], data["signals"])


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder for this process until the end of the `with` block.

    Raises
    ------
    DescriptionError
        If another process has locked the folder.
    """
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        text = "another process uses this folder; wait until it ends, or use another --out"
        raise DescriptionError(str(folder), text) from None
    try:
        yield
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Return whether another process has locked the folder.

    Without the package filelock, no process can lock a folder, and the result is False.
    """
    if not (folder / _LOCK).exists() or find_spec("filelock") is None:
        return False
    try:
        with held(folder):
            return False
    except DescriptionError:
        return True


def settle(folder: Path, plan: Mapping[str, Any]) -> None:
    """Write the settings that identify a sweep to the folder.

    Raises
    ------
    DescriptionError
        If the folder already contains the settings of a different sweep.
    """
    path, text = folder / _PLAN, json.dumps(plan, indent=1, sort_keys=True) + "\n"
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        write_atomically(path, text)
        return
    except (OSError, ValueError, UnicodeDecodeError) as error:
        text = f"settings of an earlier sweep cannot be read: {why(error):.200}; use another --out"
        raise DescriptionError(str(path), text) from None
    given = json.loads(text)
    differ = (
        sorted(key for key in {*known, *given} if known.get(key) != given.get(key))
        if isinstance(known, dict)
        else ["all"]
    )
    if differ:
        raise DescriptionError(
            str(folder),
            f"contains a different sweep (differences: {', '.join(differ)}); continue this sweep with unchanged"
            " arguments, or use another --out",
        )
