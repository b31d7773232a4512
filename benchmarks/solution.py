"""CPU time per second of model time at a required accuracy: co-simulation, and model exchange in CVODE.

    python benchmarks/solution.py [--rounds N] [--details] [--draw] [NAME …]

CPU time of this process, communication and output steps of 10 ms. Each machine is run at a ladder of tolerances; a
cell is the time of the cheapest run with an error within the bound, relative to range, against a converged
run. The cranes are run in MuJoCo and Exudyn, too, with equal parts of 10 ms as steps and supports that are linear
in the base's coordinates, against converged runs of their own; Exudyn's adaptive methods with tolerances, compared
at the ends of their steps. Where there is omc, they are run as its FMU of what one draws with MultiBody, too. With
--draw, runs that cost less than all more exact ones are points of docs/solution.png.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import fmpy
import numpy as np
from exudyn_chain import EXPLICIT, RK44, TRAPEZOIDAL, ExudynChain, Method
from fmpy.sundials import CVodeSolver
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from scipy.interpolate import CubicSpline

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers_backends import EXAMPLES, Compiled, Fmu, example_model
from helpers_replacement import model_of
from helpers_stiff import AUTOMATIC, BDF, COUNTERS, DORMAND_PRINCE, ROSENBROCK
from mujoco_chain import MujocoChain
from multibody_chain import MultibodyChain

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import MissingToolError
from gpmelica.description.load import from_data
from gpmelica.fmu.backends.native import build_bare
from gpmelica.report.plots import style

Array = NDArray[np.float64]
STEP = 1e-2  # s
PARTS = (1, 2, 3, 5, 10, 20, 50, 100, 190, 210, 260, 500)  # of it, as steps of MuJoCo and Exudyn
CONVERGED = 1000  # parts with which their RK4 is compared
FINE = 1e-4  # s, between the points of Exudyn's converged run, which are interpolated
FIGURE = Path(__file__).parents[1] / "docs" / "solution.png"
TIP = (1.2, 0.0, 0.0)  # of the jib, m
BOUNDS = (1e-2, 1e-4, 1e-6, 1e-8)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
METHODS = {
    "co-simulation, default": AUTOMATIC,
    "co-simulation, Dormand–Prince": DORMAND_PRINCE,
    "co-simulation, BDF": BDF,
    "co-simulation, Rosenbrock": ROSENBROCK,
}
SLOW = 0.8  # s per simulated second: beyond, a method is not tried at tighter tolerances


def crane(elements: int) -> System:
    """The example's crane without its programmed constraints: springs hold boom and jib."""
    data = tomllib.loads((EXAMPLES / "crane.toml").read_text(encoding="utf-8"))
    for key in ("programmed", "constraints", "outputs", "cases"):
        del data[key]
    for key in ("a", "b", "rise"):
        del data["parameters"][key]
    _, boom, jib = data["links"]
    boom["beam"]["elements"] = elements
    boom["joint"] |= {"stiffness": 1e5, "damping": 1e3}
    jib["joint"] |= {"stiffness": 2e4, "damping": 2e2}
    return assemble_system(from_data(data))


@dataclass(frozen=True)
class Machine:
    """A model, the signals that are compared, and the time that is simulated, s.

    exact  method and tolerance of the converged run, by a method that shares no formula with BDF
    """

    model: Callable[[], System]
    signals: Sequence[str]
    stop: float
    exact: tuple[int, float] = (DORMAND_PRINCE, 1e-11)


CRANE = ("column_angle", "boom_angle", "jib_angle", "E_x", "E_y", "E_z")
RSRRP = ("crank_angle", "slider_position", "rocker_angle")
ARM = ("column_angle", "arm_angle", "forearm_angle", "telescope_position")
MACHINES = {
    "crane, rigid boom": Machine(lambda: crane(1), CRANE, 2.0),
    "crane, elastic boom": Machine(lambda: crane(4), CRANE, 2.0),
    "boom of 20 elements": Machine(lambda: crane(20), CRANE, 1.0, (ROSENBROCK, 1e-8)),
    "rsrrp, spherical 1e8 N/m": Machine(lambda: model_of("spherical_replacement", 1e8), RSRRP, 1.0),
    "rsrrp, revolute 1e8 N/m": Machine(lambda: model_of("revolute_replacement", 1e8), RSRRP, 1.0),
    "manipulator, friction": Machine(lambda: example_model("manipulator", "S_fl_L_fl_J_f"), ARM, 1.0),
}


@dataclass(frozen=True)
class Run:
    """values: of the signals, shape (N, k), at times, shape (N,), s; CPU time in s per simulated second."""

    setting: str
    times: Array
    values: Array
    seconds: float
    counts: Mapping[str, int]

    def error(self, exact: Run) -> float:
        """Largest difference, relative to the range of each signal."""
        expected = CubicSpline(exact.times, exact.values)(self.times)
        return float((np.abs(self.values - expected) / np.ptp(exact.values, axis=0)).max())


def output_times(machine: Machine) -> Array:
    """Output times from 0 to the end of the run, s."""
    return np.linspace(0.0, machine.stop, round(machine.stop / STEP) + 1)


