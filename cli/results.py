"""Commands about simulations and their stored results: `simulate` and `cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ..options.common import DescribedVariant, Printed
from ..options.model import CacheOptions, Folder, SimulateOptions
from .console import emit, progress_bars, screen, wrote
from .generated import command
from .status import load

if TYPE_CHECKING:
    from collections.abc import Mapping


def simulate(source: DescribedVariant, folder: Folder, options: SimulateOptions, answer: Printed) -> None:
    """Simulate a mechanism with its FMU or with the reference solver alone; write simulation.csv."""
    from ..core.csv_file import write_csv

    model = load(source)
    with progress_bars() as progress:
        run = model.simulate(**vars(options) | {"progress": progress})
    path = model.folder(folder.out) / "simulation.csv"
    write_csv(path, run.trajectory)
    if answer.as_json:
        emit({"solver": run.name, "stop": float(run.time[-1]), "reused": run.reused, "files": [str(path)]})
        return
    screen.print(
        f"{run.name}: {len(run) - 1} signals at {len(run.time)} times to {run.time[-1]:g} s", markup=False
    )
    show_reused({run.name: run.reused})
    wrote([path], answer.as_json)


def show_reused(times: Mapping[str, str]) -> None:
    """Print which runs were reused from earlier commands.

    The argument `times` maps the name of each run to the run's date and time. The date is empty for a
    new run.
    """
    told = [f"{name} of {when}" for name, when in times.items() if when]
    if told:
        screen.print(
            f"note: reused runs of earlier commands: {', '.join(told)}; --fresh computes them again", markup=False
        )


def cache(options: CacheOptions, answer: Printed) -> None:
    """Show the folder and the size of the stored results that commands reuse; remove them with --clear."""
    from ..core.store import own_store

    store = own_store()
    if store is not None and options.clear:
        store.clear()
    files = [] if store is None else list(store.files())
    size = sum(size for _, size, _ in files) / 1e6
    if answer.as_json:
        where = None if store is None else str(store.folder)
        emit({"folder": where, "files": len(files), "MB": size, "limit_MB": store and store.most / 1e6})
    elif store is None:
        screen.print("the cache is switched off: GPMELICA_CACHE is off, or there is no home folder", markup=False)
    else:
        screen.print(
            f"{store.folder}: {len(files)} files, {size:.1f} MB of at most {store.most / 1e6:g} MB", markup=False
        )


def add_to(app: typer.Typer) -> None:
    """Add the commands `simulate` and `cache` to the command line."""
    for function in (simulate, cache):
        command(app)(function)
