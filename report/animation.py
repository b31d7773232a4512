"""Files that show a scene: a page with a player, a film, or one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..browser import LivePart
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
    live: LivePart | None = None,
) -> Path:
    """Write an animation of a scene: a film, or a page that plays in any browser without other files.

    Parameters
    ----------
    path
        File that ends in `.html`, `.gif` or `.mp4`.
    scene
        Mechanism and its motion.
    case
        Name of the case for the title of the page.
    progress
        Function that is called with the current activity and the completed fraction.
    table, notes
        Table and remarks below the player of a page.
    live
        Interactive simulation, which a page shows below its player.

    Raises
    ------
    DescriptionError
        If the file name has another ending.
    MissingToolError
        If an mp4 is requested without ffmpeg.
    """
    check_ending(path)
    if path.suffix == ".html":
        return page(scene, case, table, notes, live).write(path)
    from .plots.film import write_film

    return write_film(path, scene, seconds_of(scene), progress)


def page(
    scene: Scene,
    case: str = "",
    table: TextTable | None = None,
    notes: Sequence[str] = (),
    live: LivePart | None = None,
) -> ReportPage:
    """Return a page that plays a scene, above a table and notes.

    MissingToolError is raised if three.js is not installed.
    """
    chain = scene.mechanism.chain
    tables = [] if table is None else [HeadedTable(table)]
    return ReportPage(
        name=chain.name,
        case=case,
        description=chain.description,
        verdict="modes" if scene.cyclic else "in motion",
        player=player_of(scene),
        live=live,
        content=[Section("usage", "", [Paragraph(_USAGE), *tables, Listing([("", note) for note in notes])])],
    )


def check_ending(path: Path) -> None:
    """Raise DescriptionError unless a file name ends in `.html`, `.gif` or `.mp4`."""
    if path.suffix not in ENDINGS:
        raise DescriptionError(str(path), f"expected a file name that ends in {', '.join(ENDINGS)}")


def write_drawing(folder: Path, scene: Scene) -> list[Path]:
    """Write `drawing.png`, `drawing.svg` and a rotatable `drawing.html` of a scene at its initial time."""
    with styled():
        png, svg = render(drawing(scene))
    paths = write_all(folder, {"drawing.png": png, "drawing.svg": svg})
    return [*paths, page(scene).write(folder / "drawing.html")]
