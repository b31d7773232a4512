"""JavaScript and data of the interactive plots on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from markupsafe import Markup

from ...core.scripts import json_script, policy_hash
from .curves import packed
from .gallery import Picture


@dataclass(frozen=True)
class FigureScripts:
    """Data and JavaScript of interactive plots, and the script's hash for the content security policy."""

    markup: Markup
    policy: str


def figure_scripts(pictures: Sequence[Picture]) -> FigureScripts | None:
    """Return the scripts that make figures with curves over time interactive.

    The result is None if no figure shows curves over time.
    """
    panels = {picture.name: picture.panels for picture in pictures if picture.panels}
    if not panels:
        return None
    sources = [files("gpmelica.browser") / "plot.js", files(__package__) / "figures.js"]
    texts = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    script = "(function () {\n" + texts + "\n})();"
    markup = Markup("\n").join([json_script("figure-data", packed(panels)), Markup(f"<script>{script}</script>")])
    return FigureScripts(markup, policy_hash(script))
