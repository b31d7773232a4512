"""FMUs of FMI 3.0: archive, description and terminals; runs that agree with FMI 2.0; events, dependencies."""

from __future__ import annotations

import ctypes
import zipfile
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi3 import fmi3Dependent
from helpers_backends import EXAMPLES, Compile, Compiled, CompileData, Fmu, driven, example_model, pendulum
from helpers_stages import StagedModel
from lxml import etree

from gpmelica.analysis.system import assemble_system
from gpmelica.description import load
from gpmelica.description.load import from_data
from gpmelica.fmu.archive import model_description
from gpmelica.fmu.archive.validation import validate
from gpmelica.fmu.code.dependencies import dependencies
from gpmelica.fmu.code.model_structure import structure
from gpmelica.fmu.code.stages import stage
from gpmelica.generator import variables
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.fmpy_runs import simulate as runs

RUNS: tuple[tuple[str, runs.Mode], ...] = (("2.0", "me"), ("2.0", "cs"), ("3.0", "me"), ("3.0", "cs"))
ENDS = [
    (path.stem, load(path).cases[-1].name)  # of a case that has all that there is
    for path in sorted(EXAMPLES.glob("*.toml"))
]


# ---- What the archive says ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case"), ENDS)
def test_fmpy_finds_nothing_wrong(tmp_path: Path, example: str, case: str) -> None:
    """FMPy's validation of the description returns an empty list, by both versions of the standard."""
    model = example_model(example, case)
    program = model.native_program
    table, found = variables.table(program), dependencies(stage(program))
    about: dict[str, Any] = {"token": variables.token(program, table), "version": "0", "sources": ["all.c"]}
    for fmi in ("2.0", "3.0"):
        shape = structure(table, found, fmi)
        text = model_description.render(program, model.chain, table, shape, fmi=fmi, **about)
        (tmp_path / "modelDescription.xml").write_text(text)
        assert validate(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_archive_is_valid(compile_data: CompileData, fmi: str) -> None:
    """FMPy finds nothing wrong with a whole archive; by FMI 3.0 its build description names its C files."""
    compiled = compile_data(driven(), fmi, finished=True)
    assert validate(compiled.fmu) == []
    if fmi == "2.0":
        return
    listed = compiled.description.buildConfigurations[0].sourceFileSets[0].sourceFiles
    with zipfile.ZipFile(compiled.fmu) as archive:
        files = [name for name in archive.namelist() if name.endswith(".c")]
    assert sorted(f"sources/{name}" for name in listed) == sorted(files)


def test_variables_are_those_of_fmi2(compile_data: CompileData) -> None:
    """Token, names, value references, causalities, units and start values are FMI 2.0's, arrays aside."""
    two, three = (compile_data(driven(), fmi).description for fmi in ("2.0", "3.0"))
    assert two.guid == three.guid
    scalars = {v.name: v for v in two.modelVariables}
    for v in three.modelVariables:
        size = int(v.dimensions[0].start) if v.dimensions else 1
        names = [f"{v.name}[{i}]" for i in range(1, size + 1)] if v.dimensions else [v.name]
        same = [scalars.pop(name) for name in names]
        assert [s.valueReference for s in same] == list(range(v.valueReference, v.valueReference + size))
        assert {(s.causality, s.unit, s.description) for s in same} == {(v.causality, v.unit, v.description)}
        assert [s.start for s in same] == (v.start.split() if v.start else [None])
    assert scalars == {}
    assert sum(bool(v.dimensions) for v in three.modelVariables) >= 5


def test_terminals_group_related_variables(compile_data: CompileData) -> None:
    """A joint input is grouped with position and velocity, a force with its components; the file
    matches the schema.
    """
    compiled = compile_data(driven(), "3.0", finished=True)
    root = etree.parse(compiled.folder / "terminalsAndIcons" / "terminalsAndIcons.xml").getroot()
    schema = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"
    etree.XMLSchema(file=str(schema)).assertValid(root)
    found = {
        terminal.get("name"): {member.get("memberName"): member.get("variableName") for member in terminal}
        for terminal in root.iter("Terminal")
    }
    assert found == {
        "push": {"effort": "push", "position": "cart_position", "velocity": "cart_position_dot"},
        "wind": {axis: f"wind_{axis}" for axis in "xyz"},
    }
    used = {name for members in found.values() for name in members.values()}
    assert used <= {v.name for v in compiled.description.modelVariables}


# ---- Runs -----------------------------------------------------------------------------------------------------


def simulated(compiled: Compiled, fmi: str, mode: runs.Mode, **options: Any) -> runs.Trajectory:
    """All states and outputs at a tight tolerance."""
    step = compiled.model.chain.simulation.output_step
    options = {"stop": compiled.model.chain.simulation.stop, "output_step": step, "tolerance": 1e-12} | options
    return runs.simulate(compiled.fmu, mode, [*compiled.model.units], name=f"{fmi}-{mode}", **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "case", "stop"),
    [("crane", "rigid_boom", 0.3), ("rsrrp", "cut_joint", 0.5), ("mobile_robot", "minimum_norm", 2.0)],
    ids=["open chain with a task", "closed loop", "redundant nonholonomic rows"],
)
def test_versions_and_modes_agree(compile_example: Compile, example: str, case: str, stop: float) -> None:
    """2.0 and 3.0, model exchange and co-simulation: all signals to 1e-8 of their ranges."""
    compiled = {fmi: compile_example(example, case, fmi) for fmi in ("2.0", "3.0")}
    found = {(fmi, mode): simulated(compiled[fmi], fmi, mode, stop=stop) for fmi, mode in RUNS}
    truth, units = found["2.0", "cs"], compiled["2.0"].model.units
    assert len(truth.signals) > 20
    errors = {run: compare(truth, found[run], units, 1.0).max_rel_error for run in RUNS}
    assert max(errors.values()) <= 1e-8, errors
    assert errors["3.0", "cs"] == 0.0  # the same C code


