"""Interface of the backends that build FMUs: build instructions, backend and built FMU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from ...analysis.system import System
from ...core.progress import Progress, silent
from ..compilers.binaries import Toolchain
from ..compilers.platforms import Platform

Documents = Callable[[System, str, Sequence[Toolchain]], Mapping[str, str | bytes]]
"""Function that returns further archive files by path, for a model, an FMI version and the compilers."""


def no_documents(model: System, fmi: str, made_by: Sequence[Toolchain]) -> Mapping[str, str | bytes]:
    """Return no documentation files, because an FMU that stays on this machine needs none."""
    del model, fmi, made_by
    return {}


@dataclass(frozen=True)
class Order:
    """Instructions for building an FMU.

    Attributes
    ----------
    model : System
        Model of the mechanism.
    out : Path
        Folder in which `Name.fmu` is written.
    fmi : str
        Version of FMI, "2.0" or "3.0".
    platforms : sequence of Platform
        Target platforms; empty for this machine.
    march : str
        Minimum processor, one of `binaries.MARCHES`; "" for all processors of the platform.
    progress : callable
        Function that is called with a description of each activity.
    documents : callable
        Function that returns the documentation files of the FMU archive.
    """

    model: System
    out: Path
    fmi: str = "2.0"
    platforms: Sequence[Platform] = ()
    march: str = ""
    progress: Progress = silent
    documents: Documents = no_documents

    @property
    def path(self) -> Path:
        return self.out / f"{self.model.name}.fmu"


class Backend(Protocol):
    """Interface of a backend that builds FMUs.

    A new backend is a class in its own file, which is listed in `BACKENDS`.

    Attributes
    ----------
    name : str
        Name in the option `--compiler`; the runs are called `fmu-<name>-me` and `fmu-<name>-cs`.
    compiler : str
        Name of the compiler in the list of versions.
    tolerance : float
        Relative error of co-simulation that comparisons accept, even if a smaller tolerance is
        requested.
    communication_step : float or None
        Maximum communication step of co-simulation, s; None for the output interval.
    projects : bool
        Whether the FMUs project the state onto the constraints and have the parameter
        `projection_tolerance`.
    foreign : bool
        Whether the FMUs contain third-party code, so that they are run in a separate process.
    cross : bool
        Whether the backend builds for other platforms and for given processors.
    """

    name: ClassVar[str]
    compiler: ClassVar[str]
    tolerance: ClassVar[float]
    communication_step: ClassVar[float | None]
    projects: ClassVar[bool]
    foreign: ClassVar[bool]
    cross: ClassVar[bool]

    def build(self, order: Order) -> Fmu:
        """Build the FMU.

        Raises
        ------
        BuildError
            If the compiler fails; the text includes its output.
        MissingToolError
            If a required tool is not installed.
        """
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
        Integration methods of the FMU's co-simulation. For an FMU that OpenModelica built, the text
        also contains the numbers of equations and unknowns.
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
