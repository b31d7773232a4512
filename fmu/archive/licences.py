"""Files of the folder `documentation/licenses` in an FMU.

The files name the owners and licences of the FMU's sources and binaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from ..compilers.binaries import Toolchain

FOLDER = "documentation/licenses"

_START = """\
Contents of this FMU and their licences

Model: the author of the mechanism's description owns its equations and parameter values.

C sources in sources, apart from equations_*.c, and their binaries: gpmelica, BSD 3-Clause, see gpmelica.txt.

sources/equations_*.c: the model's equations as C code; gpmelica claims no rights in generated code.

sources/include: headers of the FMI standard, 2-Clause BSD; each header contains the licence text.
"""

_ZIG = """
The binaries were linked by ziglang, which adds support routines of the compiler: MIT, see zig.txt.
"""

_MINGW = """
The binaries for Windows contain start-up code of mingw-w64: Zope Public License 2.1, see mingw-w64.txt.
"""

_WASI = """
The WebAssembly component contains functions of wasi-libc and musl: MIT, see wasi-libc.txt.
"""

_WASI_FILES = ("LICENSE", "LICENSE-MIT", "libc-top-half/musl/COPYRIGHT")

_OWN = """
The binary was linked by a C compiler that may add its own support routines (libgcc: GPL 3 with the runtime library
exception, compiler-rt: Apache 2.0 with LLVM exceptions). Neither licence imposes a condition on this FMU.
"""


def licences(made_by: Sequence[Toolchain]) -> dict[str, str]:
    """Return the licence files of an FMU by their paths in the archive.

    The FMI standard requires the file `license.txt`. The argument `made_by` contains the compilers of
    the FMU. The licence files depend on the compilers, because a compiler may add its own support
    routines to the binaries.
    """
    texts = {"gpmelica.txt": (files("gpmelica") / "LICENSE").read_text(encoding="utf-8")}
    start = _START
    if any(compiler.is_zig for toolchain in made_by for compiler in toolchain.compilers):
        package = files("ziglang")
        start += _ZIG
        texts["zig.txt"] = (package / "LICENSE").read_text(encoding="utf-8")
        if any(toolchain.platform.suffix == ".dll" for toolchain in made_by):
            start += _MINGW
            texts["mingw-w64.txt"] = (package / "lib/libc/mingw/COPYING").read_text(encoding="utf-8")
        if any(toolchain.platform.is_webassembly for toolchain in made_by):
            start += _WASI
            texts["wasi-libc.txt"] = "\n\n".join(
                (package / "lib/libc/wasi" / name).read_text(encoding="utf-8") for name in _WASI_FILES
            )
    else:
        start += _OWN
    return {f"{FOLDER}/{name}": text for name, text in {"license.txt": start, **texts}.items()}
