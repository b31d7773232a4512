"""The shared libraries of an FMU: one per platform, their objects compiled side by side."""

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

FLAGS = ("-O2", "-fno-math-errno", "-fvisibility=hidden", "-Iinclude")  # nobody reads errno
MARCHES = ("native", "x86-64-v3")  # processors that code can be made for: this one, those with AVX2 and FMA
_NARROW = ("-mprefer-vector-width=128",)  # fetching four doubles from strided places costs more than it saves


@dataclass(frozen=True)
class Toolchain:
    """Compilers for the library of one platform, one for each of its processors.

    march  one of `MARCHES`: the least processor that it runs on; "": any of the platform
    """

    platform: Platform
    compilers: tuple[compiler.Compiler, ...]
    march: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """Options for all sources."""
        if not self.march:
            return FLAGS
        narrow = _NARROW if self.platform.systems[0].startswith("x86_64-") else ()
        return (*FLAGS, *self.compilers[0].march(self.march), *narrow)


def toolchains(fmi: str, platforms: Sequence[Platform] = (), march: str = "") -> list[Toolchain]:
    """For the platforms, by ziglang; for none of them, this machine's own by whatever compiler there is.

    Raises MissingToolError if a platform is not this machine's and ziglang is not installed; DescriptionError if
    there is no such `march`, the compiler does not know it, or platforms are named beside it.
    """
    if not march:
        return _toolchains(fmi, platforms)
    if march not in MARCHES:
        raise _refused(f"expected one of {', '.join(MARCHES)}, got {march!r}")
    if platforms:
        raise _refused(f"{march} is of binaries for this machine alone; leave the platforms out, or march")
    own = replace(_toolchains(fmi, ())[0], march=march)
    cc = own.compilers[0]
    if not cc.knows(own.flags) and cc.knows(FLAGS):
        raise _refused(f"the compiler ({cc.version}, for {own.platform.systems[0]}) does not know {march}")
    return [own]


def _refused(why: str) -> DescriptionError:
    return DescriptionError("march", f"{why}. No FMU was written.")


def _toolchains(fmi: str, platforms: Sequence[Platform]) -> list[Toolchain]:
    own = here(fmi)
    foreign = [platform.name for platform in platforms if platform != own]
    if foreign and not compiler.has_zig():
        raise MissingToolError(
            f"binaries for {', '.join(foreign)} need ziglang, which is not installed: pip install ziglang;"
            " or leave --platforms out to build for this machine alone. No FMU was written."
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
    """Libraries, by their paths in the archive.

    Parameters:
        name   model identifier
        files  C sources and headers, by their paths below `sources`
        flags  for sources that are not compiled as strictly as the others

    Raises BuildError if a compiler refuses a source.
    """
    sources = sorted(path for path in files if path.endswith(".c"))
    with TemporaryDirectory() as temporary, ThreadPoolExecutor(cores()) as pool:
        folder = Path(temporary)
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        slices = [_Slice(name, folder, t, k, c) for t in made_by for k, c in enumerate(t.compilers)]
        longest_first = sorted(sources, key=lambda source: -len(files[source]))  # so that none is waited for alone
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
    """The code for one processor, in the making.

    Parameters:
        name    model identifier
        folder  of the sources
        number  of the processor among the platform's
    """

    name: str
    folder: Path
    made_by: Toolchain
    number: int
    compiler: compiler.Compiler

    @property
    def objects(self) -> str:
        """Folder of the object files and the library, below that of the sources."""
        return f"{self.made_by.platform.name}_{self.number}"

    def compile(self, source: str, flags: Sequence[str]) -> str:
        """One source; returns what was done."""
        (self.folder / self.objects).mkdir(exist_ok=True)
        # Windows knows only code that is position independent, and clang warns of the flag
        position = () if self.made_by.platform.suffix == ".dll" else ("-fPIC",)
        flags = (*self.made_by.flags, *position, *flags)
        compile_object(self.compiler, source, f"{self.objects}/{source}.o", flags, folder=self.folder)
        return f"{source} for {self.made_by.platform.name}"

    def link(self, sources: Sequence[str]) -> bytes:
        """The library; all sources must have been compiled."""
        folder, library = self.folder / self.objects, f"{self.name}{self.made_by.platform.suffix}"
        compiler.link(self.compiler, [f"{source}.o" for source in sources], library, folder=folder)
        return (folder / library).read_bytes()
