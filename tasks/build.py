"""Build of FMUs that contain their documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis.system import System
from ..core.errors import DescriptionError
from ..core.progress import Progress, renamed, silent
from ..fmu.backends.backend import CHOICES, Compilers, choose, write_modelica
from ..fmu.backends.fmu import Fmu, Order
from ..fmu.backends.native import Native
from ..fmu.compilers.binaries import Toolchain, toolchains
from ..fmu.compilers.platforms import Platform, named
from ..options.checks import FMI_VERSIONS, above_zero, one_of
from ..options.model import BuildOptions


@dataclass(frozen=True)
class Tools:
    """Compilers that build an FMU, and the platforms for which they build it.

    If the tuple of platforms is empty, the FMU is built for the platform of this computer.
    """

    compilers: Compilers
    systems: tuple[Platform, ...] = ()


def build_native(
    model: System,
    out: Path,
    progress: Progress = silent,
    fmi: str = "2.0",
    platforms: Sequence[Platform] = (),
    march: str = "",
) -> Fmu:
    """Build the file `Name.fmu` by the native backend.

    The arguments are explained as attributes of the class `fmu.backends.fmu.Order`.
    """
    return Native().build(Order(model, out, fmi, platforms, march, progress, documents))


def documents(model: System, fmi: str, made_by: Sequence[Toolchain]) -> dict[str, str | bytes]:
    """Return documentation, pictures, licences and Modelica source for the archive of an FMU."""
    from ..report.fmu_page.contents import contents  # noqa: PLC0415 - matplotlib takes a second to load

    return contents(model, fmi, made_by)


def build(model: System, options: BuildOptions, tools: Tools) -> Fmu:
    """Write the Modelica source, its simulation script and one FMU.

    The preferred backend builds the FMU.

    Parameters
    ----------
    model
        Mechanism with its equations.
    options
        Options of the build, including the output folder.
    tools
        Compilers and target platforms, as returned by `checked`.
    """
    folder = Path(options.out or model.name)
    write_modelica(model, folder)
    progress = renamed(options.progress, "compiling: {}")
    order = Order(model, folder, options.fmi, tools.systems, options.march, progress, documents)
    return tools.compilers.backends[0].build(order)


def checked(options: BuildOptions) -> Tools:
    """Return the compilers and the target platforms of an FMU.

    Raises DescriptionError if options contradict each other, and MissingToolError if no compiler is
    found.
    """
    systems = _systems(options.platforms, options.fmi)
    own = bool(options.platforms or options.march)
    choice = "native" if own and options.compiler == "auto" else options.compiler
    compilers = compilers_of(choice, options.omc, options.timeout)
    if systems and not compilers.backends[0].cross:
        wanted = f"{compilers.backends[0].name} builds for this machine only; choose the compiler native"
        raise DescriptionError("platforms", wanted)
    check_march(options.march, compilers, options.fmi, systems)
    return Tools(compilers, systems)


def compilers_of(choice: str, omc: str | None, timeout: float) -> Compilers:
    """Return the compilers for the options `--compiler`, `--omc` and `--timeout` (s).

    Raises DescriptionError if a value is invalid, and MissingToolError if a tool is not installed.
    """
    one_of("compiler", choice, CHOICES)
    above_zero("timeout", timeout)
    return choose(choice, omc, timeout)


def check_march(march: str, compilers: Compilers, fmi: str, systems: Sequence[Platform] = ()) -> None:
    """Raise DescriptionError if no compiler can build for the processors that the option `--march` names."""
    if march and not any(backend.cross for backend in compilers.backends):
        wanted = f"{compilers.backends[0].name} does not choose processors; choose the compiler native"
        raise DescriptionError("march", wanted)
    if march:
        toolchains(fmi, systems, march)


def _systems(platforms: str | Sequence[str], fmi: str) -> tuple[Platform, ...]:
    one_of("fmi", fmi, FMI_VERSIONS)
    names = platforms.split(",") if isinstance(platforms, str) else platforms
    return named([name.strip() for name in names if name], fmi)
