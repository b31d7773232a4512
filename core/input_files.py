"""Reading of text files and tables from users, with error messages for invalid content."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .errors import DescriptionError, Problem
from .file_kinds import binary_kind

Masked = np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]
Row = tuple[int, list[str]]

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_DECIMAL_POINTS = "; write decimal points instead of decimal commas"
_SEPARATORS = "; each separator begins a new value, so write decimal points instead of decimal commas"


def read_text(path: Path, largest: int) -> str:
    """Return the text of a UTF-8 file with or without a byte-order mark.

    Parameters
    ----------
    path : Path
        File to read.
    largest : int
        Maximum file size, bytes. Larger files are rejected. Device files such as /dev/zero are
        therefore also rejected.

    Raises
    ------
    DescriptionError
        If the file cannot be read, is too large or is not UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise DescriptionError(str(path), f"cannot be read: {error.strerror}") from None
    if len(content) > largest:
        text = _not_text(path, content) or f"is too large; expected at most {largest} bytes"
        raise DescriptionError(str(path), text)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = _not_text(path, content) or f"is not UTF-8 text (byte {error.start})"
        raise DescriptionError(str(path), text) from None


def _not_text(path: Path, content: bytes) -> str:
    kind = binary_kind(path, content)
    return f"is not UTF-8 text, but {kind}" if kind else ""


def read_rows(path: Path, largest: int) -> list[Row]:
    """Return the line number and the cells of every non-empty line of a table.

    Cells are separated by commas, semicolons or tabs.

    Raises
    ------
    DescriptionError
        If the file cannot be read, is larger than `largest` bytes or is not a table.
    """
    text = read_text(path, largest)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter)
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise DescriptionError(str(path), f"cannot be read as a table of values: {error}") from None


def numbers(header: Sequence[str], lines: Sequence[Row]) -> tuple[Masked, list[Problem]]:
    """Return the numbers of a table, shape (lines, columns), and the problems of its cells.

    Cells without a number are masked.
    """
    table = np.ma.zeros((len(lines), len(header)))
    problems = [] if lines else [Problem("", "expected at least one line of numbers below the headers")]
    for row, (number, cells) in enumerate(lines):
        problems += _fill(table, row, header, cells, f"line {number}")
    return table, problems


def _fill(table: Masked, row: int, header: Sequence[str], cells: Sequence[str], where: str) -> list[Problem]:
    if len(cells) != len(header):
        table[row] = np.ma.masked
        text = f"expected {len(header)} values, one per header, got {len(cells)}"
        return [Problem(where, text + (_SEPARATORS if len(cells) > len(header) else ""))]
    problems = []
    for k, cell in enumerate(cells):
        try:
            table[row, k] = float(cell)
        except ValueError:
            table[row, k] = np.ma.masked
            text = f"{header[k]}: expected a number, got {cell[:40]!r}"
            problems.append(Problem(where, text + (_DECIMAL_POINTS if _DECIMAL_COMMA.fullmatch(cell) else "")))
    return problems
