"""Result files with comma-separated values: one column with the time, and one column per signal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .errors import DescriptionError, Problem
from .files import write_atomically
from .input_files import Masked, numbers, read_rows
from .trajectory import Array, Trajectory

_MOST_PROBLEMS = 10
_LARGEST = 1_000_000_000  # CSV files with results are rejected if they are larger than this, bytes.


def write_csv(path: Path, trajectory: Trajectory) -> None:
    """Write a trajectory as a CSV file; reading the file yields exactly the same numbers."""
    columns = [trajectory.time, *trajectory.signals.values()]
    rows = np.column_stack([np.asarray(column, dtype=float) for column in columns]).tolist()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["time", *trajectory.signals])
    writer.writerows([repr(value) for value in row] for row in rows)
    write_atomically(path, stream.getvalue())


def read_csv(path: Path) -> Trajectory:
    """Read a result file of any simulation tool.

    The first line contains the names of the columns, one of which is `time` in s. All other lines
    contain numbers. Columns are separated by commas, semicolons or tabs. If several lines have the same
    time, as at events, the last of them is used.

    Raises
    ------
    DescriptionError
        If the file is invalid; the error lists its problems.
    """
    header, table, problems = read_table(path)
    if problems:
        raise DescriptionError(str(path), problems[:_MOST_PROBLEMS])
    time, signals = split(header, table.data)
    last = np.append(time[1:] != time[:-1], True)
    return Trajectory(path.stem, time[last], {name: values[last] for name, values in signals.items()})


def read_table(path: Path) -> tuple[list[str], Masked, list[Problem]]:
    """Read the headers and numbers of a table.

    Returns
    -------
    header : list of str
        Headers of the columns.
    table : masked array, shape (lines, columns)
        Numbers; cells without a number are masked.
    problems : list of Problem
        Invalid headers and lines.

    Raises
    ------
    DescriptionError
        If the file cannot be read.
    """
    lines = read_rows(path, _LARGEST)
    header = [name.strip() for name in lines.pop(0)[1]] if lines else []
    problems = header_problems(header)
    table, more = numbers(header, lines)
    return header, table, problems + more


def split(header: Sequence[str], table: Array) -> tuple[Array, dict[str, Array]]:
    """Return the time column, shape (N,), s, and a mapping from the other headers to their columns."""
    time = [name.lower() for name in header].index("time")
    return table[:, time], {name: table[:, k] for k, name in enumerate(header) if k != time}


def header_problems(header: Sequence[str], where: str = "line 1") -> list[Problem]:
    """Return the problems of a table's headers, which must be unique and include one column
    `time`.
    """
    problems = []
    if [name.lower() for name in header].count("time") != 1:
        shown = ", ".join(header[:4])[:80] or "nothing"
        problems.append(Problem(where, f"expected headers with one column 'time', got {shown}"))
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        problems.append(Problem(where, f"expected different headers, got repeated ones: {', '.join(repeated)}"))
    return problems
