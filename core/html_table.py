"""Functions that convert tables and texts to HTML for display in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_NUMBER = ' style="text-align: right"'


def html_table(header: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    """Return an HTML table; numbers have six significant digits and are aligned to the right."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def html_lines(title: str, *notes: str) -> str:
    """Return a title and the notes below the title as HTML."""
    return f"<p><b>{escape(title)}</b></p>" + "".join(map(html_note, notes))


def html_note(text: str) -> str:
    """Return a text as an HTML paragraph."""
    return f"<p>{escape(text)}</p>"


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f"<td{_NUMBER}>{value:.6g}</td>"
