"""The door for Python to what makes many runs of one model: sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.trajectory import Progress, silent
from ..language.suggest import several
from ..sweeps.pools import call_workers
from .model import Model

if TYPE_CHECKING:
    from ..sweeps.results import Sweep


def sweep(
    model: Model,
    settings: Mapping[str, Any] | str | Sequence[str],
    objectives: str | Sequence[str],
    out: Path | str | None = None,
    *,
    samples: int | None = None,
    sampler: str = "sobol",
    seed: int = 0,
    signals: str | Sequence[str] | None = None,
    scheduler: str = "auto",
    command: str = "",
    progress: Progress = silent,
) -> Sweep:
    """Run a model with many values of its numbers, by the native co-simulation FMU, compiled once per structure.

    A sweep that was ended goes on where it was when it is called again with the same arguments. Scripts need the
    usual `if __name__ == "__main__":`, for other processes do the work.

    Parameters:
        settings    key → values: an array or list, a range `"100:1000:10"` (first, last, count), or a distribution
                    `"normal(2.1e11, 1e10)"`, `"uniform(0, 1)"`; keys are parameters of the FMU or dotted keys of
                    the description
        objectives  `"name=expression"` of signals, such as `"top=peak(E_z)"`; see docs/sweeps.md
        out         folder of the results; default the model's name, the case and `_sweep`
        samples     of the distributions, for each combination of the listed values
        sampler     sobol, lhs, random; saltelli or morris for sensitivities
        seed        the same one gives the same samples
        signals     to be kept of each run at all output times; default those of the objectives
        scheduler   processes, here (this process alone), dask (of this machine), the address of a Dask scheduler,
                    or auto: processes
        command     line that repeats the sweep, for the report

    Raises DescriptionError for what is wrong with the arguments, MissingToolError without a compiler or the extra
    `sweep`. Runs that fail are rows of the table with their reason.
    """
    call_workers(scheduler)
    from ..sweeps.sweep import SweepRequest
    from ..tasks.sweep import run_sweep

    folder = Path(out or f"{model.folder(None)}_sweep")
    given = settings if isinstance(settings, Mapping) else several(settings)
    kept = None if signals is None else several(signals)
    order = SweepRequest(given, several(objectives), folder, samples, sampler, seed, kept, scheduler, command)
    return run_sweep(model.description, model.source, order, progress)
