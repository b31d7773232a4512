"""A run of the crane for tests of comparison, figures and report: prescribed motion, exact kinematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from helpers_parts import Y, body, link
from scipy.integrate import solve_ivp

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Array, Trajectory, output_grid
from gpmelica.description import load
from gpmelica.description.load import from_data
from gpmelica.mechanism import GROUND, Coordinate, Mechanism, build
from gpmelica.report.plots import Picture, pictures
from gpmelica.report.plots.choice import of_one_case
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.compare.context import RunReport
from gpmelica.runs.compare.findings import Finding

RUNS = ("reference", "fmu-native-me", "fmu-native-cs", "modelica-rumoca")
EXAMPLES = Path(__file__).parent.parent / "examples"


@cache
def prepared_crane(case: str) -> System:
    """The example, ready to run."""
    return assemble_system(load(EXAMPLES / "crane.toml", case))


def crane(case: str = "flexible_boom") -> Mechanism:
    """The example's mechanism of plain numbers."""
    return build(load(EXAMPLES / "crane.toml", case))


def poses(mechanism: Mechanism) -> Callable[[Array], Array]:
    """q, shape (n,) → frames of the bodies, shape (bodies, 4, 4), world frame, m: T = T_parent·X·J(q)."""

    def frames(q: Array) -> Array:
        placed: list[Array] = []
        for part in mechanism.bodies:
            frame = np.eye(4) if part.parent == GROUND else placed[part.parent]
            joint = np.eye(4)
            joint[:3, :3], joint[:3, 3] = part.rotation, part.offset
            for k in part.coordinates:
                joint = joint @ _motion(mechanism.coordinates[k], q[k])
            placed.append(frame @ joint)
        return np.array(placed)

    return frames


def _motion(coordinate: Coordinate, value: float) -> Array:
    frame, axis = np.eye(4), np.array(coordinate.axis)
    if coordinate.motion.kind == "translation":
        frame[:3, 3] = axis * value
        return frame
    cross = np.cross(axis, np.eye(3)).T
    frame[:3, :3] += np.sin(value) * cross + (1 - np.cos(value)) * cross @ cross
    return frame


def prescribed_run(mechanism: Mechanism, stop: float = 2.0) -> Trajectory:
    """Smooth large joint motion, small decaying oscillations elsewhere; points follow by kinematics."""
    time = output_grid(stop, 0.01)
    signals: dict[str, Array] = {}
    for k, c in enumerate(mechanism.coordinates):
        amplitude = {"joint": 0.6, "base": 4e-3, "elastic": 2e-4 / (1 + k % 5)}[c.role]
        rate = {"joint": 1.5 + 0.3 * k % 1, "base": 9.0 + k, "elastic": 14.0 + k}[c.role]
        decay = 0.0 if c.role == "joint" else 1.2
        wave = np.exp((-decay + 1j * rate) * time)
        for suffix, factor in (("", 1.0), ("_dot", -decay + 1j * rate), ("_ddot", (-decay + 1j * rate) ** 2)):
            signals[c.symbol + suffix] = amplitude * (factor * wave).imag
        signals[c.symbol] = signals[c.symbol] + c.position
    frames = np.array([poses(mechanism)(q) for q in coordinates_of(mechanism, signals)])
    for name, place in mechanism.points.items():
        path = frames[:, place.body, :3, :3] @ place.position + frames[:, place.body, :3, 3]
        for axis, values in zip("xyz", path.T, strict=True):
            signals[f"{name}_{axis}"] = values
            signals[f"{name}_v{axis}"] = np.gradient(values, time)
    signals["violation_position"] = 3e-9 * np.exp(-4 * time) * np.abs(np.sin(30 * time))
    signals["violation_velocity"] = 4e-8 * np.exp(-4 * time) * np.abs(np.cos(30 * time))
    extra = {"min_det": 0.0731, "min_det_time": 1.37}
    return Trajectory("reference", time, signals, wall_s=6.4, steps=1834, extra=extra)


def coordinates_of(mechanism: Mechanism, signals: Mapping[str, Array]) -> Array:
    """Coordinates of shape (N, n), rad or m."""
    return np.column_stack([signals[c.symbol] for c in mechanism.coordinates])


