"""Mach-O libraries of several processors as one file, which every Mac can load."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_MAGIC, _ALIGNMENT = 0xCAFEBABE, 14  # of Apple's mach-o/fat.h; a library begins at a multiple of 2^14 bytes


def universal(libraries: Sequence[bytes]) -> bytes:
    """One file of the libraries, each for another processor; a single one stays as it is."""
    if len(libraries) == 1:
        return libraries[0]
    header, body = struct.pack(">II", _MAGIC, len(libraries)), b""
    start = 1 << _ALIGNMENT  # of the first library: the header is far shorter
    for library in libraries:
        processor = struct.unpack_from("<II", library, 4)  # type and subtype, in the library's own header
        header += struct.pack(">IIIII", *processor, start + len(body), len(library), _ALIGNMENT)
        body += library + bytes(-len(library) % (1 << _ALIGNMENT))
    return header.ljust(start, b"\0") + body
