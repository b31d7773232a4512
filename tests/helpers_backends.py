"""Compiled FMUs and their instances, random states, and the Modelica text evaluated at many states."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import helpers_problem as solving
import numpy as np
from helpers_fmpy import Array
from helpers_fmpy import Instance as FmpyInstance
from helpers_parts import X, Y, body, link

from gpmelica import analysis
from gpmelica.analysis.start.velocities import allowed_velocities
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description import load
from gpmelica.description.types.origin import Origin
from gpmelica.generator import modelica
from gpmelica.generator.program.items import Definition
from gpmelica.generator.program.program import Assertion
from gpmelica.language import ir
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.instance import Instance
from gpmelica.runs.fmpy_runs.states import State

EXAMPLES = Path(__file__).parents[1] / "examples"
MODES: tuple[runs.Mode, ...] = ("me", "cs")


def _cases(*examples: str) -> list[tuple[str, str]]:
    return [(example, case.name) for example in examples for case in load(EXAMPLES / f"{example}.toml").cases]


CASES = _cases("crane", "manipulator")
LOOPS = _cases("rsrrp", "rpsup")
# but the slewing crane on a motor, which test_drives has
_SLEWING = [(example, case) for example, case in _cases("slewing/slewing") if case in ("plant", "closed")]
EVERY = [*CASES, *LOOPS, *_cases("four_bar_3d", "delta_robot", "mobile_robot"), *_SLEWING]


@dataclass(frozen=True)
class Compiled:
    """A model, its FMU and the folder with the FMU's unpacked files."""

    model: System
    fmu: Path
    folder: Path

    @property
    def description(self) -> Any:
        """Return the content of the FMU's modelDescription.xml as read by FMPy."""
        return fmpy.read_model_description(str(self.fmu))


# The fixtures of conftest.py.
Once = Callable[[str, Callable[[Path], None]], Path]
CompileModel = Callable[..., Compiled]  # model, FMI version (2.0), whether as users get it (False)
Compile = Callable[..., Compiled]  # example, case, then as above
CompileData = Callable[..., Compiled]  # description, then as above


@cache
def example_model(example: str, case: str) -> System:
    """One case of an example, ready to run; the same for all tests of a worker."""
    return assemble_system(load(EXAMPLES / f"{example}.toml", case))


def pendulum(**changes: Any) -> dict[str, Any]:
    """A cart on a spring with a rod that hangs on it; a moment on the rod until `off`."""
    links = [
        link("cart", "prismatic", X, stiffness=50.0, damping=1.0) | body(2.0, inertia=[0.1, 0.1, 0.1]),
        link("rod", "revolute", Y, "cart", position=1.2) | body(1.0, [0.5, 0.0, 0.0], [0.001, 0.09, 0.09]),
    ]
    return {
        "schema": 1,
        "name": "Pendulum",
        "parameters": {"off": 0.1, "moment": 5.0},
        "links": links,
        "forces": [{"name": "drive", "joint": "rod", "effort": "moment if t <= off else 0"}],
        "points": {"E": {"link": "rod", "position": [1.0, 0.0, 0.0]}},
        "simulation": {"stop": 0.6, "start": "description"},
    } | changes


def driven() -> dict[str, Any]:
    """The pendulum with a force on the cart and a wind force on the rod that the FMU's user gives."""
    forces = [
        {"name": "push", "joint": "cart", "input": True},
        {"name": "wind", "link": "rod", "point": [1.0, 0.0, 0.0], "input": True},
    ]
    return pendulum(name="Driven", parameters={}, forces=forces)


