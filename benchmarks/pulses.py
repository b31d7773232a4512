"""Pulses at random times of a mechanism at rest: how many of them each run misses.

    python benchmarks/pulses.py [--count 1000] [--first 0] [--workers 2] [--rumoca 20]

A machine has six masses at rest, each with a pulse of another kind: a linear and a cubic lookup table, a gust
in an expression, a pair of quintics, an interval `if t`, a gust whose exponent depends on the mass's position too;
every second machine has a seventh with an input file.
Widths are 1 ms to 1 s, horizons 1, 10 and 100 s. A pulse is missed if the speed that it leaves is wrong by more
than 1 %. Prints the counts by run and kind; exit status 1 where one is missed or a run fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.interpolate import CubicSpline

from gpmelica import analysis
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import GpmelicaError
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native
from gpmelica.generator import modelica
from gpmelica.runs import rumoca_process
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.inputs import InputTable, problem_with

Array = NDArray[np.float64]
HORIZONS = (1.0, 10.0, 100.0)
KINDS = ("linear table", "cubic table", "gust", "quintics", "interval", "gust of a state")
MISSED = 0.01


def _table(folder: Path, name: str, time: Array, values: Array, interpolation: str) -> dict[str, Any]:
    rows = "\n".join(f"{t!r},{x!r}" for t, x in zip(time.tolist(), values.tolist(), strict=True))
    path = folder / f"{name}.csv"
    path.write_text(f"time,value\n{rows}\n")
    return {"file": str(path), "time": "time", "value": "value", "interpolation": interpolation}


def _pulse(
    kind: str, folder: Path, horizon: float, begin: float, width: float
) -> tuple[str, dict[str, Any], float]:
    """Expression of the force, its lookup table if it has one, and the impulse, N·s."""
    middle, name = begin + width / 2, kind.split(maxsplit=1)[0]
    knots = np.array([0.0, *np.linspace(begin, begin + width, 6), horizon])
    shape = np.array([0.0, 0.0, 60.0, 100.0, 80.0, 30.0, 0.0, 0.0])
    match kind:
        case "linear table":
            tables = {name: _table(folder, name, knots, shape, "linear")}
            return f"table({name}, t)", tables, float(np.trapezoid(shape, knots))
        case "cubic table":
            # points of rest beside the pulse keep the spline from swinging in the long rests
            rest = width / 5
            time = np.array([0.0, *(begin - rest * np.arange(8, 0, -1)), *knots[1:-1]])
            time = np.array([*time, *(begin + width + rest * np.arange(1, 9)), horizon])
            values = np.zeros_like(time)
            values[9:15] = shape[1:-1]
            inside = (time >= 0.0) & (time <= horizon)
            time, values = time[inside], values[inside]
            time, unique = np.unique(time, return_index=True)
            spline = CubicSpline(time, values[unique], bc_type="clamped")
            tables = {name: _table(folder, name, time, values[unique], "cubic")}
            return f"table({name}, t)", tables, float(spline.integrate(0.0, horizon))
        case "gust":
            # the width holds the gust to 2e-4
            return f"100*exp(-((t - {middle!r})/{width / 6!r})^2)", {}, 100 * width / 6 * np.sqrt(np.pi)
        case "gust of a state":
            exponent = f"((t - {middle!r})/{width / 6!r})^2 + (1e-4*position)^2"
            return f"100*exp(-({exponent}))", {}, 100 * width / 6 * np.sqrt(np.pi)
        case "quintics":
            rise = f"quintic(t, {begin!r}, {middle!r}, 0, 100)"
            return f"{rise} - quintic(t, {middle!r}, {begin + width!r}, 0, 100)", {}, 50.0 * width
    text = f"(100 if t > {begin!r} else 0) - (100 if t > {begin + width!r} else 0)"
    return text, {}, 100.0 * width


def _machine(seed: int, folder: Path) -> tuple[dict[str, Any], dict[str, float], InputTable | None]:
    """Description, the speed that each mass must have at the end, m/s, and inputs."""
    rng = np.random.default_rng(seed)
    horizon = HORIZONS[seed % 3]
    links, forces, tables, speeds = [], [], {}, {}
    for k, kind in enumerate(KINDS):
        width = float(np.exp(rng.uniform(np.log(1e-3), np.log(min(1.0, horizon / 4)))))
        begin = float(rng.uniform(0.0, horizon - width))
        text, own, impulse = _pulse(kind, folder, horizon, begin, width)
        links.append(_mass(f"m{k}"))
        text = text.replace("position", f"m{k}.position")
        forces.append({"name": f"f{k}", "joint": f"m{k}", "effort": text})
        tables |= own
        speeds[f"m{k}_position_dot"] = impulse
    inputs = None
    if seed % 2:
        width = float(np.exp(rng.uniform(np.log(1e-3), np.log(min(1.0, horizon / 4)))))
        begin = float(rng.uniform(0.0, horizon - width))
        time = np.array([0.0, begin, begin + width / 2, begin + width, horizon])
        inputs = InputTable(time, {"push": np.array([0.0, 0.0, 100.0, 0.0, 0.0])})
        links.append(_mass("pushed"))
        forces.append({"name": "push", "joint": "pushed", "input": True})
        speeds["pushed_position_dot"] = 50.0 * width
    simulation = {"start": "description", "stop": horizon, "output_step": horizon / 10}
    data = {"schema": 1, "name": "Pulses", "gravity": [0.0, 0.0, 0.0], "links": links, "forces": forces}
    return data | {"tables": tables, "simulation": simulation}, speeds, inputs


def _mass(name: str) -> dict[str, Any]:
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0]}
    return {"name": name, "parent": "ground", "joint": joint, "mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1]}


def trial(seed: int, with_rumoca: bool) -> list[tuple[str, str]]:
    """Runs and kinds of the pulses that were missed, and `tried` with each kind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, speeds, inputs = _machine(seed, folder)
        model, stop = assemble_system(from_data(data)), data["simulation"]["stop"]
        step, names = data["simulation"]["output_step"], [*speeds]
        found = {"reference": analysis.simulate(problem_with(model, inputs)).signals}
        fmu = native.build_bare(model, folder)
        for mode in ("me", "cs"):
            settings: dict[str, Any] = {"stop": stop, "output_step": step, "tolerance": 1e-8, "inputs": inputs}
            found[mode] = runs.simulate(fmu, mode, names, name=mode, **settings).signals
        if with_rumoca and inputs is None:
            text, top = model.modelica(start_values=model.start_values()), modelica.experiment(model.name)
            job = rumoca_process.SimulationJob(text, top, names, stop, step, 1e-8, effort=60.0, limit=120.0)
            run = rumoca_process.simulate(job)
            found |= {} if run is None or run.note else {"rumoca": run.signals}
    kinds = dict(zip(names, (*KINDS, "input file"), strict=False))
    missed = []
    for run_name, signals in found.items():
        for signal, speed in speeds.items():
            missed.append(("tried " + run_name, kinds[signal]))
            if not abs(signals[signal][-1] - speed) <= MISSED * abs(speed):
                missed.append((run_name, kinds[signal]))
    return missed


def main() -> None:
    """Try them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 1000), ("first", 0), ("workers", 2), ("rumoca", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    seeds = range(given.first, given.first + -(-given.count // len(KINDS)))
    counts: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(given.workers) as pool:
        jobs = [pool.submit(trial, seed, seed - given.first < given.rumoca) for seed in seeds]
        for seed, job in zip(seeds, jobs, strict=True):
            try:
                found = job.result()
            except GpmelicaError as error:
                counts["a run", "fails"] += 1
                print(f"seed {seed}: {error}", flush=True)
                continue
            counts.update(found)
            for run, kind in found:
                if not run.startswith("tried"):
                    print(f"seed {seed}: {run} misses the {kind}", flush=True)
    runs_tried = sorted({run.removeprefix("tried ") for run, _ in counts if run.startswith("tried ")})
    table = Table("pulse", *runs_tried, title="missed of tried")
    for kind in (*KINDS, "input file"):
        table.add_row(kind, *(f"{counts[run, kind]} of {counts['tried ' + run, kind]}" for run in runs_tried))
    Console().print(table)
    sys.exit(any(not run.startswith("tried") for run, _ in counts))


if __name__ == "__main__":
    main()
