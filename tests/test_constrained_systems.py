"""Knife edges, constraints on accelerations, formulations and partitions of the generated equations."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from helpers_backends import Compiled, CompileModel, Fmu
from helpers_examples import FORMULATIONS, changed
from helpers_loops import random_loop
from helpers_parts import X, Y, body, link, machine
from helpers_stages import StagedModel, Values

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.core.trajectory import Array
from gpmelica.description.load import from_data
from gpmelica.description.tables.settings import Constraints
from gpmelica.description.tables.task import Nonholonomic
from gpmelica.fmu.backends import native
from gpmelica.fmu.code.dependencies import dependencies
from gpmelica.fmu.code.stages import stage
from gpmelica.generator.program.items import LinearSolve
from gpmelica.mechanism import build
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.runs.fmpy_runs.states import State
from gpmelica.tasks.evaluate import RumocaEvaluator

EXACT = 1e-9
needs_rumoca = pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")


TIMES = {"start": "description", "stop": 2.0, "output_step": 0.02, "tolerance": 1e-10}
FLAT = {"gravity": [0.0, 0.0, 0.0], "simulation": TIMES}


def sleigh(speed: float, turn: float, **tables: Any) -> dict[str, Any]:
    """Chaplygin's sleigh: com 0.4 m ahead of its knife edge, 2 kg, 0.3 kg·m²; speed, m/s, and turn, rad/s."""
    runner = link("sleigh", "planar", velocity=[speed, 0.0, turn]) | body(2.0, [0.4, 0.0, 0.0], [0.3, 0.3, 0.3])
    edge = {"name": "blade", "link": "sleigh", "normal": [0.0, 3.0, 0.0]}
    return machine(runner, name="Sleigh", nonholonomic=[edge], **FLAT) | tables


def circling(**tables: Any) -> dict[str, Any]:
    """A mass of 2 kg on a cart of 1 kg that can go anywhere in the plane, held on the unit circle, at 1 m/s."""
    links = [
        link("cart", "prismatic", X, position=1.0),
        link("mass", "prismatic", Y, "cart", velocity=1.0) | body(2.0),
    ]
    circle = {"name": "circle", "expression": "(E.x^2 + E.y^2 - 1)/2"}
    return machine(*links, name="Circling", points={"E": {"link": "mass"}}, programmed=[circle], **FLAT) | tables


def _formulated(data: dict[str, Any], formulation: str, **settings: Any) -> System:
    return assemble_system(from_data(data | {"constraints": {"formulation": formulation} | settings}))


def _error(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / max(float(np.abs(expected).max()), 1e-3))


def _agrees(model: System, values: Values, expected: analysis.Evaluation) -> None:
    """q̈, efforts of drives and violations are the reference's."""
    assert _error(values.qdd, expected.qdd) <= EXACT
    symbols = [c.symbol for c in model.mechanism.coordinates]
    drives = {f"{s}_effort": x for s, x in zip(symbols, expected.drive, strict=True)}
    shared = [name for name in values.outputs if name in drives]
    scale = float(np.abs(expected.effort).max()) or 1.0
    assert max((abs(values.outputs[name] - drives[name]) for name in shared), default=0.0) <= EXACT * scale


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_native_sleigh_keeps_its_energy(compile_model: CompileModel, formulation: str) -> None:
    """The FMU's sleigh turns until it runs straight, ω = ω₀/cosh(ω₀ ℓ √(m/(J + mℓ²)) t), and no energy is lost."""
    data = sleigh(0.0, 2.0)
    data["links"][0]["joint"]["position"] = [0.0, 0.0, -1.0]
    # up to the end's 1.2 rad y follows from x: what are states has to be so all the time
    chosen = {"dependent": ["sleigh.y"]} if formulation == "gpme_reduced" else {}
    fmu = compile_model(_formulated(data, formulation, **chosen)).fmu
    names = ["sleigh_x_dot", "sleigh_y_dot", "sleigh_angle", "sleigh_angle_dot"]
    names += ["violation_velocity", "blade_force"]
    run = simulate_fmu(str(fmu), stop_time=2.0, output=names, relative_tolerance=1e-11)
    angle, w = run["sleigh_angle"], run["sleigh_angle_dot"]
    v = run["sleigh_x_dot"] * np.cos(angle) + run["sleigh_y_dot"] * np.sin(angle)
    total = 0.3 + 2.0 * 0.4**2
    assert 0.5 * (2.0 * v**2 + total * w**2) == pytest.approx(np.full(len(v), 2.0 * total), rel=1e-8)
    decay = 0.4 * np.sqrt(2.0 / total) * 2.0
    assert w == pytest.approx(2.0 / np.cosh(decay * run["time"]), abs=1e-7)
    assert run["blade_force"] == pytest.approx(2.0 * v * w * 0.3 / total, abs=1e-7)
    assert run["violation_velocity"].max() <= (1e-12 if formulation == "gpme_reduced" else 1e-7)


