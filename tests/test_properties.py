"""Random valid descriptions: they load, derive and render, and the equations are those of the reference."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import Compile, CompileData, Fmu, run_of
from helpers_reference import cantilever
from helpers_stages import StagedModel
from hypothesis import HealthCheck, assume, given, note, settings
from strategies import coordinates, descriptions

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data
from gpmelica.generator import variables
from gpmelica.generator.program.items import Definition, Item
from gpmelica.generator.program.program import EquationSystem
from gpmelica.mechanism import GROUND

_DECLARATION = re.compile(r"^ *(?:[a-z]+ )*(?:Real(?:Input)?|SI\.\w+) ([A-Za-z_0-9]+)", re.MULTILINE)

# The same trees every time: a failure must be there again when somebody looks for it.
PROFILE = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


# what a random description may be refused for: dependent rows, and names that run into each other
REFUSALS = ("contradict each other", "two quantities would be called")


def _model(data: dict[str, Any]) -> System:
    """The model; descriptions that are refused for a reason that is the strategy's doing are left out."""
    note(repr(data))
    chain = from_data(data)
    try:
        model = assemble_system(chain)
        variables.table(model.program)
    except DescriptionError as error:
        assume(not any(reason in str(error) for reason in REFUSALS))
        raise
    return model


def _used(item: Item) -> set[str]:
    if isinstance(item, Definition):
        return {name for _, expr in item.parts for name in expr.symbols}
    return item.matrix.symbols | item.right.symbols


def _given(program: EquationSystem) -> list[str]:
    """Names that are known before any equation."""
    lists = (program.parameters, program.inputs, program.start_values)
    return ["time", *(s.variable for s in program.states), *(entry.name for entries in lists for entry in entries)]


@pytest.mark.slow
@PROFILE
@given(descriptions())
def test_equations_are_the_references(data: dict[str, Any]) -> None:
    """q̈, points and start values of the staged equations agree with the reference to 1e-9."""
    model = _model(data)
    rng, n = np.random.default_rng(1), model.mechanism.n
    staged = StagedModel(model)
    inputs = {entry.name: float(rng.normal()) for entry in model.program.inputs}
    for t in (0.0, 0.3, 2.0):
        q, qd = rng.uniform(-0.6, 0.6, n), rng.normal(size=n)
        expected = solving.evaluate(
            model.mechanism, t, q, qd, start=model.start, inputs=inputs, dependent=model.dependent
        )
        found = staged(t, q, qd, inputs)
        scale = max(1.0, float(np.abs(expected.qdd).max()))
        assert np.abs(found.qdd - expected.qdd).max() <= 1e-9 * scale
        for name in ("E", "O"):
            place = [found.outputs[f"{name}_{axis}"] for axis in "xyz"]
            assert place == pytest.approx(_position(model, name, q), rel=1e-12, abs=1e-12)
        assert found.start_values == pytest.approx(model.start_values(), rel=1e-12, abs=1e-12)


def _position(model: System, point: str, q: np.ndarray[Any, Any]) -> list[float]:
    """World position of a point by the reference, m."""
    place = model.mechanism.points[point]
    pose = analysis.poses(model.mechanism, q)[place.body] if place.body != GROUND else np.eye(4)
    return list(pose[:3, :3] @ place.position + pose[:3, 3])


@pytest.mark.slow
@PROFILE
@given(descriptions())
def test_program_text_and_interface(data: dict[str, Any]) -> None:
    """Equations are in order; the Modelica text and the FMU's table of variables have all that they should."""
    model = _model(data)
    _check_order(model.program)
    _check_text(model)
    _check_interface(model, coordinates(data))


def _check_order(program: EquationSystem) -> None:
    """Names are unique, and every equation uses only what has been given or defined before it."""
    outputs = {o.name for o in program.outputs} - program.published
    names = [*_given(program), *(item.name for item in program.items), *outputs]
    assert {name: count for name, count in Counter(names).items() if count > 1} == {}
    known = set(_given(program))
    for item in program.items:
        assert _used(item) <= known, f"{item.name} comes too early"
        known.add(item.name)
    results = [*(s.derivative for s in program.states), *(o.expr for o in program.outputs)]
    results += [*(v.expr for v in program.start_values), *(e.time for e in program.events)]
    assert all(expr.symbols <= known for expr in results)


