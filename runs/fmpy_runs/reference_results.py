"""Reference results of an FMU in the file format that fmi-standard.org requests from exporting tools.

The rules of fmi-standard.org ("Compatibility information") require at most ten variables, at most
one megabyte, and quoted headers. Inputs must be linear between the times of their table.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...analysis.system import System
from ...core.files import write_all
from ...core.trajectory import Array, Trajectory
from ...core.version import __version__
from ...description.types.origin import of_point
from .inputs import InputTable

MOST_SIGNALS = 10
MOST_ROWS = 4000  # A file with ten columns and this many rows has at most one megabyte.
RELATIVE_TOLERANCE = 1e-6


def write_reference_results(
    model: System, out: Path, fmi: str, truth: Trajectory, inputs: InputTable | None
) -> list[Path]:
    """Write `Name_ref.csv`, `Name_ref.opt`, `Readme.txt`, and `Name_in.csv` if the FMU has inputs.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    out : Path
        Folder of the files.
    fmi : str
        FMI version of the FMU.
    truth : Trajectory
        Run of the reference solver.
    inputs : InputTable or None
        Inputs of the run; None if the inputs keep their initial values.

    Returns
    -------
    list of Path
        Paths of the written files.
    """
    time, signals = _thinned(truth.time, {name: truth.signals[name] for name in important(model)})
    texts = {
        f"{model.name}_ref.csv": _csv(time, signals),
        f"{model.name}_ref.opt": _options(model, time),
        "Readme.txt": _readme(model, fmi),
    }
    if model.program.inputs:
        table = inputs or _unchanged(model)
        texts[f"{model.name}_in.csv"] = _csv(table.time, table.values)
    return write_all(out, texts)


def important(model: System) -> list[str]:
    """Return the names of at most ten variables that show the motion.

    Joint coordinates come first, then points, then all other coordinates.
    """
    coordinates = model.mechanism.coordinates
    joints = [c.symbol for c in coordinates if c.role == "joint"]
    points = [of_point(point, "position", axis).name for point in model.mechanism.points for axis in "xyz"]
    others = [c.symbol for c in coordinates if c.role != "joint"]
    return [*joints, *points, *others][:MOST_SIGNALS]


def _thinned(time: Array, signals: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
    every = -(-len(time) // MOST_ROWS)
    kept = np.unique([*range(0, len(time), every), len(time) - 1])
    return time[kept], {name: values[kept] for name, values in signals.items()}


def _unchanged(model: System) -> InputTable:
    time = np.array([0.0, model.chain.simulation.stop])
    return InputTable(time, {entry.name: np.full(2, entry.start) for entry in model.program.inputs})


def _csv(time: Array, signals: Mapping[str, Array]) -> str:
    header = ",".join(f'"{name}"' for name in ("time", *signals))
    rows = np.column_stack([time, *signals.values()]).tolist()
    return "\n".join([header, *(",".join(f"{value:.15g}" for value in row) for row in rows), ""])


def _options(model: System, time: Array) -> str:
    options = {
        "StartTime": 0.0,
        "StopTime": float(time[-1]),
        "StepSize": model.chain.simulation.output_step,
        "RelTol": RELATIVE_TOLERANCE,
        "OutputIntervalLength": float(time[1] - time[0]),
    }
    return "".join(f"{name}, {value!r}\n" for name, value in options.items())


def _readme(model: System, fmi: str) -> str:
    about = f"{model.name}: {model.chain.description or 'a mechanism'}"
    files = [
        f"{model.name}.fmu: FMI {fmi}, model exchange and co-simulation, by gpmelica {__version__}",
        f"{model.name}_ref.csv: motion by gpmelica's reference solver, which shares no equation with the FMU",
        f"{model.name}_ref.opt: times, s; StepSize is the communication step, RelTol the relative tolerance"
        " to use",
    ]
    if model.program.inputs:
        files.append(f"{model.name}_in.csv: the inputs, linear between the listed times")
    tests = (
        "Suitable tests: model exchange and co-simulation, parameters, time events of forces, state get, set and\n"
        "serialisation, dependencies, directional derivatives."
    )
    return "\n".join([about, "", *files, "", tests, ""])