def test_states_and_their_description() -> None:
    """The reduced form has a state less per constraint row, and the model says which form it is."""
    texts = {"gpme": "GPME, 2n = 6 states, Baumgarte", "gpme_reduced": "reduced GPME, n + 2 = 5 states, position"}
    texts["lagrange"] = "Lagrange multipliers, 2n = 6 states, Baumgarte"
    for formulation, text in texts.items():
        model = _formulated(sleigh(1.0, 1.0), formulation)
        sources = native.generate(model.native_program, model.chain)
        assert len(model.program.states) == (5 if formulation == "gpme_reduced" else 6)
        assert f'description="{text}' in sources.description
        assert f'package Sleigh "{text}' in model.modelica()
        assert ("kappa" in model.modelica()) == (formulation == "gpme_reduced") != ("alpha" in model.modelica())


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", ["revolute", "spherical", "distance"])
def test_loops_in_every_formulation(formulation: str, kind: str) -> None:
    """Random closed loops with a knife edge: q̈ and efforts by both programs are the reference's."""
    mechanism, q, qd, _ = random_loop(1, kind)
    chain = mechanism.chain
    blade = Nonholonomic(name="blade", link=chain.links[-1].name, point=(0.1, 0.2, -0.1), normal=(1.0, -2.0, 0.5))
    settings = Constraints(formulation=formulation)  # type: ignore[arg-type]
    simulation = chain.simulation.model_copy(update={"start": "description"})
    changes = {"nonholonomic": (blade,), "constraints": settings, "simulation": simulation}
    model = assemble_system(chain.model_copy(update=changes))
    qd = _allowed(model, q, qd)
    expected = solving.evaluate(model.mechanism, 0.0, q, qd, start=model.start)
    for program in (model.program, model.native_program):
        values = StagedModel(model, program)(0.0, q, qd)
        assert values.qd == pytest.approx(qd, abs=1e-9)
        _agrees(model, values, expected)


def _allowed(model: System, q: Array, qd: Array) -> Array:
    """The velocities nearest to qd that the constraints allow."""
    equations = analysis.ReferenceModel(model.mechanism, start=model.start)
    rows = equations.constraints(equations.state(0.0, q, qd))
    change: Array = np.linalg.pinv(rows.C) @ rows.Phi_dot
    return qd - change


@pytest.mark.slow
@needs_rumoca
def test_modelica_in_every_formulation() -> None:
    """The Modelica text of each form gives the reference's q̈, knife edge and dependent velocities included."""
    for formulation in FORMULATIONS:
        model = _formulated(sleigh(1.5, 0.8), formulation)
        q, qd = np.array([0.1, 0.2, 0.5]), np.array([0.6 * np.cos(0.5), 0.6 * np.sin(0.5), 1.2])
        expected = solving.evaluate(model.mechanism, 0.0, q, qd, start=model.start).qdd
        assert _error(RumocaEvaluator(model)(State(0.0, q, qd)), expected) <= EXACT


@pytest.mark.slow
def test_native_runs_through_a_singular_partition(compile_model: CompileModel) -> None:
    """At the top of the circle cart.position cannot be dependent; chosen anew all the time, it need not be."""
    model = assemble_system(from_data(circling()))
    fmu = compile_model(model).fmu
    names = ["cart_position", "mass_position", "violation_position"]
    run = simulate_fmu(str(fmu), stop_time=6.0, output=names, relative_tolerance=1e-10)
    radius = np.hypot(run["cart_position"], run["mass_position"])
    assert np.abs(radius - 1.0).max() < 1e-7
    assert np.ptp(np.unwrap(np.arctan2(run["mass_position"], run["cart_position"]))) > 2 * np.pi * 0.8
    top = StagedModel(model)(0.0, np.array([0.0, 1.0]), np.array([-1.0, 0.0]))
    assert top.qdd == pytest.approx([0.0, -1.0], abs=1e-14)


@needs_rumoca
def test_modelica_stops_at_a_singular_partition() -> None:
    """With a fixed coordinate partition, the Modelica model names the coordinate and the time of the
    singularity.
    """
    model = assemble_system(from_data(circling(constraints={"dependent": ["cart.position"]})))
    evaluator = RumocaEvaluator(model)
    near = State(0.0, np.array([1e-10, 1.0]), np.array([-1.0, 1e-10]))
    with pytest.raises(SolveError, match=r"the constraints cannot be solved for cart\.position: .*time in s: 0"):
        evaluator(near)
    assert [item.ratios for item in model.native_program.items if isinstance(item, LinearSolve)] == [1, None]


