"""FMU inputs over time from a file or arrays.

The reference solver and all FMUs receive the same values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...analysis import InitialValueProblem
from ...analysis.system import System
from ...core.csv_file import header_problems, read_table, split
from ...core.errors import DescriptionError, Problem
from ...core.input_files import Masked
from ...core.trajectory import Array, Trajectory
from ...options.common import Inputs
from ...reference.kinematics.piecewise import PiecewiseLinear

_MOST_PROBLEMS = 20  # An error message lists at most this many problems.
_STEEP = 1e-8  # A ramp counts as a jump if the ramp is shorter than this fraction of the run.


@dataclass(frozen=True)
class InputTable:
    """Piecewise linear inputs over time.

    Parameters
    ----------
    time : ndarray, shape (N,), N ≥ 2
        Times, s, nondecreasing; a time that occurs twice is a jump.
    values : mapping
        Values of each input, shape (N,), in the input's unit.
    """

    time: Array
    values: Mapping[str, Array]

    @property
    def trajectory(self) -> Trajectory:
        """Input values at the times of this table, as a trajectory."""
        return Trajectory("inputs", self.time, self.values)

    def functions(self) -> dict[str, PiecewiseLinear]:
        """Return each input as a function of time for the reference solver, by name of the input."""
        return {name: PiecewiseLinear(self.time, values) for name, values in self.values.items()}

    def events(self) -> Array:
        """Return the input table for FMPy, in which every time occurs twice.

        FMPy treats a repeated time as an event and ends its step there.

        Returns
        -------
        ndarray, shape (2N,)
            Structured array with the fields `time` and the inputs.
        """
        twice = np.repeat(np.arange(len(self.time)), 2)
        table = np.empty(len(twice), dtype=[("time", float), *((name, float) for name in self.values)])
        table["time"] = self.time[twice]
        for name, values in self.values.items():
            table[name] = values[twice]
        return table


def inputs_of(model: System, given: Inputs | None) -> InputTable | None:
    """Return the inputs of a model's FMU over time, or None if no inputs are given.

    Raises
    ------
    DescriptionError
        If the inputs are invalid; the message lists all problems.
    """
    names, stop = [entry.name for entry in model.program.inputs], model.chain.simulation.stop
    if given is None:
        return None
    if isinstance(given, str | Path):
        return read_inputs(Path(given), names, stop)
    # The check also accepts a pandas DataFrame, which has the method `items` but is not a Mapping.
    if not hasattr(given, "items"):
        text = f"expected a CSV file, or arrays by name including time, got {type(given).__name__}"
        raise DescriptionError("inputs", text)
    return given_inputs(dict(given.items()), names, stop)


def problem_with(model: System, inputs: InputTable | None) -> InitialValueProblem:
    """Return the initial-value problem of a model with the inputs of its FMU over time.

    All inputs are zero if `inputs` is None.
    """
    return model.with_inputs(None if inputs is None else inputs.functions())


def read_inputs(path: Path, names: Sequence[str], stop: float) -> InputTable:
    """Read the inputs of an FMU from a CSV file with a column `time` (s) and one column per input.

    Parameters
    ----------
    path : Path
        CSV file.
    names : sequence of str
        Names of the inputs.
    stop : float
        End time, s; the file must cover the span from 0 to this time.

    Raises
    ------
    DescriptionError
        If the file is invalid; the message lists all problems.
    """
    _some(str(path), names)
    return _checked(str(path), "line 1", *read_table(path), names, stop)


def given_inputs(columns: Mapping[str, ArrayLike], names: Sequence[str], stop: float) -> InputTable:
    """Return the input table for arrays of equal length, one of which is `time`, s.

    Raises
    ------
    DescriptionError
        If the arrays are invalid; the message lists all problems.
    """
    _some("inputs", names)
    try:
        rows = np.array([np.asarray(column, dtype=float) for column in columns.values()])
    except (ValueError, TypeError) as error:
        raise DescriptionError("inputs", f"expected arrays of equal length: {error}") from None
    if rows.ndim != 2 or not rows.size:
        expected = ", ".join(("time", *names))
        raise DescriptionError("inputs", f"expected one array of numbers for each of these names: {expected}")
    header = [str(name) for name in columns]
    problems = header_problems(header, "names")
    return _checked("inputs", "names", header, np.ma.array(rows.T), problems, names, stop)


def _some(source: str, names: Sequence[str]) -> None:
    if not names:
        raise DescriptionError(source, "the model has no FMU inputs; run it without inputs")


def _checked(
    source: str,
    where: str,
    header: list[str],
    table: Masked,
    problems: list[Problem],
    names: Sequence[str],
    stop: float,
) -> InputTable:
    problems = problems + _column_problems(where, header, names)
    problems += [problem for k, name in enumerate(header) for problem in _value_problems(name, table[:, k])]
    lower = [name.lower() for name in header]
    if lower.count("time") == 1 and len(table):
        problems += _time_problems(table[:, lower.index("time")], stop)
    if problems:
        raise DescriptionError(source, problems[:_MOST_PROBLEMS])
    time, values = split(header, table.data)
    rows, instants = _with_jumps(time, _STEEP * stop)
    return _from_zero(time[instants], {name: values[name][rows] for name in names})


def _with_jumps(time: Array, least: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Replace ramps shorter than `least`, s, by jumps, because solvers cannot resolve such ramps.

    A jump consists of two rows, both with the time at which the ramp began.

    Returns
    -------
    rows, instants : ndarray of int
        Indices of rows of the given table. Row k of the new table takes its values from row `rows[k]`,
        and its time from row `instants[k]`.
    """
    kept: list[tuple[int, int]] = []
    first = 0
    while first < len(time):
        last = max(int(np.searchsorted(time, time[first] + least)) - 1, first)
        kept += [(first, first), (last, first)] if last > first else [(first, first)]
        first = last + 1
    rows, instants = np.array(kept, dtype=np.intp).T
    return rows, instants


