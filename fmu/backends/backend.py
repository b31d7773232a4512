"""Which compilers make FMUs of a model, and the FMUs they made."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...errors import MissingToolError
from ...generator import modelica
from ...prepared import Prepared
from ..archive.contents import contents
from ..compilers.binaries import toolchains
from ..compilers.platforms import Platform
from ..files.files import write_atomically
from ..runs import simulate as runs
from . import native, openmodelica

Choice = Literal["auto", "native", "openmodelica"]
CHOICES: tuple[Choice, ...] = ("auto", "native", "openmodelica")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Compilers:
    """What an FMU can be made with: an omc, or None for the native backend alone.

    timeout  of omc, s
    """

    omc: openmodelica.Omc | None = None
    native: bool = True
    timeout: float = 600.0


@dataclass(frozen=True)
class Fmu:
    """A compiled FMU.

    Parameters:
        backend   native | openmodelica
        path      the file
        compiler  version of what compiled it
        seconds   wall time of generation and compilation
        size      bytes
        solver    what its co-simulation does; by omc, also its count of equations and unknowns
        problems  what FMPy's validation finds wrong
    """

    backend: str
    path: Path
    compiler: str
    seconds: float
    size: int
    solver: str
    problems: tuple[str, ...]

    def facts(self) -> str:
        """One line: build time, size, solver."""
        return f"{self.seconds:.1f} s to build, {self.size / 1e3:.0f} kB; {self.solver}"


def choose(choice: Choice, omc: str | None = None, timeout: float = 600.0) -> Compilers:
    """Compilers for a choice: `auto` takes omc where it is found, and the native backend.

    Raises MissingToolError at once if `openmodelica` is asked for and not found.
    """
    if choice == "native":
        return Compilers()
    try:
        return Compilers(openmodelica.find(omc), choice == "auto", timeout)
    except MissingToolError:
        if choice == "openmodelica" or omc is not None:
            raise
        return Compilers()


def write_modelica(model: Prepared, out: Path) -> list[Path]:
    """Write `Name.mo`, and `Name.mos` that simulates it in omc."""
    text, script = out / f"{model.name}.mo", out / f"{model.name}.mos"
    write_atomically(text, model.modelica())
    write_atomically(script, modelica.script(model.program, model.chain))
    return [text, script]


def build_native(
    model: Prepared,
    out: Path,
    progress: Progress | None = None,
    fmi: str = "2.0",
    platforms: Sequence[Platform] = (),
) -> Fmu:
    """Write `Name.fmu` by the native backend.

    Parameters:
        platforms  to build for, by ziglang; none means this machine, by whatever compiler there is

    Raises MissingToolError if there is no compiler for a platform.
    """
    begin, fmu = time.perf_counter(), out / f"{model.name}.fmu"
    made_by = toolchains(fmi, platforms)
    sources = native.generate(model.native_program, model.chain, fmi)
    native.build(sources, fmu, made_by, contents(model, fmi, made_by), progress)
    return Fmu(
        "native",
        fmu,
        made_by[0].compilers[0].version,
        time.perf_counter() - begin,
        fmu.stat().st_size,
        "co-simulation by Dormand-Prince 5(4), Rosenbrock 4(3) or RK4",
        tuple(runs.validate(fmu)),
    )


def build_openmodelica(
    model: Prepared, out: Path, compilers: Compilers, fmi: str = "2.0", progress: Progress | None = None
) -> Fmu:
    """Write `Name.fmu`, `Name.mo` and `Name.mos` by omc."""
    outcome = openmodelica.build(
        model, out, fmi=fmi, omc=compilers.omc, timeout=compilers.timeout, progress=progress
    )
    return Fmu(
        "openmodelica",
        outcome.fmu,
        outcome.version,
        outcome.seconds,
        outcome.size,
        f"{outcome.solver}; {outcome.equations} equations, {outcome.unknowns} unknowns",
        tuple(runs.validate(outcome.fmu)),
    )


def build(
    model: Prepared,
    out: Path,
    compilers: Compilers,
    fmi: str = "2.0",
    progress: Progress | None = None,
    platforms: Sequence[Platform] = (),
) -> Fmu:
    """Write the Modelica text, its script and one FMU, by omc if there is one."""
    write_modelica(model, out)
    if compilers.omc is not None:
        return build_openmodelica(model, out, compilers, fmi, progress)
    return build_native(model, out, progress, fmi, platforms)
