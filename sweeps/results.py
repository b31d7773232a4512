"""Result table (Parquet and CSV) and array file (zarr) of a sweep.

The files are written in batches of runs, so that the required memory does not grow with the number
of runs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import MissingToolError, UnknownNameError
from ..core.html_table import html_lines, html_table
from ..core.reasons import frequent_reasons
from ..core.trajectory import Array
from ..language.suggest import unknown
from .parts import Parts
from .points import SweepPoints
from .runs import FIGURES, ResultChunk

if TYPE_CHECKING:
    from pandas import DataFrame, Series
    from xarray import Dataset

BATCH = 1024  # Results are written in batches of this number of runs.
TABLE, TEXT, SIGNALS = "table.parquet", "table.csv", "signals.zarr"
NO_VALUE = "–"
_BEST = {"maximize": "largest", "minimize": "smallest", "": NO_VALUE}
# File names of earlier sweep results begin with this prefix until new results exist.
_EARLIER = "earlier_"


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results of a parameter sweep, stored in files.

    Parameters
    ----------
    folder
        Folder of the result files.
    keys
        Names of the varied parameters.
    objectives
        Names of the objectives.
    runs
        Number of simulations.
    failures
        Number of failed simulations.
    beyond
        Number of successful simulations whose final constraint violation exceeds both
        `simulation.violation` and the initial violation.
    report
        Path of the report page; None if no report was written.
    goals
        Goal `maximize` or `minimize`, by name of the objective. Objectives without a goal are not
        included.

    Examples
    --------
    >>> import gpmelica as gp
    >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
    >>> masses = {"links.crank.mass": [1.0, 2.0]}
    >>> found = gp.sweep(model, masses, "x=final(E_x)", "masses", signals="E_x", scheduler="here")
    >>> found
    <Sweep of links.crank.mass: 2 runs, 0 failed, in masses>
    >>> len(found.table), len(found.failed)
    (2, 0)
    >>> found.data["E_x"].shape
    (2, 11)
    """

    folder: Path
    keys: tuple[str, ...]
    objectives: tuple[str, ...]
    runs: int
    failures: int
    beyond: int
    report: Path | None = None
    goals: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Sweep of {', '.join(self.keys)}: {self.runs} runs, {self.failures} failed, in {self.folder}>"

    @property
    def path(self) -> Path:
        """Path of the result table of the sweep, a Parquet file."""
        return self.folder / TABLE

    @property
    def table(self) -> DataFrame:
        """Table with one row per run.

        The columns are the number of the run, parameter values, objectives, constraint violations,
        computing time, and the reason why a run failed.
        """
        from pandas import read_parquet

        return read_parquet(self.path)

    def best(self, objective: str | None = None) -> Series:
        """Return the row of the run with the best value of an objective.

        Parameters
        ----------
        objective
            Name of an objective with a goal. Default: the first objective with a goal.

        Returns
        -------
        pandas.Series
            Row of the table.

        Raises
        ------
        UnknownNameError
            If no objective with a goal has this name, or if all runs failed.

        Examples
        --------
        >>> import gpmelica as gp
        >>> model = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1})
        >>> masses = {"links.crank.mass": [1.0, 2.0]}
        >>> found = gp.sweep(model, masses, out="best", maximize="x=final(E_x)", scheduler="here")
        >>> float(found.best()["links.crank.mass"]), float(found.worst()["links.crank.mass"])
        (2.0, 1.0)
        """
        return self._extreme(objective, "maximize")

    def worst(self, objective: str | None = None) -> Series:
        """Return the row of the run with the worst value of an objective.

        Parameters
        ----------
        objective
            Name of an objective with a goal. Default: the first objective with a goal.

        Returns
        -------
        pandas.Series
            Row of the table.

        Raises
        ------
        UnknownNameError
            If no objective with a goal has this name, or if all runs failed.
        """
        return self._extreme(objective, "minimize")

    def _extreme(self, objective: str | None, largest_if: str) -> Series:
        name = next(iter(self.goals), "") if objective is None else objective
        if name not in self.goals:
            raise UnknownNameError(unknown("objective with a goal", name, self.goals))
        table = self.table
        values = table[name].dropna()
        if not len(values):
            raise UnknownNameError(f"expected a run with a value of {name}, got none: all runs failed")
        row = values.idxmax() if self.goals[name] == largest_if else values.idxmin()
        return table.loc[row]

    def reasons(self) -> list[str]:
        """Return the most frequent reasons why runs failed.

        Returns
        -------
        list of str
            One sentence for each reason. Reasons that differ only in numbers are combined.
        """
        return list(frequent_reasons(self.table["failed"].tolist())) if self.failures else []

    def statistics(self) -> tuple[tuple[str, ...], list[tuple[str | float, ...]]]:
        """Return a table of the objectives.

        Returns
        -------
        header : tuple of str
            Headers of the columns.
        rows : list of tuple
            One row per objective: name, smallest value, run of the smallest value, mean, largest value, run
            of the largest value, and best value. The best value is `smallest` or `largest`, or a dash if
            the objective has no goal.
        """
        table, rows = self.table, list[tuple[str | float, ...]]()
        for name in self.objectives:
            column, best = table[name].dropna(), _BEST[self.goals.get(name, "")]
            if not len(column):
                rows.append((name, *[NO_VALUE] * 5, best))
                continue
            low, high = (str(table["run"][row]) for row in (column.idxmin(), column.idxmax()))
            rows.append((name, float(column.min()), low, float(column.mean()), float(column.max()), high, best))
        return ("objective", "smallest", "in run", "mean", "largest", "in run", "best"), rows

    def _repr_html_(self) -> str:
        return html_lines(repr(self).strip("<>"), *self.reasons()) + html_table(*self.statistics())

    @property
    def failed(self) -> DataFrame:
        """Rows of the result table that belong to failed simulations."""
        table = self.table
        return table[table["failed"] != ""]

    @property
    def data(self) -> Dataset:
        """Recorded signals as functions of run and time; empty if the sweep recorded no signals."""
        from xarray import Dataset, open_zarr

        path = self.folder / SIGNALS
        return open_zarr(path, chunks=None) if path.exists() else Dataset()


