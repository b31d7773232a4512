"""A scene as a file: a page that plays it, a film, or one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core.errors import DescriptionError
from ..core.files import write_all
from ..core.progress import Progress, silent
from ..scene import Scene
from .page import HeadedTable, Listing, Paragraph, ReportPage, Section
from .player import player_of, seconds_of
from .plots.solids import drawing
from .plots.style import render, styled
from .tables import TextTable

ENDINGS = (".html", ".gif", ".mp4")
_USAGE = """Drag the picture with the left mouse button to rotate the view, and with the right mouse button to
shift it. After a click on the picture, the mouse wheel zooms."""


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
        return page(scene, case, table, notes).write(path)
    from .plots.film import write_film

    return write_film(path, scene, seconds_of(scene), progress)


def page(scene: Scene, case: str = "", table: TextTable | None = None, notes: Sequence[str] = ()) -> ReportPage:
    """Return a page that plays a scene, above a table and notes. Raises MissingToolError without three.js."""
    chain = scene.mechanism.chain
    tables = [] if table is None else [HeadedTable(table)]
    return ReportPage(
        name=chain.name,
        case=case,
        description=chain.description,
        verdict="modes" if scene.cyclic else "in motion",
        player=player_of(scene),
        content=[Section("usage", "", [Paragraph(_USAGE), *tables, Listing([("", note) for note in notes])])],
    )


def check_ending(path: Path) -> None:
    """Raise DescriptionError for one that is not known."""
    if path.suffix not in ENDINGS:
        raise DescriptionError(str(path), f"expected a name that ends in {', '.join(ENDINGS)}")


def write_drawing(folder: Path, scene: Scene) -> list[Path]:
    """Write `drawing.png` and `drawing.svg` of the scene's first instant; `drawing.html` can be turned about."""
    with styled():
        png, svg = render(drawing(scene))
    paths = write_all(folder, {"drawing.png": png, "drawing.svg": svg})
    return [*paths, page(scene).write(folder / "drawing.html")]
