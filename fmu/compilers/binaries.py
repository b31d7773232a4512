"""Compilation of an FMU's shared libraries, one per platform, with parallel compilation of the
sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ...core.errors import DescriptionError, MissingToolError
from ...core.progress import Progress, silent
from ...core.workers import cores
from . import compiler
from .kept import compile_object
from .platforms import TARGETS, Platform, here
from .universal import universal

# Option -fno-math-errno is safe, because the C code does not use errno.
FLAGS = ("-O2", "-fno-math-errno", "-fvisibility=hidden", "-Iinclude")
# A compiled library requires either a processor like this computer's or any x86-64 processor with AVX2 and FMA.
MARCHES = ("native", "x86-64-v3")
# Vector instructions for four doubles are slower than for two, because the doubles are not adjacent in memory.
_NARROW = ("-mprefer-vector-width=128",)


@dataclass(frozen=True)
class Toolchain:
    """C compilers for the shared library of one platform, one compiler per processor architecture.

    `march` is the oldest processor on which the library has to run: one of `MARCHES`, or "" for any
    processor of the platform.
    """

    platform: Platform
    compilers: tuple[compiler.Compiler, ...]
    march: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """Compiler options for all sources."""
        if not self.march:
            return FLAGS
        narrow = _NARROW if self.platform.systems[0].startswith("x86_64-") else ()
        return (*FLAGS, *self.compilers[0].march(self.march), *narrow)


def toolchains(fmi: str, platforms: Sequence[Platform] = (), march: str = "") -> list[Toolchain]:
    """Return the compilers for the given platforms, or for this machine if none is given.

    Other platforms require ziglang; for this machine, any C compiler is accepted.

    Raises
    ------
    MissingToolError
        If a platform differs from that of this machine, and ziglang is not installed.
    DescriptionError
        If `march` is not in `MARCHES`, if the compiler does not accept this value, or if both `march`
        and platforms are given.
    """
    if not march:
        return _toolchains(fmi, platforms)
    if march not in MARCHES:
        raise _refused(f"expected one of {', '.join(MARCHES)}, got {march!r}")
    if platforms:
        raise _refused(
            f"{march} builds for this machine only and cannot be combined with the option platforms;"
            " remove one of the two options"
        )
    own = replace(_toolchains(fmi, ())[0], march=march)
    cc = own.compilers[0]
    if not cc.knows(own.flags) and cc.knows(FLAGS):
        raise _refused(
            f"the compiler ({cc.version}, for {own.platform.systems[0]}) does not support the processor {march}"
        )
    return [own]


def _refused(why: str) -> DescriptionError:
    return DescriptionError("march", f"{why}. No FMU was written.")


def _toolchains(fmi: str, platforms: Sequence[Platform]) -> list[Toolchain]:
    own = here(fmi)
    foreign = [platform.name for platform in platforms if platform != own]
    if foreign and not compiler.has_zig():
        raise MissingToolError(
            f"binaries for {', '.join(foreign)} need ziglang, which is not installed: pip install ziglang;"
            " or omit --platforms to build for this machine only. No FMU was written."
        )
    if not (platforms and compiler.has_zig()):
        found = compiler.find()
        if not found.is_zig:
            return [Toolchain(own, (found,))]
    return [Toolchain(p, tuple(compiler.zig(TARGETS[s]) for s in p.systems)) for p in platforms or [own]]


def build(
    name: str,
    files: Mapping[str, str],
    flags: Mapping[str, Sequence[str]],
    made_by: Sequence[Toolchain],
    progress: Progress = silent,
) -> dict[str, bytes]:
    """Compile the shared libraries of an FMU and return them by their paths in the archive.

    Parameters
    ----------
    name : str
        Model identifier.
    files : mapping
        C sources and headers by their paths below `sources`.
    flags : mapping
        Compiler options of individual sources, which replace the strict warnings.
    made_by : sequence of Toolchain
        Compilers of each platform.
    progress : callable
        Function that is called with a text for each compiled source.

    Raises
    ------
    BuildError
        If a compiler rejects a source.
    """
    sources = sorted(path for path in files if path.endswith(".c"))
    with TemporaryDirectory() as temporary, ThreadPoolExecutor(cores()) as pool:
        folder = Path(temporary)
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        slices = [_Slice(name, folder, t, k, c) for t in made_by for k, c in enumerate(t.compilers)]
        # The longest sources are compiled first, so that no long compilation runs alone at the end.
        longest_first = sorted(sources, key=lambda source: -len(files[source]))
        jobs = [(part, source, flags.get(source, compiler.STRICT)) for source in longest_first for part in slices]
        for what in pool.map(lambda job: job[0].compile(*job[1:]), jobs):
            progress(what, 0.0)
        return {
            f"binaries/{t.platform.name}/{name}{t.platform.suffix}": universal(
                [part.link(sources) for part in slices if part.made_by == t]
            )
            for t in made_by
        }


@dataclass(frozen=True)
class _Slice:
    """Sources and object files of a shared library for one processor architecture.

    Attributes
    ----------
    name : str
        Model identifier.
    folder : Path
        Folder of the sources.
    made_by : Toolchain
        Compilers of the platform.
    number : int
        Index of the architecture in the platform.
    compiler : Compiler
        Compiler of the architecture.
    """

    name: str
    folder: Path
    made_by: Toolchain
    number: int
    compiler: compiler.Compiler

    @property
    def objects(self) -> str:
        """Name of the folder for the object files and the library, a subfolder of the source folder."""
        return f"{self.made_by.platform.name}_{self.number}"

    def compile(self, source: str, flags: Sequence[str]) -> str:
        """Compile a source to an object file and return a progress message."""
        (self.folder / self.objects).mkdir(exist_ok=True)
        # Code for Windows is always position independent, so clang would warn about option -fPIC.
        position = () if self.made_by.platform.suffix == ".dll" else ("-fPIC",)
        flags = (*self.made_by.flags, *position, *flags)
        compile_object(self.compiler, source, f"{self.objects}/{source}.o", flags, folder=self.folder)
        return f"{source} for {self.made_by.platform.name}"

    def link(self, sources: Sequence[str]) -> bytes:
        """Link the object files of all sources and return the shared library."""
        folder, library = self.folder / self.objects, f"{self.name}{self.made_by.platform.suffix}"
        compiler.link(self.compiler, [f"{source}.o" for source in sources], library, folder=folder)
        return (folder / library).read_bytes()
