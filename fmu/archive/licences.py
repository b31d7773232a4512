"""`documentation/licenses` of an FMU: whose work its sources and binaries contain, and on what terms."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from ..compilers.binaries import Toolchain

FOLDER = "documentation/licenses"

_START = """\
What this FMU contains, and whose it is

The model: its equations and numbers belong to whoever described it.

The C layer in sources, and its binary form in binaries: gpmelica, BSD 3-Clause, gpmelica.txt.

sources/equations_*.c: the model's equations in C, written by gpmelica, which asks for nothing in them.

sources/include: the standard's own headers, 2-Clause BSD; the text is in each of them.
"""

_ZIG = """
The binaries were linked by ziglang, which adds support routines of the compiler: MIT, zig.txt.
"""

_MINGW = """
Those for Windows hold start-up code of mingw-w64: Zope Public License 2.1, mingw-w64.txt.
"""

_OWN = """
The binary was linked by this machine's compiler, which may add support routines of its own (libgcc: GPL 3 with the
runtime library exception, compiler-rt: Apache 2.0 with LLVM exceptions); neither asks for anything here.
"""


def licences(made_by: Sequence[Toolchain]) -> dict[str, str]:
    """Files by their paths in the archive; `license.txt` is where to begin, as the standard has it."""
    texts = {"gpmelica.txt": (files("gpmelica") / "LICENSE").read_text(encoding="utf-8")}
    start = _START
    if any(compiler.is_zig for toolchain in made_by for compiler in toolchain.compilers):
        package = files("ziglang")
        start += _ZIG
        texts["zig.txt"] = (package / "LICENSE").read_text(encoding="utf-8")
        if any(toolchain.platform.suffix == ".dll" for toolchain in made_by):
            start += _MINGW
            texts["mingw-w64.txt"] = (package / "lib/libc/mingw/COPYING").read_text(encoding="utf-8")
    else:
        start += _OWN
    return {f"{FOLDER}/{name}": text for name, text in {"license.txt": start, **texts}.items()}
