"""Lookup tables from files, which expressions evaluate as `table(name, t)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import PrivateAttr, model_validator

from ...core.errors import DescriptionError, Problem
from ...core.input_files import Row, numbers, read_rows
from ...core.trajectory import Array
from ...language.suggest import unknown
from ..fields.types import KeyProblem, Part, Text

MOST_POINTS = 10_000
_LARGEST = 10_000_000  # bytes
_MOST_PROBLEMS = 10
_MOST_KINKS = 500
# Cubic tables with free ends need at least 4 points; all other tables need at least 2.
_FEWEST = {("cubic", "free"): 4}
_CONTINUOUS = {"linear": 0, "pchip": 1, "cubic": 2}


class Table(Part):
    """Lookup table over time, read from two columns of a CSV file and interpolated between the points."""

    file: Text
    """CSV file, relative to the folder of the description, with headers in the first line and at most
    10,000 further lines."""
    time: str = "time"
    """Header of the column of times, s, which must increase."""
    value: str
    """Header of the column of values, in the unit that the expression requires."""
    interpolation: Literal["cubic", "pchip", "linear"] = "cubic"
    """`cubic`: spline with continuous second derivative; `pchip`: cubic pieces with continuous slope that
    never leave the range of their two points, for forces, rest lengths and constraints on velocities;
    `linear`: with kinks, for forces only."""
    ends: Literal["rest", "free"] = "rest"
    """`rest`: constant before the first and after the last time, and zero slope at both ends, except of a
    linear table; `free`: the run must lie within the table, and the slopes at the ends follow from the
    neighbouring points."""

    _points: tuple[tuple[float, ...], tuple[float, ...]] = PrivateAttr(((), ()))
    _problems: tuple[Problem, ...] = PrivateAttr(())

    @model_validator(mode="after")
    def _with_points(self) -> Table:
        if self.interpolation == "linear" and self.ends == "free":
            raise KeyProblem(
                "ends",
                'ends = "free" is allowed for cubic and pchip interpolation only; beyond its ends, a linear table'
                " keeps its first or last value",
            )
        fewest = _FEWEST.get((self.interpolation, self.ends), 2)
        self._points, self._problems = _read(Path(self.file), _stamp(self.file), self.time, self.value, fewest)
        return self

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the CSV file.

        Each problem is assigned to a key of `[tables.NAME]` in the description, such as `file` or `time`.
        """
        return self._problems

    @property
    def points(self) -> tuple[Array, Array]:
        """Times, s, and values of the lookup table, two arrays of shape (N,).

        The arrays are empty if the file cannot be read.
        """
        time, value = map(np.array, self._points)
        return time, value

    @property
    def span(self) -> tuple[float, float]:
        """First and last time of the lookup table, s."""
        return self._points[0][0], self._points[0][-1]

    @property
    def continuous(self) -> int:
        """Order of the highest continuous time derivative of the interpolated values.

        The order is 0 if only the values are continuous. It is 1 if the slope is also continuous, and 2
        if the second derivative is also continuous.
        """
        return _CONTINUOUS[self.interpolation]

    @property
    def has_kinks(self) -> bool:
        """Whether integration steps end exactly at each point of the lookup table.

        Steps end there because the slope or the second derivative jumps. Long tables are an exception:
        their jumps are small, and too many steps would be necessary.
        """
        return self.interpolation != "cubic" and len(self._points[0]) <= _MOST_KINKS

    @property
    def end_values(self) -> tuple[float, float]:
        """First and last value of the lookup table."""
        return self._points[1][0], self._points[1][-1]


def _stamp(file: str) -> tuple[int, int] | None:
    """Return the modification time and the size of a file; None if the file is missing.

    A different time or size shows that the file has changed.
    """
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


_Found = tuple[tuple[tuple[float, ...], tuple[float, ...]], tuple[Problem, ...]]


@lru_cache(maxsize=64)
def _read(path: Path, stamp: tuple[int, int] | None, time: str, value: str, fewest: int) -> _Found:
    """Return the points and the problems of a CSV file.

    The argument `stamp` contains the modification time and the size of the file. It is part of the
    cache key, so a changed file is read again. All cases of a description share the cached points.
    """
    if stamp is None or not path.is_file():
        text = f"there is no file {str(path)!r}; paths are relative to the folder of the description"
        return ((), ()), (Problem("file", text),)
    try:
        lines = read_rows(path, _LARGEST)
    except DescriptionError as error:
        return ((), ()), tuple(Problem("file", f"{path.name} {problem}") for problem in error.problems)
    header = [name.strip() for name in lines.pop(0)[1]] if lines else []
    problems = list(_header_problems(path.name, header, {"time": time, "value": value}))
    problems += [] if problems else _size_problems(path.name, len(lines), fewest)
    if problems:
        return ((), ()), tuple(problems)
    columns, whole = (
        (header.index(time), header.index(value)),
        [row for row in lines if len(row[1]) == len(header)],
    )
    found, wrong = numbers([time, value], [(line, [cells[k] for k in columns]) for line, cells in whole])
    problems = [
        Problem(
            "file", f"{path.name}, line {line}: expected {len(header)} values, one per header, got {len(cells)}"
        )
        for line, cells in lines
        if len(cells) != len(header)
    ]
    problems += [Problem("file", f"{path.name}, {problem}") for problem in wrong]
    problems += _value_problems(path.name, whole, found, (time, value))
    t, x = (tuple(column) for column in np.ma.getdata(found).T.tolist())
    return (t, x), tuple(problems[:_MOST_PROBLEMS])


def _header_problems(file: str, header: Sequence[str], wanted: dict[str, str]) -> Iterator[Problem]:
    for key, name in wanted.items():
        if name not in header:
            yield Problem(key, f"{file}, line 1: {unknown('column', name, header)}")
        elif header.count(name) > 1:
            yield Problem(
                key, f"{file}, line 1: found {header.count(name)} columns named {name!r}; rename one of them"
            )


def _size_problems(file: str, lines: int, fewest: int) -> list[Problem]:
    if fewest <= lines <= MOST_POINTS:
        return []
    return [Problem("file", f"{file}: expected {fewest} to {MOST_POINTS} lines of numbers, got {lines}")]


def _value_problems(file: str, lines: Sequence[Row], found: Any, names: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each infinite or too large number, and for each time that does not increase."""
    before = -np.inf
    for (line, _), row in zip(lines, found, strict=True):
        for name, x in zip(names, row, strict=True):
            if x is not np.ma.masked and not abs(x) <= 1e12:
                yield Problem("file", f"{file}, line {line}: {name}: expected a number up to 1e12, got {x:g}")
        if row[0] is not np.ma.masked and row[0] <= before:
            text = f"expected increasing times, got {row[0]:.9g} s after {before:.9g} s"
            yield Problem("time", f"{file}, line {line}: {text}")
        before = before if row[0] is np.ma.masked or not np.isfinite(row[0]) else max(before, float(row[0]))
