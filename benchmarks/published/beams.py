"""Beam of the Princeton experiment by rigid finite elements, beside elements of ANSYS and Exudyn."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from helpers_parts import beam, machine

import gpmelica as gp
from gpmelica.description.load import from_data

from .case import HERE, RUNS, Case, Value, record

LENGTH, HEIGHT, WIDTH = 0.508, 12.3777e-3, 3.2024e-3  # m; the height along y
E, POISSON, TORSION = 71.7e9, 0.31, 0.198  # N/m², -, factor of the polar moment of area
BUILT = (9, 13.345, 45.0)  # elements, N and deg of the beam whose FMU is run, too


def cantilever(elements: int, force: float, angle: float) -> gp.Model:
    """Beam under a force at its tip, N, that makes an angle with −y, rad; without its own weight."""
    Iz, Iy = WIDTH * HEIGHT**3 / 12, HEIGHT * WIDTH**3 / 12
    section: dict[str, Any] = {"length": LENGTH, "area": HEIGHT * WIDTH, "density": 2810.0, "elements": elements}
    section |= {"E": E, "G": E / (2 * (1 + POISSON)), "Iy": Iy, "Iz": Iz, "J": TORSION * (Iy + Iz)}
    tip = {"link": "beam", "position": [LENGTH, 0.0, 0.0]}
    push = {"name": "weight", "link": "beam", "point": [LENGTH, 0.0, 0.0], "frame": "world"}
    push["force"] = [0.0, -force * math.cos(angle), force * math.sin(angle)]
    settings = {"start": "statics", "stop": 1e-6, "output_step": 1e-6}
    parts = {"points": {"tip": tip}, "forces": [push], "gravity": [0.0, 0.0, 0.0], "simulation": settings}
    return gp.Model(from_data(machine(beam("beam", section, "fixed"), name=f"Beam{elements}", **parts)))


def _displacement(run: str, folder: Path, model: gp.Model) -> dict[str, float]:
    """Displacement of the tip in the static equilibrium, along −y and z, m."""
    signals = record(model, run, folder, ("tip_y", "tip_z"))[1]
    return {"y": -float(signals["tip_y"][0]), "z": float(signals["tip_z"][0])}


def _displacements(code: str, elements: tuple[int, ...], folder: Path) -> Iterator[Value]:
    """Published displacements that are not zero; differences relative to the larger component of a load's two."""
    lines = (line for line in (HERE / "princeton.csv").read_text().splitlines() if not line.startswith("#"))
    loads = [row for row in csv.DictReader(lines) if row["code"] == code]
    for row, count in product(loads, elements):
        published = {axis: float(row[axis]) for axis in "yz"}
        force, degrees = float(row["force"]), float(row["angle"])
        model = cantilever(count, force, math.radians(degrees))
        for run in RUNS if (count, force, degrees) == BUILT else ("reference",):
            ours = _displacement(run, folder, model)
            for axis in filter(published.get, "yz"):
                name = f"tip {axis} under {force:g} N at {degrees:g} deg, {count} elements"
                yield Value(name, run, published[axis], ours[axis], max(published.values()))


def _case(name: str, elements: tuple[int, ...], source: str, precision: str, bound: float) -> Case:
    return Case(
        name=f"princeton-{name}",
        source=f"Princeton beam, {source}",
        precision=precision,
        bound=bound,
        values=lambda folder: _displacements(name, elements, folder),
    )


CASES = (
    _case("ansys", (9, 17, 33), "beam elements of ANSYS in Exudyn's test model", "10 digits printed", 0.015),
    _case("exudyn", (17,), "16 geometrically exact elements of Exudyn", "7 decimals; 3e-3 from ANSYS", 0.01),
)
