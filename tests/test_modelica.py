"""The generated Modelica: both compilers' language, readable, complete, and the FMU's names at its surface."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers_backends import CASES, EXAMPLES, example_model
from helpers_modelica import Declaration, class_text, declarations, equations
from helpers_openmodelica import holding, holding_from, pendulum, slider
from helpers_program import Numeric
from helpers_trees import value

import gpmelica as gp
from gpmelica.analysis.system import System
from gpmelica.generator import modelica, variables
from gpmelica.generator.modelica import Source
from gpmelica.generator.modelica import text as modelica_text
from gpmelica.generator.modelica.linear_systems import for_compilers
from gpmelica.generator.program.items import ImplicitSystem, LinearSolve
from gpmelica.generator.program.program import EquationSystem, ModelParameter
from gpmelica.language import ir
from gpmelica.language.ir import Expr
from gpmelica.runs.rumoca import CompiledModel

WIDTH = 120
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def model(request: pytest.FixtureRequest) -> System:
    """Every case of every example."""
    return example_model(*request.param)


@pytest.fixture(scope="module")
def source(model: System) -> Source:
    """Return the Modelica source and the origin of each line."""
    return model.modelica_source()


@pytest.fixture(scope="module")
def text(source: Source) -> str:
    """Return the Modelica source."""
    return source.text


@pytest.mark.slow
def test_second_compiler(model: System, text: str) -> None:
    """rumoca takes the experiment, and finds as many equations as unknowns."""
    pytest.importorskip("rumoca")
    compiled = CompiledModel(text, f"{model.name}.Experiment")
    assert compiled.equations == compiled.unknowns > len(model.program.states)


def test_units_and_descriptions(text: str) -> None:
    """Every declaration has a unit, or its description says why not, and a description."""
    found = [d for name in ("Mechanism", "Plant", "Experiment") for d in declarations(text, name)]
    found += [d for name in re.findall(r"function (\w+)", text) for d in declarations(text, name)]
    assert len(found) > 100
    assert [d.name for d in found if not d.description] == []
    mixed = re.compile(r"; .*(\bor\b|\band\b|\bunits? )|; no unit")
    numbers = [d for d in found if d.type not in ("Integer", "Boolean")]
    assert [d.name for d in numbers if d.unit is None and not mixed.search(d.description)] == []


def test_source_layout(text: str) -> None:
    """The source has two-space indentation, no tabs, lines of at most 120 characters and no two
    empty lines in a row.
    """
    code = STRING.sub('""', text)
    lines = code.splitlines()
    assert [line for line in lines if (len(line) - len(line.lstrip(" "))) % 2] == []
    assert [line for line in lines if len(line) > WIDTH] == []
    assert [line for line in lines if line != line.rstrip()] == []
    assert "\t" not in code
    assert "\n\n\n" not in code
    assert text.endswith(";\n")


def test_numbers_are_reals(text: str) -> None:
    """No integer stands where a Real is meant: rumoca fails on them; sizes, indices and exponents are integers."""
    code = STRING.sub("", re.sub(r"//.*|Color = \{[\d, ]+\}", "", text))
    code = re.sub(r"for \w+ in .* loop", "", code)
    code = re.sub(r"constant Integer [^;]*;", "", code)
    while code != (code := re.sub(r"\w+\[[^\[\];]*[\w:][^\[\];]*\](?=\W)", "x", code)):  # sizes and indices
        pass
    code = re.sub(r"\^\d+\b|\d+e[-+]\d+\b|(zeros|ones)\([\d, ]+\)", "", code)
    assert re.findall(r"(?<![\w.])\d+(?![\w.])", code) == []


def test_surface_is_the_interface(model: System, text: str) -> None:
    """The experiment's public variables are those of the native FMU: names, units, causality, start values."""
    table = variables.table(model.program)
    expected = {
        v.name: (v.causality, v.unit, v.start) for v in table if v.kind in ("output", "input", "parameter")
    }
    found = {
        name: row for d in declarations(text, "Mechanism") if d.public for name, row in _elements(d, model).items()
    }
    assert found == expected
    assert not [d for d in declarations(text, "Experiment") if d.public]


def _elements(d: Declaration, model: System) -> dict[str, tuple[str, str | None, float | None]]:
    causality = "input" if d.type == "RealInput" else d.prefix
    if causality == "output":
        return {d.name: (causality, d.unit, None)}
    values = d.numbers if causality == "parameter" else [0.0]
    names = [f"{d.name}[{i}]" for i in range(1, len(values) + 1)] if d.shape else [d.name]
    return {name: (causality, d.unit, value) for name, value in zip(names, values, strict=True)}