def test_dependencies_through_a_constrained_solve() -> None:
    """Accelerations depend on the states in their forces and constraints, rates on themselves alone."""
    model = assemble_system(from_data(sleigh(1.0, 1.0)))
    found = dependencies(stage(model.native_program)).derivatives[:, :6]
    assert np.array_equal(found[:3], np.eye(6, dtype=bool)[3:])
    assert found[3:, 2:].all()


# ---- A fixed choice of dependent coordinates in a native run ----------------------------------------------------


REALS = ctypes.POINTER(ctypes.c_double)
DEPENDENT = ["crank.angle", "coupler.angle"]  # the rocker is independent
DEAD_CENTRE = 0.3945  # s: crank and coupler in line for the first time
STOPPED = r"cannot be solved for crank\.angle, coupler\.angle all the way to t = \S+ s: .*becomes singular"


@pytest.fixture(params=[("gpme", "dense"), ("gpme", "recursion"), ("gpme_reduced", "dense")])
def linkage(request: pytest.FixtureRequest, compile_model: CompileModel) -> Compiled:
    """The four-bar linkage with the rocker as independent coordinate; recursion could do without it."""
    formulation, way = request.param
    keys = {"constraints__formulation": formulation, "constraints__dependent": DEPENDENT}
    keys |= {"simulation__accelerations": way}
    return compile_model(assemble_system(changed("four_bar_3d", "planar", **keys)))


@pytest.fixture
def run(linkage: Compiled) -> Iterator[Callable[[float, float], tuple[float, str]]]:
    """Co-simulation with a tolerance and a speed; where the message says that it stopped, s, and the message."""
    symbols = [c.symbol for c in linkage.model.mechanism.coordinates]
    rates = dict(zip([f"{symbol}_dot_start" for symbol in symbols], linkage.model.start[1], strict=True))
    with Fmu(linkage, "cs") as fmu:

        def until_stopped(tolerance: float, speed: float) -> tuple[float, str]:
            fmu.messages.clear()
            start = {name: speed * float(rate) for name, rate in rates.items() if name in fmu.variables}
            fmu.restart(start, tolerance)
            with pytest.raises(FMICallException, match="fmi2DoStep failed with status 3"):
                fmu.run(np.linspace(0.0, 1.0, 101))
            return fmu.get(["time"])[0], fmu.messages[-1]

        yield until_stopped


def test_run_stops_at_a_singular_partition(run: Callable[[float, float], tuple[float, str]]) -> None:
    """Whatever the steps are: those of a loose tolerance jump across, those of a tight one come near."""
    for tolerance in 10.0 ** -np.arange(3.0, 10.1, 0.5):
        for speed in (0.9, 1.0, 1.1):
            time, message = run(float(tolerance), speed)
            assert re.search(STOPPED, message)
            assert time == pytest.approx(DEAD_CENTRE / speed, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["gpme", "gpme_reduced"])
def test_reference_stops_at_the_first(formulation: str) -> None:
    """Not at a later one, whatever the solver's steps are."""
    chosen = {"constraints__dependent": DEPENDENT, "constraints__formulation": formulation}
    mechanism = build(changed("four_bar_3d", "planar", **chosen))
    for tolerance in (1e-4, 1e-7, 1e-10):
        with pytest.raises(SolveError, match=r"for crank\.angle, coupler\.angle at t = 0\.(39|4)\d* s"):
            solving.simulate(mechanism, stop=1.5, tolerance=tolerance)


def test_states_beyond_a_singular_partition(linkage: Compiled) -> None:
    """A run that began before the singularity rejects states beyond it; a run that begins there accepts them."""
    q, free = linkage.model.start[0], len(linkage.model.program.states) - 3
    symbols = [c.symbol for c in linkage.model.mechanism.coordinates]
    with Fmu(linkage, "me") as fmu:

        def derivatives(side: int) -> Array:
            states = np.array([*(side * q), *np.ones(free)])
            rates = np.empty_like(states)
            fmu.fmi.setContinuousStates(states.ctypes.data_as(REALS), len(states))
            fmu.fmi.getDerivatives(rates.ctypes.data_as(REALS), len(states))
            return rates

        for side in (1, -1):  # the linkage and its mirror image
            fmu.restart({f"{s}_start": side * float(angle) for s, angle in zip(symbols, q, strict=True)})
            fmu.fmi.enterContinuousTimeMode()
            found = derivatives(side)
            with pytest.raises(FMICallException, match="fmi2GetDerivatives failed with status 3"):
                derivatives(-side)
            assert re.search(STOPPED, fmu.messages[-1])
            assert np.array_equal(derivatives(side), found)