def _from_zero(time: Array, values: Mapping[str, Array]) -> InputTable:
    """Return the input table for t ≥ 0.

    Importers handle no event at the initial time. A jump at t = 0 is therefore replaced by the values
    after the jump.
    """
    later = time > 0.0
    first = {name: PiecewiseLinear(time, column).at(0.0, 0.0) for name, column in values.items()}
    return InputTable(
        np.append(0.0, time[later]), {name: np.append(first[name], values[name][later]) for name in values}
    )


def _column_problems(where: str, header: Sequence[str], names: Sequence[str]) -> list[Problem]:
    expected, got = ", ".join(("time", *names)), ", ".join(header)[:200] or "nothing"
    missing = [name for name in names if name not in header]
    unknown = [name for name in header if name not in names and name.lower() != "time"]
    faults = [f"{name} is missing" for name in missing] + [f"the model has no input {name}" for name in unknown]
    return [Problem(where, f"expected the columns {expected}, got {got}: {fault}") for fault in faults]


def _value_problems(name: str, column: Masked) -> list[Problem]:
    bad = np.flatnonzero(np.ma.filled(~np.isfinite(column), False))
    if not len(bad):
        return []
    more = f" and in {len(bad) - 1} more rows" if len(bad) > 1 else ""
    return [Problem(f"column {name}", f"expected finite numbers, got {column[bad[0]]} in row {bad[0] + 1}{more}")]


def _time_problems(column: Masked, stop: float) -> list[Problem]:
    """Return the problems of a time column.

    The times must cover the whole run. A first or last time that is not a number is not checked.
    """
    problems, time = [], np.ma.filled(column, np.nan)
    if time[0] > 0.0 or time[-1] < stop * (1 - 1e-9):
        span = f"{time[0]:.9g} to {time[-1]:.9g} s"
        problems.append(Problem("column time", f"expected times that cover 0 to {stop:.9g} s, got {span}"))
    steps = np.diff(time)
    if np.any(steps < 0):
        row = int(np.argmax(steps < 0)) + 1
        order = f"{time[row]:.9g} s after {time[row - 1]:.9g} s"
        problems.append(
            Problem("column time", f"expected times that do not decrease, got {order} in row {row + 1}")
        )
    thrice = np.flatnonzero((steps[:-1] == 0) & (steps[1:] == 0))
    if len(thrice):
        found = f"{time[thrice[0]]:.9g} s for the third time in row {thrice[0] + 3}"
        problems.append(Problem("column time", f"expected no time in more than two rows, got {found}"))
    return problems
