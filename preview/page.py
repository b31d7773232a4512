"""HTML page of the preview, which contains no data of the description file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from ..core.templates import fill
from ..report.player import player_without_scene
from .preview import Preview


@dataclass(frozen=True)
class PreviewPage:
    """Page of a preview.

    Attributes
    ----------
    html
        HTML with all scripts.
    policy
        Content security policy: only scripts of the page run, and connections are only made to this
        server.
    """

    html: str
    policy: str


def page_of(preview: Preview) -> PreviewPage:
    """Return the HTML page of a preview.

    MissingToolError is raised if three.js is not installed.
    """
    script = files(__package__).joinpath("preview.js").read_text(encoding="utf-8")
    player = player_without_scene(script)
    values = {"file": preview.path.name, "case": preview.case, "player": player}
    policy = [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        f"script-src {player.policy}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return PreviewPage(fill("preview/page.html.jinja", values), "; ".join(policy))
