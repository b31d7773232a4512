"""FMUs with everything that a reader finds in their archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analysis.prepared import Prepared
from ..fmu.backends.backend import Compilers, write_modelica
from ..fmu.backends.fmu import Fmu, Order, Progress
from ..fmu.backends.native import Native
from ..fmu.compilers.platforms import Platform
from ..report.fmu_page.contents import contents


def build_native(
    model: Prepared,
    out: Path,
    progress: Progress | None = None,
    fmi: str = "2.0",
    platforms: Sequence[Platform] = (),
    march: str = "",
) -> Fmu:
    """Write `Name.fmu` by the native backend; see `Order`."""
    return Native().build(Order(model, out, fmi, platforms, march, progress, contents))


def build(
    model: Prepared,
    out: Path,
    compilers: Compilers,
    fmi: str = "2.0",
    progress: Progress | None = None,
    platforms: Sequence[Platform] = (),
    march: str = "",
) -> Fmu:
    """Write the Modelica text, its script and one FMU, by the preferred backend."""
    write_modelica(model, out)
    return compilers.backends[0].build(Order(model, out, fmi, platforms, march, progress, contents))
