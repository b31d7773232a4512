"""The door for Python to what makes many runs of one model: sweeps."""

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
    """Run a model with many values of its numbers, by the native co-simulation FMU, compiled once per structure.

    A sweep that was ended goes on where it was when it is called again with the same arguments. Scripts need the
    usual `if __name__ == "__main__":`, for other processes do the work.

    Raises DescriptionError for what is wrong with the arguments, MissingToolError without a compiler or the extra
    `sweep`. Runs that fail are rows of the table with their reason.
    """
    call_workers(options.scheduler)
    from ..tasks.sweep import run_sweep

    folder = Path(options.out or f"{model.folder(None)}_sweep")
    return run_sweep(model.description, model.source, options, folder)
