"""FMU inputs over time, from a file: the same values for the reference and for every FMU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...analysis import InitialValueProblem
from ...analysis.prepared import Prepared
from ...core.csv_file import header_problems, read_table, split
from ...core.errors import DescriptionError, Problem
from ...core.input_files import Masked
from ...core.trajectory import Array
from ...options.common import Inputs
from ...reference.kinematics.piecewise import PiecewiseLinear

_MOST_PROBLEMS = 20
_STEEP = 1e-8  # of the run: a faster ramp of an input is a jump


@dataclass(frozen=True)
class InputTable:
    """Inputs that are linear between instants.

    time    shape (N,), N ≥ 2, s, not decreasing; an instant given twice is a jump
    values  input → shape (N,), in the input's unit
    """

    time: Array
    values: Mapping[str, Array]

    def functions(self) -> dict[str, PiecewiseLinear]:
        """Each input as the reference solver takes it."""
        return {name: PiecewiseLinear(self.time, values) for name, values in self.values.items()}

    def events(self) -> Array:
        """The table as FMPy takes it, every instant given twice: FMPy ends its steps there, so no step has a kink.

        Structured array of shape (2N,) with the fields `time` and the inputs.
        """
        twice = np.repeat(np.arange(len(self.time)), 2)
        table = np.empty(len(twice), dtype=[("time", float), *((name, float) for name in self.values)])
        table["time"] = self.time[twice]
        for name, values in self.values.items():
            table[name] = values[twice]
        return table


def inputs_of(model: Prepared, given: Inputs | None) -> InputTable | None:
    """Return the inputs of a model's FMU over time, or None without them.

    Raises DescriptionError with all that is wrong with the inputs.
    """
    names, stop = [entry.name for entry in model.program.inputs], model.chain.simulation.stop
    if given is None:
        return None
    if isinstance(given, str | Path):
        return read_inputs(Path(given), names, stop)
    if not hasattr(given, "items"):  # a table of pandas has them, and is no mapping
        text = f"expected a CSV file, or arrays by name, time among them, got {type(given).__name__}"
        raise DescriptionError("inputs", text)
    return given_inputs(dict(given.items()), names, stop)


def problem_with(model: Prepared, inputs: InputTable | None) -> InitialValueProblem:
    """Return the initial-value problem of a model with its FMU's inputs over time; None: zero inputs."""
    return model.with_inputs(None if inputs is None else inputs.functions())


def read_inputs(path: Path, names: Sequence[str], stop: float) -> InputTable:
    """Inputs of an FMU from a file of comma separated values: a column `time` (s) and one for each of `names`.

    stop  end of the run, s, which the file must reach from 0
    Raises DescriptionError with all that is wrong with the file.
    """
    _some(str(path), names)
    return _checked(str(path), "line 1", *read_table(path), names, stop)


def given_inputs(columns: Mapping[str, ArrayLike], names: Sequence[str], stop: float) -> InputTable:
    """Input table from arrays of one length, including `time`; raises DescriptionError."""
    _some("inputs", names)
    try:
        rows = np.array([np.asarray(column, dtype=float) for column in columns.values()])
    except (ValueError, TypeError) as error:
        raise DescriptionError("inputs", f"expected arrays of one length: {error}") from None
    if rows.ndim != 2 or not rows.size:
        expected = ", ".join(("time", *names))
        raise DescriptionError("inputs", f"expected an array for each of {expected}")
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
    """Rows that remain and, for each, the row at whose time it is, where ramps shorter than `least`, s, are jumps.

    Solvers cannot resolve such a ramp; both of its ends are at the time of its begin.
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
    """The table cut at t = 0, with the values after a jump there: importers look up no event at their start."""
    later = time > 0.0
    first = {name: PiecewiseLinear(time, column).at(0.0, 0.0) for name, column in values.items()}
    return InputTable(
        np.append(0.0, time[later]), {name: np.append(first[name], values[name][later]) for name in values}
    )


def _column_problems(where: str, header: Sequence[str], names: Sequence[str]) -> list[Problem]:
    expected, got = ", ".join(("time", *names)), ", ".join(header)[:200] or "nothing"
    missing = [name for name in names if name not in header]
    unknown = [name for name in header if name not in names and name.lower() != "time"]
    text = f"expected the columns {expected}, got {got}"
    return [Problem(where, f"{text}: {name} is missing") for name in missing] + [
        Problem(where, f"{text}: the model has no input {name}") for name in unknown
    ]


def _value_problems(name: str, column: Masked) -> list[Problem]:
    bad = np.flatnonzero(np.ma.filled(~np.isfinite(column), False))
    if not len(bad):
        return []
    more = f" and in {len(bad) - 1} more rows" if len(bad) > 1 else ""
    return [Problem(f"column {name}", f"expected finite numbers, got {column[bad[0]]} in row {bad[0] + 1}{more}")]


def _time_problems(column: Masked, stop: float) -> list[Problem]:
    """Problems of the times that are numbers; coverage is only checked if the first and last time are numbers."""
    problems, time = [], np.ma.filled(column, np.nan)
    if time[0] > 0.0 or time[-1] < stop * (1 - 1e-9):
        span = f"{time[0]:.9g} to {time[-1]:.9g} s"
        problems.append(Problem("column time", f"expected times from 0 to {stop:.9g} s at least, got {span}"))
    steps = np.diff(time)
    if np.any(steps < 0):
        row = int(np.argmax(steps < 0))
        text = f"expected times that do not decrease, got {time[row + 1]:.9g} s after {time[row]:.9g} s"
        problems.append(Problem("column time", f"{text} in row {row + 2}"))
    thrice = np.flatnonzero((steps[:-1] == 0) & (steps[1:] == 0))
    if len(thrice):
        text = f"expected an instant once, or twice for a jump, got {time[thrice[0]]:.9g} s three times"
        problems.append(Problem("column time", f"{text} in row {thrice[0] + 3}"))
    return problems
