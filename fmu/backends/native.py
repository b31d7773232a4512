"""Native backend: generated C code, compiled to an FMU for model exchange and co-simulation."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

import fmpy

from ...analysis.system import System
from ...core.files import write_atomically
from ...core.progress import Progress, silent
from ...core.uncollected import uncollected
from ...core.version import __version__
from ...core.zip_archive import pack
from ...description import Description
from ...generator import variables
from ...generator.program.program import EquationSystem
from ...language.timely import timed_pace
from .. import component
from ..archive import model_description
from ..archive.validation import validate
from ..code import casadi_code, equations_data
from ..code.dependencies import dependencies
from ..code.model_structure import structure
from ..code.stage_derivatives import differentiated
from ..code.stages import stage
from ..compilers import binaries
from ..compilers.binaries import Toolchain
from ..compilers.compiler import STRICT
from .fmu import Fmu, Order

DATA = "equations_data.c"
# Each folder contains C sources that do not depend on the model; each FMI version adds one folder.
_ROOMS = ("algebra", "core", "evaluation", "events", "constraints", "solvers", "cosimulation", "instance")
# Code for the initial state runs only a few times, so a short compile time matters more than fast code.
# Option -O0 halves the compile time; -w disables warnings, because separate tests check for warnings.
# Option -fno-sanitize=undefined omits the run-time checks that zig adds to unoptimised code.
_AS_IT_STANDS = ("-w", "-O0", "-fno-sanitize=undefined")
# Option -O2 accelerates only the code of the dynamics, so other generated code has lower optimisation levels.
# For derivatives of the dynamics, option -O2 would increase the compile time by 50 %.
_FLAGS: dict[str, tuple[str, ...]] = {
    "equations_start.c": _AS_IT_STANDS,
    "equations_start_forward.c": _AS_IT_STANDS,
    "equations_start_reverse.c": _AS_IT_STANDS,
    "equations_dynamics.c": ("-w",),
    "equations_dynamics_forward.c": ("-w", "-O1"),
    "equations_dynamics_reverse.c": ("-w", "-O1"),
    "equations_outputs.c": ("-w", "-O1"),
    "equations_outputs_forward.c": ("-w", "-O1"),
    "equations_outputs_reverse.c": ("-w", "-O1"),
}
# A source file with more than this many characters, without comments, gets a lower optimisation level.
# The code of long source files, such as that of a humanoid robot, runs equally fast at a lower optimisation level.
_LONG: dict[str, tuple[int, str]] = {
    "equations_dynamics.c": (390_000, "-O1"),
    "equations_dynamics_forward.c": (1_110_000, "-Og"),
    "equations_dynamics_reverse.c": (1_110_000, "-Og"),
}
_COMMENT = re.compile(r" /\*[^*]*\*/")


@dataclass(frozen=True)
class Sources:
    """Source files and model description of an FMU.

    Attributes
    ----------
    name : str
        Model identifier.
    fmi : str
        Version of FMI, "2.0" or "3.0".
    files : dict
        Content of each source file, by the path of the file relative to the folder `sources`.
    description : str
        Text of modelDescription.xml.
    """

    name: str
    fmi: str
    files: dict[str, str]
    description: str


@uncollected()
def generate(program: EquationSystem, chain: Description, fmi: str = "2.0") -> Sources:
    """Return the C sources and the model description of an FMU that evaluates the given equations."""
    staged, table = stage(program), variables.table(program)
    token, unknowns = variables.token(program, table), structure(table, dependencies(staged), fmi)
    derivatives, adjoint = differentiated(staged), fmi != "2.0"
    functions = casadi_code.functions(staged, derivatives, adjoint=adjoint)
    numbers = {name: float(parameter.value) for name, parameter in chain.parameters.items()}
    texts = _fixed_sources(fmi) | {
        **functions.files,
        DATA: equations_data.data(
            equations_data.CodeContents(
                program,
                staged,
                derivatives,
                functions.work,
                table,
                unknowns,
                adjoint,
                output_step=chain.simulation.output_step,
                timed=timed_pace(program.timed, numbers, program.initial, chain.simulation.stop),
                token=token,
                version=__version__,
            )
        ),
    }
    compiled = sorted(name for name in texts if name.endswith(".c"))
    xml = model_description.render(
        program, chain, table, unknowns, fmi=fmi, token=token, version=__version__, sources=compiled
    )
    if fmi != "2.0":
        texts["buildDescription.xml"] = model_description.build_description(program.name, compiled)
    return Sources(program.name, fmi, texts, xml)


def build(
    sources: Sources,
    fmu: Path,
    made_by: Sequence[Toolchain],
    contents: Mapping[str, str | bytes],
    progress: Progress = silent,
    optimised: bool = True,
) -> None:
    """Compile and pack an FMU.

    Parameters
    ----------
    sources : Sources
        Source files and model description.
    fmu : Path
        File that is written.
    made_by : sequence of Toolchain
        Compilers of each platform; see `binaries.toolchains`.
    contents : mapping
        Further files in the archive by their paths.
    progress : callable
        Function that is called with each activity.
    optimised : bool
        Whether the compiler optimises the generated equations. Without optimisation, the compilation
        takes only a third to two thirds of the time, but an evaluation takes several times as long.

    Raises
    ------
    BuildError
        If a compiler rejects the sources.
    """
    own = flags(sources.files)
    if not optimised:
        own |= dict.fromkeys(_FLAGS, _AS_IT_STANDS)
    if any(toolchain.march for toolchain in made_by):
        # Option -ffp-contract=fast permits fused multiply-add instructions, which compute a*b + c.
        own = {name: (*special, "-ffp-contract=fast") for name, special in own.items()}
    shared = [toolchain for toolchain in made_by if not toolchain.platform.is_webassembly]
    libraries = binaries.build(sources.name, sources.files, own, shared, progress)
    for platform in (toolchain.platform for toolchain in made_by if toolchain not in shared):
        libraries |= component.build(sources.name, platform, sources.files, own, progress)
    texts = {f"sources/{path}": text for path, text in sources.files.items()}
    write_atomically(fmu, pack({"modelDescription.xml": sources.description, **libraries, **texts, **contents}))


def flags(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the compiler options of those source files that need special options, by file name.

    All other source files are compiled with the default options. The files with special options are the
    generated equations and the linear algebra, which runs a few per cent faster with -O3.
    """
    algebra = (f.name for f in (files("gpmelica.fmu") / "sources" / "algebra").iterdir() if f.name.endswith(".c"))
    found = _FLAGS | dict.fromkeys(algebra, (*STRICT, "-O3"))
    for name, (most, effort) in _LONG.items():
        if len(_COMMENT.sub("", texts.get(name, ""))) > most:
            found[name] = ("-w", effort)
    return found