def co_simulate(compiled: Compiled, machine: Machine, tolerance: float, method: int) -> Run:
    """Run an FMU by its own solver."""
    points = output_times(machine)
    with Fmu(compiled) as fmu:
        fmu.start({"solver_method": method, "solver_max_steps": 10**6}, tolerance=tolerance)
        begin = time.process_time()
        values = fmu.run(points, machine.signals)
        seconds = time.process_time() - begin
        counts = {name: fmu.count(f"solver_{name}") for name in COUNTERS}
    return Run(f"{tolerance:.0e}", points, values, seconds / machine.stop, counts)


def exchange(compiled: Compiled, machine: Machine, tolerance: float) -> Run:
    """Run an FMU by FMPy's CVODE, which is restarted at events."""
    with Fmu(compiled, "me") as fmu:
        event = fmu.start().enter_continuous_time()
        fmi, n = fmu.fmi, compiled.description.numberOfContinuousStates
        solver = CVodeSolver(
            nx=n,
            nz=0,
            get_x=fmi.getContinuousStates,
            set_x=fmi.setContinuousStates,
            get_dx=fmi.getDerivatives,
            get_z=fmi.getEventIndicators,
            get_nominals=fmi.getNominalsOfContinuousStates,
            set_time=fmi.setTime,
            input=None,
            startTime=0.0,
            maxStep=machine.stop / 50,
            relativeTolerance=tolerance,
            maxNumSteps=10**6,
        )
        points, t, values = output_times(machine), 0.0, [fmu.get(machine.signals)]
        begin = time.process_time()
        for point in points[1:]:
            while t < point - 1e-12:
                _, _, t = solver.step(t, min(float(point), event))
                fmi.setTime(t)
                fmi.completedIntegratorStep()
                if t >= event - 1e-12:
                    fmi.enterEventMode()
                    event = fmu.enter_continuous_time()
                    solver.reset(t)
            values.append(fmu.get(machine.signals))
        seconds = time.process_time() - begin
        counts = {"evaluations": fmu.count("solver_evaluations")}
    return Run(f"{tolerance:.0e}", points, np.array(values), seconds / machine.stop, counts)


Ladder: TypeAlias = tuple[Callable[[float], Run], Sequence[float]]  # what runs, and its tolerances or steps


def climb(ladder: Ladder, rounds: int) -> Iterator[Run]:
    """Yield runs from loose to tight settings, each the fastest of several unless it is slow."""
    run, rungs = ladder
    for rung in rungs:
        try:
            found = run(rung)
            again = (run(rung) for _ in range(rounds - 1 if found.seconds <= SLOW else 0))
            found = min([found, *again], key=lambda each: each.seconds)
        except Exception as error:  # a solver that gives up at one tolerance may not at the next
            print(f"  {rung:.0e}: {error}", file=sys.stderr)
            continue
        yield found
        if found.seconds > SLOW:
            return


@dataclass(frozen=True)
class Way:
    """A way to run a machine: one or several ladders, and a converged run."""

    ladders: Sequence[Ladder]
    exact: Run

    def runs(self, rounds: int) -> list[Run]:
        """Runs of all ladders."""
        return [run for ladder in self.ladders for run in climb(ladder, rounds)]

    def cell(self, runs: Sequence[Run], bound: float) -> str:
        """ms per s of the cheapest run within the bound, and how it was made."""
        within = [run for run in runs if run.error(self.exact) <= bound]
        if not within:
            return "–"
        best = min(within, key=lambda run: run.seconds)
        return f"{1e3 * best.seconds:.2f} ({best.setting})"


def build(model: System, folder: Path) -> Compiled:
    """A model's FMU, unpacked."""
    fmu = build_bare(model, folder)
    return Compiled(model, fmu, Path(fmpy.extract(str(fmu), str(folder / "unpacked"))))


def ways(compiled: Compiled, machine: Machine) -> dict[str, Way]:
    """Each way to run a machine, by its title."""
    method, tolerance = machine.exact
    exact = co_simulate(compiled, machine, tolerance, method)
    runs = {title: partial(co_simulate, compiled, machine, method=method) for title, method in METHODS.items()}
    runs |= {"model exchange, CVODE": partial(exchange, compiled, machine)}
    return {title: Way([(run, TOLERANCES)], exact) for title, run in runs.items()}


def torque_of(model: System) -> float:
    """Torque that drives the crane's column, N·m."""
    parameter = model.chain.parameters["torque"]
    return float(parameter if isinstance(parameter, float) else parameter.value)


def by_mujoco(model: System, machine: Machine) -> dict[str, Way]:
    """Ways to run the machine by MuJoCo's integrators."""

    def run(chain: MujocoChain, step: float) -> Run:
        values, seconds = chain.run(machine.stop, STEP, round(STEP / step), machine.signals)
        return Run(f"{step:.0e} s", output_times(machine), values, seconds / machine.stop, {})

    chains = {name: MujocoChain(model, name, torque_of(model), TIP) for name in ("RK4", "implicitfast")}
    exact, steps = run(chains["RK4"], STEP / CONVERGED), [STEP / parts for parts in PARTS]
    return {f"MuJoCo, {name}": Way([(partial(run, chain), steps)], exact) for name, chain in chains.items()}