@pytest.mark.parametrize("mode", ["me", "cs"])
def test_parameters_by_element(compile_data: CompileData, mode: runs.Mode) -> None:
    """Elements of arrays are set by the names that FMI 2.0 has for them, and act as there."""
    values = {"rod_com[1]": 0.6, "rod_inertia[2]": 0.12, "gravity[3]": -8.0, "cart_mass": 3.0}
    two, three, other = (
        simulated(compile_data(pendulum(), fmi), fmi, mode, parameters=parameters)
        for fmi, parameters in (("2.0", values), ("3.0", values), ("3.0", {}))
    )
    for name, expected in two.signals.items():
        assert three.signals[name] == pytest.approx(expected, abs=1e-9 * max(1.0, np.abs(expected).max()))
    assert np.abs(two.signals["rod_angle"] - other.signals["rod_angle"]).max() > 0.1


def test_event_mode_and_early_return_in_fmpy(compile_data: CompileData) -> None:
    """FMPy handles the switching time in event mode: a sample on it, and the motion of a run without."""
    compiled = compile_data(pendulum(), "3.0")
    options = {"fmi_type": "CoSimulation", "output": ["rod_angle_ddot", "rod_angle"], "stop_time": 0.6}
    options |= {"output_interval": 0.03, "relative_tolerance": 1e-11, "start_values": {"off": 0.1371}}
    plain = fmpy.simulate_fmu(str(compiled.fmu), **options)
    events = fmpy.simulate_fmu(str(compiled.fmu), use_event_mode=True, early_return_allowed=True, **options)
    at = np.flatnonzero(events["time"] == 0.1371)
    assert len(at) == 2
    before, after = events["rod_angle_ddot"][at]
    assert before - after > 10.0  # 5 N m on a light rod
    regular = np.searchsorted(events["time"], plain["time"] - 1e-12)
    assert events["time"][regular] == pytest.approx(plain["time"], abs=1e-12)
    assert events["rod_angle"][regular] == pytest.approx(plain["rod_angle"], abs=1e-9)


# ---- Dependencies ---------------------------------------------------------------------------------------------


