"""Time of a co-simulation up to an error of 1e-4, in gpmelica and in three other masters.

    python benchmarks/time_to_error.py          # all systems; or two_masses, quarter_car, slewing

All masters run the FMUs of one archive. Steps are halved until the error of one signal is below 1e-4 of its
range, or a run takes 10 s. Times are processor times of one run without the loading of the FMUs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_coupling import quarter_car_exact, two_masses_exact
from helpers_masters import SLEWING, controller, masters
from helpers_parts import X, body, link, machine
from masters import monolithic

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.core.templates import fill
from gpmelica.core.zip_archive import pack
from gpmelica.coupling.system import open_system
from gpmelica.coupling.verdict import Options, couple
from gpmelica.cutting.fmus import FmuBuilder
from gpmelica.cutting.laws import ForceLaw, LawParameter
from gpmelica.description import load
from gpmelica.exchange.ssp.system import Connection, SspSystem, element_of, units_of, write_ssp
from gpmelica.runs.fmpy_runs.opening import read_fmu
from gpmelica.tasks.build import build_native

Array = NDArray[np.float64]
ERROR, STOP, LONGEST = 1e-4, 2.0, 10.0  # relative to the range; s; s


@dataclass(frozen=True)
class Problem:
    """An archive, a signal in it, and the exact course of this signal."""

    archive: Path
    signal: str
    exact: Callable[[Array], Array]


@dataclass(frozen=True)
class Row:
    """Measurement of one master.

    Parameters
    ----------
    master : name of the master
    step : mean communication step, s
    error : largest error, relative to the range of the signal
    time : processor time of the run, s
    needed : processor time of a run with an error of 1e-4, s
    """

    master: str
    step: float
    error: float
    time: float
    needed: float


# ---- Systems ------------------------------------------------------------------------------------------------


def two_masses(folder: Path) -> Problem:
    """Two masses of 1 kg, each on a spring, and a spring between them."""
    first = {"stiffness": 10.0, "velocity": 100.0}
    second = {"stiffness": 1000.0, "velocity": -100.0}
    archive = _pair(folder, "TwoMasses", (1.0, first), (1.0, second), stiffness=100.0, damping=0.0)
    return Problem(archive, "first.mass_position", two_masses_exact)


def quarter_car(folder: Path) -> Problem:
    """Chassis and wheel with a suspension between them, in coordinates that vanish after a step of the road."""
    rest = {"position": -0.1}
    wheel = rest | {"stiffness": 150000.0}
    archive = _pair(folder, "QuarterCar", (400.0, rest), (40.0, wheel), stiffness=15000.0, damping=1000.0)
    return Problem(archive, "first.mass_position_dot", lambda t: quarter_car_exact(t)[1])


def slewing(folder: Path) -> Problem:
    """The slewing crane and its sampled controller."""
    truth = monolithic(folder / "closed")
    plant = build_native(assemble_system(load(SLEWING / "slewing.toml", "plant")), folder).path
    archive = write_ssp(plant, folder, controller("2.0", folder))
    return Problem(
        archive, "Plant.column_angle", lambda t: np.interp(t, truth.time, truth.signals["column_angle"])
    )


def _pair(
    folder: Path,
    name: str,
    *masses: tuple[float, Mapping[str, float]],
    stiffness: float,
    damping: float,
) -> Path:
    """Write an archive of two masses that slide along x and of a spring-damper between them."""
    builder = FmuBuilder()
    for label, (mass, joint) in zip(("first", "second"), masses, strict=True):
        force = {"name": "force", "joint": "mass", "input": True}
        settings = {"stop": STOP, "tolerance": 1e-8, "start": "description"}
        part = link("mass", "prismatic", X, **joint) | body(mass)
        tables = machine(part, name=label, forces=[force], simulation=settings)
        chain = builder.machine(tables, folder / f"{label}.fmu").chain
    spring = "stiffness*(b_x - a_x) + damping*(b_vx - a_vx)"
    forces = {"a_fx": spring, "b_fx": "-a_fx"} | {f"{end}_f{axis}": "0*a_x" for end in "ab" for axis in "yz"}
    numbers = {
        "stiffness": LawParameter(stiffness, "N/m", "stiffness"),
        "damping": LawParameter(damping, "N.s/m", "damping"),
    }
    law = ForceLaw("law", "spring-damper", ("a", "b"), numbers, {key: ("N", text) for key, text in forces.items()})
    builder.law(law, chain, folder / "law.fmu")
    wires = [
        wire
        for element, end in (("first", "a"), ("second", "b"))
        for wire in (
            Connection(element, "law", "mass_position", f"{end}.x"),
            Connection(element, "law", "mass_position_dot", f"{end}.vx"),
            Connection("law", element, f"{end}.fx", "force"),
        )
    ]
    return _archive(folder, name, ("first", "second", "law"), wires)


def _archive(folder: Path, name: str, fmus: Sequence[str], wires: Sequence[Connection]) -> Path:
    """Write the archive of FMUs in a folder, with connectors for connected variables only."""
    descriptions = {element: read_fmu(folder / f"{element}.fmu") for element in fmus}
    used = {(w.start, w.name) for w in wires} | {(w.end, w.target) for w in wires}
    elements = [
        replace(element, connectors=tuple(c for c in element.connectors if (element.name, c.name) in used))
        for element in (element_of(*item) for item in descriptions.items())
    ]
    units = {unit.name: unit.base for d in descriptions.values() for unit in units_of(d).values()}
    values = {
        **dict.fromkeys(("name", "title", "tool"), name),
        **{"system": SspSystem(tuple(elements), (), tuple(wires)), "units": sorted(units.items())},
        **{"start": 0.0, "stop": STOP, "step": STOP / 200, "tolerance": ERROR, "pins": (), "same": ()},
    }
    files: dict[str, str | bytes] = {"SystemStructure.ssd": fill("exchange/ssp/structure.ssd.jinja", values)}
    files |= {f"resources/{element}.fmu": (folder / f"{element}.fmu").read_bytes() for element in fmus}
    path = folder / f"{name}.ssp"
    path.write_bytes(pack(files))
    return path


# ---- Masters ------------------------------------------------------------------------------------------------


def ours(problem: Problem) -> Row:
    """Halve the step of `gpmelica cosim` until its error is small enough."""
    for count in (16 * 2**k for k in range(10)):
        with suppress(SolveError):  # too long a step
            row = cosim(problem, "gpmelica cosim", STOP / count)
            if row.error <= ERROR:
                return row
    raise SolveError(f"no step reaches an error of {ERROR:g}")


def cosim(problem: Problem, name: str, step: float | None = None) -> Row:
    """Run `gpmelica cosim`; the share of one run in the processor time is that of its wall time."""
    with TemporaryDirectory() as folder:
        system = open_system(problem.archive, Path(folder))
        begun, used = time.perf_counter(), time.process_time()
        try:
            found = couple(system, Options(stop=STOP, step=step))
        finally:
            system.close()
        wall, verdict = time.perf_counter() - begun, time.process_time() - used
    own = verdict * found.record.wall_s / wall
    error = _error(problem, found.time, found.signals[problem.signal])
    return Row(name, STOP / len(found.record.pieces), error, own, own)


def theirs(problem: Problem, master: str) -> Row:
    """Halve the step of another master until its error is small enough, or a run takes too long.

    The time for an error of exactly 1e-4 follows from that of the last run, since the masters have order 1.
    """
    count = 128
    error, used = _run(problem, master, count)
    while error > ERROR and used < LONGEST:
        count *= 2
        error, used = _run(problem, master, count)
    return Row(master, STOP / count, error, used, used * error / ERROR)


def _run(problem: Problem, master: str, count: int) -> tuple[float, float]:
    """Return the error of a run of `count` steps by another master, and its processor time, s, without loading."""
    run, step, times = masters().MASTERS[master], STOP / count, []
    for stop, every in ((step, 1), (STOP, max(count // 512, 1))):
        begun = time.process_time()
        at, signals = run(problem.archive, step, stop, [problem.signal], every)
        times.append(time.process_time() - begun)
    return _error(problem, at, signals[problem.signal]), times[1] - times[0]


def _error(problem: Problem, times: Array, values: Array) -> float:
    some = slice(None, None, max(len(times) // 500, 1))
    expected = problem.exact(times[some])
    return float(np.max(np.abs(values[some] - expected)) / np.ptp(expected))


# ---- Report -------------------------------------------------------------------------------------------------


def report(name: str, own: Row, default: Row, others: Sequence[Row]) -> None:
    """Print one row per master."""
    table = Table("master", "mean step, s", "error", "time, s", "time to 1e-4, s", title=name)
    for row in (own, *others, default):
        table.add_row(row.master, f"{row.step:.2g}", f"{row.error:.1e}", f"{row.time:.2f}", f"{row.needed:.2f}")
    Console(width=110).print(table)
    best = min(others, key=lambda row: row.needed)
    used = min(row.time for row in (own, default) if row.error <= ERROR)
    print(f"{best.master} takes {best.needed / used:.0f} times as long as gpmelica cosim\n", flush=True)


def main(*names: str) -> None:
    """Measure all systems, or those named."""
    for make in (two_masses, quarter_car, slewing):
        if not names or make.__name__ in names:
            with TemporaryDirectory() as folder:
                problem = make(Path(folder))
                default = cosim(problem, "gpmelica cosim, default step")
                others = [theirs(problem, master) for master in masters().MASTERS]
                report(make.__name__, ours(problem), default, others)


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # a controller made with pythonfmu3 reads freed memory in the functions that are called at exit