def check_tools() -> None:
    """Raise MissingToolError if a package for writing the results is not installed."""
    needed = ("filelock", "pandas", "pyarrow", "xarray", "zarr")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise MissingToolError(
            f"the results of a sweep require {', '.join(missing)}: pip install 'gpmelica[sweep]'"
        )


def mark_as_earlier(folder: Path) -> None:
    """Add the prefix `earlier_` to the names of the result table and the array file.

    Results of an earlier command thus remain available if the new command fails.
    """
    for name in (TABLE, TEXT, SIGNALS):
        path = folder / name
        if path.exists():
            _forget(folder / f"{_EARLIER}{name}")
            path.rename(folder / f"{_EARLIER}{name}")


def forget_earlier(folder: Path) -> None:
    """Remove the files with the prefix `earlier_`, after new results have been written."""
    for name in (TABLE, TEXT, SIGNALS):
        _forget(folder / f"{_EARLIER}{name}")


def _forget(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_table(folder: Path, points: SweepPoints, parts: Parts, objectives: Sequence[str]) -> None:
    """Write the result table as `table.parquet` and `table.csv`; all runs must be finished."""
    from pyarrow import Table, csv, parquet

    kinds = {TABLE: parquet.ParquetWriter, TEXT: csv.CSVWriter}
    with ExitStack() as stack:
        writers = list[Any]()
        for part in parts.batches(BATCH):
            table = Table.from_pydict(_columns(points, part, objectives))
            writers = writers or [
                stack.enter_context(kind(folder / f".{name}.part", table.schema)) for name, kind in kinds.items()
            ]
            for writer in writers:
                writer.write_table(table)
    for name in kinds:
        (folder / f".{name}.part").replace(folder / name)


def _columns(points: SweepPoints, part: ResultChunk, objectives: Sequence[str]) -> dict[str, Any]:
    rows = [points.at(int(number)) for number in part.numbers]
    columns: dict[str, Any] = {"run": np.asarray(part.numbers, dtype=np.int64)}
    columns |= {key: _column([row[key] for row in rows], points, key) for key in points.keys}
    columns |= {name: part.figures[:, j] for j, name in enumerate((*objectives, *FIGURES))}
    return columns | {"failed": list(part.reasons)}


def _column(values: list[Any], points: SweepPoints, key: str) -> Any:
    known = [value for axis in points.axes if axis.key == key for value in axis.values] or values
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return np.array(values, dtype=float)
    return [str(value) for value in values]


def write_signals(
    folder: Path, points: SweepPoints, parts: Parts, time: Array, kept: Sequence[str], units: Mapping[str, str]
) -> None:
    """Write the recorded signals of all runs to `signals.zarr`; all runs must be finished."""
    if not kept:
        return
    path = folder / f".{SIGNALS}.part"
    shutil.rmtree(path, ignore_errors=True)
    for number, data in enumerate(_datasets(points, parts, time, kept, units)):
        if number:
            data.to_zarr(path, append_dim="run", zarr_format=2, consolidated=True)
        else:
            chunks = {name: {"chunks": (BATCH, len(time))} for name in kept}
            data.to_zarr(path, mode="w", encoding=chunks, zarr_format=2, consolidated=True)
    shutil.rmtree(folder / SIGNALS, ignore_errors=True)
    path.replace(folder / SIGNALS)


def _datasets(
    points: SweepPoints, parts: Parts, time: Array, kept: Sequence[str], units: Mapping[str, str]
) -> Iterator[Dataset]:
    from xarray import Dataset

    for part in parts.batches(BATCH):
        rows = [points.at(int(number)) for number in part.numbers]
        along = {key: ("run", _column([row[key] for row in rows], points, key)) for key in points.keys}
        variables = {
            name: (("run", "time"), part.signals[:, :, j], {"units": units.get(name, "")})
            for j, name in enumerate(kept)
        }
        coordinates = {"run": part.numbers, "time": ("time", time, {"units": "s"}), **along}
        yield Dataset(variables, coordinates)
