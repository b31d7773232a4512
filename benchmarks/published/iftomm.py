"""Problems A01 to A05 of the IFToMM library of computational benchmark problems; A03 is in `andrews`."""

from __future__ import annotations

import numpy as np
from helpers_four_bars import n_four_bar
from scipy.special import ellipj, ellipk

import gpmelica as gp
from gpmelica.description.load import from_data

from .case import HERE, Case, Published, Trajectory, by_name, read

LIBRARY = "IFToMM library of computational benchmark problems"


def four_bars(count: int, stop: float) -> gp.Model:
    """The N-four-bar mechanism with N = count, over `stop` seconds."""
    times = {"start": "description", "stop": stop, "output_step": 0.05, "tolerance": 1e-9}
    return gp.Model(from_data(n_four_bar(count, name=f"A02with{count}", simulation=times)))


def pendulum() -> Published:
    """Closed form of A01: with t₀ a quarter of the period before the release, sin(φ/2) = k·sn(ω (t + t₀), k)."""
    frequency, modulus = np.sqrt(9.81), np.sin(np.pi / 4)
    rows = []
    for time in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0):
        sine = modulus * ellipj(frequency * time + ellipk(modulus**2), modulus**2)[0]
        angle = 2 * np.arcsin(sine)
        rows += [(time, "P_x", float(-np.sin(angle))), (time, "P_y", float(-np.cos(angle)))]
    return Published(tuple(rows))


def _load(name: str) -> gp.Model:
    return gp.load(HERE / f"{name}.toml")


_PENDULUM = {"P_x": "P_x", "P_y": "P_y"}
_P3 = {f"P3_{axis}": f"P3_{axis}" for axis in "xyz"}

CASES = (
    Case(
        name="a01",
        source=f"{LIBRARY}, A01 simple pendulum, reference solution",
        precision="6 digits printed",
        bound=2e-6,
        values=Trajectory(
            lambda: _load("a01_pendulum"), lambda: read("a01_pendulum.csv"), (*_PENDULUM,), by_name(**_PENDULUM)
        ),
        quick=True,
    ),
    Case(
        name="a01-closed-form",
        source=f"{LIBRARY}, A01 simple pendulum, closed form by Jacobi's elliptic functions",
        precision="exact",
        bound=1e-7,
        values=Trajectory(lambda: _load("a01_pendulum"), pendulum, (*_PENDULUM,), by_name(**_PENDULUM)),
        quick=True,
    ),
    Case(
        name="a02",
        source=f"{LIBRARY}, A02 N-four-bar with N = 40, reference solution by Adams",
        precision="6 digits printed; the library allows an error of 1e-3",
        bound=1e-5,
        values=Trajectory(
            lambda: four_bars(40, 20.0),
            lambda: read("a02_n_four_bar.csv"),
            ("B0_x", "B0_y"),
            by_name(B0_x="B0_x", B0_y="B0_y"),
            # CVODE of the model-exchange run does not finish at this tolerance, the reference solver at none
            by=("fmu-native-cs",),
        ),
    ),
    Case(
        name="a04",
        source=f"{LIBRARY}, A04 Bricard mechanism, reference solution in a graph of MBSbenchmarksInOpenSim",
        precision="read from a graph: 0.01 m",
        bound=0.015,
        values=Trajectory(lambda: _load("a04_bricard"), lambda: read("a04_bricard.csv"), (*_P3,), by_name(**_P3)),
    ),
    Case(
        name="a05",
        source=f"{LIBRARY}, A05 stiff flyball governor, reference solution in a graph of MBSbenchmarksInOpenSim",
        precision="read from a graph: 0.005 m",
        bound=0.008,
        values=Trajectory(
            lambda: _load("a05_governor"),
            lambda: read("a05_governor.csv"),
            ("slider_position",),
            by_name(s="slider_position"),
        ),
    ),
)
