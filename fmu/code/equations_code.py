"""The generated C of a native FMU: CasADi's functions, and the tables of sources/core/equations.h."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi as ca

from ...generator.program.program import Program
from ...generator.variables import INTEGER_SETTINGS, REAL_SETTINGS, Variable
from ..files.templates import fill
from .blocks import Block, ConstrainedSystem, System
from .model_structure import Structure
from .stage_derivatives import StageDerivative
from .stages import GROUPS, Stage, Staged

_BLOCKS = (
    "time",
    "states",
    "inputs",
    "input_derivatives",
    "switches",
    "parameters",
    "start_states",
    "event_times",
    "derivatives",
    "outputs",
    "violations",
    "position_change",
    "velocity_change",
    "corrections",
)

_COUNTED = ("states", "inputs", "switches", "parameters", "outputs")


_PART = 300  # lines
_PARAMETERS = "const casadi_real** arg, casadi_real** res, casadi_real* restrict w"
_FUNCTION = re.compile(r"^static int (casadi_f\d+)\((.*?)\) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)


def functions(staged: Staged, *, adjoint: bool) -> dict[str, str]:
    """C code of all stages' functions and of their derivatives, by file name; adjoint: reverse ones too."""
    derivatives = [stage.derivative for stage in staged.stages if stage.derivative is not None]
    found = {
        "equations_functions.c": _code("functions", [stage.function for stage in staged.stages]),
        "equations_forward.c": _code("forward", [each.forward for each in derivatives], in_parts=True),
    }
    if adjoint:
        reverse = [each.reverse for each in derivatives]
        found["equations_reverse.c"] = _code("reverse", reverse, in_parts=True)
    return found


def _code(name: str, found: Iterable[ca.Function], *, in_parts: bool = False) -> str:
    # the file's name is the begin of those of CasADi's auxiliary functions; parts need their variables in an array
    options = {"with_header": False, "with_export": False, "avoid_stack": in_parts}
    generator = ca.CodeGenerator(f"{name}.c", options)
    for function in found:
        generator.add(function)
    with TemporaryDirectory() as folder:
        generator.generate(f"{folder}/")
        code = _without_null_checks((Path(folder) / f"{name}.c").read_text())
    return _FUNCTION.sub(_in_parts, code) if in_parts else code


def _in_parts(function: re.Match[str]) -> str:
    """A function as a chain of short ones: what a compiler needs for one grows faster than its length."""
    name, parameters, body = function.groups()
    *lines, end = body.splitlines(keepends=True)
    parts = ["".join(lines[i : i + _PART]) for i in range(0, len(lines), _PART)]
    texts = [f"static void {name}_{k}({_PARAMETERS}) {{\n{part}}}\n\n" for k, part in enumerate(parts)]
    calls = "".join(f"  {name}_{k}(arg, res, w);\n" for k in range(len(parts)))
    return "".join([*texts, f"static int {name}({parameters}) {{\n{calls}{end}}}\n"])