def test_states_start_with_their_parameters(model: System, text: str) -> None:
    """Each state starts, fixed, at the parameter that the native FMU has for it."""
    fixed = re.compile("fixed = true, nominal = ")  # outputs may have a nominal value too
    states = {d.name: d.modifiers for d in declarations(text, "Mechanism") if fixed.search(d.modifiers)}
    assert list(states) == [s.variable for s in model.program.states]
    starts = [f"start = {s.name}_start, fixed = true" for s in model.program.states]
    assert all(start in modifiers for start, modifiers in zip(starts, states.values(), strict=True))


def test_plant_has_an_input_for_each_force(model: System, text: str) -> None:
    """The mechanism leaves applied forces open; the plant connects them to inputs, the experiment gives them."""
    forces = [f.name for f in model.chain.forces]
    inputs = declarations(text, "Plant")
    assert [d.name for d in inputs] == [f"{name}_input" for name in forces]
    assert all(d.type == "RealInput" and d.public for d in inputs)
    assert equations(text, "Plant") == [f"{name} = {name}_input" for name in forces]
    assert [equation.split(" = ")[0] for equation in equations(text, "Experiment")] == forces
    assert not [e for e in equations(text, "Mechanism") if e.split(" = ")[0] in forces]


def test_every_line_has_an_origin(model: System, source: Source, text: str) -> None:
    """Links, constraints and forces have their lines, and every declaration and equation of a model an origin."""
    origins = source.origins
    lines = text.splitlines()
    found = {origins.line(i) for i in range(1, len(lines) + 1)}
    bodies = {body.link for body in model.mechanism.bodies} - {"base"}
    assert bodies == {origin.split(",")[0].removeprefix("link ") for origin in found if origin.startswith("link ")}
    assert {f"constraint {row}" for row in model.rows} <= found
    assert {f"applied force {f.name}" for f in model.chain.forces} <= found
    numbered = list(enumerate(lines, start=1))
    begin = next(i for i, line in numbered if "model Mechanism" in line)
    end = next(i for i, line in numbered if i > begin and "annotation(" in line)
    ours = [(i, line) for i, line in numbered[begin : end - 1] if line.startswith("    ") and " = " in line]
    assert ours
    assert [line for i, line in ours if not origins.line(i)] == []


def test_origins_are_at_their_lines(source: Source, text: str) -> None:
    """Every heading of a link or a force is the origin of its own line and of the next one."""
    origins = source.origins
    headings = [
        (i, line.strip().removeprefix("// "))
        for i, line in enumerate(text.splitlines(), start=1)
        if re.match(r"\s+// (link|applied force|closure|knife edge|constraint) ", line)
    ]
    assert len(headings) > 3
    assert [h for i, h in headings if not origins.line(i) == origins.line(i + 1) == h] == []


def test_elements_and_variables_have_an_origin() -> None:
    """A beam's elements are told apart, and the variables in a message lead to their links."""
    origins = example_model("crane", "flexible_boom").modelica_source().origins
    message = "Variable R[14,2,1] does not have any remaining equation; the model has a J_from_jib. Variable x is."
    assert origins.of_names(message) == ("link boom, element r2",)
    assert origins.of_names("Variable Phi[1] has no equation, nor has F_support[3,1].") == (
        "constraints",
        "base supports",
    )
    assert origins.of_names("Variable slew_torque is not given, nor is column_mass.") == (
        "applied force slew_torque",
        "link column",
    )
    assert origins.line(0) == origins.line(10**6) == origins.line(1) == ""


