"""The native backend: program → C → FMU, for model exchange and co-simulation."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import fmpy

from .._version import __version__
from ..generator import interface
from ..generator.description import Chain
from ..generator.program import Program
from . import compiler, equations_code, model_description
from .dependencies import dependencies
from .files import write_atomically
from .stages import stage

_HEADERS = ("fmi2Functions.h", "fmi2FunctionTypes.h", "fmi2TypesPlatform.h")
_FUNCTIONS, _DATA = "equations_functions.c", "equations_data.c"


@dataclass(frozen=True)
class Sources:
    """Everything an FMU is compiled from: file name → text, and the model description."""

    name: str
    files: dict[str, str]
    description: str


def generate(program: Program, chain: Chain) -> Sources:
    """C sources and modelDescription.xml of a program."""
    staged, table = stage(program), interface.variables(program)
    token = interface.token(program, table)
    texts = _fixed_sources() | {
        _FUNCTIONS: equations_code.functions(staged),
        _DATA: equations_code.data(program, staged, table, token, __version__),
    }
    xml = model_description.render(
        program,
        chain,
        table,
        dependencies(staged),
        token=token,
        version=__version__,
        sources=sorted(name for name in texts if name.endswith(".c")),
    )
    return Sources(program.name, texts, xml)


def build(sources: Sources, fmu: Path, modelica: str, progress: Callable[[str], None] | None = None) -> None:
    """Compile and pack an FMU; the Modelica text goes into its resources.

    Raises MissingToolError without a C compiler, BuildError if it refuses the sources.
    """
    found, target = compiler.find(), compiler.target()
    with TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / f"{sources.name}{target.suffix}"
        _compile(sources, folder, library, found, target, progress)
        write_atomically(fmu, _archive(sources, library, target, modelica))


def _fixed_sources() -> dict[str, str]:
    folder = files("gpmelica.fmu") / "sources"
    texts = {f.name: f.read_text() for f in folder.iterdir() if f.name.endswith((".c", ".h"))}
    headers = Path(fmpy.__file__).parent / "c-code"  # the standard's own headers, as FMPy carries them
    return texts | {name: (headers / name).read_text() for name in _HEADERS}


def _compile(
    sources: Sources,
    folder: Path,
    library: Path,
    found: compiler.Compiler,
    target: compiler.Target,
    progress: Callable[[str], None] | None,
) -> None:
    for name, text in sources.files.items():
        (folder / name).write_text(text)
    flags = ["-O2", "-fvisibility=hidden", *(f for f in target.flags if f == "-fPIC")]
    objects = []
    for name in sorted(n for n in sources.files if n.endswith(".c")):
        if progress is not None:
            progress(name)
        # CasADi's code is not ours to keep free of warnings
        strictness = ["-w"] if name == _FUNCTIONS else list(compiler.STRICT)
        objects.append(folder / f"{name}.o")
        compiler.compile_object(found, folder / name, objects[-1], [*flags, *strictness])
    compiler.link(found, objects, library, target.flags)


def _archive(sources: Sources, library: Path, target: compiler.Target, modelica: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", sources.description)
        archive.write(library, f"binaries/{target.platform}/{library.name}")
        for name, text in sorted(sources.files.items()):
            archive.writestr(f"sources/{name}", text)
        archive.writestr(f"resources/{sources.name}.mo", modelica)
    return buffer.getvalue()
