"""Commands about one state of a machine: linearize, modes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import DescriptionError, Problem
from .console import emit_strict, progress_bars, show
from .options import AtEquilibrium, AtState, AtTime, AtTrim, Case, File, Input, Json, Out

if TYPE_CHECKING:
    from ..api.model import Model


def add_to(app: typer.Typer) -> None:
    """Make them commands of the application."""
    for command in (linearize, modes):
        app.command()(command)


def linearize(
    file: File,
    case: Case = None,
    time: AtTime = None,
    state: AtState = None,
    equilibrium: AtEquilibrium = False,
    trim: AtTrim = False,
    inputs: Input = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option("--output", help="name of an output, may come again (default: all)"),
    ] = None,
    bode: Annotated[bool, typer.Option("--bode", help="draw bode.svg of inputs and outputs, too")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="all states of the equations, with the constraints' stabilisation")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="folder for linear.json, linear.npz and linear.mat (default: none)")
    ] = None,
    as_json: Json = False,
) -> None:
    """A, B, C and D near one state (default: the start), from the FMU's exact derivatives."""
    from ..api.model import load
    from ..linear.files import check_bode, write
    from ..linear.tables import of_model

    model = load(file, case)
    if bode:
        check_bode(model.prepared, outputs, out)
    with progress_bars() as progress:
        found = model.linearize(
            time=time,
            state=state,
            equilibrium=equilibrium,
            trim=trim,
            inputs=inputs,
            outputs=outputs,
            full=full,
            progress=progress,
        )
    paths = [] if out is None else write(found, out, bode=bode)
    if as_json:
        emit_strict(found.data())
        return
    show(of_model(found), paths)


def modes(
    file: File,
    case: Case = None,
    time: AtTime = None,
    state: AtState = None,
    equilibrium: AtEquilibrium = False,
    trim: AtTrim = False,
    inputs: Input = None,
    html: Annotated[
        bool, typer.Option("--html", help="write modes.html: the machine swings in its modes")
    ] = False,
    gif: Annotated[bool, typer.Option("--gif", help="write modes.gif, of the --mode")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="write modes.mp4 by ffmpeg, of the --mode")] = False,
    numbers: Annotated[
        list[int] | None,
        typer.Option("--mode", min=1, help="number of a mode that is shown, may come again (default: all)"),
    ] = None,
    amplitude: Annotated[
        float | None,
        typer.Option(help="of the coordinate that moves most, rad or m (default: what is seen well)"),
    ] = None,
    along: Annotated[
        str | None,
        typer.Option(
            help="KEY=first:last:count or KEY=a,b,c: modes at these values of a key of the description, or times"
            " of the run (t=0:5:50); with --out also modes_along.csv, .json, .svg and .png"
        ),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Frequencies, damping ratios and shapes near one state (default: the start); shown as a page or a film."""
    from ..api.model import load
    from ..linear.moving import check_swings
    from ..linear.tables import of_modes

    model = load(file, case)
    if along is not None:
        if html or gif or mp4 or numbers or amplitude is not None:
            text = "gives a figure of frequencies; leave out --html, --gif, --mp4, --mode, --amplitude"
            raise DescriptionError("modes", [Problem("--along", text)])
        _modes_along(model, along, out, as_json, (time, state, equilibrium, trim, inputs))
        return
    endings = [ending for ending, wanted in ((".html", html), (".gif", gif), (".mp4", mp4)) if wanted]
    endings += [] if endings or (numbers is None and amplitude is None) else [".html"]
    chosen = [number - 1 for number in numbers] if numbers else None
    for ending in endings:
        check_swings(ending, len(numbers or ()), amplitude)
    with progress_bars() as progress:
        found = model.modes(
            time=time, state=state, equilibrium=equilibrium, trim=trim, inputs=inputs, progress=progress
        )
        path = model.folder(out) / "modes"
        paths = [
            found.animate(path.with_suffix(ending), chosen, amplitude=amplitude, progress=progress)
            for ending in endings
        ]
    if as_json:
        notes, when = list(found.linear.notes), found.linear.time
        files = {"files": [str(path) for path in paths]} if paths else {}
        emit_strict({"modes": [mode.data() for mode in found], "time": when, "notes": notes, **files})
        return
    show(of_modes(found.linear, found), paths)


def _modes_along(model: Model, along: str, out: Path | None, as_json: bool, where: tuple[Any, ...]) -> None:
    from ..linear import along_of
    from ..linear.tables import of_tracks

    key, values = along_of(along)
    asked = dict(zip(("time", "state", "equilibrium", "trim", "inputs"), where, strict=True))
    with progress_bars() as progress:
        found = model.modes_along(key, values, **asked, progress=progress)
    paths = [] if out is None else found.write(out)
    if as_json:
        emit_strict(found.data())
        return
    show(of_tracks(found), paths)