def units_of(mechanism: Mechanism) -> dict[str, str]:
    """Signal → unit."""
    units: dict[str, str] = {}
    for c in mechanism.coordinates:
        units |= {c.symbol: c.unit, f"{c.symbol}_dot": f"{c.unit}/s", f"{c.symbol}_ddot": f"{c.unit}/s2"}
    for name in mechanism.points:
        units |= {f"{name}_{axis}": "m" for axis in "xyz"} | {f"{name}_v{axis}": "m/s" for axis in "xyz"}
    return units


def disturbed(run: Trajectory, name: str, size: float, stop: float = np.inf, **changes: Any) -> Trajectory:
    """The run under another name, with a relative disturbance of the given size that grows in time."""
    keep = run.time <= stop
    growth = size * run.time[keep] / run.time[-1]
    signals = {
        key: values[keep] + growth * np.ptp(values) * np.sin(7 * run.time[keep] + k)
        for k, (key, values) in enumerate(run.signals.items())
    }
    return replace(run, name=name, time=run.time[keep], signals=signals, **changes)


def crane_report(case: str = "flexible_boom", **changes: Any) -> RunReport:
    """A filled report of four runs, all of which agree."""
    model = prepared_crane(case)
    mechanism = model.mechanism
    reference = prescribed_run(mechanism)
    units = units_of(mechanism)
    runs = (
        disturbed(reference, "fmu-native-me", 4e-10, wall_s=0.041, steps=1702),
        disturbed(reference, "fmu-native-cs", 3e-9, wall_s=0.032, steps=2210),
        disturbed(reference, "modelica-rumoca", 2e-7, stop=1.0, wall_s=3.2, steps=0),
    )
    tolerances = (1e-6, 1e-6, 1e-6, 1e-5)
    report = RunReport(
        model=model,
        problem=model.problem,
        case=case,
        reference=reference,
        runs=runs,
        comparisons=tuple(
            compare(reference, run, units, tolerance)
            for run, tolerance in zip((reference, *runs), tolerances, strict=True)
        ),
        tolerance=1e-6,
        consistent=Finding(True, "All constraints are fulfilled at t = 0."),
        holds=Finding(True, "All runs keep constraint violations below 1e-6."),
        compilers={"gpmelica": "0.1.0", "cc": "gcc 12.2.0", "rumoca": "0.10.2", "FMPy": "0.3.32"},
        command=f"gpmelica run examples/crane.toml --case {case} --out out",
        files={"Crane.mo": "Modelica source", "Crane.fmu": "FMU (FMI 2.0)", "result.json": "verdict for scripts"},
    )
    return replace(report, **changes)


@cache
def crane_run() -> RunReport:
    """Flexible crane, four runs."""
    return crane_report()


@cache
def crane_pictures() -> tuple[Picture, ...]:
    return tuple(pictures(crane_run()))


@cache
def some_pictures() -> tuple[Picture, ...]:
    """Three of its figures: the mechanism, joint coordinates, and errors."""
    groups = of_one_case(crane_run())
    return tuple(next(iter(groups[group])) for group in ("model", "motion", "errors"))


def pendulum_report() -> RunReport:
    """The least that a report can be about: one body, no constraint, no point, no other run."""
    rod = link("rod", "revolute", Y) | body(2.0, [0.5, 0.0, 0.0], [0.01, 0.2, 0.2])
    model = assemble_system(from_data({"schema": 1, "name": "Pendulum", "links": [rod]}))
    time = np.linspace(0.0, 3.0, 151)
    inertia, moment = 0.2 + 2.0 * 0.5**2, 2.0 * 9.81 * 0.5

    def rate(_: float, y: Array) -> list[float]:
        return [y[1], moment * np.cos(y[0]) / inertia]

    angle, angle_dot = solve_ivp(rate, (0.0, 3.0), [0.0, 0.0], t_eval=time, rtol=1e-9).y
    reference = Trajectory("reference", time, {"rod_angle": angle, "rod_angle_dot": angle_dot})
    units = {"rod_angle": "rad", "rod_angle_dot": "rad/s"}
    return RunReport(
        model=model,
        problem=model.problem,
        case="",
        reference=reference,
        runs=(),
        comparisons=(compare(reference, reference, units, 1e-6),),
        tolerance=1e-6,
        consistent=Finding(True, "There are no constraints."),
        holds=Finding(True, "There are no constraints."),
    )
