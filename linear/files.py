"""A linear model as files: JSON, NumPy's npz, and .mat for MATLAB, Octave and SciPy."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.io import savemat

from ..fmu.files.files import write_atomically
from ..fmu.files.strict_json import strict_json
from .state_space import StateSpace

_NUMBERS = ("A", "B", "C", "D", "x", "u", "y", "drift", "motion")
_NAMES = ("states", "inputs", "outputs", "coordinates", "notes")


def write(model: StateSpace, folder: Path) -> list[Path]:
    """Write `linear.json`, `linear.npz` and `linear.mat`, with the fields of `StateSpace`; returns the paths."""
    contents: dict[str, str | bytes] = {
        "linear.json": strict_json(model.data()),
        "linear.npz": _npz(model),
        "linear.mat": _mat(model),
    }
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return [folder / name for name in contents]


def _npz(model: StateSpace) -> bytes:
    stream = io.BytesIO()
    names: dict[str, Any] = {name: np.array(getattr(model, name), dtype=str) for name in _NAMES}
    np.savez(stream, **_numbers(model), **names)
    return stream.getvalue()


def _mat(model: StateSpace) -> bytes:
    stream = io.BytesIO()
    # arrays of objects are cell arrays there
    names = {name: np.array(getattr(model, name), dtype=object) for name in _NAMES}
    savemat(cast(Any, stream), {**_numbers(model), **names}, oned_as="column")
    return stream.getvalue()


def _numbers(model: StateSpace) -> dict[str, Any]:
    return {"time": model.time, **{name: getattr(model, name) for name in _NUMBERS}}
