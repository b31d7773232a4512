"""Optimisation of parameters from Python."""

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
    """Find the parameter values, within bounds, that minimise an objective of simulated signals.

    The simulations use the native co-simulation FMU. Scripts need the usual guard
    `if __name__ == "__main__":`, because the simulations run in several processes.

    Parameters
    ----------
    model
        Model whose parameters are optimised.

    Returns
    -------
    Optimum
        Best parameter values, the objective at these values, and whether the constraints are fulfilled.

    Raises
    ------
    DescriptionError
        If an argument is invalid; the error contains all problems.
    SolveError
        If all simulations fail.
    MissingToolError
        If no C compiler is installed.

    Examples
    --------
    >>> import gpmelica as gp
    >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
    >>> bounds = {"links.crank.mass": (1.0, 2.0)}
    >>> best = gp.optimize(model, bounds, "final(E_x)", method="simplex", scheduler="here")
    >>> round(best.values["links.crank.mass"], 3), best.converged
    (1.0, True)
    """
    call_workers(options.scheduler)
    from ..sweeps.optimize import optimize as search_for

    folder = Path(options.out or f"{model.folder(None)}_optimum")
    return search_for(model.description, model.source, options, folder)


def verified(model: Model, file: Path, found: Optimum, out: Path, progress: Progress = silent) -> RunReport:
    """Simulate a model with its optimised parameters by all available solvers, and write the report.

    Parameters
    ----------
    model
        Model whose parameters were optimised.
    file
        Description file of the model.
    found
        Result of `optimize`.
    out
        Folder of the report.
    progress
        Function that is called with an activity and the completed fraction.

    Returns
    -------
    RunReport
        Verdict and comparisons.

    Raises
    ------
    DescriptionError
        If an optimised parameter of the FMU is not a key of the description.
    """
    parameters = model.description.parameters
    changes = {f"parameters.{key}" if key in parameters else key: value for key, value in found.values.items()}
    return load(file, model.case, **changes).run(out, rumoca=False, compiler="native", progress=progress)
