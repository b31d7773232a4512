"""Sliders of the page: names, values and ranges of coordinates, parameters and inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..description.types.bounds import LARGEST
from ..mechanism import Coordinate, Mechanism
from .machine import PreviewMachine

_ELASTIC = 0.1  # Sliders for coordinates of beams and bases reach from minus to plus this value, rad or m.


def coordinate_dials(machine: PreviewMachine, extent: float) -> list[dict[str, Any]]:
    """Return the sliders of all coordinates of a mechanism whose size is `extent`, m."""
    coordinates = machine.mechanism.coordinates
    return [_coordinate(c, float(q), extent) for c, q in zip(coordinates, machine.start[0], strict=True)]


def _coordinate(c: Coordinate, start: float, extent: float) -> dict[str, Any]:
    low, high = c.position - _span(c, extent), c.position + _span(c, extent)
    if c.limits and c.limits.lower is not None:
        low = c.limits.lower
    if c.limits and c.limits.upper is not None:
        high = c.limits.upper
    own = {"unit": c.unit, "group": "joints" if c.role == "joint" else "base and beams", "text": c.sense}
    return _dial(c.name, start, float(low), float(high)) | own | {"described": c.position}


def _span(c: Coordinate, extent: float) -> float:
    """Return the largest displacement, rad or m, on the slider of a coordinate without end stops."""
    if c.role != "joint":
        return _ELASTIC
    return np.pi if c.unit == "rad" else 0.5 * extent


def parameter_dials(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Return the sliders of the description's parameters.

    The ends of a slider are the bounds of the parameter. Missing bounds are replaced by 0 and twice the
    described value, or by −1 and 1 if this value is 0.
    """
    return [
        _dial(name, p.value, *_range(p.value, p.min, p.max))
        | {"unit": p.unit or "", "text": p.description, "described": p.value}
        for name, p in mechanism.chain.parameters.items()
    ]


def _range(value: float, least: float | None, most: float | None) -> tuple[float, float]:
    low, high = sorted((0.0, 2.0 * value)) if value else (-1.0, 1.0)
    low, high = (low if least is None else least), (high if most is None else most)
    return max(low, -LARGEST), min(high, LARGEST)


def input_dials(machine: PreviewMachine, extent: float) -> list[dict[str, Any]]:
    """Return the sliders of the FMU inputs.

    The range of each slider follows from the weight and the size of the mechanism.
    """
    return list(_inputs(machine, extent))


def _inputs(machine: PreviewMachine, extent: float) -> Iterator[dict[str, Any]]:
    mechanism, model = machine.mechanism, machine.model({})
    weight = sum(float(body.mass) for body in mechanism.bodies) * float(np.linalg.norm(mechanism.gravity)) or 1.0
    begins = dict(zip((f.name for f in mechanism.filters), model.filters.begins(machine.start[0]), strict=True))
    units = {f.name: f.unit for f in mechanism.filters}
    units |= {
        s: mechanism.coordinates[f.coordinate].effort_unit
        for f in mechanism.forces
        for s in f.symbols
        if f.coordinate is not None
    }
    units |= {i.name: i.unit for element in mechanism.elements for i in element.inputs}
    driven = {
        f.name: mechanism.coordinates[f.coordinate].name for f in mechanism.filters if f.coordinate is not None
    }
    spans = {"N": weight, "N.m": weight * extent, "rad": np.pi, "m": 0.5 * extent}
    for name in mechanism.inputs:
        value, unit = begins.get(name, 0.0), units.get(name, "N")
        span = spans.get(unit, 1.0)
        own = {"unit": unit, "text": "", "described": value, "coordinate": driven.get(name)}
        yield _dial(name, value, value - span, value + span) | own


def _dial(name: str, value: float, low: float, high: float) -> dict[str, Any]:
    return {"name": name, "value": value, "low": min(low, value), "high": max(high, value)}