def _check_text(model: System) -> None:
    """Assert that the source declares each name of the interface once and balances its brackets."""
    text = model.modelica()
    declared = Counter(_DECLARATION.findall(_without_functions(text)))
    assert {name: count for name, count in declared.items() if count > 1} == {}
    program = model.program  # whose other names may be elements of arrays
    names = set(_given(program)) | {o.name for o in program.outputs}
    assert names - {"time"} <= set(declared)
    code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert [code.count(a) - code.count(b) for a, b in ("()", "[]", "{}")] == [0, 0, 0]


def _without_functions(text: str) -> str:
    return re.sub(r"^ *function (\w+).*?end \1;", "", text, flags=re.MULTILINE | re.DOTALL)


def _check_interface(model: System, described: list[str]) -> None:
    """The FMU's variables have unique names and finite start values; every coordinate is among them."""
    table = variables.table(model.program)
    names = [variable.name for variable in table]
    assert len(set(names)) == len(names)
    assert all(np.isfinite(v.start) for v in table if v.start is not None)
    symbols = {name.replace(".", "_") for name in described}
    assert {f"{symbol}{suffix}" for symbol in symbols for suffix in ("", "_dot", "_ddot")} <= set(names)


# ---- Physics of the compiled FMU --------------------------------------------------------------------------------


ELEMENTS = (2, 5)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["S_r_L_r_J_nf", "S_fl_L_fl_J_nf"])
def test_violations_decay_at_the_slow_root(compile_example: Compile, case: str) -> None:
    """The manipulator, started off its path, returns to the path exponentially (Jarzębowska et al. 2023, Fig. 8).

    The decay rate is the slow root −α + √(α² − β²) of Φ̈ + 2αΦ̇ + β²Φ = 0; after 2.2 s, at most 5e-7 m remain.
    """
    compiled = compile_example("manipulator", case)
    alpha, beta = compiled.model.mechanism.alpha, compiled.model.mechanism.beta
    names = ["violation_position"]
    run = run_of(compiled, "cs", names, stop=4.0, tolerance=1e-9)
    violation = run.signals["violation_position"]
    assert violation[0] > 5e-3
    fitted = (run.time > 0.1) & (run.time < 2.2)
    rate, start = np.polyfit(run.time[fitted], np.log(violation[fitted]), 1)
    root = -alpha + np.sqrt(alpha**2 - beta**2)
    assert root == pytest.approx(-5.0126, abs=5e-5)
    assert rate == pytest.approx(root, rel=1e-3)
    assert np.log(violation[fitted]) == pytest.approx(start + rate * run.time[fitted], abs=1e-3)
    assert violation[run.time >= 2.2].max() < 5e-7


@pytest.mark.slow
@pytest.mark.parametrize("elements", ELEMENTS)
def test_cantilever_rests_in_equilibrium(compile_data: CompileData, elements: int) -> None:
    """Started from statics, the sagging beam stays where it is, where a beam under its weight sags to.

    Tip: q L⁴/(8 E I) with q the weight per length; the springs' places make it differ at second order.
    """
    compiled = compile_data(cantilever(elements, gravity=[0.0, 0.0, -0.5]))
    with Fmu(compiled) as fmu:
        z, vz = fmu.start(tolerance=1e-9).run(np.linspace(0.0, 1.0, 21), ["E_z", "E_vz"]).T
    assert np.abs(z - z[0]).max() < 1e-10
    assert np.abs(vz).max() < 1e-8
    sag = 0.5 * 7800.0 * 1e-4 * 2.0**4 / (8 * 2.1e11 * 1e-9)
    assert -z[0] / sag == pytest.approx(1.0, abs=0.7 / (elements - 1) ** 2)
