"""Loops of the Modelica Standard Library's MultiBody examples, which the reference results have by Dymola."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers_parts import X, Y, Z, link, machine

import gpmelica as gp
from gpmelica.description.load import from_data

from .case import Case, Trajectory, by_name, read

Table = dict[str, Any]
_DENSITY, _DIAMETER = 7700.0, 0.05  # the library's BodyCylinder, kg/m³ and m
_ROD = [-1.0, 0.3, 0.1]  # from the slide's end to the crank's, m
_RATE = 5.235987755982989  # of the crank at the start, rad/s


def _cylinder(end: list[float]) -> Table:
    """Solid cylinder from a link's origin to `end`, m."""
    along = np.array(end)
    length = float(np.linalg.norm(along))
    mass = _DENSITY * np.pi * _DIAMETER**2 / 4 * length
    radius, axis = _DIAMETER / 2, along / length
    axial, lateral = mass * radius**2 / 2, mass * (length**2 + 3 * radius**2) / 12
    inertia = lateral * np.eye(3) + (axial - lateral) * np.outer(axis, axis)
    return {"mass": mass, "com": (along / 2).tolist(), "inertia": inertia.tolist()}


def _crank_and_slide(name: str, *further: Table, **tables: Any) -> gp.Model:
    """Crank about x and slide along x; the rates at the start are those of all loops that close them by `_ROD`."""
    crank = link("crank", "revolute", X, velocity=_RATE) | _cylinder([0.0, 0.5, 0.1])
    slide = link("slide", "prismatic", X, xyz=[1.2, 0.0, 0.0], position=-0.2, velocity=-0.02 * _RATE)
    settings = {"start": "description", "stop": 5.0, "output_step": 0.05, "tolerance": 1e-10}
    links = (crank, slide | _cylinder([0.0, 0.2, 0.0]), *further)
    whole = machine(*links, name=name, gravity=[0.0, -9.80665, 0.0], simulation=settings)
    return gp.Model(from_data(whole | tables))


def _ends(first: str, place: list[float]) -> Table:
    """A link's end and the crank's end."""
    return {"a": {"link": first, "xyz": place}, "b": {"link": "crank", "xyz": [0.0, 0.5, 0.1]}}


def fourbar1() -> gp.Model:
    """Loop of seven joints: the rod hangs on the slide by two hinges, and on the crank by a ball joint."""
    fork = {"name": "fork", "parent": "slide", "frame": {"xyz": [0.0, 0.2, 0.0]}}
    fork["joint"] = {"type": "revolute", "axis": Y, "velocity": 0.5 * _RATE}
    rod = link("rod", "revolute", Z, "fork", velocity=0.1 * _RATE) | _cylinder(_ROD)
    return _crank_and_slide(
        "Fourbar1", fork, rod, closures=[{"name": "ball", "type": "spherical"} | _ends("rod", _ROD)]
    )


def fourbar2() -> gp.Model:
    """Loop whose rod has no mass, so that it is a constant distance."""
    length = float(np.linalg.norm(_ROD))
    rod = {"name": "rod", "type": "distance", "length": length} | _ends("slide", [0.0, 0.2, 0.0])
    return _crank_and_slide("Fourbar2", closures=[rod])


def _case(number: int, quick: bool) -> Case:
    model = (fourbar1, fourbar2)[number - 1]
    return Case(
        name=f"msl-fourbar{number}",
        source=f"Modelica Standard Library 4.0.0, Loops.Fourbar{number}, reference result by Dymola 2020x",
        precision="16 digits printed; DASSL's tolerance is 1e-6",
        bound=3e-4,
        values=Trajectory(
            model,
            lambda: read(f"msl_fourbar{number}.csv"),
            ("crank_angle", "crank_angle_dot"),
            by_name(**{"j1.phi": "crank_angle", "j1.w": "crank_angle_dot"}),
        ),
        quick=quick,
    )


CASES = (_case(1, quick=False), _case(2, quick=True))
