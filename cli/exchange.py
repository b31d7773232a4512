"""`import` and `export` of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import DescriptionError
from .console import emit, screen
from .options import Case, File, Json

import_app = typer.Typer(no_args_is_help=True, help="Make a description from a file of another format.")
export_app = typer.Typer(no_args_is_help=True, help="Write a description's tree in another format.")


@import_app.callback()
def _imports() -> None:
    """Keep the format's name a command, though there is one only."""


@export_app.callback()
def _exports() -> None:
    """Keep the format's name a command, though there is one only."""


@import_app.command("urdf")
def import_urdf(
    file: Annotated[
        Path, typer.Argument(help="robot, URDF; expand xacro first: xacro robot.urdf.xacro > robot.urdf")
    ],
    base: Annotated[
        str, typer.Option(help="fixed: the root link stands still | floating: it moves freely")
    ] = "fixed",
    out: Annotated[Path | None, typer.Option(help="TOML file to write (default: the robot's name)")] = None,
    as_json: Json = False,
) -> None:
    """Make a description of a robot in a URDF file; says what it changes and what it cannot carry."""
    from ..api.exchange import convert_urdf
    from ..core.files import write_atomically

    found = convert_urdf(file, base, out.parent if out else None)
    path = out or _new(Path(f"{found.description.name}.toml"))
    write_atomically(path, found.text)
    _say(path, found.notes, as_json)


@export_app.command("urdf")
def export_urdf(
    file: File,
    case: Case = None,
    out: Annotated[Path | None, typer.Option(help="URDF file to write (default: Name.urdf)")] = None,
    as_json: Json = False,
) -> None:
    """Write the tree of links, beams by their elements, as URDF; says what URDF cannot carry."""
    from ..api.exchange import to_urdf
    from ..api.model import load
    from ..core.files import write_atomically

    model = load(file, case)
    found = to_urdf(model)
    path = out or _new(Path(f"{model.name}.urdf"))
    write_atomically(path, found.text)
    _say(path, found.notes, as_json)


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
