"""Parameter sweeps from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..options.keywords import taking
from ..options.many import SweepOptions
from ..sweeps.pools import call_workers
from .model import Model

if TYPE_CHECKING:
    from ..sweeps.results import Sweep


@taking(SweepOptions)
def sweep(model: Model, options: SweepOptions) -> Sweep:
    """Simulate a model at many parameter values by the native co-simulation FMU.

    Models that differ only in numbers share one compiled FMU. An interrupted sweep continues when the
    same call is repeated. If a simulation fails, its row of the table contains the reason, and no
    exception is raised. Scripts need the usual guard `if __name__ == "__main__":`, because the
    simulations run in several processes.

    Parameters
    ----------
    model
        Model to simulate.

    Returns
    -------
    Sweep
        Table with one row per simulation, and the requested signals.

    Raises
    ------
    DescriptionError
        If an argument is invalid; the error contains all problems.
    MissingToolError
        If no C compiler is installed, or if a package of the extra `sweep` is missing.

    Examples
    --------
    >>> import gpmelica as gp
    >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
    >>> masses = {"links.crank.mass": [1.0, 2.0]}
    >>> found = gp.sweep(model, masses, "x=final(E_x)", "masses", scheduler="here")
    >>> found.runs, found.failures
    (2, 0)
    >>> found.table["x"].round(4).tolist()
    [0.3047, 0.3071]
    """
    call_workers(options.scheduler)
    from ..tasks.sweep import run_sweep

    folder = Path(options.out or f"{model.folder(None)}_sweep")
    return run_sweep(model.description, model.source, options, folder)
