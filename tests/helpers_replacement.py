"""The linkage RSRRP closed by replacement joints of many stiffnesses, against its cut joint (Urbaś 2016)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from helpers_backends import EXAMPLES
from numpy.typing import NDArray

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.build import build_native

Array = NDArray[np.float64]
STIFFNESSES = (1e5, 1e6, 1e7, 1e8)  # N/m
MOTION = ("crank_angle", "slider_position", "rocker_angle")
FORCES = ("crank_load_axial", "crank_load_normal", "slider_load_normal", "rocker_load_axial", "rocker_load_normal")
_DAMPING = 2.0  # N·s/m per root of N/m: critical for 1 kg
_ROTATION = 1e-2  # N·m/rad per N/m, for axes kept parallel
_STOP, _SETTLED, _STEP = 0.5, 0.2, 0.005  # s; by then the vibrations that the drive has excited are gone
_FREE = {"spherical_replacement": (1, 1, 1, 0, 0, 0), "revolute_replacement": (1, 1, 1, _ROTATION, _ROTATION, 0)}


def model_of(case: str, stiffness: float = 1.0) -> System:
    """A case of the example, its replacement joint of this stiffness, N/m, and damped well."""
    data = tomllib.loads((EXAMPLES / "rsrrp.toml").read_text(encoding="utf-8"))
    data["outputs"] = {"loads": "all"}
    for entry in data["cases"]:
        name, changes = entry["name"], entry.get("set", {})
        if name in _FREE:
            closure: dict[str, Any] = changes["closures"][0] if "closures" in changes else {}
            closure["stiffness"] = [stiffness * x for x in _FREE[name]]
            closure["damping"] = [_DAMPING * np.sqrt(stiffness) * x for x in _FREE[name]]
            if "closures" not in changes:
                changes |= {f"closures.S.{key}": value for key, value in closure.items()}
    return assemble_system(from_data(data, case))


def parameters(model: System) -> dict[str, float]:
    """All of the FMU's parameters, by their names."""
    found: dict[str, float] = {}
    for p in model.program.parameters:
        values = np.ravel(p.value)
        names = [p.name] if not p.shape else [f"{p.name}[{i}]" for i in range(1, len(values) + 1)]
        found |= dict(zip(names, values.tolist(), strict=True))
    return found


def differences(case: str, folder: Path, stiffnesses: Sequence[float] = STIFFNESSES) -> dict[str, Array]:
    """Largest difference of each signal from the cut joint's, by stiffness, shape (len(stiffnesses),)."""
    exact = _run(build_native(model_of("cut_joint"), folder / "cut").path, "cut_joint", {})
    fmu = build_native(model_of(case), folder / case).path
    found = [_run(fmu, case, parameters(model_of(case, stiffness))) for stiffness in stiffnesses]
    settled = exact.time >= _SETTLED
    return {
        name: np.array([np.abs(run.signals[name] - exact.signals[name])[settled].max() for run in found])
        for name in (*MOTION, *FORCES)
    }


def _run(fmu: Path, name: str, values: dict[str, float]) -> Trajectory:
    times = {"stop": _STOP, "output_step": _STEP, "tolerance": 1e-11}
    return runs.simulate(fmu, "cs", [*MOTION, *FORCES], name=name, parameters=values, **times)


def slope(stiffnesses: Sequence[float], values: Array) -> float:
    """Exponent of a power law fitted to the values."""
    return float(np.polyfit(np.log(stiffnesses), np.log(values), 1)[0])
