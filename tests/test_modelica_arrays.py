"""Arrays and loops of the Modelica source: they say the same as the definitions that they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
import pytest
from helpers_backends import example_model
from helpers_modelica import undeclared
from helpers_parts import X, Y, Z, link, machine
from helpers_program import Evaluator, Numeric
from machines.equipment import equipped
from machines.families import machine as random_machine

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from gpmelica.generator.equations.solution.point_sums import with_point_sums
from gpmelica.generator.modelica import experiment
from gpmelica.generator.modelica import text as mo
from gpmelica.generator.modelica.arrays import gather, loops
from gpmelica.generator.modelica.arrays.gather import Arrangement, Statement
from gpmelica.generator.modelica.arrays.loops import Equation, Loop
from gpmelica.generator.modelica.arrays.sums import folded
from gpmelica.generator.modelica.linear_systems import for_compilers
from gpmelica.language import ir
from gpmelica.runs import rumoca

MODELS = [
    ("crane", "flexible_boom"),
    ("crane", "rigid_boom_lugre"),
    ("delta_robot", "lagrange"),
    ("lorry_crane", "tips"),
    ("manipulator", "S_fl_L_r_J_nf"),
    ("mobile_robot", "minimum_norm"),
]
MOST_LINES = 1000  # of the crane
SEED = 34

Names = Mapping[str, list[int]]


@pytest.fixture(scope="module", params=MODELS, ids="-".join)
def model(request: pytest.FixtureRequest) -> System:
    """Chains and trees, with and without loops, friction and unilateral elements."""
    return example_model(*request.param)


def _arranged(model: System) -> Arrangement:
    return gather.arranged(for_compilers(with_point_sums(model.program)), {})


@pytest.mark.parametrize("links", range(1, 5))
@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
def test_every_array_is_declared(kind: str, links: int) -> None:
    """Also where nothing turns, so that only derived parameters name masses, centres and inertias."""
    joints = [link(f"x{i}", kind, axis) for i, axis in zip(range(links), (X, Y, Z, X), strict=False)]
    assert undeclared(assemble_system(from_data(machine(*joints))).modelica()) == set()


@pytest.mark.parametrize("seed", [0, 1, 5, 7, 8, 12, 21])
def test_every_name_is_declared(seed: int) -> None:
    """Random mechanisms with tables, lines, contacts, friction and paths."""
    assert undeclared(assemble_system(from_data(equipped(seed, 8))).modelica()) == set()


def test_loops_are_equivalent_to_their_expansion(model: System) -> None:
    """The expansion of each loop, with its index tables, yields the original equations."""
    arrangement = _arranged(model)
    with_loops, equations = loops.with_loops(arrangement)
    tables = {v.name: list(v.positions) for v in with_loops.variables if v.positions}
    values = {v.name: v.value for v in with_loops.variables if v.value is not None}
    rolled = sorted(_lookup(line, values) for e in equations for line in _written_out(e, tables, {}))
    assert any(isinstance(equation, Loop) for equation in equations)
    assert rolled == sorted(_lookup(_line(statement), values) for statement in arrangement.statements)


def test_equations_hold_at_a_state(model: System) -> None:
    """Values of the program's items fulfil every equation between arrays, and none of these is trivial."""
    program = for_compilers(with_point_sums(model.program))
    values = Numeric(program, _state(model))
    arrangement = gather.arranged(program, {})
    arrays = {name: np.array([values(element) for element in own]) for name, own in arrangement.values.items()}
    known = Evaluator(values.values | arrays)
    for statement in arrangement.statements:
        left, right = known(statement.left), known(statement.right)
        size = max(1.0, float(np.abs(left).max()))
        np.testing.assert_allclose(right, left, atol=1e-9 * size, err_msg=_line(statement))
        assert mo.text(statement.left) != mo.text(statement.right)


@pytest.mark.parametrize("seed", range(5))
def test_folded_sums_keep_their_value(seed: int) -> None:
    """Sums over neighbouring elements are products of blocks; gaps between elements stay gaps."""
    rng, n = np.random.default_rng(seed), 12
    x, A = ir.symbol("x", (n,)), ir.symbol("A", (n, 3))
    known = Evaluator({"x": rng.normal(size=n), "A": rng.normal(size=(n, 3))})
    blocks = 0
    for term in (lambda i: x[i] * A[i, :], lambda i: A[i, :], lambda i: x[i]):
        chosen = np.flatnonzero(rng.random(n) < 0.8).tolist()
        total = sum((term(i) for i in chosen[1:]), start=term(chosen[0]))
        found = folded(total)
        blocks += len(mo.text(found)) < len(mo.text(total))
        np.testing.assert_allclose(known(found), known(total), rtol=1e-12)
    assert blocks >= 1


def test_no_array_of_parameters_names_elements_that_are_not_declared() -> None:
    """Links that are fixed on a slide: the first moment of a subtree contains that of the next one."""
    links = [link("a", "prismatic", X), link("b", "fixed", None, "a", xyz=X), link("c", "fixed", None, "b", xyz=X)]
    arrangement = _arranged(assemble_system(from_data(machine(*links))))
    declared = {v.name for v in arrangement.variables} | {p.name for p in arrangement.program.parameters}
    values = {v.name: v.value.symbols for v in arrangement.variables if v.value is not None}
    assert {name: symbols - declared for name, symbols in values.items() if symbols - declared} == {}


