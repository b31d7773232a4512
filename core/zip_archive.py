"""Zip archives that are identical byte by byte if their contents are identical."""

from __future__ import annotations

import datetime
import io
import os
import zipfile
from collections.abc import Mapping

from .errors import GpmelicaError

_EPOCH = (1980, 1, 1, 0, 0, 0)  # The zip format cannot store dates before 1980.
# Programs interpret file permissions as Unix permissions if the archive contains the system code 3 of Unix.
_UNIX = 3


def pack(entries: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive that contains the given files; the keys are paths in the archive.

    Text is encoded as UTF-8. Equal files yield equal archives: members are sorted, and all have the
    same date.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(entries.items()):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def build_time() -> datetime.datetime:
    """Return the build time, UTC: the environment variable SOURCE_DATE_EPOCH in seconds, or the current time.

    Raises
    ------
    GpmelicaError
        If SOURCE_DATE_EPOCH is not a valid integer.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.datetime.now(datetime.UTC)
    try:
        return datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise GpmelicaError(
            f"SOURCE_DATE_EPOCH: expected seconds since 1970 as an integer, got {epoch!r}"
        ) from None