@pytest.mark.slow
def test_deterministic() -> None:
    """The text does not depend on the order of Python's sets."""
    code = (
        "import hashlib; from helpers_backends import example_model;"
        "print(hashlib.sha256(example_model('manipulator', 'S_fl_L_r_J_nf').modelica().encode()).hexdigest())"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(EXAMPLES.parent / "tests")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1


AWKWARD = 'a "quoted" <b>\\\nnext & line\t'


def test_awkward_description() -> None:
    """Quotes, backslashes, newlines, HTML and other letters in a description do no harm and stay what they are."""
    text = pendulum(description=AWKWARD + "Größe").modelica()
    assert 'package Pendulum "a \\"quoted\\" <b>\\\\\\nnext & line\\tGröße; GPME, 2n = 4 states, ' in text
    assert "<p>a &quot;quoted&quot; &lt;b&gt;\\\\\nnext &amp; line\tGröße</p>" in text
    rumoca = pytest.importorskip("rumoca")
    assert rumoca.Session().loads(text, model="Pendulum.Experiment") is not None


def test_evaluation_at_any_state() -> None:
    """With start values given, nothing is calculated at the start and inputs are parameters."""
    model = pendulum(forces=[{"name": "push", "joint": "upper", "input": True}])
    text = model.modelica(start_values={"start_E_z": 0.25})
    found = {d.name: d for d in declarations(text, "Mechanism")}
    assert "initial equation" not in text
    assert "initial equation" in model.modelica()
    assert (found["push"].prefix, found["push"].numbers) == ("parameter", [0.0])
    assert (found["start_E_z"].prefix, found["start_E_z"].numbers) == ("parameter", [0.25])


def test_input_of_the_description_is_an_input() -> None:
    """A force with `input = true` is an input of experiment and plant alike, under its own name."""
    text = pendulum(forces=[{"name": "push", "joint": "upper", "input": True}]).modelica()
    assert [(d.type, d.name) for d in declarations(text, "Mechanism") if d.type == "RealInput"] == [
        ("RealInput", "push")
    ]
    assert declarations(text, "Plant") == equations(text, "Plant") == equations(text, "Experiment") == []


def test_name_of_an_input_is_free() -> None:
    """The plant's input does not take a name that the description uses."""
    force = {"name": "push", "joint": "upper", "effort": "push_input*sin(t)"}
    text = pendulum(parameters={"push_input": 2.0}, forces=[force]).modelica()
    assert [d.name for d in declarations(text, "Plant")] == ["push_input_"]


@pytest.mark.slow
def test_plant_in_another_model() -> None:
    """The plant in a user's own model, its inputs given as the experiment has its forces, moves the same way."""
    pytest.importorskip("rumoca")
    model = pendulum()
    user = """
model User
  Pendulum.Plant plant;
  Pendulum.RealInput x(start = 0.0);
equation
  plant.push_x_input = 5.0*sin(time);
  plant.push_y_input = 3.0*time;
  connect(x, plant.push_z_input);
end User;
"""
    text = model.modelica(start_values=model.start_values())
    closed = user.replace("  Pendulum.RealInput x(start = 0.0);\n", "").replace(
        "connect(x, plant.push_z_input)", "plant.push_z_input = 2.0*time"
    )
    plant = CompiledModel(text + user, "User")
    assert plant.equations == plant.unknowns > len(model.program.states)
    settings: dict[str, Any] = {"stop": 1.0, "output_step": 0.1, "tolerance": 1e-9, "budget": 60.0}
    own = CompiledModel(text, "Pendulum.Experiment").simulate(["lower_angle"], **settings)
    theirs = CompiledModel(text + closed, "User").simulate(["plant.lower_angle"], **settings)
    moved = own.signals["lower_angle"]
    assert np.ptp(moved) > 0.1
    np.testing.assert_allclose(theirs.signals["plant.lower_angle"], moved, rtol=1e-7)


@pytest.mark.slow
def test_worked_example() -> None:
    """The controlled crane of docs/openmodelica.md turns towards its target, with its other jib."""
    pytest.importorskip("rumoca")
    docs = (EXAMPLES.parent / "docs" / "openmodelica.md").read_text("utf-8")
    example = re.search(r"```modelica\n(model Controlled.*?)```", docs, re.DOTALL)
    assert example
    model = example_model("crane", "rigid_boom")
    compiled = CompiledModel(model.modelica(start_values=model.start_values()) + example[1], "Controlled")
    names = ["crane.column_angle", "crane.slew_torque_input"]
    run = compiled.simulate(names, stop=0.2, output_step=0.01, tolerance=1e-6, budget=30.0)
    angle, torque = (run.signals[name] for name in names)
    assert angle[0] < angle[-1] < 4.9
    assert torque[0] == pytest.approx(2e4 * (4.9 - angle[0]))


def test_script(model: System) -> None:
    """The script beside the text loads it, simulates the experiment as the description has it, and plots."""
    script, simulation = modelica.script(model.program, model.mechanism), model.chain.simulation
    statements = [line.strip() for line in script.splitlines() if not line.startswith("//")]
    assert statements[:2] == [f'loadFile("{model.name}.mo");', "getErrorString();"]
    assert f"checkModel({model.name}.Experiment);" in statements
    assert f"stopTime = {simulation.stop!r}," in statements
    assert f"numberOfIntervals = {round(simulation.stop / simulation.output_step)}," in statements
    plotted = re.findall(r"plot\(\{(.*?)\}", script)
    known = {variable.name for variable in variables.table(model.program)}
    assert {name for names in plotted for name in names.split(", ")} <= known
    joints = [c.symbol for c in model.mechanism.coordinates if c.role == "joint"]
    assert plotted[-1].split(", ") == joints


def test_experiment_annotation(model: System, text: str) -> None:
    """The experiment says for how long, how finely and how accurately; only it does."""
    simulation = model.chain.simulation
    assert (
        f"experiment(StartTime = 0.0, StopTime = {simulation.stop!r}, Tolerance = {simulation.tolerance!r},"
        f" Interval = {simulation.output_step!r})"
    ) in class_text(text, "Experiment")
    assert text.count("experiment(") == 1


@pytest.mark.parametrize("w", [2.0, 0.0, -2.0])
def test_conditions_on_time(w: float) -> None:
    """Before, at and after each switching time, at the start of a run and within one: as from that time on."""
    pytest.importorskip("rumoca")
    model, name = slider(), "mass_position_ddot"
    text = model.modelica(start_values=model.start_values())
    assert "parameter Real w = 2.0" in text
    text = text.replace("parameter Real w = 2.0", f"parameter Real w = {w}")
    compiled = CompiledModel(text, "Pendulum.Experiment")
    run = compiled.simulate([name], stop=0.6, output_step=0.05, tolerance=1e-6, budget=30.0)
    for t, acceleration in zip(run.time, run.signals[name], strict=True):
        assert holding(acceleration) == holding_from(t, w), t
        assert holding(compiled.values([name], t, {})[0]) == holding_from(t, w), t


def test_conditions_on_time_look_at_no_clock() -> None:
    """Switches alone ask for the time, when a run begins: a condition on it would make solvers search for it."""
    text = slider().modelica()
    switches = [d.name for d in declarations(text, "Mechanism") if d.name.startswith("switched_")]
    asking = [line.split()[0] for line in text.splitlines() if "time <" in line]
    assert asking == switches != []


def test_functions_only_where_used() -> None:
    """The steps' functions are there if an expression has one."""
    assert "function quintic_0" not in pendulum().modelica()
    assert "quintic_0(" in class_text(example_model("crane", "rigid_boom").modelica(), "Mechanism")


NAMES = {"x": 0.7, "y": -1.3, "z": 2.5}


def _random(rng: np.random.Generator, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.1:
        return (
            ir.symbol(str(rng.choice(list(NAMES)))) if rng.random() < 0.6 else ir.constant(rng.integers(-3, 4) / 2)
        )
    a, b = _random(rng, depth - 1), _random(rng, depth - 1)
    match rng.integers(6):
        case 0:
            return ir.add(a, b)
        case 1:
            return ir.sub(a, b)
        case 2:
            return ir.mul(a, b)
        case 3:
            return ir.neg(a)
        case 4:
            return ir.power(a, ir.constant(rng.integers(2, 4)))
        case _:
            return ir.div(a, ir.add(ir.power(b, ir.constant(2.0)), ir.constant(1.0)))


def test_expressions_keep_their_value() -> None:
    """Parentheses are where they are needed: the text of random expressions means what they mean."""
    rng = np.random.default_rng(7)
    for _ in range(400):
        expr = _random(rng, 5)
        text = modelica_text.text(expr)
        # in Modelica no operator may follow another one
        assert not re.search(r"[-+*/^] ?-", text.replace("e-", "")), text
        assert eval(text.replace("^", "**"), {}, NAMES) == pytest.approx(value(expr, NAMES), rel=1e-12), text


def test_subscripts_count_from_one() -> None:
    """Indices from zero become subscripts from one; the end of a block is the subscript of its last element."""
    assert modelica_text.subscript((2, slice(1, 4)), (6, 6)) == "[3,2:4]"
    assert modelica_text.subscript((slice(0, 6), 0), (6, 6)) == "[:,1]"
    assert modelica_text.subscript((slice(0, 3), "k"), (6, 6)) == "[1:3,k]"


def test_layout_of_a_statement() -> None:
    """One line while it fits; otherwise broken at spaces, the description on a line of its own and whole."""
    description = '"' + "long " * 30 + '"'
    assert modelica_text.layout("x = 1.0", 4) == "    x = 1.0;"
    assert modelica_text.layout("Real x", 4, '"short"') == '    Real x "short";'
    assert modelica_text.layout("Real x", 4, description) == f"    Real x\n        {description};"
    wrapped = modelica_text.layout("x = " + " + ".join(["abc"] * 40), 2).splitlines()
    assert len(wrapped) == 3
    assert max(map(len, wrapped)) <= WIDTH
    assert all(re.match(r" {6}\S", line) for line in wrapped[1:])


def test_equilibria_are_searched_from_where_lines_have_a_length() -> None:
    """A line of length zero has no direction, and that is where solvers would begin."""
    model = gp.load(EXAMPLES / "lorry_crane.toml", simulation={"stop": 0.01})
    text, at_start = str(model.modelica()), model.simulate()
    for line in model.prepared.mechanism.lines:
        length = re.search(rf"SI.Length {line.name}_length\(start = ([^=]*)\)", text)
        assert length is not None
        assert float(length[1]) == pytest.approx(at_start[f"{line.name}_length"][0], abs=1e-6)
    directions = re.search(r"Real u_line\[\d+, 3\]\(start = \[([^\]]*)\], each unit", text)
    assert directions is not None
    rows = np.array([[float(x) for x in row.split(",")] for row in directions[1].split(";")])
    assert len(rows) == len(model.prepared.mechanism.lines)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_norms_have_derivatives(text: str) -> None:
    """Norms that are outputs have finite derivatives at 0; otherwise omc's linear models would divide by zero."""
    norms = re.findall(r"^ *(\w+) = sqrt\((\w+)\*(\w+)( \+ 1e-300)?\);", text, re.MULTILINE)
    assert {rest for name, a, b, rest in norms if a == b and not name.endswith("_length")} <= {" + 1e-300"}
    assert not any(rest for name, _, _, rest in norms if name.endswith("_length"))  # these are not to be 0


# ---- Linear systems as the Modelica text has them ---------------------------------------------------------------


RNG_SEED = 12


def _program(rows: int, columns: int) -> tuple[EquationSystem, np.ndarray, np.ndarray]:
    """A matrix equation of given numbers and one with the transposed matrix, and their unknowns."""
    rng = np.random.default_rng(RNG_SEED + rows)
    matrix, right = rng.normal(size=(rows, rows)), rng.normal(size=(rows, columns))
    program = EquationSystem("P", "")
    A = program.assemble("A", matrix.shape, [((), ir.constant(matrix))], None, "")
    B = program.assemble("B", right.shape, [((), ir.constant(right))], None, "")
    program.solve("X", A, -B, "", "")
    program.solve("Y", A.T, B[:, 0], "", "")
    return program, np.linalg.solve(matrix, -right), np.linalg.solve(matrix.T, right[:, 0])


@pytest.mark.parametrize(("rows", "columns", "systems"), [(2, 5, 0), (3, 1, 0), (4, 9, 5), (4, 3, 4)])
def test_matrix_equation(rows: int, columns: int, systems: int) -> None:
    """By cofactors up to three rows; a larger matrix is inverted once where that takes fewer solves."""
    program, X, Y = _program(rows, columns)
    rewritten = for_compilers(program)
    solves = [item for item in rewritten.items if isinstance(item, LinearSolve)]
    assert sum(solve.shape[1] if len(solve.shape) > 1 else 1 for solve in solves) == systems
    values = Numeric(rewritten, {}).values
    np.testing.assert_allclose(values["X"], X, rtol=1e-11)
    np.testing.assert_allclose(values["Y"], Y, rtol=1e-11)


def test_rows_in_place() -> None:
    """A matrix that its system alone uses is no variable; one that something else uses stays."""
    for shared in (False, True):
        program = EquationSystem("P", "", parameters=[ModelParameter("p", np.arange(1.0, 5.0), "1", "")])
        rows = [((i, slice(0, 4)), ir.symbol("p", (4,)) * float(i + 1)) for i in range(4)]
        A = program.assemble("A", (4, 4), rows, None, "")
        b = program.assemble("b", (4,), [((i,), ir.symbol("p", (4,))[i]) for i in range(4)], None, "")
        program.solve("x", A, b, "", "")
        if shared:
            program.define("trace", A[0, 0] + A[1, 1], None, "")
        names = {item.name: item for item in for_compilers(program).items}
        assert isinstance(names["x"], LinearSolve if shared else ImplicitSystem)
        assert {"A", "b"} <= set(names) if shared else not {"A", "b"} & set(names)
