"""Andrews' squeezing mechanism, whose solution the test set for IVP solvers publishes."""

from __future__ import annotations

import numpy as np

import gpmelica as gp

from .case import HERE, Case, Signals, Trajectory, read

ANGLES = {"beta": "K1", "theta": "K2", "gamma": "K3", "phi": "K4", "delta": "K5", "omega": "K6", "epsilon": "K7"}
_RATES = {"": "", "_dot": "_dot", "_ddot": "_ddot"}
_FRAMES = ("P3", "P4", "P6")
_ROWS = {f"{angle}{rate}": f"{link}_angle{rate}" for rate in _RATES for angle, link in ANGLES.items()}


def _quantities(recorded: Signals) -> Signals:
    """Angles, their rates and accelerations, and the multipliers: forces at the common point in world axes, N."""
    found = {quantity: recorded[signal] for quantity, signal in _ROWS.items()}
    angle = recorded["K1_angle"] + recorded["K2_angle"]
    c, s = np.cos(angle), np.sin(angle)
    for k, frame in enumerate(_FRAMES):
        x, y = (recorded[f"{frame}_load_f{axis}"] for axis in "xy")
        found |= {f"lambda{2 * k + 1}": c * x - s * y, f"lambda{2 * k + 2}": s * x + c * y}
    return found


CASES = (
    Case(
        name="andrews",
        source="Test set for IVP solvers, Andrews' squeezing mechanism, reference solution at 0.03 s by PSIDE",
        precision="16 digits printed; the crank differs by 1e-9 rad, which explains the other differences",
        bound=3e-6,
        values=Trajectory(
            model=lambda: gp.load(HERE / "andrews.toml"),
            published=lambda: read("andrews.csv"),
            signals=(*_ROWS.values(), *(f"{frame}_load_f{axis}" for frame in _FRAMES for axis in "xy")),
            quantities=_quantities,
            relative=True,
        ),
        quick=True,
    ),
)
