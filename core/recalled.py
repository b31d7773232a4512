"""Reuse of results that earlier commands computed.

A stored result is found by its key, a checksum of everything that the result depends on. Functions
that compute results call `recalled`. Results are reused only within `with reusing(...)`, which the
commands execute.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .fingerprint import program_fingerprint
from .store import Store, own_store
from .trajectory import Trajectory
from .trajectory_bytes import read_trajectory, trajectory_bytes


@dataclass(frozen=True)
class _Reuse:
    """Store of results that the current command uses.

    If `fresh` is true, the command ignores stored results and computes all results again.
    """

    store: Store
    fresh: bool


_CURRENT: ContextVar[_Reuse | None] = ContextVar("_CURRENT", default=None)


class NoKeyError(TypeError):
    """Error raised if a result depends on a value that has no checksum, such as a function.

    Such a result is never stored for reuse.
    """


@contextmanager
def reusing(fresh: bool = False) -> Iterator[None]:
    """Within the `with` block, reuse results from the user's store, and store new results.

    Parameters
    ----------
    fresh
        Whether to compute all results again, even if the store contains them.
    """
    store = own_store()
    token = _CURRENT.set(None if store is None else _Reuse(store, fresh))
    try:
        yield
    finally:
        _CURRENT.reset(token)
        if store is not None:
            store.shrink()


def object_folder() -> Path | None:
    """Return the folder in which object files are stored for reuse.

    The result is None if object files must not be reused.
    """
    current = _CURRENT.get()
    return None if current is None or current.fresh else current.store.folder


class Slot:
    """Key of one result in the store of the current command.

    Parameters
    ----------
    kind
        Kind of the result.
    parts
        Function that returns all values that determine the result, except the program and the computer.
    """

    def __init__(self, kind: str, parts: Callable[[], object]) -> None:
        self._kind, self._parts, self._current = kind, parts, _CURRENT.get()
        self._key = self._found_key()

    def read(self) -> Trajectory | None:
        """Return the result that an earlier command stored, or None if no valid result is stored.

        The field `reused` of the result contains the date and time of the computation.
        """
        if self._current is None or self._current.fresh or self._key is None:
            return None
        content = self._current.store.read(self._key)
        try:
            return None if content is None else read_trajectory(content)
        except (ValueError, KeyError, TypeError):  # A stored file in an incompatible format counts as missing.
            return None

    def keep(self, result: Trajectory) -> None:
        """Store a result.

        Nothing is stored if a value that determines the result has changed since this object was created.
        """
        if self._current is not None and self._key is not None and self._found_key() == self._key:
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            self._current.store.write(self._key, trajectory_bytes(replace(result, reused=now)))

    def _found_key(self) -> str | None:
        program = None if self._current is None else program_fingerprint()
        try:
            own = None if program is None else fingerprint(self._parts())
        except NoKeyError:
            return None
        return None if own is None else hashlib.sha256(f"{self._kind}\n{program}\n{own}".encode()).hexdigest()


def recalled(kind: str, parts: Callable[[], object], compute: Callable[[], Trajectory]) -> Trajectory:
    """Return the stored result of an earlier command; if there is none, compute and store the result.

    Parameters
    ----------
    kind, parts
        Kind of the result, and function that returns all values that determine it; see `Slot`.
    compute
        Function that returns the result. Nothing is stored if the function raises an exception.
    """
    slot = Slot(kind, parts)
    found = slot.read()
    if found is None:
        found = compute()
        slot.keep(found)
    return found


def fingerprint(value: object) -> str:
    """Return a checksum of a value: number, text, array, record, list, mapping, or combination of these.

    Raises
    ------
    NoKeyError
        If the value contains an object of another type.
    """
    text = json.dumps(_plain(value), separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Convert a value to objects that JSON supports.

    Different values yield different JSON texts.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if isinstance(value, bytes):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        if array.dtype.hasobject:
            raise NoKeyError("cannot compute a fingerprint (hash) of an array of Python objects")
        return {"array": [array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest()]}
    if isinstance(value, Mapping):
        return {"mapping": [[_plain(key), _plain(entry)] for key, entry in value.items()]}
    if isinstance(value, Path):
        return {"path": str(value)}
    if isinstance(value, Sequence):
        return {"list": [_plain(entry) for entry in value]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {type(value).__qualname__: _plain(members)}
    raise NoKeyError(f"cannot compute a fingerprint (hash) of a value of type {type(value).__qualname__}")
