"""Result files: comma separated values, time first, one column per signal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import DescriptionError, Problem
from ..trajectory import Array, Trajectory
from .files import write_atomically

_MOST_PROBLEMS = 10


def write_csv(path: Path, trajectory: Trajectory) -> None:
    """Write time and signals; every number reads back as exactly the same float."""
    columns = [trajectory.time, *trajectory.signals.values()]
    rows = np.column_stack([np.asarray(column, dtype=float) for column in columns]).tolist()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["time", *trajectory.signals])
    writer.writerows([repr(value) for value in row] for row in rows)
    write_atomically(path, stream.getvalue())


def read_csv(path: Path) -> Trajectory:
    """Read a result file of any tool: a header line with a column `time` (s), numbers below it.

    Columns are separated by commas, semicolons or tabs. Where a time is repeated, as tools do at events, its last
    row counts. Raises DescriptionError with the problems of the file.
    """
    source = str(path)
    lines = _lines(path, source)
    header = [name.strip() for name in lines.pop(0)[1]] if lines else []
    _check_header(header, source)
    table = _numbers(header, lines, source)
    time_column = [name.lower() for name in header].index("time")
    table = table[_last_of_equal(table[:, time_column])]
    signals = {name: table[:, k] for k, name in enumerate(header) if k != time_column}
    return Trajectory(path.stem, table[:, time_column], signals)


def _lines(path: Path, source: str) -> list[tuple[int, list[str]]]:
    """Line number and cells of every line that is not empty."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DescriptionError(source, [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise DescriptionError(source, [Problem("", f"is not UTF-8 text (byte {error.start})")]) from None
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter)
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise DescriptionError(source, [Problem("", f"is not a table of values: {error}")]) from None


def _check_header(header: Sequence[str], source: str) -> None:
    problems = []
    if [name.lower() for name in header].count("time") != 1:
        shown = ", ".join(header[:4])[:80] or "nothing"
        problems.append(Problem("line 1", f"expected headers with one column 'time', got {shown}"))
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        problems.append(Problem("line 1", f"expected every header once, got twice: {', '.join(repeated)}"))
    if problems:
        raise DescriptionError(source, problems)


def _numbers(header: Sequence[str], lines: Sequence[tuple[int, list[str]]], source: str) -> Array:
    """The lines as an array of shape (lines, columns)."""
    table = np.empty((len(lines), len(header)))
    problems = [] if lines else [Problem("", "expected at least one line of numbers below the headers")]
    for row, (number, cells) in zip(table, lines, strict=True):
        problem = _fill(row, header, cells, f"line {number}")
        if problem is not None:
            problems.append(problem)
    if problems:
        raise DescriptionError(source, problems[:_MOST_PROBLEMS])
    return table


def _fill(row: Array, header: Sequence[str], cells: Sequence[str], where: str) -> Problem | None:
    if len(cells) != len(header):
        return Problem(where, f"expected {len(header)} values, one per header, got {len(cells)}")
    for k, cell in enumerate(cells):
        try:
            row[k] = float(cell)
        except ValueError:
            return Problem(where, f"{header[k]}: expected a number, got {cell[:40]!r}")
    return None


def _last_of_equal(time: Array) -> Array:
    """Mask, shape (N,), of the rows whose successor is not at the same time."""
    return np.append(time[1:] != time[:-1], True)
