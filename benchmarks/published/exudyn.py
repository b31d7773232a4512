"""Results that Exudyn keeps with its test models."""

from __future__ import annotations

import numpy as np

import gpmelica as gp

from .case import FMU, HERE, Array, Case, Published, Signals, Trajectory, read
from .iftomm import four_bars

_SOURCE = "Exudyn 1.11, test model"
_STEPS = ("1e-3", "5e-4", "2.5e-4", "1.25e-4")
_START = {"rod1": (0, 0, 0), "rod2": (1, 0, 0), "rod3": (1, -1, 0), "rod4": (1, -1, 1), "rod5": (0, -1, 1)}
_NO_TURN = {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
_POSES = {
    f"{link}_{signal}": value
    for link, place in _START.items()
    for signal, value in (
        *((f"origin_{axis}", float(start)) for axis, start in zip("xyz", place, strict=True)),
        *((f"quaternion_{part}", start) for part, start in _NO_TURN.items()),
    )
}


def _series(recorded: Signals) -> Signals:
    """Return the recorded end position, once per time step of the published results."""
    return {f"step {step} s, B0_{axis}": recorded[f"B0_{axis}"] for axis in "xy" for step in _STEPS}


def _norm(recorded: Signals) -> Signals:
    """Norm of the changes of all origins and quaternions since the start."""
    changes: list[Array] = [recorded[signal] - start for signal, start in _POSES.items()]
    return {"norm of all coordinates": np.linalg.norm(changes, axis=0)}


CASES = (
    Case(
        name="exudyn-four-bars",
        source=f"{_SOURCE} fourBarMechanismIftomm.py: double four-bar with four step sizes",
        precision="10 digits; error of the finest step 7e-7 by its own series (order 2)",
        bound=6e-5,
        values=Trajectory(
            lambda: four_bars(2, 10.0), lambda: read("exudyn.csv"), ("B0_x", "B0_y"), _series, by=FMU
        ),
    ),
    Case(
        name="exudyn-bricard",
        source=f"{_SOURCE} bricardMechanism.py: norm of all coordinates at 1 s",
        precision="16 digits printed; steps of 1 ms by a method of order 2",
        bound=1e-5,
        values=Trajectory(
            lambda: gp.load(HERE / "a04_bricard.toml"),
            # the test model adds one degree of freedom and one redundant constraint to the norm
            lambda: Published(((1.0, "norm of all coordinates", 4.172189649307425 - 2.0),)),
            (*_POSES,),
            _norm,
        ),
    ),
)
