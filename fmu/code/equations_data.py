"""C tables of a native FMU, as declared in fmu/sources/core/equations.h.

The tables name all members of structures (designated initialisers) and all enumerators. The
header declares the length of each list. If a generated list has another length, the generated
code does not compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, takewhile
from typing import Any

from ...core.templates import fill
from ...core.trajectory import TIME_MARGIN
from ...description.types.bounds import ANY, Bounds
from ...description.types.start_search import DOWNHILL
from ...generator.program.program import Assertion, EquationSystem, Lookup, Requirement
from ...generator.variables import COUNTERS, INTEGER_SETTINGS, REAL_SETTINGS, Variable
from ...language import ir
from ...language.pace import Pace
from ...language.piecewise import PIECE, Piecewise
from ...language.timely import TimedPace
from .model_structure import ModelStructure
from .stage_derivatives import StageDerivative
from .staged import (
    GROUPS,
    INPUT_ORDERS,
    LEVELS,
    AnySystem,
    Block,
    ConstrainedSystem,
    Phase,
    Stage,
    Staged,
    StagedSystem,
    TreeSystem,
)
from .start import at_defaults, initial, parameter_of

_TIMED = "timed_intervals"
_OWN_BLOCKS = {"start_values"}  # Only generated C code accesses the workspace block `start_values`.
_COUNTED = (
    *("states", "inputs", "switches", "parameters", "outputs"),
    *("start_checks", "checks", "calculated", "requirements"),
)


@dataclass(frozen=True)
class CodeContents:
    """Contents of the generated C tables.

    Attributes
    ----------
    program : EquationSystem
        Equations of the model.
    staged : Staged
        Evaluation stages of the equations.
    derivatives : mapping
        Directional derivatives by the name of the stage's function.
    work : mapping
        Size of the scratch memory of each function, as a number of doubles.
    variables : sequence of Variable
        Variables of the FMU.
    structure : ModelStructure
        FMI model structure.
    adjoint : bool
        Whether the code contains reverse derivatives.
    output_step : float
        Interval of the output times, s.
    timed : TimedPace
        Upper bounds of the step size, so that no step misses a short change of a function of time.
    token : str
        Instantiation token (GUID) of the FMU.
    version : str
        Version of gpmelica.
    """

    program: EquationSystem
    staged: Staged
    derivatives: Mapping[str, StageDerivative]
    work: Mapping[str, int]
    variables: Sequence[Variable]
    structure: ModelStructure
    adjoint: bool
    output_step: float
    timed: TimedPace
    token: str
    version: str


def data(contents: CodeContents) -> str:
    """Return the C source that contains all tables of a native FMU."""
    program, staged, derivatives = contents.program, contents.staged, contents.derivatives
    variables, work, timed, adjoint = contents.variables, contents.work, contents.timed, contents.adjoint
    limits = [bounds for bounds in dict.fromkeys(v.bounds for v in variables) if bounds != ANY]
    lists = [_lists(stage, derivatives.get(stage.function.name())) for stage in staged.stages]
    dependencies, tables = _dependencies(contents.structure, len(variables))
    starts = {
        "parameters": _numbers(v.start for v in variables if v.kind == "parameter"),
        "inputs": _numbers(v.start for v in variables if v.kind == "input"),
        "nominals": _numbers(v.nominal for v in variables if v.kind == "state"),
    }
    indices = [v.index for v in variables if v.kind == "parameter" and v.name in timed.parameters]
    expected = _expected_start_values(program, staged, timed)
    blocks = {name: block.offset for name, block in staged.blocks.items() if name not in _OWN_BLOCKS}
    values = {
        "initialiser": _initialiser,
        "program": program,
        "version": contents.version,
        "complete": _complete(blocks),
        "functions": [stage.function.name() for stage in staged.stages],
        "derivatives": {name: _derivative(name, found, work, adjoint) for name, found in derivatives.items()},
        "lists": {name: text or "0" for found in [*lists, dependencies] for name, text in found.items()},
        "groups": {
            name: [_stage(s, derivatives, work) for s in staged.stages if s.group == name] for name in GROUPS
        },
        "variables": [_variable(v, limits) for v in variables],
        "bounds": [_bounds(bounds) for bounds in limits],
        "requirements": [_requirement(required) for required in program.requirements],
        "tables": {name: [_numbers(piece) for piece in table.pieces.tolist()] for name, table in _tables(program)},
        "lookups": [_lookup(lookup) for lookup in program.lookups],
        "paces": {name: _intervals(pace) for name, pace in _paces(program, timed.pace).items()},
        "pace_parameters": _integers(indices),
        "pace_start_values": expected,
        "relations": [_string(relation.description) for relation in program.relations],
        "checks": {"start_checks": _checks(program.start_checks), "checks": _checks(program.checks)},
        "lines": [_string(length.line) for length in program.lengths],
        "held_ends": _integers(accumulate(len(sampling.held) for sampling in program.samplings)),
        "pointers": tables,
        "numbers": {name: numbers for name, numbers in starts.items() if numbers},
        "equations": {
            "identifier": _string(program.name),
            "token": _string(contents.token),
            **{f"n_{name}": staged.blocks[name].size for name in _COUNTED},
            "n_relations": staged.blocks["indicators"].size,
            "n_held": staged.blocks["samples"].size,
            "n_samplers": staged.blocks["periods"].size,
            "held_ends": "held_ends" if program.samplings else "0",
            "n_positions": _positions(program),
            "workspace_size": staged.size,
            "blocks": blocks,
            "n_variables": len(variables),
            "variables": "variables",
            **{name: name for name in tables},
            **{name: name if numbers else "0" for name, numbers in starts.items()},
            "start_checks": "start_checks" if program.start_checks else "0",
            "checks": "checks" if program.checks else "0",
            "n_lines": len(program.lengths),
            "lines": "lines" if program.lengths else "0",
            "meeting": program.meeting,
            "requirements": "requirements" if program.requirements else "0",
            "relations": "relations" if program.relations else "0",
            "n_lookups": len(program.lookups),
            "lookups": "lookups" if program.lookups else "0",
            "pace": _pace(timed.pace, _TIMED),
            "n_pace_parameters": len(indices),
            "pace_parameters": "pace_parameters" if indices else "0",
            "n_pace_start_values": len(expected),
            "pace_start_values": "pace_start_values" if expected else "0",
            "output_step": contents.output_step,
            "time_margin": TIME_MARGIN,
            "accepted_violation": program.accepted,
        },
        "phases": [_phase(program, phase) for phase in staged.phases],
        "start": _start(program, staged),
        "real_settings": {f"SETTING_{name.upper()}": start for name, start, _, _ in REAL_SETTINGS},
        "integer_settings": {f"SETTING_{name.upper()}": start for name, start, _ in INTEGER_SETTINGS},
    }
    return fill("fmu/code/equations_data.c.jinja", values, autoescape=False)


def _checks(checks: Sequence[Assertion]) -> list[dict[str, Any]]:
    return [{"message": _string(check.message), "bound": check.bound} for check in checks]


def _expected_start_values(program: EquationSystem, staged: Staged, timed: TimedPace) -> list[dict[str, Any]]:
    """Return the initial values for which the step-size limits were computed.

    Each value is returned with its offset in the workspace.
    """
    begin, known = staged.blocks["start_values"].offset, timed.start_values
    places = ((begin + i, ir.key(value.tree)) for i, value in enumerate(program.start_values))
    return [{"offset": place, "value": repr(known[key])} for place, key in places if key in known]


def _positions(program: EquationSystem) -> int:
    """Return the number n of coordinates if the states begin with n coordinates and their n derivatives.

    Otherwise the result is 0.
    """
    rates = list(takewhile(lambda derivative: derivative.op == "symbol", (s.derivative for s in program.states)))
    following = [state.name for state in program.states[len(rates) : 2 * len(rates)]]
    return len(rates) if [rate.data for rate in rates] == following else 0


def _complete(blocks: Mapping[str, int]) -> dict[str, int]:
    """Return the expected length of each list in the generated C tables.

    The keys are the C constants that declare these lengths in the header.
    """
    return {
        "N_GROUPS": len(GROUPS),
        "N_DOWNHILL": len(vars(DOWNHILL)),
        "N_LEVELS": len(LEVELS),
        "INPUT_ORDERS": INPUT_ORDERS,
        "N_REAL_SETTINGS": len(REAL_SETTINGS),
        "N_INTEGER_SETTINGS": len(INTEGER_SETTINGS),
        "N_COUNTERS": len(COUNTERS),
        "PIECE": PIECE,
        "sizeof(Blocks) / sizeof(int)": len(blocks),
        "sizeof(LinearSystem) / sizeof(int)": len(fields(StagedSystem)),
        "sizeof(ConstrainedSystem) / sizeof(int)": len(fields(ConstrainedSystem)),
    }


def _lists(stage: Stage, derivative: StageDerivative | None) -> dict[str, str]:
    """Return the C arrays of an evaluation stage, by C name.

    The C structures of the stage contain pointers to these arrays. The arrays contain the offsets
    and sizes of the workspace blocks that the stage reads or writes.
    """
    name = stage.function.name()
    found = {f"{name}_inputs": _offsets(stage.inputs), f"{name}_outputs": _offsets(stage.outputs)}
    if isinstance(stage.system, TreeSystem):
        found |= {f"{name}_{key}": ", ".join(_LISTS[key](x) for x in getattr(stage.system, key)) for key in _LISTS}
    if derivative is None:
        return found
    return found | {
        f"{name}_values": _offsets(derivative.values),
        f"{name}_from": _offsets(derivative.origin),
        f"{name}_sizes": _integers(block.size for block in derivative.origin),
        f"{name}_to": _offsets(derivative.to),
    }


def _stage(stage: Stage, derivatives: Mapping[str, StageDerivative], work: Mapping[str, int]) -> dict[str, Any]:
    name, system = stage.function.name(), stage.system
    return {
        "name": _string(stage.name),
        "coordinates": _string(stage.about),
        "function": name,
        "n_work": work[name],
        "n_inputs": len(stage.inputs),
        "inputs": f"{name}_inputs",
        "n_outputs": len(stage.outputs),
        "outputs": f"{name}_outputs",
        "derivative": f"&{name}_derivative" if name in derivatives else "0",
        **({_FIELDS[type(system)]: _system(system, name)} if system is not None else {}),
    }


def _initialiser(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return f"{{ {', '.join(f'.{name} = {_initialiser(member)}' for name, member in value.items())} }}"


_FIELDS = {StagedSystem: "system", ConstrainedSystem: "constrained", TreeSystem: "tree"}
# Each value is a function that converts an element of a tuple to C code.
_LISTS: dict[str, Callable[[Any], str]] = {"parents": str, "ends": str, "motions": lambda x: f"TREE_{x.upper()}"}


def _system(system: AnySystem, stage: str) -> dict[str, Any]:
    values = {field.name: getattr(system, field.name) for field in fields(system)}
    values |= {key: f"{stage}_{key}" for key in _LISTS if key in values}
    return {
        name: value.offset if isinstance(value, Block) else value if isinstance(value, str) else int(value)
        for name, value in values.items()
    }


def _derivative(name: str, found: StageDerivative, work: Mapping[str, int], adjoint: bool) -> dict[str, Any]:
    return {
        "forward": found.forward.name(),
        "reverse": found.reverse.name() if adjoint else "0",
        "n_work": max(work[f.name()] for f in [found.forward, *([found.reverse] if adjoint else [])]),
        "n_values": len(found.values),
        "values": f"{name}_values",
        "n_from": len(found.origin),
        "from": f"{name}_from",
        "sizes": f"{name}_sizes",
        "n_to": len(found.to),
        "to": f"{name}_to",
    }


# In the C code, the indices of the listed kinds of variables have names; all other indices are numbers.
_INDEX_NAMES = {
    "real_setting": lambda v: f"SETTING_{v.name.upper()}",
    "integer_setting": lambda v: f"SETTING_{v.name.upper()}",
    "counter": lambda v: f"COUNTER_{v.name.upper()}",
    "correction": lambda v: f"LEVEL_{LEVELS[v.index].upper()}",
}


def _parameter_places(program: EquationSystem) -> dict[str, int]:
    """Return the index of each parameter in the workspace block of all parameters.

    For an array parameter, this is the index of the array's first element.
    """
    sizes = [parameter.value.size for parameter in program.parameters]
    ends = accumulate(sizes, initial=0)
    return dict(zip((parameter.name for parameter in program.parameters), ends, strict=False))


def _phase(program: EquationSystem, phase: Phase) -> dict[str, Any]:
    start, places = program.start, _parameter_places(program)
    assert start is not None
    moved = [places.get(name, -1) for name in parameter_of(start, phase.search)]
    numbers, found = initial(start, phase.search), at_defaults(start, phase.search)
    own = [x if i >= len(moved) or moved[i] >= 0 else 0.0 for i, x in enumerate(numbers)]
    return {
        "what": _string(phase.search.found),
        "most_steps": phase.search.most_steps,
        "longest": _numbers([phase.search.longest]).replace("inf", "INFINITY"),
        "stage": phase.stage,
        "n_moved": len(moved),
        "begin": phase.begin.offset if phase.begin else -1,
        "n_found": phase.found.size if phase.found else 0,
        "found": phase.found.offset if phase.found else 0,
        "n_left": phase.left.size,
        "left": phase.left.offset,
        "stiffness": phase.stiffness.offset if phase.stiffness else -1,
        "n_stiffness": math.isqrt(phase.stiffness.size) if phase.stiffness else 0,
        "tried": phase.tried.offset if phase.tried else -1,
        "names": f"(const char *const[]){{ {', '.join(map(_string, phase.names))} }}",
        "initial": f"(const double[]){{ {_numbers(own)} }}",
        "defaults": f"(const double[]){{ {_numbers(found)} }}" if found else "0",
        "parameters": f"(const int[]){{ {_integers(moved)} }}",
    }


def _start(program: EquationSystem, staged: Staged) -> dict[str, Any]:
    """Return the C tables that connect the initial states with their start parameters.

    `parameters` contains the index of each state's start parameter. `given` marks the start parameters
    that determine the initial state directly when a user sets them, so that no search is needed.
    """
    places = _parameter_places(program)
    if program.start is None:
        return {}
    settled = {f"{program.start.coordinates[k]}_start" for k in program.start.settled}
    free = {place for name, place in places.items() if name in settled}
    count = staged.blocks["parameters"].size
    return {
        "parameters": _integers(place - staged.blocks["parameters"].offset for place in staged.given),
        "given": _integers(int(i in free) for i in range(count)),
        "n_stages": len(staged.phases) + 1,
        "downhill": vars(DOWNHILL),
    }


def _variable(variable: Variable, limits: Sequence[Bounds]) -> dict[str, Any]:
    named = _INDEX_NAMES.get(variable.kind)
    return {
        "name": _string(variable.name),
        "kind": f"VARIABLE_{variable.kind.upper()}",
        "index": named(variable) if named is not None else variable.index,
        "elements": variable.elements,
        "bounds": f"&bounds[{limits.index(variable.bounds)}]" if variable.bounds in limits else "0",
    }


def _tables(program: EquationSystem) -> list[tuple[str, Piecewise]]:
    return list({lookup.function: lookup.table for lookup in program.lookups}.items())


def _lookup(lookup: Lookup) -> dict[str, Any]:
    pieces = len(lookup.table.pieces)
    pace = _pace(lookup.table.pace, f"{lookup.function}_intervals")
    return {"n_pieces": pieces, "pieces": lookup.function, "has_kinks": int(lookup.table.kinks), "pace": pace}


def _paces(program: EquationSystem, timed: Pace) -> dict[str, Pace]:
    """Return all time-dependent upper bounds of the step size; the keys are names of C arrays."""
    found = {f"{name}_intervals": table.pace for name, table in _tables(program)} | {_TIMED: timed}
    return {name: pace for name, pace in found.items() if not pace.is_steady}


def _intervals(pace: Pace) -> list[str]:
    columns = pace.begins, pace.bounds, pace.following, pace.marks
    return [_numbers(row).replace("inf", "INFINITY") for row in zip(*(x.tolist() for x in columns), strict=True)]


def _pace(pace: Pace, name: str) -> dict[str, Any]:
    if pace.is_steady:
        return {"n": 0, "intervals": "0", "least": "INFINITY"}
    return {"n": len(pace.begins), "intervals": name, "least": repr(float(pace.bounds.min()))}


def _requirement(required: Requirement) -> dict[str, Any]:
    return {"message": _string(required.message), "bounds": _bounds(required.bounds)}


def _bounds(bounds: Bounds) -> dict[str, Any]:
    return {"low": repr(bounds.low), "high": repr(bounds.high), "exclusive": int(bounds.exclusive)}


def _dependencies(structure: ModelStructure, count: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the C code of dependency lists, and of tables that point to these lists.

    Both results are dictionaries; the keys are names of C arrays, and the values are their C code.

    Unknowns with equal dependencies share one list. The tables are indexed by value reference.
    """
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
    return {name: _integers((len(references), *references)) for references, name in names.items()}, tables


def _offsets(blocks: Iterable[Block]) -> str:
    return _integers(block.offset for block in blocks)


def _integers(values: Iterable[int]) -> str:
    return ", ".join(str(value) for value in values)


def _numbers(values: Iterable[float | None]) -> str:
    return ", ".join(repr(float(value)) for value in values if value is not None)


def _string(value: str) -> str:
    """Return a text as a C string literal.

    Quotes, backslashes, question marks and all characters outside printable ASCII are written as
    octal escape sequences.
    """
    plain = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in value.encode())
    return f'"{plain}"'
