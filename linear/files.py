"""Functions that write a linear model to three files: JSON, NumPy npz, and mat.

MATLAB, Octave and SciPy can read mat files.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.io import savemat

from ..analysis.system import System
from ..core.csv_file import write_csv
from ..core.errors import DescriptionError
from ..core.files import write_all
from ..core.strict_json import strict_json
from ..core.trajectory import Trajectory
from ..report.plots.style import render, styled
from .bode import refuse_too_many
from .state_space import StateSpace

_NUMBERS = ("A", "B", "C", "D", "x", "u", "y", "drift", "q", "motion")
_NAMES = ("states", "inputs", "outputs", "coordinates", "notes")


def check_bode(model: System, outputs: Sequence[str] | None, folder: Path | None) -> None:
    """Raise DescriptionError if a Bode plot would have no or more than eight curves, or if no folder is given."""
    if folder is None:
        raise DescriptionError("bode", "expected a folder for bode.svg, got none; add the option --out")
    program = model.native_program
    refuse_too_many(len(program.inputs), len(program.outputs if outputs is None else outputs))


def write(model: StateSpace, folder: Path, *, bode: bool = False) -> list[Path]:
    """Write `linear.json`, `linear.npz` and `linear.mat` with the fields of `StateSpace`.

    Parameters
    ----------
    model : StateSpace
        Linear model.
    folder : Path
        Folder of the files.
    bode : bool
        Whether to write a Bode plot `bode.svg` as well.

    Returns
    -------
    list of Path
        Paths of the written files.
    """
    contents: dict[str, str | bytes] = {
        "linear.json": strict_json(model.data()),
        "linear.npz": _npz(model),
        "linear.mat": _mat(model),
    }
    if bode:
        with styled():
            contents["bode.svg"] = render(model.bode())[1]
    return write_all(folder, contents)


def write_trim(model: StateSpace, folder: Path, stop: float) -> Path:
    """Write `trim.csv`, an input table for `run --input` with the inputs of a linear model.

    The inputs are constant from time 0 to `stop`, s.
    """
    values = {name: np.full(2, value) for name, value in zip(model.inputs, model.u, strict=True)}
    path = folder / "trim.csv"
    write_csv(path, Trajectory("trim", np.array([0.0, stop]), values))
    return path


def _npz(model: StateSpace) -> bytes:
    stream = io.BytesIO()
    names: dict[str, Any] = {name: np.array(getattr(model, name), dtype=str) for name in _NAMES}
    np.savez(stream, **_numbers(model), **names)
    return stream.getvalue()


def _mat(model: StateSpace) -> bytes:
    stream = io.BytesIO()
    # MATLAB reads a NumPy array of Python objects as a cell array.
    names = {name: np.array(getattr(model, name), dtype=object) for name in _NAMES}
    savemat(cast(Any, stream), {**_numbers(model), **names}, oned_as="column")
    return stream.getvalue()


def _numbers(model: StateSpace) -> dict[str, Any]:
    return {"time": model.time, **{name: getattr(model, name) for name in _NUMBERS}}
