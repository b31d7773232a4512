"""Conversion of LaTeX equations to MathML when the web site is built.

Browsers show the equations without loading a script from the network.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_EQUATION = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: object) -> str:
    """Replace the LaTeX formulas in the HTML of a page by MathML.

    The extension `pymdownx.arithmatex` has marked the formulas.
    """
    return _EQUATION.sub(_mathml, content)


def _mathml(equation: re.Match[str]) -> str:
    display = "block" if equation[2] == "[" else "inline"
    return str(convert(html.unescape(equation[3]).strip(), display=display))
