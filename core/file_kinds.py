"""Phrases for error messages: kind of a file, and reason why a file access failed."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

# The kind of an archive follows from the name of a file that the archive contains.
_ARCHIVES = {
    "modelDescription.xml": "an FMU, which the commands compare and animate --result take",
    "SystemStructure.ssd": "an SSP archive, which the command cosim takes",
    "[Content_Types].xml": "an office document",
}
_SIGNATURES = (
    (b"\x7fELF", "a compiled program or library"),
    (b"MZ", "a compiled program or library"),
    (b"\x00asm", "a WebAssembly module"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a file compressed by gzip"),
    (b"\x89PNG", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet table"),
    (b"MATLAB 5.0", "a MAT file"),
    (b"\x93NUMPY", "a NumPy array"),
)


# The kind of a text file follows from its first characters after white space, XML declarations and comments.
_TEXTS = (
    (r"<robot\b", "a URDF file, which the command import urdf takes"),
    (r"<fmiModelDescription\b", "the model description of an FMU"),
    (r"<", "an XML file"),
    (r"\{", "a JSON file"),
)
_PREAMBLE = re.compile(r"\s*(<\?.*?\?>\s*|<!--.*?-->\s*)*", re.DOTALL)


def text_kind(text: str) -> str:
    """Return the kind of a text file as a phrase, such as `a JSON file`; empty for unknown formats."""
    begin = _PREAMBLE.match(text[:10_000])
    return next((kind for pattern, kind in _TEXTS if begin and re.match(pattern, text[begin.end() :])), "")


def binary_kind(path: Path, begin: bytes) -> str:
    """Return the kind of a binary file as a phrase, such as `a PNG picture`.

    The phrase is empty for text files and for unknown formats.

    Parameters
    ----------
    path
        File to classify. If the file is an archive, its members identify the kind.
    begin
        First bytes of the file.
    """
    kind = next((kind for signature, kind in _SIGNATURES if begin.startswith(signature)), "")
    return (_archive_kind(path) if kind == "a ZIP archive" else "") or kind


def why(error: Exception) -> str:
    """Return the reason of an error, for messages.

    The error number of the operating system is not included.
    """
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _archive_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile):
        return ""
    return next((kind for member, kind in _ARCHIVES.items() if member in members), "")
