"""Examples of the package, which a user copies to begin a new description."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from ..core.errors import UnknownNameError
from ..language.suggest import unknown

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def examples() -> dict[str, Path]:
    """Return the paths of the descriptions of all examples by name."""
    return {path.stem: path for path in sorted(EXAMPLES.rglob("*.toml"))}


def copy_example(name: str, folder: Path) -> list[Path]:
    """Copy an example with the data files beside it, and return the new files.

    Parameters
    ----------
    name
        File name of the example without `.toml`, such as `crane`.
    folder
        Folder of the copies; made if it does not exist.

    Raises
    ------
    UnknownNameError
        No example has this name.
    FileExistsError
        A file of the example exists in the folder. Nothing is copied.
    """
    known = examples()
    if name not in known:
        raise UnknownNameError(unknown("example", name, known))
    sources = [known[name], *_data_beside(known[name])]
    copies = [folder / source.name for source in sources]
    for copy in copies:
        if copy.exists():
            raise FileExistsError(errno.EEXIST, "exists; choose another --out, or move the file", str(copy))
    folder.mkdir(parents=True, exist_ok=True)
    for source, copy in zip(sources, copies, strict=True):
        shutil.copyfile(source, copy)
    return copies


def _data_beside(description: Path) -> list[Path]:
    """Return the CSV files next to an example that has a folder of its own."""
    return [] if description.parent == EXAMPLES else sorted(description.parent.glob("*.csv"))
