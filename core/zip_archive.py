"""Zip archives that are the same, byte by byte, whenever and wherever they are packed."""

from __future__ import annotations

import datetime
import io
import os
import zipfile
from collections.abc import Mapping

from .errors import GpmelicaError

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that zip knows
_UNIX = 3  # who wrote it, for the file permissions


def pack(entries: Mapping[str, str | bytes]) -> bytes:
    """Archive of files by their paths; text as UTF-8. Times and order do not depend on when files were made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(entries.items()):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def build_time() -> datetime.datetime:
    """Now, or the time that SOURCE_DATE_EPOCH gives in seconds, as reproducible builds have it; UTC.

    Raises GpmelicaError if SOURCE_DATE_EPOCH is no such number.
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