def build_bare(model: System, out: Path, fmi: str = "2.0", *, optimised: bool = True) -> Path:
    """Build an FMU for this machine without documents and validation, and return its path.

    An FMU that is evaluated only a few times need not be `optimised`, see `build`.
    """
    fmu, sources = out / f"{model.name}.fmu", generate(model.native_program, model.chain, fmi)
    build(sources, fmu, binaries.toolchains(fmi), {}, optimised=optimised)
    return fmu


def _fixed_sources(fmi: str) -> dict[str, str]:
    """Return the model-independent C sources for an FMI version, as file contents by file name.

    The headers of the FMI standard are in the subfolder `include`, because importers provide their own
    copies of these headers.
    """
    own = "fmi2" if fmi == "2.0" else "fmi3"
    rooms = (files("gpmelica.fmu") / "sources" / room for room in (*_ROOMS, own))
    texts = {f.name: f.read_text(encoding="utf-8") for room in rooms for f in room.iterdir()}
    # The Python package FMPy contains the C headers of the FMI standard.
    headers = Path(fmpy.__file__).parent / "c-code"
    return {f"include/{h.name}": h.read_text(encoding="utf-8") for h in headers.glob(f"{own}*.h")} | texts


@dataclass(frozen=True)
class Native:
    """Native backend: C code, compiled by any C compiler or, for other platforms, by ziglang."""

    name: ClassVar[str] = "native"
    compiler: ClassVar[str] = "C compiler"
    tolerance: ClassVar[float] = 0.0
    communication_step: ClassVar[float | None] = None
    projects: ClassVar[bool] = True
    foreign: ClassVar[bool] = False
    cross: ClassVar[bool] = True

    def build(self, order: Order) -> Fmu:
        """Build `Name.fmu`.

        Raises
        ------
        MissingToolError
            If no compiler for a platform is installed.
        """
        begin, model = time.perf_counter(), order.model
        made_by = binaries.toolchains(order.fmi, order.platforms, order.march)
        sources = generate(model.native_program, model.chain, order.fmi)
        build(sources, order.path, made_by, order.documents(model, order.fmi, made_by), order.progress)
        return Fmu(
            self,
            order.path,
            made_by[0].compilers[0].version,
            time.perf_counter() - begin,
            "co-simulation by Dormand-Prince 5(4), backward differentiation, Rosenbrock 4(3) or RK4",
            tuple(validate(order.path)),
        )
