"""The parts of a Modelica model: declarations and equations under the headings that say where they come from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TypeGuard

from ...trajectory import Array
from ..language import ir
from ..language.ir import Expr, Shape
from ..program.items import ConstrainedSolve, Definition, ImplicitSystem, Item, LinearSolve, TreeSolve
from ..program.program import START_VALUES, Event, Output, Program
from ..types.bounds import Bounds
from ..types.origin import Origin
from . import text as mo
from .writer import Declaration, Equation, Group, Member

_MARGIN = " " * 4  # of everything inside a model of the package
_AT_START = Origin("values at the start")
_SWITCHING = Origin("switching times, less a rounding error, at which solvers stop")
_NEVER = ir.constant(1e16)  # s
# of a switching time: so much earlier it comes, or a communication point that is it but for rounding would leave a
# step that solvers refuse as too short; at the point itself all has switched
_EARLY = ir.constant(1e-12)
_TINY = ir.constant(1e-300)  # beside squares
_PARAMETERS = {  # headings of those that belong to no entry of the description
    "general": "general parameters",
    "description": "parameters of the description",
    START_VALUES.kind: START_VALUES.kind,
}


def applied_forces(program: Program) -> list[Definition]:
    """The values of all applied forces that the description gives as expressions."""
    return [item for item in program.items if _is_replaceable(item)]


def _is_replaceable(item: Item) -> TypeGuard[Definition]:
    return isinstance(item, Definition) and item.replaceable


def parameters(program: Program) -> list[Group]:
    """What a user may change."""
    found: list[tuple[str, Member]] = []
    for p in program.parameters:
        # `zeros(3)` would hide what may be changed
        value = "{" + ", ".join(map(mo.number, p.value)) + "}" if p.shape else mo.number(float(p.value))
        modifiers = _modifiers(p.shape, p.unit, *(_bounds(p.bounds) if p.origin.kind == "description" else ()))
        parts = "parameter Real ", p.name, _dimensions(p.shape), modifiers, f" = {value}", p.description
        found.append((_heading(p.origin), Declaration(p.origin, *parts)))
    for item in program.calculated:
        binding = f" = {mo.text(item.parts[0][1])}"
        found.append((_heading(item.origin), _declaration("final parameter Real ", item, binding)))
    return _grouped(found)


def _heading(origin: Origin) -> str:
    return _PARAMETERS.get(origin.kind, f"parameters of {origin}")


def _bounds(bounds: Bounds) -> list[str]:
    limits = {"min": bounds.minimum, "max": bounds.maximum}
    return [f"{key} = {mo.number(value)}" for key, value in limits.items() if value is not None]


def derived_parameters(program: Program) -> list[Group]:
    """What follows from the parameters alone."""
    return _grouped(
        (
            f"derived parameters of {item.origin}",
            _declaration("final parameter Real ", item, f" = {mo.text(item.parts[0][1])}"),
        )
        for item in program.items
        if isinstance(item, Definition) and item.constant and not item.calculated and not _is_replaceable(item)
    )


def start_parameters(program: Program, given: Mapping[str, float] | None) -> list[Declaration]:
    """What `start(x)` stands for: calculated at the start, or given."""
    declarations = []
    for value in program.start_values:
        others = ["fixed = false"] if given is None else []
        binding = "" if given is None else f" = {mo.number(given[value.name])}"
        modifiers, text = _modifiers((), None, *others), f"{value.description}; unit as there"
        declarations.append(Declaration(_AT_START, "parameter Real ", value.name, "", modifiers, binding, text))
    return declarations


def inputs(program: Program, at_any_state: bool) -> list[Declaration]:
    """The FMU's inputs; parameters where the model is to be evaluated at any state."""
    return [
        Declaration(
            Origin("input", e.name),
            "parameter Real ",
            e.name,
            "",
            _modifiers((), e.unit),
            f" = {mo.number(e.start)}",
            e.description,
        )
        if at_any_state
        else _input(program, Origin("input", e.name), e.name, e.unit, e.description, e.start)
        for e in program.inputs
    ]