class Fmu(FmpyInstance):
    """One instance of a compiled FMU of either version: variables by name."""

    def __init__(self, compiled: Compiled, mode: str = "cs", library: Path | None = None) -> None:
        description = compiled.description
        interface = description.coSimulation if mode == "cs" else description.modelExchange
        self.variables = {v.name: v for v in description.modelVariables}
        what = (description.guid, interface.modelIdentifier, compiled.folder, library, description.fmiVersion)
        super().__init__(mode, *what)

    def initialization(
        self, values: Mapping[str, float] | None = None, time: float = 0.0, tolerance: float | None = None
    ) -> Fmu:
        """In initialization mode with these parameters, inputs and settings; time in s."""
        experiment = {"tolerance": tolerance, "startTime": time}
        if not self.three:
            self.fmi.setupExperiment(**experiment)
        self.set(values or {})
        self.fmi.enterInitializationMode(**(experiment if self.three else {}))
        return self

    def start(
        self, values: Mapping[str, float] | None = None, time: float = 0.0, tolerance: float | None = None
    ) -> Fmu:
        """Initialises a run with them."""
        self.initialization(values, time, tolerance).fmi.exitInitializationMode()
        return self

    def restart(self, values: Mapping[str, float] | None = None, tolerance: float | None = None) -> Fmu:
        """Reset the FMU and initialise it again."""
        self.fmi.reset()
        return self.start(values, tolerance=tolerance)

    def references(self, names: Iterable[str]) -> list[int]:
        """Value references of variables."""
        return [self.variables[name].valueReference for name in names]

    def set(self, values: Mapping[str, float]) -> None:
        """Sets variables, each by its type."""
        integer, real = ("setInt32", "setFloat64") if self.three else ("setInteger", "setReal")
        for name, value in values.items():
            kind = integer if self.variables[name].type in ("Integer", "Int32") else real
            getattr(self.fmi, kind)(self.references([name]), [value])

    def get(self, names: Sequence[str]) -> Array:
        """Values of real variables, shape (len(names),)."""
        return np.array((self.fmi.getFloat64 if self.three else self.fmi.getReal)(self.references(names)))

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs and derivatives."""
        return [v.name for v in self.variables.values() if v.causality == "output" or v.derivative is not None]

    def count(self, name: str) -> int:
        """The value of an integer variable."""
        return int(self.fmi.getInteger(self.references([name]))[0])

    def run(self, points: Sequence[float] | Array, names: Sequence[str] = ()) -> Array:
        """Communication steps from point to point, s; values at each, shape (len(points), len(names))."""
        values = [self.get(names)]
        for t, t_next in pairwise(points):
            self.fmi.doStep(float(t), float(t_next - t))
            values.append(self.get(names))
        return np.array(values)


def motion_signals(model: System) -> list[list[str]]:
    """Names of the coordinates, of their rates, and of their accelerations."""
    symbols = [c.symbol for c in model.mechanism.coordinates]
    return [[f"{symbol}{level}" for symbol in symbols] for level in ("", "_dot", "_ddot")]


def random_states(model: System, rng: np.random.Generator, count: int) -> list[State]:
    """States about the start with times over the whole run; joints ±0.3 rad or m, the others ±0.02.

    Loops are closed and stay closed, with joints ±0.05 rad or m from the start before they are.
    """
    return [_random_state(model, rng) for _ in range(count)]


def _random_state(model: System, rng: np.random.Generator) -> State:
    (q, qd, z), centre = _spreads(model), model.start[0]
    t = float(rng.uniform(0.0, model.chain.simulation.stop))
    q, qd = centre + q * rng.uniform(-1.0, 1.0, len(q)), qd * rng.uniform(-1.0, 1.0, len(qd))
    q = analysis.assemble(model.mechanism, q)
    return State(t, q, allowed_velocities(model.mechanism, q, qd), z * rng.uniform(-1.0, 1.0, len(z)))


def _spreads(model: System) -> tuple[Array, Array, Array]:
    """Return ranges of q and q̇, shape (n,), and of bristle deflections z at static friction, shape (f,)."""
    coordinates = model.mechanism.coordinates
    joint = np.array([c.role == "joint" for c in coordinates])
    bent = [c.friction.mu_s / c.friction.sigma0 for c in coordinates if c.friction is not None]
    reach = 0.05 if model.mechanism.closures else 0.3
    return np.where(joint, reach, 0.02), np.where(joint, 1.0, 0.2), np.array(bent)


def reference_accelerations(model: System, states: Sequence[State]) -> Array:
    """q̈ by the reference, and the rates of friction states by their side: shape (len(states), n + f)."""
    found = [
        solving.evaluate(model.mechanism, s.t, s.q, s.qd, s.z, start=model.start, dependent=model.dependent)
        for s in states
    ]
    return np.array([np.concatenate([x.qdd, x.z_dot]) for x in found])


def native_accelerations(model: System, fmu: Path, states: Sequence[State]) -> Array:
    """q̈ and ż by the compiled FMU's fmi2GetDerivatives, shape (len(states), n + f)."""
    with Instance(fmu) as instance:
        rates = [instance.derivatives(s.t, np.concatenate([s.q, s.qd, s.z])) for s in states]
    return np.array(rates)[:, model.mechanism.n :]


