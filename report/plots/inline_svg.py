"""SVG of a figure as part of an HTML page, in the page's colours and font.

The SVG has unique ids and contains no web addresses.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from . import style

PAGE_COLOURS = {
    style.INK: "var(--ink)",
    style.MUTED: "var(--muted)",
    style.GRID: "var(--grid)",
    style.PAPER: "var(--paper)",
    style.REFERENCE: "var(--reference)",
    style.BLUE: "var(--blue)",
}


def inline_svg(svg: str, name: str, label: str) -> Markup:
    """Return the `<svg>` element of a figure for an HTML page.

    Parameters
    ----------
    svg
        Contents of the SVG file that matplotlib wrote.
    name
        Prefix that makes the ids of several figures on one page unique.
    label
        Description of the figure for screen readers.
    """
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view is not None, "matplotlib writes a viewBox into every SVG"
    body = svg[svg.index(">", view.end()) + 1 :]
    # Style elements would apply to the whole page, and metadata contain web addresses; both are removed.
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = body.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'href="#{name}-')
    body = re.sub(r'font-family: [^;"]*', "font-family: inherit", body)
    for colour, variable in PAGE_COLOURS.items():
        body = body.replace(colour, variable)
    return Markup(f'<svg {view[0]} role="img" aria-label="{escape(label)}">{body}')