def test_only_arrays_with_a_name_have_elements() -> None:
    """Modelica has no elements of sums: (a + b)[1] was written as a + b[1], by a slide on a link that is fixed."""
    links = [link("stand", "fixed"), link("plate", "planar", None, "stand", xyz=X, rpy=[0.1, 0.2, 0.3])]
    arrangement = _arranged(assemble_system(from_data(machine(*links, outputs={"loads": "all"}))))
    sides = [side for s in arrangement.statements for side in (s.left, s.right)]
    values = [variable.value for variable in arrangement.variables if variable.value is not None]
    indexed = [node.args[0].op for expr in (*sides, *values) for node in _nodes(expr) if node.op == "index"]
    assert set(indexed) == {"symbol"}


def _nodes(expr: ir.Expr) -> Iterator[ir.Expr]:
    yield expr
    for argument in expr.args:
        yield from _nodes(argument)


def test_ranges_begin_with_a_number() -> None:
    """No range of a loop begins at a varying position, even if hinges and slides alternate."""
    source = assemble_system(from_data(random_machine(397).data)).modelica()
    assert "S[i,1:3]" in source
    assert re.findall(r"[\[,][a-z][^:;,\n]*:[^\n]* = ", source) == []


@pytest.mark.skipif(not rumoca.available(), reason="needs rumoca")
def test_one_constraint_beside_friction_compiles() -> None:
    """The columns of a matrix of one row are numbers: rumoca refuses lists of one element in loops."""
    friction = {"model": "lugre", "sigma0": 50.0, "mu_s": 0.2, "mu_k": 0.15, "v_s": 0.05, "diameter": 0.2}
    links = [link("a", "revolute", Y, friction=friction), link("b", "revolute", Y, "a", xyz=X, friction=friction)]
    points = {"E": {"link": "b", "position": X}}
    rows = [{"name": "height", "expression": "E.z - start(E.z)"}]
    model = assemble_system(from_data(machine(*links, points=points, programmed=rows)))
    found = rumoca.CompiledModel(model.modelica(start_values=model.start_values()), experiment(model.name))
    assert found.equations == found.unknowns


def _line(statement: Statement) -> str:
    return f"{mo.text(statement.left)} = {mo.text(statement.right)}"


def _written_out(equation: Equation, tables: Names, iterators: Mapping[str, int]) -> Iterator[str]:
    if isinstance(equation, Statement):
        yield _numbered(_line(equation), tables, iterators)
        return
    last = iterators[equation.last] if isinstance(equation.last, str) else equation.last
    for i, inner in product(range(int(equation.first), last + 1, equation.step), equation.body):
        yield from _written_out(inner, tables, {**iterators, equation.iterator: i})


def _numbered(line: str, tables: Names, iterators: Mapping[str, int]) -> str:
    """The line with numbers for positions."""
    for name, number in iterators.items():
        line = re.sub(rf"(?<=[\[,: ]){name}(?=[\],: ])", str(number), line)
    before = ""
    while before != line:
        before = line
        line = re.sub(r"(\d+) ([-+]) (\d+)(?=[\],:])", _calculated, line)
        for name, numbers in tables.items():
            line = re.sub(rf"\b{name}\[(\d+)\]", _entry(numbers), line)
    return line


def _calculated(found: re.Match[str]) -> str:
    change = int(found[3]) * (1 if found[2] == "+" else -1)
    return str(int(found[1]) + change)


def _entry(numbers: list[int]) -> Callable[[re.Match[str]], str]:
    return lambda found: str(numbers[int(found[1]) - 1])


def _lookup(line: str, values: Mapping[str, ir.Expr]) -> str:
    """The line with what tables of parameters and of constants have at a position."""
    for name, value in values.items():
        if name in line and value.shape:
            for position in range(value.shape[0]):
                element = value.data[position] if value.op == "constant" else None
                text = mo.constant(np.asarray(element)) if element is not None else mo.text(_part(value, position))
                rest = ",:" * (len(value.shape) - 1)
                line = re.sub(rf"\b{name}\[{position + 1}{rest}\]", lambda _, text=text: text, line)
                line = re.sub(rf"\b{name}\[{position + 1},(\d)\]", lambda m, text=text: f"{text}[{m[1]}]", line)
    return line


def _part(value: ir.Expr, position: int) -> ir.Expr:
    return value.args[position]


def _state(model: System) -> dict[str, float]:
    """Values of all states, inputs and switches at a time near the start."""
    rng = np.random.default_rng(SEED)
    given = {s.variable: 0.1 * rng.normal() for s in model.program.states}
    given |= {v.name: 0.3 for v in model.program.start_values} | {e.name: 10.0 for e in model.program.inputs}
    return given | {e.name: 0.0 for e in model.program.events} | {"time": 0.05}


def test_sums_about_a_common_point(model: System) -> None:
    """Mass matrix, bias forces, accelerations and outputs equal those of sums about each body's
    origin.
    """
    given = _state(model)
    own, about_point = (
        Numeric(program, given).values for program in (model.program, with_point_sums(model.program))
    )
    for name in ["M", "h", *(output.name for output in model.program.outputs)]:
        size = max(float(np.abs(own[name]).max()), float(np.abs(own["h"]).max()) if "load" in name else 1.0)
        np.testing.assert_allclose(about_point[name], own[name], rtol=1e-9, atol=1e-9 * size, err_msg=name)


def test_crane_is_short() -> None:
    """The crane's source has at most 1,000 lines; one equation gives its mass matrix."""
    text = example_model("crane", "flexible_boom").modelica()
    assert len(text.splitlines()) <= MOST_LINES
    assert re.findall(r"^ *M\[\w+,\w+\] = (.*);$", text, re.MULTILINE) == ["S[1,:]*P[1,:]", "S[i,:]*P[k,:]"]
