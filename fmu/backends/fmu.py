"""Interface of backends that build FMUs, and a built FMU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from ...analysis.prepared import Prepared
from ...core.progress import Progress, silent
from ..compilers.binaries import Toolchain
from ..compilers.platforms import Platform

Documents = Callable[[Prepared, str, Sequence[Toolchain]], Mapping[str, str | bytes]]
"""Function of a model, a version of FMI and the compilers: further files of the archive by their paths."""


def no_documents(model: Prepared, fmi: str, made_by: Sequence[Toolchain]) -> Mapping[str, str | bytes]:
    """Return no files: the FMU is used where it was made."""
    del model, fmi, made_by
    return {}


@dataclass(frozen=True)
class Order:
    """An FMU that is wanted.

    Parameters:
        out        folder of `Name.fmu`
        fmi        version of the standard, 2.0 or 3.0
        platforms  to build for; none means this machine
        march      one of `binaries.MARCHES`: processors whose instructions it may use; "": all of the platform's
        progress   function that is called with an activity
        documents  makes the files that the archive holds for its readers
    """

    model: Prepared
    out: Path
    fmi: str = "2.0"
    platforms: Sequence[Platform] = ()
    march: str = ""
    progress: Progress = silent
    documents: Documents = no_documents

    @property
    def path(self) -> Path:
        """Path of the FMU."""
        return self.out / f"{self.model.name}.fmu"


class Backend(Protocol):
    """Something that makes FMUs. A new one is a class like this in a file of its own, and a row in `BACKENDS`.

    name                what `--compiler` calls it; its runs are `fmu-<name>-me` and `fmu-<name>-cs`
    compiler            what its compiler is called among the versions
    tolerance           relative error that its co-simulation is granted at least
    communication_step  longest one of its co-simulation, s; None: whatever the output step is
    projects            whether its FMUs project onto the constraints and have the parameter `projection_tolerance`
    foreign             whether its FMUs have code that is not ours, so that they run in a process of their own
    cross               whether it builds for other systems, and for processors that are asked for
    """

    name: ClassVar[str]
    compiler: ClassVar[str]
    tolerance: ClassVar[float]
    communication_step: ClassVar[float | None]
    projects: ClassVar[bool]
    foreign: ClassVar[bool]
    cross: ClassVar[bool]

    def build(self, order: Order) -> Fmu:
        """Write the FMU; raises BuildError with what its compiler says, MissingToolError."""
        ...


@dataclass(frozen=True)
class Fmu:
    """Compiled FMU with the results of its validation.

    Parameters
    ----------
    backend
        Generator and compiler that built the FMU.
    path
        FMU file.
    compiler
        Name and version of the compiler.
    seconds
        Wall time of code generation and compilation, s.
    solver
        Integration methods of the FMU's co-simulation. An FMU of OpenModelica also lists its numbers of
        equations and unknowns.
    problems
        Problems that the validation by FMPy found.
    refused
        Reason for not running the FMU's co-simulation; empty if there is none.
    caveat
        Known deviation of the FMU's co-simulation; empty if there is none.
    log
        Log file of the build, or None. Output of the FMU is appended to the file.

    Examples
    --------
    >>> import gpmelica as gp
    >>> fmu = gp.load("examples/four_bar_3d.toml").build("four_bar", compiler="native")
    >>> fmu.path.name, fmu.problems
    ('FourBar3D.fmu', ())
    """

    backend: Backend
    path: Path
    compiler: str
    seconds: float
    solver: str
    problems: tuple[str, ...] = field(default=())
    refused: str = ""
    caveat: str = ""
    log: Path | None = None

    def facts(self) -> str:
        """Return build time, file size and integration methods in one line.

        Returns
        -------
        str
            Line for a terminal or a report.
        """
        return f"{self.seconds:.1f} s to build, {self.path.stat().st_size / 1e3:.0f} kB; {self.solver}"
