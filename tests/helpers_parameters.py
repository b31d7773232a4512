"""Machines whose numbers are expressions of parameters, and FMUs with those set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from fmpy.fmi3 import FMU3Model, FMU3Slave
from helpers_backends import Compiled
from helpers_fmpy import Array, Instance
from helpers_parts import Z, body, link

from gpmelica.prepared import Prepared

Data = dict[str, Any]
KINDS = {("2.0", "me"): FMU2Model, ("2.0", "cs"): FMU2Slave, ("3.0", "me"): FMU3Model, ("3.0", "cs"): FMU3Slave}


class Fmu(Instance):
    """An instance of a compiled FMU of either version and kind: parameters and real variables by name."""

    def __init__(self, compiled: Compiled, fmi: str, kind: str) -> None:
        description = compiled.description
        interface = description.coSimulation if kind == "cs" else description.modelExchange
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        super().__init__(
            KINDS[fmi, kind](
                guid=description.guid,
                modelIdentifier=interface.modelIdentifier,
                unzipDirectory=str(compiled.folder),
                instanceName="instance",
            )
        )
        keep = fmi2CallbackLoggerTYPE(lambda *said: self.messages.append(said[-1].decode()))
        self._callbacks = fmi2CallbackFunctions(keep, defaultCallbacks.allocateMemory, defaultCallbacks.freeMemory)
        if self.three:
            self.fmi.instantiate(loggingOn=True, logMessage=self._log)
        else:
            self.fmi.instantiate(callbacks=self._callbacks)

    def _log(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode())

    def initialization(self, values: Mapping[str, float], settings: Mapping[str, int] | None = None) -> Fmu:
        """A new run with these parameters, in initialization mode."""
        self.fmi.reset()
        if not self.three:
            self.fmi.setupExperiment()
        for name, value in (settings or {}).items():
            (self.fmi.setInt32 if self.three else self.fmi.setInteger)([self.references[name]], [value])
        for name, value in values.items():
            (self.fmi.setFloat64 if self.three else self.fmi.setReal)([self.references[name]], [value])
        self.fmi.enterInitializationMode()
        return self

    def start(self, values: Mapping[str, float], settings: Mapping[str, int] | None = None) -> Fmu:
        """A new run with these parameters, at its start."""
        self.initialization(values, settings).fmi.exitInitializationMode()
        return self

    def read(self, names: Sequence[str]) -> Array:
        """Values of real variables, shape (len(names),)."""
        references = [self.references[name] for name in names]
        return np.array((self.fmi.getFloat64 if self.three else self.fmi.getReal)(references))


def motion_signals(model: Prepared) -> list[list[str]]:
    """Names of the coordinates, of their rates, and of their accelerations."""
    symbols = [c.symbol for c in model.mechanism.coordinates]
    return [[f"{symbol}{level}" for symbol in symbols] for level in ("", "_dot", "_ddot")]


def loader() -> Data:
    """A base on supports, a flexible boom on its mast, a load at its end; every kind of number follows."""
    parameters = {
        "payload": {"value": 100.0, "unit": "kg", "description": "mass of the load", "min": 10.0, "max": 400.0},
        "reach": {"value": 2.0, "unit": "m", "min": 1.5, "max": 3.0},
        "soil": {"value": 1e6, "unit": "N/m", "min": 1e5},
        "tilt": 0.1,
        "section": 2e-3,
    }
    corners = [(-1.0, -0.8), (-1.0, 0.8), (1.0, -0.8), (1.0, 0.8)]
    supports = [
        {
            "position": [x, f"{y}*(1 + tilt)", 0.0],
            "stiffness": ["soil/2", "soil/2", "soil"],
            "damping": ["soil/100"] * 3,
        }
        for x, y in corners
    ]
    base = {"mass": 900.0, "com": [0.0, 0.0, "-0.1*reach"], "inertia": [300.0, 400.0, 600.0], "supports": supports}
    beam = {
        "length": "reach",
        "area": "section",
        "density": 7850.0,
        "E": 2.1e11,
        "G": 8e10,
        "Iy": "section^2/12",
        "Iz": "section^2/12",
        "J": "section^2/7",
        "damping_time": "tilt/100",
        "elements": 2,
    }
    links = [
        link("mast", "revolute", Z, "base", xyz=[0.0, 0.0, 0.4], rpy=[0.0, "tilt", 0.0], position=0.4)
        | body(120.0, [0.0, 0.0, 0.6], [20.0, 20.0, 5.0]),
        {
            "name": "boom",
            "parent": "mast",
            "frame": {"dh": [0.0, "pi/2 + tilt/5", 0.0, 0.0]},
            "joint": {"type": "revolute", "axis": [0.0, 0.0, 1.0], "position": 0.5, "damping": "soil/1e4"},
            "beam": beam,
        },
        link("load", "revolute", Z, "boom", xyz=["reach", 0.0, 0.0], position=-0.5, damping=20.0)
        | body("payload", [0.0, "-0.002*payload", 0.0], ["payload/10", "payload/10", "payload/12"]),
    ]
    return {
        "schema": 1,
        "name": "Loader",
        "parameters": parameters,
        "base": base,
        "links": links,
        "points": {"E": {"link": "boom", "position": ["reach", 0.0, "section"]}},
        "forces": [{"name": "turn", "joint": "mast", "effort": "20*payload*sin(3*t)"}],
        "statics": {"locked": ["mast", "boom", "load"]},
        "simulation": {"stop": 0.2, "output_step": 0.02},
    }


def linkage(*, spring: bool) -> Data:
    """Crank, coupler and slider on a tilted rail; the crank on a spring, or held where the loop is closed."""
    parameters = {
        "r": 0.3,
        "ratio": {"value": 2.5, "min": 1.5},
        "slope": 0.2,
        "k": {"value": 40.0, "unit": "N.m/rad"},
    }
    moments = [0.01, 0.02, 0.02]
    crank_joint: Data = {"type": "revolute", "axis": [0.0, 0.0, 1.0], "position": 0.5, "velocity": 2.0}
    if spring:
        crank_joint |= {"stiffness": "k", "rest": "slope*2", "damping": "k/100"}
    links: list[Data] = [
        {"name": "crank", "parent": "ground", "mass": 1.0, "com": ["r/2", 0.0, 0.0], "inertia": moments},
        {"name": "coupler", "parent": "crank", "mass": "2*r", "com": ["r*ratio/2", 0.0, 0.0], "inertia": moments},
        {"name": "slider", "parent": "ground", "mass": "k/20", "com": [0.1, 0.0, 0.0], "inertia": moments},
    ]
    links[0]["joint"] = crank_joint
    links[1] |= {
        "joint": {"type": "revolute", "axis": [0.0, 0.0, 1.0], "position": -0.7},
        "frame": {"xyz": ["r", 0.0, 0.0]},
    }
    links[2] |= {
        "joint": {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "position": 1.0},
        "frame": {"rpy": [0.0, 0.0, "slope"]},
    }
    closure = {
        "name": "pin",
        "type": "revolute",
        "a": {"link": "coupler", "xyz": ["r*ratio", 0.0, 0.0]},
        "b": {"link": "slider"},
    }
    return {
        "schema": 1,
        "name": "Linkage",
        "gravity": [0.0, -9.81, 0.0],
        "parameters": parameters,
        "links": links,
        "closures": [closure],
        "points": {"E": {"link": "slider", "position": [0.1, "r", 0.0]}},
        "simulation": {"stop": 0.2, "output_step": 0.02},
    }
