"""Functions that draw all figures of a report in one style and store them as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from ...core.files import write_all
from .curves import CurvePanel, panels_over_time
from .style import render, styled

# File name, title and caption of a figure, and the function that draws it or returns None.
Entry = tuple[str, str, str, Callable[[], Figure | None]]


@dataclass(frozen=True)
class Picture:
    """Finished figure.

    Attributes
    ----------
    name
        File name without ending.
    title, caption
        Texts below the figure.
    png, svg
        Contents of the files.
    panels
        Curves of a figure over time, from which a page draws interactive plots.
    """

    name: str
    title: str
    caption: str
    png: bytes
    svg: str
    panels: tuple[CurvePanel, ...] = ()


def drawn(entries: Iterable[Entry]) -> Iterator[Picture]:
    """Draw figures in the common style and yield them.

    If there are no data for a figure, it is omitted.
    """
    for name, title, caption, draw in entries:
        with styled():
            figure = draw()
            if figure is not None:
                yield Picture(name, title, caption, *render(figure), panels_over_time(figure))


def save(picture: Picture, folder: Path) -> None:
    """Write the figure as PNG and SVG into the folder."""
    write_all(folder, {f"{picture.name}.png": picture.png, f"{picture.name}.svg": picture.svg})