def known_to(fmu: Fmu, name: str) -> set[str]:
    """Return the variables on which a variable depends, as the FMU states at run time."""
    names = {v.valueReference: v.name for v in fmu.variables.values()}
    (reference,), count = fmu.references([name]), ctypes.c_size_t()
    fmu.fmi.fmi3GetNumberOfVariableDependencies(fmu.fmi.component, reference, ctypes.byref(count))
    n = count.value
    elements, others, kinds = (ctypes.c_size_t * n)(), (ctypes.c_size_t * n)(), (ctypes.c_int * n)()
    independents = (ctypes.c_uint * n)()
    fmu.fmi.fmi3GetVariableDependencies(fmu.fmi.component, reference, elements, independents, others, kinds, n)
    assert {*elements, *others} <= {0}
    assert {*kinds} <= {fmi3Dependent}
    return {names[reference] for reference in independents}


def declared(unknowns: list[Any]) -> dict[str, set[str]]:
    """Unknown → what the description says it depends on."""
    return {unknown.variable.name: {v.name for v in unknown.dependencies} for unknown in unknowns}


def test_declared_independence_of_parameters_is_real(compile_data: CompileData) -> None:
    """At the start, a parameter or input changes what depends on it, and nothing else by a single bit."""
    compiled = compile_data(driven(), "3.0")
    depends, acting = declared(compiled.description.initialUnknowns), 0
    knowns = [v for v in compiled.description.modelVariables if v.causality in ("parameter", "input")]
    with Fmu(compiled, "me") as fmu:
        fmu.initialization()
        before = fmu.get(list(depends))
        for v in knowns:
            if v.type != "Float64":
                continue
            start = [float(x) for x in v.start.split()]
            fmu.fmi.setFloat64([v.valueReference], [x + 0.1 for x in start])
            changed = {name for name, a, b in zip(depends, before, fmu.get(list(depends)), strict=True) if a != b}
            fmu.fmi.setFloat64([v.valueReference], start)
            assert changed <= {name for name in depends if v.name in depends[name]}, v.name
            acting += bool(changed)
    assert acting >= 12


@pytest.mark.parametrize("accelerations", ["dense", "recursion"])
def test_a_force_on_one_joint_accelerates_all(accelerations: str) -> None:
    """A linear system mixes its right-hand sides: a push on the cart accelerates the rod, and is declared to."""
    model = assemble_system(from_data(driven() | {"simulation": {"accelerations": accelerations}}))
    program, n = model.native_program, model.mechanism.n
    staged, states, q = StagedModel(model), len(program.states), np.full(n, 0.4)
    found = dependencies(staged.staged).derivatives[n:states]
    pushed, free = (staged(0.0, q, 0.0 * q, {"push": force}).qdd for force in (1.0, 0.0))
    assert np.all(pushed != free)
    assert np.all(found[:, states + [entry.name for entry in program.inputs].index("push")])


def test_time_is_a_dependency_of_rheonomic_rows(compile_example: Compile, compile_data: CompileData) -> None:
    """The crane's task makes its accelerations depend on time, not its velocities; a pendulum's do not."""
    crane = declared(compile_example("crane", "rigid_boom", "3.0").description.derivatives)
    assert {n for n, known in crane.items() if "time" in known} == {n for n in crane if n.endswith("_dot_state)")}
    free = declared(compile_data(driven(), "3.0").description.derivatives)
    assert not any("time" in known for known in free.values())
    assert {"push", "cart_mass", "cart_position_dot_state"} <= free["der(cart_position_dot_state)"]


def test_dependencies_at_run_time_are_the_descriptions(compile_data: CompileData) -> None:
    """fmi3GetVariableDependencies tells those of the start before it, and those of the run after it."""
    compiled = compile_data(driven(), "3.0")
    description = compiled.description
    with Fmu(compiled, "me") as fmu:
        fmu.initialization()
        for name, known in declared(description.initialUnknowns).items():
            assert known_to(fmu, name) == known
        fmu.fmi.exitInitializationMode()
        for name, known in declared([*description.outputs, *description.derivatives]).items():
            assert known_to(fmu, name) == known
        assert known_to(fmu, "push") == set()