def by_exudyn(model: System, machine: Machine) -> dict[str, Way]:
    """Ways to run the machine by Exudyn's explicit methods and its implicit one, with several settings."""
    chain, steps = ExudynChain(model, torque_of(model), TIP), [STEP / parts for parts in PARTS]

    def run(method: Method, rung: float, period: float = STEP) -> Run:
        times, values, seconds = chain.run(machine.stop, method, rung, period, machine.signals)
        return Run(method.label(rung), times, values, seconds / machine.stop, {})

    def way(methods: Sequence[Method]) -> Way:
        return Way([(partial(run, each), TOLERANCES if each.adaptive else steps) for each in methods], exact)

    exact = run(RK44, STEP / CONVERGED, FINE)
    return {"Exudyn, explicit": way(EXPLICIT), "Exudyn, trapezoidal": way(TRAPEZOIDAL)}


def by_multibody(model: System, machine: Machine, folder: Path) -> dict[str, Way]:
    """Ways to run the machine as OpenModelica's FMU of a MultiBody drawing; none without omc."""
    try:
        chain = MultibodyChain(model, torque_of(model), TIP, folder)
    except MissingToolError as error:
        print(error, file=sys.stderr)
        return {}

    def run(tolerance: float) -> Run:
        points = output_times(machine)
        values, seconds = chain.run(points, tolerance, machine.signals)
        return Run(f"{tolerance:.0e}", points, values, seconds / machine.stop, {})

    return {"MultiBody by OpenModelica, CVODE": Way([(run, TOLERANCES)], run(1e-12))}


Points: TypeAlias = list[tuple[float, float]]  # error, and ms per simulated second


def cheapest(points: Points) -> Points:
    """Points that cost less than all more exact ones, from exact to coarse."""
    least = np.minimum.accumulate([math.inf, *(ms for _, ms in sorted(points))])
    return [point for point, before in zip(sorted(points), least, strict=False) if point[1] < before]


def print_machine(
    name: str, compiled: Compiled, machine: Machine, rounds: int, details: bool
) -> dict[str, Points]:
    """A row per way to run it, a column per bound; returns the points of each."""
    n = compiled.description.numberOfContinuousStates
    table = Table(f"{name}, {n} states", *(f"≤ {bound:.0e}" for bound in BOUNDS), box=MARKDOWN)
    tried, points = ways(compiled, machine), dict[str, Points]()
    if name.startswith("crane"):
        tried |= by_mujoco(compiled.model, machine) | by_exudyn(compiled.model, machine)
        tried |= by_multibody(compiled.model, machine, compiled.fmu.parent)
    for title, way in tried.items():
        runs = way.runs(rounds)
        table.add_row(title, *(way.cell(runs, bound) for bound in BOUNDS))
        points[title] = cheapest([(run.error(way.exact), 1e3 * run.seconds) for run in runs])
        for run in runs if details else ():
            about = f"{run.setting}: {run.error(way.exact):.1e}, {1e3 * run.seconds:.2f} ms/s"
            print(f"{title}, {about}", run.counts)
    Console(width=150).print(table)
    for (title, one), (another, other) in pairwise((title, way.exact) for title, way in tried.items()):
        if one is not other:
            coarse, fine = sorted((one, other), key=lambda run: len(run.times))
            print(f"converged runs of {title} and {another} differ by {coarse.error(fine):.0e}")
    return points


def draw(found: Mapping[str, Mapping[str, Points]]) -> None:
    """A panel per machine, a line per way to run it: what is to the left and below is better."""
    with style.styled():
        figure = style.new_figure(3.4)
        panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axes, (name, ways) in zip(panels, found.items(), strict=True):
            for (title, points), marker in zip(ways.items(), "osD^v*PXdh", strict=False):
                shown = [point for point in points if point[0] < 1.0]
                axes.loglog(*zip(*shown, strict=True), marker=marker, markersize=4, linewidth=1.0, label=title)
            axes.set_title(name)
            axes.set_xlabel("error, relative to range")
            for side in (axes.xaxis, axes.yaxis):
                side.set_major_formatter(FuncFormatter(lambda value, _: style.power_of_ten(value)))
                side.set_minor_locator(NullLocator())
        figure.axes[0].set_ylabel("ms per simulated second")
        figure.axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """A table per machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="machines whose name begins so; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the fastest counts")
    parser.add_argument("--details", action="store_true", help="error and counts of every run, too")
    parser.add_argument("--draw", action="store_true", help="the runs of all cranes into docs/solution.png")
    wanted, found = parser.parse_args(), {}
    for name, machine in MACHINES.items():
        if not wanted.names or any(name.startswith(each) for each in wanted.names):
            with TemporaryDirectory() as folder:
                compiled = build(machine.model(), Path(folder))
                found[name] = print_machine(name, compiled, machine, wanted.rounds, wanted.details)
    if wanted.draw:
        draw({name: points for name, points in found.items() if name.startswith("crane")})


if __name__ == "__main__":
    main()
