"""Parameters of the compiled FMU: each has its effect, the one that the description says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import fmpy
import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import EXAMPLES, Compile, Compiled, CompileData, Fmu, follows
from helpers_parts import body, machine

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data

RK4 = 1

# ---- Parameters -------------------------------------------------------------------------------------------------

# Changes of values that are zero, or nothing but rounding.
STEPS = {"m": 1e-3, "rad": 1e-3, "m/s": 1e-2, "rad/s": 1e-2, "kg.m2": 0.1}
# On a base that does not move, a column about the direction of gravity hides these from every output.
HIDDEN = {"base_com[2]", "column_com[2]", "column_inertia[1]", "column_inertia[3]", "column_inertia[5]"}
# They show once gravity is tilted and the base, put off its place, moves back to it.
TILTED = {"gravity[1]": 2.0, "gravity[3]": 1.0}
TILTED |= {"base_psi_start": 0.01, "base_theta_start": 0.02, "base_x_start": 0.01}
SOFT = (("crane", "flexible_boom", set()), ("manipulator", "S_fl_L_r_J_nf", set()))


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case", "hidden"), [*SOFT, ("manipulator", "S_r_L_r_J_nf", HIDDEN)])
def test_every_parameter_moves_an_output(
    compile_example: Compile, example: str, case: str, hidden: set[str]
) -> None:
    """Each parameter, changed by 1 %, changes an output or a derivative at the start or 20 ms later."""
    compiled = compile_example(example, case)
    with Fmu(compiled) as fmu:
        parameters = {name for name, v in fmu.variables.items() if v.causality == "parameter"}
        physical = {name for name in parameters if "solver_" not in name}
        assert hidden <= physical
        for values, names in (({}, physical - hidden), (TILTED, hidden)):
            before = _probe(fmu, values)
            dead = [name for name in names if not _moves(fmu, name, values, before)]
            assert dead == []


def _probe(fmu: Fmu, values: dict[str, float]) -> np.ndarray:
    return fmu.restart(values, tolerance=1e-6).run([0.0, 0.02], fmu.outputs)


def _moves(fmu: Fmu, name: str, values: dict[str, float], before: np.ndarray) -> bool:
    """Whether a change is seen, by more than rounding: 1e-9 of the largest value of the same unit."""
    variable = fmu.variables[name]
    value = values.get(name, float(variable.start))
    step = 0.01 * value if abs(value) > 1e-6 else STEPS.get(variable.unit, 0.01)
    after = _probe(fmu, values | {name: value + step})
    units = np.array([fmu.variables[output].unit for output in fmu.outputs])
    sizes = np.abs(before).max(axis=0)
    scale = np.array([sizes[units == unit].max() for unit in units])
    return bool((np.abs(after - before) > 1e-9 * scale).any())


BOOM = {"length": 2.1, "E": 1.5e11, "density": 7000.0, "damping_time": 3e-3}
# FMU variable → new value, and the same for the description: of world and task, base, column, boom and jib
CHANGES: list[tuple[dict[str, float], dict[str, Any]]] = [
    (
        {"gravity[3]": -1.62, "a": 3.1, "torque": 2500.0, "alpha": 60.0, "beta": 50.0},
        {"gravity.2": -1.62, "parameters.a": 3.1, "parameters.torque": 2500.0}
        | {"constraints.alpha": 60.0, "constraints.beta": 50.0},
    ),
    (
        {"base_mass": 4000.0, "base_com[1]": 0.2, "support3_stiffness[3]": 8e6, "support5_position[2]": 1.2},
        {"base.mass": 4000.0, "base.com.0": 0.2}
        | {"base.supports.2.stiffness.2": 8e6, "base.supports.4.position.1": 1.2},
    ),
    (
        {"column_offset[3]": 0.6, "column_inertia[3]": 90.0},
        {"links.column.frame": {"xyz": [0.0, 0.0, 0.6]}, "links.column.inertia.2": 90.0},
    ),
    (
        {f"boom_{key}": value for key, value in BOOM.items()},
        {f"links.boom.beam.{key}": value for key, value in BOOM.items()},
    ),
    ({"jib_com[1]": 0.7, "E_position[1]": 1.25}, {"links.jib.com.0": 0.7, "points.E.position.0": 1.25}),
]


@pytest.mark.parametrize(("values", "settings"), CHANGES)
def test_parameters_equal_a_modified_description(
    compile_example: Compile, values: dict[str, float], settings: dict[str, Any]
) -> None:
    """A value modified in the FMU, including initial values, yields the motion of the modified
    description.
    """
    compiled = compile_example("crane", "flexible_boom")
    model = _changed(EXAMPLES / "crane.toml", settings)
    start = dict(zip((f"{s.name}_start" for s in model.program.states), np.concatenate(model.start), strict=True))
    truth = solving.simulate(model.mechanism, start=model.start, stop=0.02, tolerance=1e-10)
    follows(compiled, truth, modes=("cs",), parameters=values | {name: float(x) for name, x in start.items()})


def _changed(path: Path, settings: dict[str, Any]) -> System:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return assemble_system(from_data(data | {"cases": [{"name": "changed", "set": settings}]}, "changed"))


LOAD_STEPS = ["2 if t > 0 else 0", "2 if t >= 0 else 0", "2 if t > begin else 0", "1 + sign(t)"]


@pytest.mark.slow
def test_equilibrium_contains_loads_that_begin_at_the_initial_time(compile_data: CompileData) -> None:
    """The equilibrium for another stiffness c carries the moment that acts just after t = 0: φ = 2/c."""
    joint = {"type": "revolute", "axis": [0.0, 0.0, 1.0], "stiffness": "c", "damping": 1.0}
    names = [f"arm{i}" for i in range(len(LOAD_STEPS))]
    arms = [{"name": name, "parent": "ground", "joint": joint} | body(2.0) for name in names]
    data = machine(*arms, gravity=[0.0, 0.0, 0.0], parameters={"c": 20.0, "begin": 0.0})
    pairs = zip(names, LOAD_STEPS, strict=True)
    data["forces"] = [{"name": f"push_{arm}", "joint": arm, "effort": effort} for arm, effort in pairs]
    data["simulation"] = {"start": "statics", "stop": 1.0}
    with Fmu(compile_data(data)) as fmu:
        for stiffness in (20.0, 40.0):
            run = fmu.restart({"c": stiffness}).run([0.0, 0.5], [f"{name}_angle" for name in names])
            assert run == pytest.approx(2.0 / stiffness, abs=1e-9)


def test_start_parameters_set_the_start(compile_example: Compile) -> None:
    """A start that does not follow is where its parameters say, and `start(E.z)` is the height there."""
    compiled = compile_example("crane", "rigid_boom")
    mechanism = compiled.model.mechanism
    q, qd = compiled.model.start[0].copy(), compiled.model.start[1].copy()
    column, boom = (mechanism.coordinate_index(f"{name}.angle") for name in ("column", "boom"))
    q[column], q[boom], qd[column] = 4.5, 0.9, 0.3
    given = {"column_angle": 4.5, "boom_angle": 0.9, "column_angle_dot": 0.3}
    truth = solving.simulate(mechanism, start=(q, qd), stop=0.2, tolerance=1e-10)
    assert {name: truth.signals[name][0] for name in given} == given
    values = {f"{name}_start": x for name, x in given.items()} | {"solver_finds_start": 0}
    follows(compiled, truth, modes=("cs",), tolerance=1e-11, parameters=values)


# ---- Solver settings --------------------------------------------------------------------------------------------


def test_solver_gives_up_after_its_most_steps(hanging: Compiled) -> None:
    """More inner steps than solver_max_steps in one communication step are an error that says so."""
    with Fmu(hanging) as fmu:
        fmu.start({"solver_method": RK4, "solver_step": 1e-3, "solver_max_steps": 10})
        with pytest.raises(fmpy.fmi1.FMICallException, match="status 3"):
            fmu.run([0.0, 0.6])
    assert "more than 10 inner steps in one communication step" in fmu.messages[0]
