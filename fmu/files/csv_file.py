"""Result files: comma separated values, time first, one column per signal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import DescriptionError, Problem
from ...input_files import read_text
from ...trajectory import Array, Trajectory
from .files import write_atomically

Masked = np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]

_MOST_PROBLEMS = 10
_LARGEST = 1_000_000_000  # bytes


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
    header, table, problems = read_table(path)
    if problems:
        raise DescriptionError(str(path), problems[:_MOST_PROBLEMS])
    time, signals = split(header, table.data)
    last = np.append(time[1:] != time[:-1], True)
    return Trajectory(path.stem, time[last], {name: values[last] for name, values in signals.items()})


def read_table(path: Path) -> tuple[list[str], Masked, list[Problem]]:
    """Headers, numbers of shape (lines, columns), and all that is wrong with the headers or the lines.

    Cells that are no numbers are masked.

    Raises DescriptionError if the file cannot be read at all.
    """
    lines = _lines(path, str(path))
    header = [name.strip() for name in lines.pop(0)[1]] if lines else []
    problems = _header_problems(header)
    table, more = _numbers(header, lines)
    return header, table, problems + more


def split(header: Sequence[str], table: Array) -> tuple[Array, dict[str, Array]]:
    """The column of time, shape (N,), s, and the others by their headers."""
    time = [name.lower() for name in header].index("time")
    return table[:, time], {name: table[:, k] for k, name in enumerate(header) if k != time}


def _lines(path: Path, source: str) -> list[tuple[int, list[str]]]:
    """Line number and cells of every line that is not empty."""
    text = read_text(path, _LARGEST)
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter)
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise DescriptionError(source, [Problem("", f"is not a table of values: {error}")]) from None


def _header_problems(header: Sequence[str]) -> list[Problem]:
    problems = []
    if [name.lower() for name in header].count("time") != 1:
        shown = ", ".join(header[:4])[:80] or "nothing"
        problems.append(Problem("line 1", f"expected headers with one column 'time', got {shown}"))
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        problems.append(Problem("line 1", f"expected every header once, got twice: {', '.join(repeated)}"))
    return problems


def _numbers(header: Sequence[str], lines: Sequence[tuple[int, list[str]]]) -> tuple[Masked, list[Problem]]:
    """The lines as an array of shape (lines, columns), masked where there is no number, and what is wrong."""
    table = np.ma.zeros((len(lines), len(header)))
    problems = [] if lines else [Problem("", "expected at least one line of numbers below the headers")]
    for row, (number, cells) in enumerate(lines):
        problems += _fill(table, row, header, cells, f"line {number}")
    return table, problems


def _fill(table: Masked, row: int, header: Sequence[str], cells: Sequence[str], where: str) -> list[Problem]:
    if len(cells) != len(header):
        table[row] = np.ma.masked
        return [Problem(where, f"expected {len(header)} values, one per header, got {len(cells)}")]
    problems = []
    for k, cell in enumerate(cells):
        try:
            table[row, k] = float(cell)
        except ValueError:
            table[row, k] = np.ma.masked
            problems.append(Problem(where, f"{header[k]}: expected a number, got {cell[:40]!r}"))
    return problems
