"""Function that compiles the native FMU of a model and simulates it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from ..analysis.system import System
from ..core.progress import Progress
from ..core.recalled import object_folder
from ..core.trajectory import Trajectory
from ..fmu.backends.fmu import Fmu
from ..fmu.backends.native import Native, build_bare
from ..fmu.compilers.kept import kept_objects
from ..runs.attempts import fmu_run
from ..runs.fmpy_runs.inputs import InputTable


def fmu_simulation(model: System, inputs: InputTable | None, progress: Progress) -> Trajectory:
    """Compile the native FMU of a model, and return its co-simulation run.

    The run covers the time span of the description.

    Raises
    ------
    MissingToolError
        If there is no C compiler.
    SolveError
        If the run fails.
    """
    with TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as folder:
        progress("compiling the FMU", 0.0)
        with kept_objects(object_folder()):
            path = build_bare(model, Path(folder))
        fmu = Fmu(Native(), path, "", 0.0, "")
        return fmu_run(model, fmu, "cs", {}, inputs, progress, 1.0, model.chain.simulation.stop)
