"""Cases with published values, and runs of the product that are compared with them."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import gpmelica as gp
from gpmelica.runs.fmpy_runs import simulate as runs

Array = NDArray[np.float64]
Signals = Mapping[str, Array]
HERE = Path(__file__).parent
FMU = ("fmu-native-me", "fmu-native-cs")
RUNS = (*FMU, "reference")
_MODES: dict[str, runs.Mode] = {"fmu-native-me": "me", "fmu-native-cs": "cs"}


@dataclass(frozen=True)
class Value:
    """One published number beside the product's.

    Parameters
    ----------
    quantity
        Name, with the time where it is a trajectory's.
    run
        Run of the product, named as in `result.json`; `linearize` for eigenvalues.
    published, ours
        Numbers in the same unit.
    scale
        Magnitude that the difference is divided by, in the same unit.
    """

    quantity: str
    run: str
    published: float
    ours: float
    scale: float

    @property
    def difference(self) -> float:
        """Absolute difference over the scale."""
        return abs(self.ours - self.published) / self.scale


@dataclass(frozen=True)
class Case:
    """A mechanism with published values.

    Parameters
    ----------
    name
        Name for `--case`.
    source
        Where the values are published.
    precision
        How precise the published values are, in words.
    bound
        Largest difference that a right product shows; not smaller than the precision of the published values.
    values
        Gives the values; its argument is a folder for FMUs.
    quick
        Whether the test suite runs the case.
    """

    name: str
    source: str
    precision: str
    bound: float
    values: Callable[[Path], Iterator[Value]]
    quick: bool = False

    def compared(self) -> list[Value]:
        """All values, computed in a folder of their own."""
        with tempfile.TemporaryDirectory() as folder:
            return list(self.values(Path(folder)))


@dataclass(frozen=True)
class Published:
    """Values of quantities at times, s."""

    rows: tuple[tuple[float, str, float], ...]

    @cached_property
    def scales(self) -> dict[str, float]:
        """Quantity → largest published magnitude of the vector that it belongs to."""
        largest: dict[str, float] = {}
        for _, quantity, value in self.rows:
            largest[vector(quantity)] = max(largest.get(vector(quantity), 0.0), abs(value))
        return {quantity: largest[vector(quantity)] for _, quantity, _ in self.rows}


def vector(quantity: str) -> str:
    """Name of the vector whose component the quantity is: `force` of `force_x`; a scalar's own name."""
    name, _, axis = quantity.rpartition("_")
    return name if axis in ("x", "y", "z") else quantity


def read(name: str) -> Published:
    """Published values of a CSV file in this folder; lines with # say where they are from."""
    lines = [line for line in (HERE / name).read_text().splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines)
    return Published(tuple((float(row["time"]), row["quantity"], float(row["published"])) for row in rows))


@dataclass(frozen=True)
class Trajectory:
    """A comparison of runs with published values at times.

    Parameters
    ----------
    model
        Gives the description.
    published
        Gives the published values.
    signals
        Signals to record.
    quantities
        Published quantities of the recorded signals, arrays over the output times.
    by
        Runs that are compared.
    relative
        Whether each difference is relative to its own value instead of to the vector's largest one.
    """

    model: Callable[[], gp.Model]
    published: Callable[[], Published]
    signals: Sequence[str]
    quantities: Callable[[Signals], Signals]
    by: Sequence[str] = RUNS
    relative: bool = False

    def __call__(self, folder: Path) -> Iterator[Value]:
        """Values of all runs; FMUs are built in the folder."""
        model, published = self.model(), self.published()
        for run in self.by:
            time, recorded = record(model, run, folder, self.signals)
            ours = self.quantities(recorded)
            for at, quantity, value in published.rows:
                scale = abs(value) if self.relative else published.scales[quantity]
                name = f"{quantity} at {at:g} s"
                yield Value(name, run, value, float(ours[quantity][_index(time, at)]), scale)


def _index(time: Array, at: float) -> int:
    k = int(np.argmin(np.abs(time - at)))
    if abs(time[k] - at) > 1e-9 * max(1.0, at):
        raise ValueError(f"the run has no output at {at:g} s; the nearest one is at {time[k]:g} s")
    return k


def record(model: gp.Model, run: str, folder: Path, names: Sequence[str]) -> tuple[Array, dict[str, Array]]:
    """Output times, s, and recorded signals of a run over the description's horizon."""
    if run not in _MODES:
        reference = model.simulate(fresh=True)
        return reference.time, {name: reference[name] for name in names}
    settings = model.description.simulation
    found = runs.simulate(
        _fmu(model, folder),
        _MODES[run],
        names,
        name=run,
        stop=settings.stop,
        output_step=settings.output_step,
        tolerance=settings.tolerance,
    )
    return found.time, dict(found.signals)


def _fmu(model: gp.Model, folder: Path) -> Path:
    """The model's native FMU, built in the folder once."""
    path = folder / model.name / f"{model.name}.fmu"
    return path if path.exists() else model.build(path.parent, compiler="native").path


def by_name(**signals: str) -> Callable[[Signals], Signals]:
    """Quantities that are signals: published name → signal."""
    return lambda recorded: {quantity: recorded[signal] for quantity, signal in signals.items()}