def plant_inputs(program: Program) -> list[Declaration]:
    """The plant's inputs, one for each applied force."""
    return [
        _input(program, f.origin, input_name(program, f), f.unit, f.description) for f in applied_forces(program)
    ]


def plant_equations(program: Program) -> list[Group]:
    """What connects the plant's inputs to the applied forces."""
    return _of_items((f, f"{f.name} = {input_name(program, f)}") for f in applied_forces(program))


def switchings(program: Program) -> list[Declaration]:
    """What conditions on time ask instead of the time."""
    found = {e.name: f"1 from {mo.text(_time(e))} s on, 0 before" for e in _coming(program)}
    return [
        Declaration(_SWITCHING, "Real ", name, "", _modifiers((), "1"), "", text) for name, text in found.items()
    ]


def switched_at_start(program: Program) -> list[Equation]:
    """Which switching times are over when a run begins."""
    return [
        Equation(_SWITCHING, f"{e.name} = if time < {mo.text(_never_or(e))} then 0.0 else 1.0")
        for e in _coming(program)
    ]


def switching_equations(program: Program) -> list[Group]:
    """Events at the switching times: without them omc's co-simulation switches at communication points only."""
    return _grouped((str(_SWITCHING), Equation(_SWITCHING, _switching(e))) for e in _coming(program))


def _coming(program: Program) -> list[Event]:
    """Those for which a solver may have to stop, or that a condition asks for."""
    return [e for e in program.events if e.rate is not None or e.time.op != "constant" or e.time.data > 0.0]


def _switching(event: Event) -> str:
    # unsimplified: a reader finds the time itself
    early = Expr("*", (), (Expr("-", (), (ir.constant(1.0), _EARLY)), _never_or(event)))
    return f"when sample({mo.text(early)}, {mo.text(_NEVER)}) then {event.name} = 1.0; end when"


def _time(event: Event) -> Expr:
    """Of an event; two that differ by rounding alone are the same."""
    return ir.constant(float(f"{event.time.data + 0.0:.15g}")) if event.time.op == "constant" else event.time


def _never_or(event: Event) -> Expr:
    """Its time, or a time that no run reaches where nothing changes with time, for these parameters."""
    if event.rate is None or event.rate.op == "constant":
        return _time(event)
    return ir.choose(">", ir.call("abs", event.rate), ir.constant(0.0), event.time, _NEVER)


def input_name(program: Program, force: Definition) -> str:
    """The plant's input for an applied force."""
    return fresh(program, f"{force.name}_input")


def fresh(program: Program, name: str) -> str:
    """The name, or the name with `_` after it where the program has it already."""
    while name in program.reserved:
        name += "_"
    return name


def states(program: Program, found: Container[str]) -> list[Declaration]:
    """What is integrated; each has an output that shows it. found: names of those that initial equations find."""
    declarations = []
    for s in program.states:
        fixed = [] if s.name in found else ["fixed = true"]
        start = [f"start = {mo.text(s.start)}", *fixed]
        modifiers = _modifiers((), s.unit, *start, f"nominal = {mo.number(s.nominal)}")
        text = s.variable_description
        declarations.append(Declaration(s.signal.origin, "Real ", s.variable, "", modifiers, "", text))
    return declarations


def outputs(program: Program, guesses: Mapping[str, Array]) -> list[Declaration]:
    """What a user reads; guesses: see `package.render`."""
    modifiers = {o.name: _modifiers((), o.unit, *_start(guesses.get(o.name))) for o in program.outputs}
    return [
        Declaration(o.signal.origin, "output Real ", o.name, "", modifiers[o.name], "", o.description)
        for o in program.outputs
    ]


def start_equations(program: Program) -> list[Equation]:
    """What `start(x)` is."""
    return [Equation(_AT_START, f"{v.name} = {mo.text(v.expr)}") for v in program.start_values]


def state_equations(program: Program) -> list[Equation]:
    """Derivatives of the states."""
    named = {mo.text(o.expr): o.name for outputs in _spread(program).values() for o in outputs}
    rates = [(s, mo.text(s.derivative)) for s in program.states]
    return [Equation(s.signal.origin, f"der({s.variable}) = {named.get(rate, rate)}") for s, rate in rates]


