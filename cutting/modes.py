"""Computation of the vibration modes of a mechanism before it is cut into parts."""

from __future__ import annotations

from pathlib import Path

from ..analysis.system import System
from ..core.errors import GpmelicaError
from ..linear import Plant, linearized
from ..linear.point import checked, operating_point
from ..options.linear import LinearizeOptions


def frequencies(model: System, fmu: Path) -> list[float]:
    """Return the eigenfrequencies of the vibrations about the initial state, in ascending order, Hz.

    The list is empty if the mechanism has no vibrations, or if it cannot be linearised.

    Parameters
    ----------
    model : mechanism with its equations
    fmu : path of the FMU of the mechanism
    """
    plant = Plant(model, fmu)
    try:
        space = linearized(plant, operating_point(plant, checked(model, LinearizeOptions()), None))
    except GpmelicaError:
        return []
    return sorted(mode.frequency for mode in space.modes() if mode.eigenvalue.imag > 0.0 and not mode.rigid_body)
