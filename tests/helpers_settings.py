"""Random settings of the lorry crane's parameters: in its FMU, and as a description with these numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import helpers_problem as solving
import numpy as np
from helpers_backends import EXAMPLES
from helpers_fmpy import Array

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import load
from gpmelica.runs.fmpy_runs import simulate as runs

# FMU's parameter → its place in the description, lowest and highest value
RANGES = {
    "payload": ("parameters.payload", 100.0, 6000.0),
    "rope": ("parameters.rope", 2.0, 3.6),
    "way": ("parameters.way", -2.0, 2.0),
    "lowering": ("parameters.lowering", -1.0, 1.0),
    "base_mass": ("base.mass", 7000.0, 12000.0),
    "column_mass": ("links.column.mass", 700.0, 1200.0),
    "column_armature": ("links.column.joint.armature", 500.0, 1500.0),
    "column_friction": ("links.column.joint.friction.effort", 100.0, 600.0),
    "boom_length": ("links.boom.beam.length", 3.8, 4.2),
    "boom_stop_stiffness": ("links.boom.joint.limits.stiffness", 1e6, 1e7),
    "luffing_stiffness": ("lines.luffing.stiffness", 1e7, 3e7),
    "rope_stiffness": ("lines.rope.stiffness", 3e5, 9e5),
    "rope_damping": ("lines.rope.damping", 2e3, 8e3),
    "ground_contact_mu": ("contacts.ground_contact.friction.mu", 0.1, 0.8),
    "column_angle_start": ("links.column.joint.position", -0.5, 0.5),
    "column_angle_dot_start": ("links.column.joint.velocity", -0.2, 0.2),
    "load_position_dot_start": ("links.load.joint.velocity", -0.5, 0.5),
}


def setting(rng: np.random.Generator) -> dict[str, float]:
    """A value of each parameter."""
    return {name: float(rng.uniform(low, high)) for name, (_, low, high) in RANGES.items()}


def described(values: Mapping[str, float]) -> System:
    """The lorry crane with these numbers in its description."""
    changes = {RANGES[name][0]: value for name, value in values.items()}
    return assemble_system(load(EXAMPLES / "lorry_crane.toml", changes=changes))


def errors(fmu: Path, values: Mapping[str, float], tolerance: float, stop: float) -> dict[str, float]:
    """Return the errors of model exchange and co-simulation relative to the reference run. The errors are the
    largest of all coordinates and rates, relative to the largest magnitude among those of one unit.
    """
    model = described(values)
    options = {"stop": stop, "output_step": stop / 10}
    wanted = solving.simulate(model.mechanism, tolerance=tolerance, loads=(), **options).signals
    groups = _groups(model)
    names = [name for group in groups for name in group]
    found: dict[str, float] = {}
    for mode in ("me", "cs"):
        run = runs.simulate(fmu, mode, names, name=mode, tolerance=tolerance, parameters=values, **options).signals
        found[mode] = max(_error(run, wanted, group) for group in groups)
    return found


def _groups(model: System) -> list[list[str]]:
    """Names of coordinates and of rates, each by unit."""
    units = sorted({c.unit for c in model.mechanism.coordinates})
    return [
        [f"{c.symbol}{level}" for c in model.mechanism.coordinates if c.unit == unit]
        for level in ("", "_dot")
        for unit in units
    ]


def _error(found: Mapping[str, Array], wanted: Mapping[str, Array], names: list[str]) -> float:
    size = max(np.abs(wanted[name]).max() for name in names)
    return float(max(np.abs(found[name] - wanted[name]).max() for name in names) / size)
