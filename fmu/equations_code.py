"""The generated C of a native FMU: CasADi's functions, and the tables of sources/equations.h."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi as ca
from jinja2 import Environment, PackageLoader, StrictUndefined

from ..generator.interface import INTEGER_SETTINGS, REAL_SETTINGS, Variable
from ..generator.program import Program
from .stages import GROUPS, Block, ConstrainedSystem, Stage, Staged

_BLOCKS = (
    "time",
    "states",
    "inputs",
    "switches",
    "parameters",
    "start_states",
    "event_times",
    "derivatives",
    "outputs",
)

_COUNTED = ("states", "inputs", "switches", "parameters", "outputs")


def functions(staged: Staged) -> str:
    """C code of all stages' functions."""
    generator = ca.CodeGenerator("equations_functions.c", {"with_header": False, "with_export": False})
    for stage in staged.stages:
        generator.add(stage.function)
    with TemporaryDirectory() as folder:
        generator.generate(f"{folder}/")
        code = (Path(folder) / "equations_functions.c").read_text()
    return _without_null_checks(code)


def _without_null_checks(code: str) -> str:
    # CasADi lets every argument and result be NULL; here none is, and the checks cost a third of the time.
    code = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", code)
    return re.sub(r"if \(res\[(\d+)\]!=0\) (res\[\1\])", r"\2", code)


def data(program: Program, staged: Staged, variables: Sequence[Variable], token: str, version: str) -> str:
    """C code of the tables."""
    environment = Environment(
        loader=PackageLoader("gpmelica", "fmu"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    stages = [_stage(stage) for stage in staged.stages]
    return environment.get_template("equations_data.c.jinja").render(
        program=program,
        version=version,
        stages=stages,
        groups=[_group(name, staged, stages) for name in GROUPS],
        variables=[_variable(v) for v in variables],
        tables=[
            {"name": "parameters", "numbers": _numbers(v.start for v in variables if v.kind == "parameter")},
            {"name": "inputs", "numbers": _numbers(v.start for v in variables if v.kind == "input")},
            {"name": "nominals", "numbers": _numbers(v.nominal for v in variables if v.kind == "state")},
        ],
        identifier=_string(program.name),
        token=_string(token),
        counts=_integers(staged.blocks[name].size for name in _COUNTED),
        size=staged.size,
        blocks=_integers(staged.blocks[name].offset for name in _BLOCKS),
        real_settings=_numbers(start for _, start, _, _ in REAL_SETTINGS),
        integer_settings=_integers(start for _, start, _ in INTEGER_SETTINGS),
    )


def _stage(stage: Stage) -> dict[str, Any]:
    f, system = stage.function, stage.system
    linear: tuple[int, ...] = (0,) * 4
    constrained: tuple[int, ...] = (0,) * 9
    if isinstance(system, ConstrainedSystem):
        constrained = _constrained(system)
    elif system is not None:
        linear = (system.n, system.columns, system.matrix.offset, system.right.offset)
    return {
        "name": _string(stage.name),
        "about": _string(stage.about),
        "function": f.name(),
        "sizes": _integers((f.sz_arg(), f.sz_res(), f.sz_iw(), f.sz_w())),
        "n_inputs": len(stage.inputs),
        "inputs": _offsets(stage.inputs),
        "n_outputs": len(stage.outputs),
        "outputs": _offsets(stage.outputs),
        "system": _integers(linear),
        "constrained": _integers(constrained),
    }


def _constrained(system: ConstrainedSystem) -> tuple[int, ...]:
    blocks = (system.matrix, system.jacobian, system.right, system.wanted, system.solution)
    multipliers = -1 if system.multipliers is None else system.multipliers.offset
    return (system.n, system.m, system.columns, *(block.offset for block in blocks), multipliers)


def _group(name: str, staged: Staged, stages: list[dict[str, Any]]) -> dict[str, Any]:
    members = [row for row, stage in zip(stages, staged.stages, strict=True) if stage.group == name]
    return {"name": name, "stages": members, "count": len(members)}


def _variable(variable: Variable) -> dict[str, Any]:
    kind = f"VARIABLE_{variable.kind.upper()}"
    return {"name": _string(variable.name), "kind": kind, "index": variable.index}


def _offsets(blocks: Iterable[Block]) -> str:
    return _integers(block.offset for block in blocks)


def _integers(values: Iterable[int]) -> str:
    return ", ".join(str(value) for value in values)


def _numbers(values: Iterable[float | None]) -> str:
    return ", ".join(repr(float(value)) for value in values if value is not None)


def _string(value: str) -> str:
    """C string literal; anything but plain ASCII as octal bytes."""
    plain = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in value.encode())
    return f'"{plain}"'
