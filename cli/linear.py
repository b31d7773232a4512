"""Commands about one state of a mechanism: `linearize` and `modes`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..core.errors import DescriptionError, Problem
from ..options.common import DescribedVariant, Printed
from ..options.linear import LinearizeFiles, LinearizeOptions, ModesFiles, StateOptions
from .console import emit_strict, progress_bars, show
from .generated import command
from .status import load

if TYPE_CHECKING:
    from ..api.model import Model


def add_to(app: typer.Typer) -> None:
    """Add the commands `linearize` and `modes` to the command line."""
    for function in (linearize, modes):
        command(app)(function)


def linearize(source: DescribedVariant, options: LinearizeOptions, files: LinearizeFiles, answer: Printed) -> None:
    """Compute matrices A, B, C, D of the linear model about one state (default: the initial state)."""
    from ..linear.files import check_bode, write, write_trim
    from ..linear.tables import of_model

    model = load(source)
    if files.bode:
        check_bode(model.prepared, options.outputs, files.out)
    with progress_bars() as progress:
        found = model.linearize(**vars(options) | {"progress": progress})
    paths = [] if files.out is None else write(found, files.out, bode=files.bode)
    if options.trim:
        paths.append(write_trim(found, model.folder(files.out), model.description.simulation.stop))
    if answer.as_json:
        emit_strict(found.data())
        return
    show(of_model(found), paths)


def modes(source: DescribedVariant, options: StateOptions, files: ModesFiles, answer: Printed) -> None:
    """Compute eigenfrequencies, damping ratios and mode shapes about one state (default: the
    initial state).
    """
    from ..linear.moving import check_swings
    from ..linear.tables import of_modes

    model = load(source)
    drawn = ((".html", files.html), (".gif", files.gif), (".mp4", files.mp4))
    endings = [ending for ending, is_wanted in drawn if is_wanted]
    chooses = bool(files.numbers) or files.amplitude is not None
    if files.along is not None:
        if endings or chooses:
            text = "writes a plot of frequencies; omit --html, --gif, --mp4, --mode and --amplitude"
            raise DescriptionError("modes", [Problem("--along", text)])
        _modes_along(model, files.along, options, files, answer)
        return
    endings = endings or ([".html"] if chooses else [])
    chosen = [number - 1 for number in files.numbers] if files.numbers else None
    for ending in endings:
        check_swings(ending, len(files.numbers or ()), files.amplitude)
    with progress_bars() as progress:
        found = model.modes(**vars(options) | {"progress": progress})
        path = model.folder(files.out) / "modes"
        paths = [
            found.animate(path.with_suffix(ending), chosen, amplitude=files.amplitude, progress=progress)
            for ending in endings
        ]
    if answer.as_json:
        notes, when = list(found.linear.notes), found.linear.time
        written = {"files": [str(path) for path in paths]} if paths else {}
        emit_strict({"modes": [mode.data() for mode in found], "time": when, "notes": notes, **written})
        return
    show(of_modes(found.linear, found), paths)


def _modes_along(model: Model, along: str, options: StateOptions, files: ModesFiles, answer: Printed) -> None:
    from ..linear import along_of
    from ..linear.tables import of_tracks

    key, values = along_of(along)
    with progress_bars() as progress:
        found = model.modes_along(key, values, **vars(options) | {"progress": progress})
    paths = [] if files.out is None else found.write(Path(files.out))
    if answer.as_json:
        emit_strict(found.data())
        return
    show(of_tracks(found), paths)
