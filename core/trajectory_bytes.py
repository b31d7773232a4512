"""Lossless conversion of trajectories to bytes and back.

Bytes from an untrusted source are safe, because reading does not execute any code.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from .trajectory import Alternatives, Event, Magnitude, Singular, Trajectory


def trajectory_bytes(trajectory: Trajectory) -> bytes:
    """Return a trajectory as the bytes of a NumPy archive."""
    names, others = list(trajectory.signals), trajectory.alternatives
    facts = {
        "name": trajectory.name,
        "names": names,
        "alternatives": list(others.signals),
        "wall_s": float(trajectory.wall_s),
        "steps": int(trajectory.steps),
        "note": trajectory.note,
        "extra": {key: float(value) for key, value in trajectory.extra.items()},
        "natural": [asdict(magnitude) for magnitude in trajectory.natural],
        "events": [
            asdict(replace(event, t=float(event.t), holds=bool(event.holds))) for event in trajectory.events
        ],
        "singular": [asdict(singular) for singular in trajectory.singular],
        "reused": trajectory.reused,
    }
    text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    beside = np.array([others.time, *others.signals.values()])
    np.savez(stream, facts=text, time=trajectory.time, values=trajectory.columns(names), alternatives=beside)
    return stream.getvalue()


def read_trajectory(data: bytes) -> Trajectory:
    """Return the trajectory that `trajectory_bytes` converted to bytes.

    Raises
    ------
    ValueError, KeyError, TypeError
        If the bytes are not those of a trajectory.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        facts: dict[str, Any] = json.loads(stored["facts"].tobytes())
        time, values = stored["time"], np.ascontiguousarray(stored["values"].T)
        beside = stored["alternatives"]
    signals = dict(zip(facts.pop("names"), values, strict=True))
    alternatives = Alternatives(beside[0], dict(zip(facts.pop("alternatives"), beside[1:], strict=True)))
    natural = tuple(Magnitude(**entry) for entry in facts.pop("natural"))
    events = tuple(Event(**entry) for entry in facts.pop("events"))
    singular = tuple(_singular(**entry) for entry in facts.pop("singular"))
    return Trajectory(
        time=time,
        signals=signals,
        natural=natural,
        events=events,
        singular=singular,
        alternatives=alternatives,
        **facts,
    )


def _singular(t: float, constraints: list[str], crossed: list[float] | None) -> Singular:
    return Singular(t, tuple(constraints), None if crossed is None else (crossed[0], crossed[1]))