def output_equations(program: Program) -> list[Equation]:
    """Equations of the outputs that are no items themselves."""
    spread = _spread(program)
    elsewhere = program.published | {o.name for outputs in spread.values() for o in outputs}
    vectors = [
        Equation(item.origin, f"{item.name} = {{{', '.join(o.name for o in spread[item.name])}}}")
        for item in program.items
        if item.name in spread
    ]
    return vectors + [
        Equation(o.signal.origin, f"{o.name} = {mo.text(_differentiable(o.expr))}")
        for o in program.outputs
        if o.name not in elsewhere
    ]


def _differentiable(expr: Expr) -> Expr:
    """The same number; a norm has a derivative at 0, too, where linear models would divide by it."""
    return ir.call("sqrt", expr.args[0] + _TINY) if ir.is_norm(expr) else expr


def _spread(program: Program) -> dict[str, tuple[Output, ...]]:
    """Vectors whose elements differ in unit and are outputs all, with these: omc knows one unit per array.

    It warns of `der(x_dot) = v[2]` where `v[1]` is in another unit, but not of `v = {a, b}`.
    """
    elements: dict[str, dict[int, Output]] = {}
    for output in program.outputs:
        if output.expr.op == "index" and output.expr.args[0].op == "symbol":
            place = output.expr.data[0]
            elements.setdefault(output.expr.args[0].data, {}).setdefault(place, output)
    vectors = [item for item in program.items if item.unit is None and len(item.shape) == 1]
    return {
        item.name: tuple(elements[item.name][i] for i in range(*item.shape))
        for item in vectors
        if len(elements.get(item.name, ())) == item.shape[0]
    }


def variables(program: Program, guesses: Mapping[str, Array]) -> list[Group]:
    """Everything in between, section by section; guesses: see `package.render`."""
    published = program.published
    return _grouped(
        (str(item.origin), _declaration("Real ", item, guess=guesses.get(item.name)))
        for item in program.items
        if (_is_replaceable(item) or not _is_constant(item)) and item.name not in published
    )


def equations(program: Program) -> list[Group]:
    """All equations but the applied forces' values; those of a constraint row stand together."""
    ordinary: list[tuple[Item, str]] = []
    rows: dict[int, list[str]] = {i: [] for i in range(len(program.rows))}
    for item in program.items:
        if _is_constant(item) or _is_replaceable(item):
            continue
        for i, line in enumerate(item_equations(item)):
            if isinstance(item, Definition) and item.by_row:
                rows[i].append(line)
            else:
                ordinary.append((item, line))
    found = _of_items(ordinary)
    after = next((i + 1 for i, group in enumerate(found) if group.title == "constraints"), len(found))
    origins = [Origin("constraint", name) for name in program.rows]
    by_row = [
        Group(str(origin), tuple(Equation(origin, line) for line in rows[i])) for i, origin in enumerate(origins)
    ]
    return [*found[:after], *by_row, *found[after:]]


def force_equations(program: Program) -> list[Group]:
    """The applied forces' values, as the description gives them."""
    return _of_items((force, line) for force in applied_forces(program) for line in item_equations(force))


def _of_items(found: Iterable[tuple[Item, str]]) -> list[Group]:
    """Equations of items under the headings of these."""
    return _grouped((str(item.origin), Equation(item.origin, line)) for item, line in found)


def assertions(program: Program) -> list[str]:
    """What must hold, laid out; messages stay in one piece."""
    return [*_requirements(program), *_running_assertions(program)]


def _requirements(program: Program) -> Iterator[str]:
    """Of parameters and of what follows from them."""
    follow = {item.name for item in program.calculated}
    for required in program.requirements:
        if not follow & required.value.symbols:
            continue  # plain parameters have no asserts
        value, bounds = mo.text(required.value), required.bounds
        limits = [(">" if bounds.exclusive else ">=", bounds.minimum), ("<=", bounds.maximum)]
        for sign, limit in limits:
            if limit is not None:
                text = mo.quoted(f"{required.message}: expected {sign} {limit:g}, got ")
                condition = f"{value} {sign} {mo.number(limit)}"
                yield f"{_MARGIN}assert({condition},\n{_MARGIN}    {text} + String({value}));"


