"""The compiled FMU as an archive and in memory: description, dependencies, sources, instances, compilers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import Compile, Compiled, CompileData, Fmu, driven, native_error, pendulum, random_states
from helpers_c_layer import zig

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import MissingToolError
from gpmelica.description.load import from_data
from gpmelica.fmu.compilers import compiler as c_compiler
from gpmelica.generator import variables
from gpmelica.tasks.build import build_native

# ---- What the archive says --------------------------------------------------------------------------------------


def test_model_description_is_the_variable_table(compile_example: Compile) -> None:
    """Names, references, causalities, units, start values and derivatives in the XML are those of the model."""
    compiled = compile_example("crane", "flexible_boom")
    program, described = compiled.model.program, compiled.description.modelVariables
    table = variables.table(program)
    assert [(v.name, v.valueReference, v.causality, v.unit) for v in described] == [
        (v.name, k, v.causality, v.unit) for k, v in enumerate(table)
    ]
    unknown = {v.name for v in described if v.type == "Real" and not v.unit}
    assert unknown == set(compiled.model.chain.parameters)  # numbers of the user's own, in units that he knows
    assert [float(v.start) for v in described if v.causality == "parameter"] == [
        v.start for v in table if v.causality == "parameter"
    ]
    parameters = np.concatenate([p.value.ravel() for p in program.parameters])
    starts = [float(v.start) for v in described if v.causality == "parameter" and "solver" not in v.name]
    assert starts == parameters.tolist()
    derivatives = {v.name: v.derivative.name for v in described if v.derivative is not None}
    assert derivatives == {f"der({s.variable})": s.variable for s in program.states}


@pytest.mark.parametrize(("example", "case"), [("crane", "flexible_boom"), ("manipulator", "S_r_L_r_J_nf")])
def test_declared_independence_is_real(compile_example: Compile, example: str, case: str) -> None:
    """A state that is not among an unknown's dependencies does not change it by a single bit."""
    _check_independence(compile_example(example, case), [])


def test_declared_independence_of_inputs(compile_data: CompileData) -> None:
    """Accelerations depend on inputs; positions and their rates do not."""
    _check_independence(compile_data(driven()), ["push", "wind_x", "wind_z"])


def _check_independence(compiled: Compiled, inputs: list[str]) -> None:
    names = [s.variable for s in compiled.model.program.states]
    unknowns = (*compiled.description.outputs, *compiled.description.derivatives)
    depends = {unknown.variable.name: {v.name for v in unknown.dependencies} for unknown in unknowns}
    state = random_states(compiled.model, np.random.default_rng(6), 1)[0]
    x = np.concatenate([state.q, state.qd])
    with Fmu(compiled, "me") as fmu:

        def values(x: np.ndarray, **given: float) -> np.ndarray:
            fmu.fmi.reset()
            fmu.start(given, time=state.t).enter_continuous_time()
            fmu.set_states(x)
            return fmu.get(list(depends))

        before = values(x)
        moved = {name: values(x + 0.01 * unit) for name, unit in zip(names, np.eye(len(x)), strict=True)}
        moved |= {name: values(x, **{name: 0.7}) for name in inputs}
    for known, after in moved.items():
        changed = {unknown for unknown, a, b in zip(depends, before, after, strict=True) if a != b}
        assert changed
        assert changed <= {unknown for unknown in depends if known in depends[unknown]}
    for k, coordinate in enumerate(compiled.model.mechanism.coordinates):
        symbol = coordinate.symbol
        assert depends[f"der({symbol}_state)"] == {f"{symbol}_dot_state"}
        assert depends[symbol] == {f"{symbol}_state"} == {names[k]}
        assert set(inputs) <= depends[f"der({symbol}_dot_state)"]


def test_token_follows_the_model() -> None:
    """The token is the same for the same description, another one with any equation, start value or name."""
    (cart, rod), (drive,) = pendulum()["links"], pendulum()["forces"]
    others: list[dict[str, Any]] = [
        {"forces": [drive | {"effort": "moment*t if t <= off else 0"}]},
        {"forces": [drive | {"effort": "moment if t <= off + 1 else 0"}]},
        {"links": [cart, rod | {"mass": 1.1}]},
        {"links": [cart, rod | {"joint": rod["joint"] | {"position": 1.3}}]},
        {"points": {"F": {"link": "rod", "position": [1.0, 0.0, 0.0]}}},
    ]
    assert len({_token(**changes) for changes in ({}, {}, *others)}) == 1 + len(others)


def _token(**changes: Any) -> str:
    program = assemble_system(from_data(pendulum(**changes))).program
    return variables.token(program, variables.table(program))


# ---- Instances --------------------------------------------------------------------------------------------------


def test_two_instances_do_not_know_each_other(compile_example: Compile) -> None:
    """Two instances with different parameters, run by turns, give bit by bit what each gives alone."""
    compiled = compile_example("crane", "rigid_boom")
    variants = ({}, {"column_mass": 900.0, "a": 3.1, "solver_method": 1})
    points = np.linspace(0.0, 0.2, 21)
    alone = []
    for values in variants:
        with Fmu(compiled) as fmu:
            alone.append(fmu.start(values, tolerance=1e-7).run(points, fmu.outputs))
    with Fmu(compiled) as first, Fmu(compiled) as second:
        pair = [fmu.start(values, tolerance=1e-7) for fmu, values in zip((first, second), variants, strict=True)]
        together = [[fmu.get(fmu.outputs)] for fmu in pair]
        for t, t_next in pairwise(points):
            for fmu, rows in zip(pair, together, strict=True):
                rows.append(fmu.run([t, t_next], fmu.outputs)[-1])
    for expected, found in zip(alone, together, strict=True):
        assert np.array(found).tolist() == expected.tolist()
    assert alone[0].tolist() != alone[1].tolist()


# ---- Compilers --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ziglang_is_compiler_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without CC and any compiler on the PATH, ziglang from PyPI builds an FMU that agrees with the reference."""
    if zig() is None:
        pytest.skip("ziglang is not installed")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert c_compiler.find().command[1:] == ("-m", "ziglang", "cc", "-mcpu=baseline")
    model = assemble_system(from_data(pendulum()))
    assert native_error(model, build_native(model, tmp_path).path, seed=9, count=20) <= 1e-9


def test_compiler_of_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """CC decides; a CC that cannot be started is an error, not a reason to take another compiler."""
    monkeypatch.setenv("CC", "no-such-compiler -O3")
    with pytest.raises(MissingToolError, match=r"the compiler that CC names cannot be started \(no-such-compiler"):
        c_compiler.find()
