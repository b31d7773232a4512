"""The door for Python to the search for the best values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..core.progress import Progress, silent
from ..options.keywords import taking
from ..options.many import OptimizeOptions
from ..sweeps.pools import call_workers
from .model import Model, load

if TYPE_CHECKING:
    from ..runs.compare.context import RunReport
    from ..sweeps.optimize import Optimum


@taking(OptimizeOptions)
def optimize(model: Model, options: OptimizeOptions) -> Optimum:
    """Values within bounds that make an objective as small as it gets, by runs of the native co-simulation FMU.

    Scripts need the usual `if __name__ == "__main__":`, for other processes do the work.

    Raises DescriptionError for what is wrong with the arguments, SolveError where every run fails,
    MissingToolError without a compiler.
    """
    call_workers(options.scheduler)
    from ..sweeps.optimize import optimize as search_for

    folder = Path(options.out or f"{model.folder(None)}_optimum")
    return search_for(model.description, model.source, options, folder)


def verified(model: Model, file: Path, found: Optimum, out: Path, progress: Progress = silent) -> RunReport:
    """The verdict on a run of the description with the best values; writes its report.

    Raises DescriptionError for keys that are parameters of the FMU alone.
    """
    parameters = model.description.parameters
    changes = {f"parameters.{key}" if key in parameters else key: value for key, value in found.values.items()}
    return load(file, model.case, **changes).run(out, rumoca=False, compiler="native", progress=progress)
