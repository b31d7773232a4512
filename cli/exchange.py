"""`import` and `export` of the command line."""

from __future__ import annotations

from pathlib import Path

import typer

from ..core.errors import DescriptionError
from ..options.common import DescribedCase, Printed
from ..options.exchange import ExportOptions, ImportOptions
from .console import emit, screen
from .generated import command
from .status import load

import_app = typer.Typer(no_args_is_help=True, help="Make a description from a file of another format.")
export_app = typer.Typer(no_args_is_help=True, help="Write a description's tree in another format.")


@import_app.callback()
def _imports() -> None:
    """Keep the format's name a command, though there is one only."""


@export_app.callback()
def _exports() -> None:
    """Keep the format's name a command, though there is one only."""


@command(import_app, "urdf")
def import_urdf(options: ImportOptions, answer: Printed) -> None:
    """Make a description of a robot in a URDF file; says what it changes and what it cannot carry."""
    from ..api.exchange import convert_urdf
    from ..core.files import write_atomically

    found = convert_urdf(options.file, options.base, options.out.parent if options.out else None)
    path = options.out or _new(Path(f"{found.description.name}.toml"))
    write_atomically(path, found.text)
    _say(path, found.notes, answer.as_json)


@command(export_app, "urdf")
def export_urdf(source: DescribedCase, options: ExportOptions, answer: Printed) -> None:
    """Write the tree of links, beams by their elements, as URDF; says what URDF cannot carry."""
    from ..api.exchange import to_urdf
    from ..core.files import write_atomically

    model = load(source)
    found = to_urdf(model)
    path = options.out or _new(Path(f"{model.name}.urdf"))
    write_atomically(path, found.text)
    _say(path, found.notes, answer.as_json)


def _new(path: Path) -> Path:
    """A name that nobody has given is not taken from another file, which may have been edited."""
    if path.exists():
        raise DescriptionError(str(path), "is there already; say --out to write a file")
    return path


def _say(path: Path, notes: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        emit({"files": [str(path)], "notes": list(notes)})
        return
    screen.print(f"wrote {path}", markup=False)
    for note in notes:
        screen.print("".join(c if c.isprintable() else "?" for c in note), markup=False)
