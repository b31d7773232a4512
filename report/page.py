"""HTML pages that need no other file: headings, paragraphs, tables and figures in reading order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from markupsafe import Markup

from ..browser import LivePart
from ..core.files import write_atomically
from ..core.templates import fill
from .player import Player
from .plots import Picture
from .plots.inline_svg import inline_svg
from .plots.scripts import figure_scripts
from .tables import TextTable


@dataclass(frozen=True)
class Paragraph:
    """Paragraph of text on a page.

    The page omits a paragraph without text.
    """

    kind: ClassVar = "paragraph"
    text: str

    def __bool__(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True)
class Listing:
    """List of items on a page, each with or without a name in code font.

    The page omits an empty list.
    """

    kind: ClassVar = "listing"
    items: Sequence[tuple[str, str]]

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True)
class NamedFacts:
    """Named facts on a page, such as times and versions.

    The page omits an empty list of facts.
    """

    kind: ClassVar = "facts"
    items: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True)
class HeadedTable:
    """Table of a page below a heading.

    The page omits a table without rows.

    Attributes
    ----------
    table
        Column headers and rows of text.
    heading, hint
        Heading above the table, and explanatory text in small type. Each text may be empty.
    folded
        Whether the table is hidden until the reader clicks on its heading.
    """

    kind: ClassVar = "table"
    table: TextTable
    heading: str = ""
    hint: str = ""
    folded: bool = False

    def __bool__(self) -> bool:
        return bool(self.table.rows)


@dataclass(frozen=True)
class InlineFigure:
    """Figure with its caption and links to its files."""

    kind: ClassVar = "figure"
    picture: Picture

    @property
    def svg(self) -> Markup:
        """Element `<svg>` of the figure for an HTML page."""
        return inline_svg(self.picture.svg, self.picture.name, self.picture.title)


@dataclass(frozen=True)
class CommandLine:
    """Command line in a box of the page.

    The page omits an empty command line.
    """

    kind: ClassVar = "command"
    text: str

    def __bool__(self) -> bool:
        return bool(self.text)


Part = Paragraph | Listing | NamedFacts | HeadedTable | InlineFigure | CommandLine


@dataclass(frozen=True)
class Section:
    """Section of a page with an anchor and a heading.

    The page omits parts and sections without content.
    """

    anchor: str
    heading: str
    content: Sequence[Part]

    @property
    def parts(self) -> list[Part]:
        """Paragraphs, tables and figures of the section, without the empty ones."""
        return [part for part in self.content if part]


@dataclass(frozen=True)
class ReportPage:
    """Content of a page.

    Attributes
    ----------
    name, case, description
        Title of the page, case name in grey after the title, and description below the title.
    verdict
        Verdict that the title of the browser window shows.
    content
        Sections in reading order.
    findings
        Lines of the verdict, each with a word and a sentence.
    remarks
        Remarks below the verdict.
    numbers
        Key numbers, each with a label and a value.
    player
        Player of the motion next to the key numbers, or None.
    live
        Interactive simulation below the player, or None.
    """

    name: str
    case: str
    description: str
    verdict: str
    content: Sequence[Section]
    findings: Sequence[tuple[str, str]] = ()
    remarks: Sequence[str] = ()
    numbers: Sequence[tuple[str, str]] = ()
    player: Player | None = None
    live: LivePart | None = None

    @property
    def sections(self) -> list[Section]:
        """Sections of the page that have content."""
        return [section for section in self.content if section.parts]

    def values(self) -> dict[str, Any]:
        """Return the values that the template `page.html.jinja` inserts into the page."""
        figures = figure_scripts(
            [p.picture for s in self.sections for p in s.parts if isinstance(p, InlineFigure)]
        )
        scripted = [part for part in (self.player, self.live, figures) if part is not None]
        own = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        policy = " ".join(part.policy for part in scripted)
        return own | {"sections": self.sections, "figures": figures, "policy": policy}

    def html(self) -> str:
        """Return the page as HTML."""
        return fill("report/page.html.jinja", self.values())

    def write(self, path: Path) -> Path:
        """Write the page to a file, and return the path."""
        write_atomically(path, self.html())
        return path
