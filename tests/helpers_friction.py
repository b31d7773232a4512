"""Friction that several tests use: bristles of both models, and the benchmark of stick and slip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LUGRE = {"model": "lugre", "sigma0": 40.0, "sigma1": 0.5, "sigma2": 0.02, "mu_s": 0.25, "mu_k": 0.15, "v_s": 0.3}
DAHL = {"model": "dahl", "sigma0": 40.0, "mu_s": 0.2, "gamma": 1.5}
# Canudas de Wit et al. (1995): M = 1 kg, K = 2 N/m, pulled at 0.1 m/s; normal force 1 N: coefficients are forces
STICK_SLIP = {
    **{"model": "lugre", "sigma0": 1e5, "sigma1": np.sqrt(1e5), "sigma2": 0.4},
    **{"mu_s": 1.5, "mu_k": 1.0, "v_s": 0.001, "normal_force": 1.0},
}


def stick_slip(t: float, y: NDArray[np.float64]) -> list[float]:
    """Rates of the benchmark's own equations: x, v, z."""
    x, v, z = y
    z_dot = v - 1e5 * abs(v) * z / (1.0 + 0.5 * np.exp(-((v / 0.001) ** 2)))
    return [v, 2.0 * (0.1 * t - x) - (1e5 * z + np.sqrt(1e5) * z_dot + 0.4 * v), z_dot]
