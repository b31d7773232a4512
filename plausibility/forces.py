"""Remarks on force elements whose force is far above the weight of the mechanism."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import analysis
from ..analysis.system import System
from .geometry import extent
from .initial_state import InitialState
from .places import member, support_key
from .remark import Remark

_TIMES = 100.0  # A force is implausible if it exceeds this multiple of the mechanism's weight.
# In mechanisms smaller than this size, m, larger ratios of force to weight are plausible.
# The strength of a mechanism grows with the square of its size, and its weight with the cube of its size.
_REFERENCE_LENGTH = 1.0
# Forces are not compared with the weight if the gravitational acceleration is at most this value, m/s².
_WEIGHTLESS = 0.1


def weight(model: System) -> float:
    """Return the weight of all bodies, N; 0 if gravity is negligible."""
    gravity = float(np.linalg.norm(np.asarray(model.mechanism.gravity, dtype=float)))
    mass = sum(float(body.mass) for body in model.mechanism.bodies)
    return mass * gravity if gravity > _WEIGHTLESS else 0.0


def limit(model: System) -> float:
    """Return the largest plausible force of a force element, N: 100 times the weight of the mechanism.

    For mechanisms smaller than 1 m, the limit is higher, because small mechanisms have a larger ratio
    of strength to weight.
    """
    return _TIMES * weight(model) * max(1.0, _REFERENCE_LENGTH / extent(model))


def forces_at_start(model: System, initial: InitialState) -> Iterator[Remark]:
    """Yield remarks on force elements whose force at t = 0 is far above the weight."""
    most = limit(model)
    for element in initial.forces:
        if most and abs(element.force) > most:
            yield _remark(element.where, abs(element.force), "at t = 0", most, 0.0)


def forces_in_run(model: System, found: analysis.EnergyHistory) -> Iterator[Remark]:
    """Yield remarks on force elements whose mean force over a run is far above the weight.

    Short impact peaks have little effect on the mean force.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    found : EnergyHistory
        Forces along the run.
    """
    most = limit(model)
    means = np.linalg.norm(found.acting, axis=2).mean(axis=0)
    for where, mark, mean in zip(_places(model, found.marks), found.marks, means.tolist(), strict=True):
        if most and mark.kind != "moment" and mean > most:
            yield _remark(where, mean, "in the mean over the run", most, None)


def _remark(where: str, force: float, when: str, most: float, time: float | None) -> Remark:
    return Remark(
        "force_far_above_weight",
        where,
        f"the force is {force:.3g} N {when}, more than {_TIMES:g} times the weight",
        "is a stiffness, unstretched length, position or force given in another unit?",
        force,
        "N",
        most,
        time,
    )


def _places(model: System, found: tuple[analysis.ForceArrow, ...]) -> Iterator[str]:
    supports = 0
    for mark in found:
        if mark.table == "base.supports":
            yield support_key(model.mechanism, supports)
            supports += 1
        else:
            yield member(mark.table, getattr(model.chain, mark.table), mark.name)