def run_of(
    compiled: Compiled,
    mode: runs.Mode = "cs",
    names: Sequence[str] | None = None,
    *,
    stop: float,
    output_step: float = 0.01,
    tolerance: float = 1e-10,
    **options: Any,
) -> Trajectory:
    """A run of the FMU, of all outputs by default; times in s, options as `simulate` has them."""
    wanted = list(compiled.model.units if names is None else names)
    settings = {"stop": stop, "output_step": output_step, "tolerance": tolerance} | options
    return runs.simulate(compiled.fmu, mode, wanted, name=mode, **settings)


def follows(
    compiled: Compiled,
    truth: Trajectory,
    limit: float = 1e-6,
    modes: tuple[runs.Mode, ...] = MODES,
    **options: Any,
) -> None:
    """Runs have the signals of a trajectory, and stay within this part of their ranges to the end."""
    stop = float(truth.time[-1])
    for mode in modes:
        run = run_of(compiled, mode, stop=stop, **options)
        outcome = compare(truth, run, compiled.model.units, limit, horizon=stop)
        assert outcome.ok, f"{mode}, {outcome.worst_signal}: {outcome.max_rel_error}"
        assert set(truth.signals) == set(run.signals)


def largest_error(found: Array, expected: Array) -> float:
    """Largest ‖Δ‖∞/‖expected‖∞ over the rows of two arrays of shape (N, n)."""
    return float(np.max(np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)))


def native_error(model: System, fmu: Path, seed: int, count: int) -> float:
    """Largest error of a compiled FMU's accelerations against the reference's, at so many random states."""
    states = random_states(model, np.random.default_rng(seed), count)
    return largest_error(native_accelerations(model, fmu, states), reference_accelerations(model, states))


def swept(model: System, rng: np.random.Generator) -> System:
    """The model with its states given: each runs through its range as a fast sine of time, none is integrated.

    One simulation then evaluates the equations at as many different states as it has output times.
    """
    states, spreads = model.program.states, _spreads(model)
    centre, amplitude = np.concatenate([*model.start, 0.0 * spreads[2]]), np.concatenate(spreads)
    frequency, phase = rng.uniform(100.0, 1000.0, len(states)), rng.uniform(0.0, 2 * np.pi, len(states))
    given = [
        Definition(
            s.variable, (), s.unit, s.description, (((), _sine(*numbers)),), Origin("states that are given")
        )
        for s, *numbers in zip(states, centre, amplitude, frequency, phase, strict=True)
    ]
    # as nothing integrates the rates of the bristles, an assertion keeps them in the source
    rates = [ir.symbol(f"{c.symbol}_z_dot") for c in model.mechanism.coordinates if c.friction is not None]
    kept = [Assertion(rate, 1e300, "a rate of bristles") for rate in rates]
    program = replace(
        model.program,
        states=[],
        items=[*given, *model.program.items],
        assertions=[*model.program.assertions, *kept],
    )
    return replace(model, program=program)


def _sine(centre: float, amplitude: float, frequency: float, phase: float) -> ir.Expr:
    time = ir.symbol("time")
    return ir.constant(centre) + amplitude * ir.call("sin", frequency * time + ir.constant(phase))


def modelica_accelerations(model: System, rng: np.random.Generator, count: int) -> tuple[list[State], Array]:
    """`count` states over the whole run, and q̈ and ż of the Modelica text in rumoca, shape (count, n + f)."""
    rumoca = importlib.import_module("rumoca")  # only where it is installed

    text = swept(model, rng).modelica(start_values=model.start_values())
    step = model.chain.simulation.stop / 1.001 / count  # so that no output time meets a switch
    compiled = rumoca.Session().loads(text, model=modelica.experiment(model.name))
    result = compiled.simulate(t=(0.0, count * step), dt=step)
    time = np.asarray(result.time)
    rows = np.abs(time / step - np.round(time / step)) < 1e-6  # those at events are extra
    symbols = [c.symbol for c in model.mechanism.coordinates]
    bristles = [f"{c.symbol}_z" for c in model.mechanism.coordinates if c.friction is not None]

    def read(names: list[str], level: str) -> Array:
        columns = [np.asarray(result[f"{name}{level}"])[rows] for name in names]
        return np.array(columns).reshape(len(names), int(rows.sum())).T

    q, qd, qdd = (read(symbols, level) for level in ("", "_dot", "_ddot"))
    z, z_dot = read(bristles, ""), read(bristles, "_dot")
    return [State(*row) for row in zip(time[rows].tolist(), q, qd, z, strict=True)], np.hstack([qdd, z_dot])