def _without_null_checks(code: str) -> str:
    # CasADi lets every argument and result be NULL; here none is, and the checks cost a third of the time.
    code = re.sub(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0", r"\2", code)
    return re.sub(r"if \(res\[(\d+)\]!=0\) (res\[\1\])", r"\2", code)


def data(
    program: Program,
    staged: Staged,
    variables: Sequence[Variable],
    structure: Structure,
    *,
    adjoint: bool,
    output_step: float,
    token: str,
    version: str,
) -> str:
    """C code of the tables."""
    stages = [_stage(stage, adjoint) for stage in staged.stages]
    values = {
        "program": program,
        "version": version,
        "stages": stages,
        "groups": [_group(name, staged, stages) for name in GROUPS],
        "variables": [_variable(v) for v in variables],
        "tables": [
            {"name": "parameters", "numbers": _numbers(v.start for v in variables if v.kind == "parameter")},
            {"name": "inputs", "numbers": _numbers(v.start for v in variables if v.kind == "input")},
            {"name": "nominals", "numbers": _numbers(v.nominal for v in variables if v.kind == "state")},
        ],
        "identifier": _string(program.name),
        "token": _string(token),
        "counts": _integers(staged.blocks[name].size for name in _COUNTED),
        "size": staged.size,
        "output_step": output_step,
        "blocks": _integers(staged.blocks[name].offset for name in _BLOCKS),
        "real_settings": _numbers(start for _, start, _, _ in REAL_SETTINGS),
        "integer_settings": _integers(start for _, start, _ in INTEGER_SETTINGS),
    }
    values |= _dependencies(structure, len(variables))
    return fill("code/equations_data.c.jinja", values, autoescape=False)


def _stage(stage: Stage, adjoint: bool) -> dict[str, Any]:
    f, system = stage.function, stage.system
    linear: tuple[int, ...] = (0,) * 7
    constrained: tuple[int, ...] = (0,) * 10
    if isinstance(system, ConstrainedSystem):
        constrained = _constrained(system)
    elif system is not None:
        linear = _linear(system)
    return {
        "name": _string(stage.name),
        "about": _string(stage.about),
        "function": f.name(),
        "sizes": _sizes(f),
        "n_inputs": len(stage.inputs),
        "inputs": _offsets(stage.inputs),
        "n_outputs": len(stage.outputs),
        "outputs": _offsets(stage.outputs),
        "system": _integers(linear),
        "derivative": _derivative(stage.derivative, adjoint) if stage.derivative is not None else None,
        "constrained": _integers(constrained),
    }


def _derivative(found: StageDerivative, adjoint: bool) -> dict[str, Any]:
    return {
        "functions": [found.forward.name(), *([found.reverse.name()] if adjoint else [])],
        "sizes": _sizes(found.forward, found.reverse),
        "n_values": len(found.values),
        "values": _offsets(found.values),
        "n_origin": len(found.origin),
        "origin": _offsets(found.origin) or "0",
        "lengths": _integers(block.size for block in found.origin) or "0",
        "n_to": len(found.to),
        "to": _offsets(found.to),
    }


def _sizes(*functions: ca.Function) -> str:
    """CasADi's work sizes: arguments, results, integers, doubles."""
    sizes = [(f.sz_arg(), f.sz_res(), f.sz_iw(), f.sz_w()) for f in functions]
    return _integers(map(max, *sizes, sizes[0]))


def _linear(system: System) -> tuple[int, ...]:
    blocks = (system.matrix, system.right, system.pivots)
    return (system.n, system.columns, *(block.offset for block in blocks), int(system.partition), system.ratios)


def _constrained(system: ConstrainedSystem) -> tuple[int, ...]:
    given = (system.matrix, system.jacobian, system.right, system.wanted)
    found = (system.solution, system.multipliers, system.work)
    return (system.n, system.m, system.columns, *(block.offset for block in (*given, *found)))


def _group(name: str, staged: Staged, stages: list[dict[str, Any]]) -> dict[str, Any]:
    members = [row for row, stage in zip(stages, staged.stages, strict=True) if stage.group == name]
    return {"name": name, "stages": members, "count": len(members)}


def _variable(variable: Variable) -> dict[str, Any]:
    kind = f"VARIABLE_{variable.kind.upper()}"
    return {"name": _string(variable.name), "kind": kind, "index": variable.index, "elements": variable.elements}


def _dependencies(structure: Structure, count: int) -> dict[str, Any]:
    """Each list once, because most unknowns share theirs; tables of lists by value reference."""
    sides = {
        "dependencies": (*structure.outputs, *structure.derivatives),
        "start_dependencies": structure.initial,
    }
    lists = dict.fromkeys(u.dependencies for unknowns in sides.values() for u in unknowns if u.dependencies)
    names = {references: f"depends_{position}" for position, references in enumerate(lists)}
    tables = {}
    for name, unknowns in sides.items():
        rows = ["0"] * count
        for unknown in unknowns:
            rows[unknown.reference] = names.get(unknown.dependencies, "0")
        tables[name] = ", ".join(rows)
    entries = [_integers((len(references), *references)) for references in lists]
    return {"dependency_lists": entries, "dependency_tables": tables}


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
