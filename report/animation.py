"""A scene as a file: a page that plays it, a film, or one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core.errors import DescriptionError
from ..core.files import write_all
from ..core.progress import Progress, silent
from ..scene import Scene
from .player import seconds_of, write_page
from .plots.solids import drawing
from .plots.style import render, styled
from .tables import TextTable

ENDINGS = (".html", ".gif", ".mp4")


def write_animation(
    path: Path,
    scene: Scene,
    case: str = "",
    progress: Progress = silent,
    table: TextTable | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write `.html`, which plays in any browser and needs no other file, or a film as `.gif` or `.mp4`.

    Parameters:
        case     name of the case, for the page's title
        progress  function that is called with an activity and the fraction done
        table    below the player, and notes below that
    Raises DescriptionError for another ending, MissingToolError for an mp4 without ffmpeg.
    """
    check_ending(path)
    if path.suffix == ".html":
        return write_page(path, scene, case, table, notes)
    from .plots.film import write_film

    return write_film(path, scene, seconds_of(scene), progress)


def check_ending(path: Path) -> None:
    """Raise DescriptionError for one that is not known."""
    if path.suffix not in ENDINGS:
        raise DescriptionError(str(path), f"expected a name that ends in {', '.join(ENDINGS)}")


def write_drawing(folder: Path, scene: Scene) -> list[Path]:
    """Write `drawing.png` and `drawing.svg` of the scene's first instant; `drawing.html` can be turned about."""
    with styled():
        png, svg = render(drawing(scene))
    paths = write_all(folder, {"drawing.png": png, "drawing.svg": svg})
    return [*paths, write_page(folder / "drawing.html", scene)]
