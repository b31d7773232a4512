"""Commands `import` and `export`."""

from __future__ import annotations

from pathlib import Path

import typer

from ..core.errors import DescriptionError
from ..options.common import DescribedVariant, Printed
from ..options.exchange import ExportOptions, ImportOptions
from .console import emit, screen
from .generated import command
from .status import load

import_app = typer.Typer(no_args_is_help=True, help="Convert a file of another format to a description.")
export_app = typer.Typer(
    no_args_is_help=True, help="Write the links and joints of a description in another format."
)


@import_app.callback()
def _imports() -> None:
    """Define the command group `import`, so that `urdf` is a subcommand of this group.

    Without this callback, typer would turn a group with one subcommand into a single command.
    """


@export_app.callback()
def _exports() -> None:
    """Define the command group `export`, so that `urdf` is a subcommand of this group.

    Without this callback, typer would turn a group with one subcommand into a single command.
    """


@command(import_app, "urdf")
def import_urdf(options: ImportOptions, answer: Printed) -> None:
    """Convert the robot in a URDF file to a description; print changes and omissions."""
    from ..api.exchange import convert_urdf
    from ..core.files import write_atomically

    folder = options.out.parent if options.out else None
    found = convert_urdf(options.file, options.base, folder, options.density)
    path = options.out or _new(Path(f"{found.name}.toml"))
    write_atomically(path, found.text)
    _say(path, found.notes, answer.as_json)
    # For an invalid description, the property `valid` raises an error after the file has been written.
    _ = found.valid


@command(export_app, "urdf")
def export_urdf(source: DescribedVariant, options: ExportOptions, answer: Printed) -> None:
    """Write links, joints and the rigid elements of beams as URDF; print what URDF cannot represent."""
    from ..api.exchange import to_urdf
    from ..core.files import write_atomically

    model = load(source)
    found = to_urdf(model)
    path = options.out or _new(Path(f"{model.name}.urdf"))
    write_atomically(path, found.text)
    _say(path, found.notes, answer.as_json)


def _new(path: Path) -> Path:
    """Return the path of an output file, which must not exist yet.

    Raises
    ------
    DescriptionError
        If the file exists, because users may have edited it.
    """
    if path.exists():
        raise DescriptionError(str(path), "the file exists already; choose another file with --out")
    return path


def _say(path: Path, notes: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        emit({"files": [str(path)], "notes": list(notes)})
        return
    screen.print(f"wrote {path}", markup=False)
    for note in notes:
        screen.print("".join(c if c.isprintable() else "?" for c in note), markup=False)
