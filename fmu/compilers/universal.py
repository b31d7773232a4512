"""Creation of universal binaries for macOS, which combine Mach-O libraries for several processors."""

from __future__ import annotations

import struct
from collections.abc import Sequence

# Apple's header mach-o/fat.h defines the magic number; each library begins at a multiple of 2**14 bytes.
_MAGIC, _ALIGNMENT = 0xCAFEBABE, 14


def universal(libraries: Sequence[bytes]) -> bytes:
    """Return a universal binary for macOS that contains libraries for different processors.

    A single library is returned unchanged.
    """
    if len(libraries) == 1:
        return libraries[0]
    header, body = struct.pack(">II", _MAGIC, len(libraries)), b""
    # In a macOS universal binary, which contains several libraries, the first library begins at this byte.
    start = 1 << _ALIGNMENT
    for library in libraries:
        # The header of each library contains the processor's type and subtype.
        processor = struct.unpack_from("<II", library, 4)
        header += struct.pack(">IIIII", *processor, start + len(body), len(library), _ALIGNMENT)
        body += library + bytes(-len(library) % (1 << _ALIGNMENT))
    return header.ljust(start, b"\0") + body
