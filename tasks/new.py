"""Example descriptions, and template descriptions for new mechanisms."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import DescriptionError, UnknownNameError
from ..core.files import write_atomically
from ..description.fields.names import file_name
from ..language.suggest import unknown

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
START_FILES = Path(__file__).resolve().parent / "start_files"
_PLACEHOLDER = 'name = "NAME"'


def examples() -> dict[str, Path]:
    """Return the paths of the descriptions of all examples by name."""
    return {path.stem: path for path in sorted(EXAMPLES.rglob("*.toml"))}


def kinds() -> dict[str, Path]:
    """Return the paths of the template descriptions for new mechanisms, by kind of mechanism."""
    return {path.stem: path for path in sorted(START_FILES.glob("*.toml"))}


def write_start(kind: str, name: str, folder: Path) -> Path:
    """Write a commented description of a new mechanism from a template, and return its path.

    Parameters
    ----------
    kind
        Kind of mechanism: `crane`, `arm`, `linkage` or `empty`.
    name
        Name of the mechanism, and of the file without `.toml`.
    folder
        Folder of the file; it is created if it does not exist.

    Raises
    ------
    UnknownNameError
        If no template exists for this kind.
    DescriptionError
        If the name is not valid for a mechanism.
    FileExistsError
        If the file already exists.
    """
    known = kinds()
    if kind not in known:
        copy = "; to copy an example, leave the name out" if kind in examples() else ""
        raise UnknownNameError(unknown("template", kind, known) + copy)
    try:
        file_name(name)
    except ValueError as error:
        raise DescriptionError("NAME", str(error)) from None
    path = folder / f"{name}.toml"
    _check_absent([path])
    folder.mkdir(parents=True, exist_ok=True)
    text = known[kind].read_text(encoding="utf-8")
    write_atomically(path, text.replace(_PLACEHOLDER, f'name = "{name}"', 1).replace(" FILE ", f" {path.name} "))
    return path


def copy_example(name: str, folder: Path) -> list[Path]:
    """Copy an example with its data files, and return the new files.

    Parameters
    ----------
    name
        File name of the example without `.toml`, such as `crane`.
    folder
        Folder of the copies; it is created if it does not exist.

    Raises
    ------
    UnknownNameError
        If there is no such example.
    FileExistsError
        If a file of the example already exists in the folder; nothing is copied.
    """
    known = examples()
    if name not in known:
        start = f"; for a template, give a name: gpmelica new {name} Mine" if name in kinds() else ""
        raise UnknownNameError(unknown("example", name, known) + start)
    sources = [known[name], *_data_beside(known[name])]
    copies = [folder / source.name for source in sources]
    _check_absent(copies)
    folder.mkdir(parents=True, exist_ok=True)
    for source, copy in zip(sources, copies, strict=True):
        shutil.copyfile(source, copy)
    return copies


def _check_absent(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.exists():
            raise FileExistsError(
                errno.EEXIST, "the file exists; choose another --out, or move the file", str(path)
            )


def _data_beside(description: Path) -> list[Path]:
    return [] if description.parent == EXAMPLES else sorted(description.parent.glob("*.csv"))
