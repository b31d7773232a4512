"""A figure's SVG as a part of an HTML page: the page's colours and font, ids of its own, no addresses."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from . import style

_PAGE_COLOURS = {
    style.INK: "var(--ink)",
    style.MUTED: "var(--muted)",
    style.GRID: "var(--grid)",
    style.PAPER: "var(--paper)",
    style.REFERENCE: "var(--reference)",
    style.BLUE: "var(--blue)",
}


def inline_svg(svg: str, name: str, label: str) -> Markup:
    """The `<svg>` element of a file that `plots` wrote, ready for a page.

    Parameters:
        name   prefix that keeps the ids of several figures apart
        label  what the figure shows, for screen readers
    """
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view is not None, "matplotlib writes a viewBox into every SVG"
    body = svg[svg.index(">", view.end()) + 1 :]
    # Its style element would hold for the whole page, its metadata consist of addresses.
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = body.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'href="#{name}-')
    body = re.sub(r'font-family: [^;"]*', "font-family: inherit", body)
    for colour, variable in _PAGE_COLOURS.items():
        body = body.replace(colour, variable)
    return Markup(f'<svg {view[0]} role="img" aria-label="{escape(label)}">{body}')
