"""The door for Python to the search for the best values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.trajectory import Progress, silent
from ..language.suggest import several
from ..sweeps.pools import call_workers
from .model import Model, load

if TYPE_CHECKING:
    from ..runs.compare.context import RunReport
    from ..sweeps.optimize import Optimum


def optimize(
    model: Model,
    bounds: Mapping[str, tuple[float, float]] | str | Sequence[str],
    objective: str,
    out: Path | str | None = None,
    *,
    constraints: str | Sequence[str] = (),
    method: str = "evolution",
    evaluations: int = 1000,
    seed: int = 0,
    scheduler: str = "processes",
    progress: Progress = silent,
) -> Optimum:
    """Values within bounds that make an objective as small as it gets, by runs of the native co-simulation FMU.

    Scripts need the usual `if __name__ == "__main__":`, for other processes do the work.

    Parameters:
        bounds       key → (least, most); keys as of `sweep`
        objective    expression of signals, such as `"peak(E_z)"`; a minus makes it as large as it gets
        out          folder of the FMU; default the model's name, the case and `_optimum`
        constraints  `"rms(column_angle_effort) <= 900"`, or `>=`
        method       evolution (scipy's differential evolution) or simplex (Nelder and Mead)
        evaluations  most runs
        seed         of the evolution
        scheduler    processes, here (this process alone), dask, or the address of a Dask scheduler

    Raises DescriptionError for what is wrong with the arguments, SolveError where every run fails,
    MissingToolError without a compiler.
    """
    call_workers(scheduler)
    from ..sweeps.optimize import Search
    from ..sweeps.optimize import optimize as search_for

    folder = Path(out or f"{model.folder(None)}_optimum")
    settings: Any = several(bounds)
    if isinstance(bounds, Mapping):
        settings = {key: f"uniform({least!r},{most!r})" for key, (least, most) in bounds.items()}
    search = Search(settings, objective, folder, several(constraints), method, evaluations, seed, scheduler)
    return search_for(model.description, model.source, search, progress)


def verified(model: Model, file: Path, found: Optimum, out: Path, progress: Progress = silent) -> RunReport:
    """The verdict on a run of the description with the best values; writes its report.

    Raises DescriptionError for keys that are parameters of the FMU alone.
    """
    parameters = model.description.parameters
    changes = {f"parameters.{key}" if key in parameters else key: value for key, value in found.values.items()}
    return load(file, model.case, **changes).run(out, rumoca=False, compiler="native", progress=progress)