def _running_assertions(program: Program) -> list[str]:
    return [
        f"{_MARGIN}assert({mo.text(a.value)} < {mo.number(a.bound)},\n"
        f"{_MARGIN}    {mo.quoted(f'{a.message} ')} + String(time));"
        for a in (*program.checks, *program.assertions)
    ]


def item_equations(item: Item) -> Iterator[str]:
    """Equations of one definition or linear system, without the semicolon."""
    if isinstance(item, LinearSolve):
        yield f"{_factor(mo.text(item.matrix))}*{item.name} = {mo.text(item.right)}"
        return
    if isinstance(item, TreeSolve):
        yield from item_equations(item.system)
        return
    if isinstance(item, ImplicitSystem):
        yield from (f"{mo.text(left)} = {mo.text(right)}" for left, right in item.equations)
        return
    if isinstance(item, ConstrainedSolve):
        M, C, F, W = (_factor(mo.text(expr)) for expr in (item.matrix, item.jacobian, item.right, item.wanted))
        yield f"{M}*{item.name} - transpose({C})*{item.multipliers or 'multipliers'} = {F}"
        yield f"{C}*{item.name} = {W}"
        return
    for index, expr in item.parts:
        name = item.name + (mo.subscript(index, item.shape) if index else "")
        yield f"{name} = {mo.text(expr)}"
    if item.symmetric:
        for k in range(1, item.shape[0]):
            yield f"{item.name}[{k + 1},1:{k}] = {item.name}[1:{k},{k + 1}]"


def _is_constant(item: Item) -> bool:
    return isinstance(item, Definition) and item.constant


def _grouped(members: Iterable[tuple[str, Member]]) -> list[Group]:
    found: dict[str, list[Member]] = {}
    for title, member in members:
        found.setdefault(title, []).append(member)
    return [Group(title, tuple(group)) for title, group in found.items()]


def _declaration(prefix: str, item: Item, binding: str = "", guess: Array | None = None) -> Declaration:
    text = item.description
    if item.unit is None and ";" not in text:
        text += "; units differ by element"
    dimensions, modifiers = _dimensions(item.shape), _modifiers(item.shape, item.unit, *_start(guess))
    return Declaration(item.origin, prefix, item.name, dimensions, modifiers, binding, text)


def _start(guess: Array | None) -> list[str]:
    return [] if guess is None else [f"start = {mo.constant(guess)}"]


def _input(
    program: Program, origin: Origin, name: str, unit: str | None, description: str, start: float = 0.0
) -> Declaration:
    modifiers, place = _modifiers((), unit, f"start = {mo.number(start)}"), _placement(program, name)
    return Declaration(origin, "RealInput ", name, "", modifiers, "", description, place)


def _placement(program: Program, name: str) -> str:
    """Where an input is in diagrams: all of them are at the left edge, spread over it."""
    every = [*(e.name for e in program.inputs), *(input_name(program, f) for f in applied_forces(program))]
    return placement(every.index(name), len(every), -110.0)


def placement(k: int, count: int, x: float) -> str:
    """Annotation of the k-th of some connectors that are spread over an edge of a diagram, which is at x."""
    y = 100.0 - 200.0 * (k + 1) / (count + 1)
    corners = ", ".join(f"{{{mo.number(x + d)}, {mo.number(round(y + d, 1))}}}" for d in (-10.0, 10.0))
    return f"annotation(Placement(transformation(extent = {{{corners}}})))"


def _modifiers(shape: Shape, unit: str | None, *others: str) -> str:
    each = "each " if shape else ""
    parts = [*others, *([f'{each}unit = "{unit}"'] if unit else [])]
    return f"({', '.join(parts)})" if parts else ""


def _dimensions(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else ""


def _factor(matrix: str) -> str:
    return matrix if matrix.isidentifier() else f"({matrix})"
