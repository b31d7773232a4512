"""Result files: comma separated values, time first, one column per signal."""

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
    lines = read_rows(path, _LARGEST)
    header = [name.strip() for name in lines.pop(0)[1]] if lines else []
    problems = header_problems(header)
    table, more = numbers(header, lines)
    return header, table, problems + more


def split(header: Sequence[str], table: Array) -> tuple[Array, dict[str, Array]]:
    """The column of time, shape (N,), s, and the others by their headers."""
    time = [name.lower() for name in header].index("time")
    return table[:, time], {name: table[:, k] for k, name in enumerate(header) if k != time}


def header_problems(header: Sequence[str], where: str = "line 1") -> list[Problem]:
    """Return the problems of the headers of columns over time."""
    problems = []
    if [name.lower() for name in header].count("time") != 1:
        shown = ", ".join(header[:4])[:80] or "nothing"
        problems.append(Problem(where, f"expected headers with one column 'time', got {shown}"))
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        problems.append(Problem(where, f"expected every header once, got twice: {', '.join(repeated)}"))
    return problems
