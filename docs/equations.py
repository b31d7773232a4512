"""Equations of the site: LaTeX of a page becomes MathML when the site is built, so that they need no network."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_EQUATION = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Replace the LaTeX that `pymdownx.arithmatex` has marked."""
    return _EQUATION.sub(_mathml, content)


def _mathml(equation: re.Match[str]) -> str:
    display = "block" if equation[2] == "[" else "inline"
    return str(convert(html.unescape(equation[3]).strip(), display=display))
