"""Reading of mechanism states (time, coordinates, rates, further states) from files or JSON data."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.system import System
from ...core.errors import DescriptionError, Problem
from ...core.input_files import read_text
from ...core.trajectory import Array
from ...mechanism import signal_names

_LARGEST = 1_000_000  # State files larger than this, bytes, are rejected.


@dataclass(frozen=True)
class State:
    """State of a mechanism with n coordinates.

    Parameters
    ----------
    t : float
        Time, s.
    q, qd : ndarray, shape (n,)
        Coordinates, rad or m, and rates, rad/s or m/s.
    z : ndarray, shape (f,)
        Further states; see `further_states`.
    """

    t: float
    q: Array
    qd: Array
    z: Array = field(default_factory=lambda: np.zeros(0))


def read_state(path: Path, n: int, further: Sequence[float]) -> State:
    """Read a state file `{"t": 0.0, "q": […], "qd": […], "z": […]}`; see `given_state`."""
    try:
        data = json.loads(read_text(path, _LARGEST))
    except (ValueError, RecursionError) as error:
        raise DescriptionError(str(path), f"is not JSON: {error}") from None
    return given_state(data, n, further, str(path))


def given_state(data: Any, n: int, further: Sequence[float], source: str = "state") -> State:
    """Return a state from data `{"t": 0.0, "q": […], "qd": […], "z": […]}`.

    Parameters
    ----------
    data
        Parsed JSON data.
    n : int
        Number of coordinates.
    further : sequence of float
        Initial values of further states, which apply if `z` is omitted.
    source : str
        Origin of the data, for messages.

    Raises
    ------
    DescriptionError
        If the data are invalid; the message lists all problems.
    """
    problems = _problems(data, n, len(further))
    if problems:
        raise DescriptionError(source, problems)
    q, qd, z = (np.array(data.get(key, further), float) for key in ("q", "qd", "z"))
    return State(float(data.get("t", 0.0)), q, qd, z)


def _problems(data: Any, n: int, f: int) -> list[Problem]:
    if not isinstance(data, dict):
        return [Problem("", 'expected an object {"t": 0.0, "q": […], "qd": […]}')]
    known = ("t", "q", "qd", "z")
    unknown = [
        Problem(key[:60], f"unknown key; expected one of {', '.join(known)}") for key in data if key not in known
    ]
    lengths = {"q": n, "qd": n, "z": f}
    wrong = [
        Problem(key, f"expected a list of {size} finite number(s), got {str(data.get(key))[:60]}")
        for key, size in lengths.items()
        if not (key == "z" and key not in data) and not _is_vector(data.get(key), size)
    ]
    if not _is_vector([data.get("t", 0.0)], 1):
        wrong.append(Problem("t", f"expected a finite number, got {str(data['t'])[:60]}"))
    return unknown + wrong


def _is_vector(value: Any, size: int) -> bool:
    return isinstance(value, list) and len(value) == size and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number within the range of double precision."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def further_states(model: System) -> dict[str, float]:
    """Return the initial values of all states other than coordinates and their rates, by name.

    The order is: bristle deflections, two states of each input filter (offset and rate), and states of
    controllers.
    """
    coordinates, internal = model.mechanism.coordinates, model.problem.model.internal
    bristles = signal_names([c for c in coordinates if c.friction is not None], "bristle")
    return dict.fromkeys(bristles, 0.0) | dict(zip(internal.names, internal.start.tolist(), strict=True))


def signals(model: System, state: State) -> dict[str, float]:
    """Return the values of all coordinates, rates and further states by name.

    The FMU need not have all these variables as states.
    """
    coordinates = model.mechanism.coordinates
    names = signal_names(coordinates, "position") + signal_names(coordinates, "velocity")
    names += further_states(model)
    return dict(zip(names, [*state.q.tolist(), *state.qd.tolist(), *state.z.tolist()], strict=True))
