"""Text files that users give: read as far as they are sensible, else a problem in words."""

from __future__ import annotations

from pathlib import Path

from .errors import DescriptionError, Problem


def read_text(path: Path, largest: int) -> str:
    """The file's text, UTF-8 with or without a byte-order mark.

    largest  size in bytes from which on it is not read, and endless ones are not read to their end
    Raises DescriptionError.
    """
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror}") from None
    if len(content) > largest:
        raise _error(path, f"is too large; expected at most {largest} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _error(path, f"is not UTF-8 text (byte {error.start})") from None


def _error(path: Path, message: str) -> DescriptionError:
    return DescriptionError(str(path), [Problem("", message)])
