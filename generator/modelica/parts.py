"""Declarations and equations of the generated Modelica models, arranged under headings.

The lines below a heading have a common origin. The heading names this origin: an entry of the
description or a step of the derivation.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from ...core.trajectory import Array
from ...description.types.bounds import Bounds
from ...description.types.origin import Origin
from ...language import ir
from ...language.ir import Expr
from ..program.items import ConstrainedSolve, Definition, ImplicitSystem, Item, LinearSolve, TreeSolve
from ..program.program import START_VALUES, Assertion, EquationSystem, Output, Sampling, StateVariable, TimeEvent
from . import text as mo
from .arrays import loops
from .arrays.gather import Arrangement, ArrayDeclaration, with_units
from .writer import Declaration, Equation, Group, Member

_MARGIN = " " * 4  # Declarations and equations in a Modelica model have this indentation.
_AT_START = Origin("values at the initial time")
_SWITCHING = Origin("time events, reduced by a rounding error")
_NEVER = ir.constant(1e16)  # No run reaches this event time, s.
# Time events are triggered early by this fraction of the event time, which exceeds the rounding errors of times.
# A time event is triggered slightly early, so that it precedes a communication point at nearly the same time.
_EARLY = 1e-12
_TINY = ir.constant(1e-300)  # A norm is differentiable at zero if this number is added under its square root.
# Headings in the Modelica source above parameters that belong to no single link, joint or other element.
_PARAMETERS = {
    "general": "general parameters",
    "description": "parameters of the description",
    START_VALUES.kind: START_VALUES.kind,
}


def applied_forces(program: EquationSystem) -> list[Definition]:
    """Return the definitions of all applied forces that the description gives as expressions."""
    return [item for item in program.items if _is_replaceable(item)]


def _is_replaceable(item: Item) -> TypeGuard[Definition]:
    return isinstance(item, Definition) and item.replaceable


def parameters(program: EquationSystem) -> list[Group]:
    """Return the declarations of changeable parameters, and of parameters calculated from them."""
    found: list[tuple[str, Member]] = []
    for p in program.parameters:
        # Array values are written element by element, because `zeros(3)` would hide values that a user can change.
        value = "{" + ", ".join(map(mo.number, p.value)) + "}" if p.shape else mo.number(float(p.value))
        bounds = tuple(_bounds(p.bounds)) if p.origin.kind == "description" else ()
        parameter = (p.name, p.unit, p.description, p.shape, bounds, value)
        found.append((_heading(p.origin), Declaration(p.origin, "parameter ", *parameter)))
    for item in program.calculated:
        about = (item.name, item.unit, with_units(item.description, item.unit), item.shape)
        binding = mo.text(item.parts[0][1])
        found.append((_heading(item.origin), Declaration(item.origin, "final parameter ", *about, (), binding)))
    return _grouped(found)


def _heading(origin: Origin) -> str:
    return _PARAMETERS.get(origin.kind, f"parameters of {origin}")


def _bounds(bounds: Bounds) -> list[str]:
    limits = {"min": bounds.minimum, "max": bounds.maximum}
    return [f"{key} = {mo.number(value)}" for key, value in limits.items() if value is not None]


def derived_parameters(arrangement: Arrangement) -> list[Group]:
    """Return the declarations of constants, and of parameters that are calculated from other parameters."""
    return _grouped(
        (
            variable.title if variable.positions else f"derived parameters: {variable.title}",
            _declared("constant " if variable.is_constant else "final parameter ", variable),
        )
        for variable in arrangement.variables
        if not variable.is_variable
    )


def _declared(prefix: str, variable: ArrayDeclaration) -> Declaration:
    binding = "" if variable.value is None else mo.text(variable.value)
    kind = "Integer" if variable.positions else None
    if variable.positions:
        binding = "{" + ", ".join(map(str, variable.positions)) + "}"
    about = (variable.name, variable.unit, variable.description, variable.shape, _start(variable.guess), binding)
    return Declaration(variable.origin, prefix, *about, type=kind, elements=variable.elements or {})


def start_parameters(program: EquationSystem, given: Mapping[str, float] | None) -> list[Declaration]:
    """Return the declarations of parameters for `start(x)`, the initial value of a quantity x.

    If `given` is None, initial equations calculate the initial values. Otherwise `given` contains them
    as numbers.
    """
    declarations = []
    for value in program.start_values:
        modifiers = ("fixed = false",) if given is None else ()
        binding = "" if given is None else mo.number(given[value.name])
        text = f"{value.description}; in the unit of the expression"
        about = (value.name, None, text, (), modifiers, binding)
        declarations.append(Declaration(_AT_START, "parameter ", *about))
    return declarations


def inputs(program: EquationSystem, at_any_state: bool) -> list[Declaration]:
    """Return the declarations of the FMU's inputs.

    If the model is evaluated in a given state, the inputs are declared as parameters.
    """
    return [
        Declaration(
            Origin("input", e.name), "parameter ", e.name, e.unit, e.description, binding=mo.number(e.start)
        )
        if at_any_state
        else _input(program, Origin("input", e.name), e.name, e.unit, e.description, e.start)
        for e in program.inputs
    ]


def plant_inputs(program: EquationSystem) -> list[Declaration]:
    """Return the declarations of the plant's inputs, one for each component of an applied force."""
    return [
        _input(program, f.origin, input_name(program, f), f.unit, f.description) for f in applied_forces(program)
    ]


def plant_equations(program: EquationSystem) -> list[Group]:
    """Return the equations between the plant's inputs and the applied forces."""
    return _of_items((f, f"{f.name} = {input_name(program, f)}") for f in applied_forces(program))


def switchings(program: EquationSystem) -> list[Declaration]:
    """Return the declarations of the switch variables of time events.

    A switch variable is 0 before the event time, and 1 from the event time on.
    """
    found = {e.name: f"switch: 0 before the time {mo.text(_time(e))} s, 1 from then on" for e in _coming(program)}
    return [Declaration(_SWITCHING, "", name, "1", text) for name, text in found.items()]


def switched_at_start(program: EquationSystem) -> list[Equation]:
    """Return the initial equations of the switch variables of time events.

    A switch variable is initially 1 if the event time is before the initial time, otherwise 0.
    """
    return [
        Equation(_SWITCHING, f"{e.name} = if time < {mo.text(_never_or(e))} then 0.0 else 1.0")
        for e in _coming(program)
    ]


def switching_equations(program: EquationSystem) -> list[Group]:
    """Return the `when` equations of the time events.

    Without `when` equations, the co-simulation of OpenModelica's FMU would switch only at communication
    points.
    """
    return _grouped((str(_SWITCHING), Equation(_SWITCHING, _switching(e))) for e in _coming(program))


def sampling_equations(program: EquationSystem) -> list[Group]:
    """Return the `when` equations of sampled elements."""
    count = len(program.samplings)
    found = (_sampling(x, (count - i) / (count + 1)) for i, x in enumerate(program.samplings))
    return _grouped((str(equation.origin), equation) for equation in found)


def held(program: EquationSystem) -> list[Declaration]:
    """Return the declarations of the variables of sampled elements."""
    return [
        Declaration(
            x.signal.origin,
            "discrete ",
            x.variable,
            x.unit,
            f"value since the last sample: {x.description}",
            modifiers=(f"start = {mo.text(x.start)}", "fixed = true"),
        )
        for sampling in program.samplings
        for x in sampling.held
    ]


def _sampling(sampling: Sampling, share: float) -> Equation:
    """Return the `when` equation of a sampled element.

    Several elements can be sampled at equal times. Rounding errors would separate these times by less
    than a solver's shortest step. Each sample time is therefore reduced by an amount of its own, which
    exceeds the rounding errors. The order of the reduced times is the order in which the elements are
    computed. If a time event has the same time as a sample, the sample follows the event, because the
    time of the event is reduced by more.
    """
    values = tuple(Equation(sampling.origin, f"{x.variable} = {mo.text(x.next)}") for x in sampling.held)
    period = mo.text(_early(sampling.period, share))
    return Equation(sampling.origin, "", body=values, event=f"sample(0.0, {period})")


def _coming(program: EquationSystem) -> list[TimeEvent]:
    """Return the time events that can occur during a run, for the Modelica source.

    An event without a switching condition is omitted if its time is a number that is not greater than
    0.
    """
    return [e for e in program.events if e.rate is not None or e.time.op != "constant" or e.time.data > 0.0]


def _switching(event: TimeEvent) -> str:
    early = mo.text(_early(_never_or(event)))
    return f"when sample({early}, {mo.text(_NEVER)}) then {event.name} = 1.0; end when"


def _early(time: Expr, share: float = 1.0) -> Expr:
    """Return an event time or a sample time, s, reduced by the fraction `share`·1e-12.

    Relative rounding errors of times are smaller than 1e-12.
    """
    less = ir.constant(float(f"{share * _EARLY:.2g}"))
    # The product is not evaluated, so that the Modelica source shows the event time of the description.
    return Expr("*", (), (Expr("-", (), (ir.constant(1.0), less)), time))


def _time(event: TimeEvent) -> Expr:
    """Return the event time, s, rounded to 15 digits.

    Times that differ only by rounding errors become equal.
    """
    return ir.constant(float(f"{event.time.data + 0.0:.15g}")) if event.time.op == "constant" else event.time


def _never_or(event: TimeEvent) -> Expr:
    """Return the event time, s, for given parameters.

    If the condition does not depend on time for these parameters, the result is 1e16 s.
    """
    if event.rate is None or event.rate.op == "constant":
        return _time(event)
    return ir.choose(">", ir.call("abs", event.rate), ir.constant(0.0), event.time, _NEVER)


def input_name(program: EquationSystem, force: Definition) -> str:
    """Return the name of the plant's input for an applied force."""
    return fresh(program, f"{force.name}_input")


def fresh(program: EquationSystem, name: str) -> str:
    """Return the name with as many underscores appended as are needed to make it unique in the program."""
    while name in program.reserved:
        name += "_"
    return name


def states(program: EquationSystem, found: Container[str]) -> list[Declaration]:
    """Return the declarations of the state variables.

    The argument `found` contains the names of the states whose initial values follow from initial
    equations.
    """
    declarations = []
    for s in program.states:
        fixed = () if s.name in found else ("fixed = true",)
        modifiers = (f"start = {mo.text(s.start)}", *fixed, f"nominal = {mo.number(s.nominal)}")
        about = (s.variable, s.unit, s.variable_description, (), modifiers)
        declarations.append(Declaration(s.signal.origin, "", *about))
    return declarations


def outputs(program: EquationSystem, guesses: Mapping[str, Array]) -> list[Declaration]:
    """Return the declarations of the model's outputs.

    If no equation defines an output, its declaration contains its value. The argument `guesses` is
    explained in `package.render`.
    """
    values = _values(program)
    return [
        Declaration(
            o.signal.origin,
            "output ",
            o.name,
            o.unit,
            o.description,
            modifiers=(*_start(guesses.get(o.name)), *_nominal(o.nominal)),
            binding=mo.text(_differentiable(values[o.name])) if o.name in values else "",
        )
        for o in program.outputs
    ]


def _values(program: EquationSystem) -> dict[str, Expr]:
    """Return the values of those outputs whose values are in their declarations.

    The result maps the name of an output to its value. The value is in the declaration if the output
    equals a state variable or a sampled variable, or if no equation defines the output.
    """
    states = {s.name: ir.symbol(s.variable) for s in program.states}
    states |= {x.name: ir.symbol(x.variable) for sampling in program.samplings for x in sampling.held}
    elsewhere = program.published | {o.name for outputs in _spread(program).values() for o in outputs}
    elsewhere |= program.listed
    return {o.name: o.expr for o in program.outputs if o.name not in elsewhere} | states


def start_equations(program: EquationSystem) -> list[Equation]:
    """Return the initial equations that define `start(x)`, the initial value of a quantity x."""
    return [Equation(_AT_START, f"{v.name} = {mo.text(v.expr)}") for v in program.start_values]


def state_equations(program: EquationSystem) -> list[Equation]:
    """Return the equations that define the time derivatives of the state variables."""
    found: list[Equation] = []
    for states in _of_vectors(program.states):
        left = ", ".join(f"der({s.variable})" for s in states)
        right, origin = states[0].derivative, states[0].signal.origin
        if len(states) == 1:
            found.append(Equation(origin, f"{left} = {mo.text(right)}"))
        else:
            found.append(Equation(Origin("states"), f"{{{left}}} = {mo.text(_block(right, len(states)))}"))
    return found


def _of_vectors(states: Iterable[StateVariable]) -> list[list[StateVariable]]:
    """Return groups of states whose time derivatives are consecutive elements of one vector."""
    found: list[list[StateVariable]] = []
    for state in states:
        if found and _follows(found[-1][-1].derivative, state.derivative):
            found[-1].append(state)
        else:
            found.append([state])
    return found


def _follows(before: Expr, after: Expr) -> bool:
    if before.op != "index" or after.op != "index" or before.shape or after.shape:
        return False
    same = before.args[0].data == after.args[0].data and before.data[:-1] == after.data[:-1]
    return bool(same and after.data[-1] == before.data[-1] + 1)


def _block(first: Expr, size: int) -> Expr:
    begin = first.data[-1]
    return ir.index(first.args[0], (*first.data[:-1], slice(begin, begin + size)))


def output_equations(program: EquationSystem) -> list[Equation]:
    """Return the equations of the outputs whose values are elements of arrays with mixed units.

    The left-hand side of each equation is a list of outputs, such as `{a, b}`, because OpenModelica
    does not check the units in equations between lists.
    """
    found = [
        Equation(Origin("outputs"), f"{{{', '.join(o.name for o in outputs)}}} = {name}")
        for name, outputs in _spread(program).items()
    ]
    spread = {o.name for outputs in _spread(program).values() for o in outputs} | program.published
    listed = [o for o in program.outputs if o.name in program.listed - spread]
    if listed:
        values = ", ".join(mo.text(_differentiable(o.expr)) for o in listed)
        found.append(Equation(Origin("outputs"), f"{{{', '.join(o.name for o in listed)}}} = {{{values}}}"))
    return found


def _differentiable(expr: Expr) -> Expr:
    """Return an expression in which each norm is replaced by a root that is differentiable at zero.

    The value is equal up to rounding. Linear models require the derivative.
    """
    return ir.call("sqrt", expr.args[0] + _TINY) if ir.is_norm(expr) else expr


def _spread(program: EquationSystem) -> dict[str, tuple[Output, ...]]:
    """Return those vectors whose elements differ in unit and are all outputs.

    The result maps the name of a vector to the outputs that are its elements. For these vectors, the
    source contains an equation with a list, such as `v = {a, b}`. Equations with single elements, such
    as `v[2]`, would cause warnings: OpenModelica assumes that all elements have the unit of `v[1]`.
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


def numbering(arrangement: Arrangement) -> list[str]:
    """Return formatted comments, one for each index set, that list the members with their numbers."""
    over = {array.over for array in arrangement.program.gatherings.arrays.values()}
    return [
        mo.comment(f"{name}: " + ", ".join(f"{i}{mo.TIE}{label}" for i, label in enumerate(labels, start=1)), 4)
        for name, labels in arrangement.program.gatherings.sets.items()
        if name in over and len(labels) > 1
    ]


def variables(arrangement: Arrangement) -> list[Group]:
    """Return the declarations of internal variables in groups, each with a heading."""
    return _grouped(
        (variable.title, _declared("", variable)) for variable in arrangement.variables if variable.is_variable
    )


def equations(program: EquationSystem, statements: Iterable[loops.Equation]) -> list[Group]:
    """Return all equations in groups, except the equations of applied forces.

    The equations of each constraint form a group.
    """
    ordinary: list[tuple[str, Member]] = []
    rows: dict[int, list[Equation]] = {i: [] for i in range(len(program.rows))}
    for statement in statements:
        if statement.row is None:
            ordinary.append((statement.title, _equation(statement)))
        else:
            rows[statement.row].append(_equation(statement))
    found = _grouped(ordinary)
    after = next((i + 1 for i, group in enumerate(found) if group.title == "constraints"), len(found))
    origins = [Origin("constraint", name) for name in program.rows]
    by_row = [
        Group(str(origin), tuple(replace(equation, origin=origin) for equation in rows[i]))
        for i, origin in enumerate(origins)
        if rows[i]
    ]
    return [*found[:after], *by_row, *found[after:]]


def _equation(statement: loops.Equation) -> Equation:
    if isinstance(statement, loops.Loop):
        head = f"{statement.iterator} in {statement.range}"
        return Equation(statement.origin, "", head, tuple(map(_equation, statement.body)))
    return Equation(statement.origin, f"{mo.text(statement.left)} = {mo.text(statement.right)}")


def force_equations(program: EquationSystem) -> list[Group]:
    """Return the equations that define the applied forces by the expressions of the description."""
    return _of_items((force, line) for force in applied_forces(program) for line in item_equations(force))


def _of_items(found: Iterable[tuple[Item, str]]) -> list[Group]:
    return _grouped((str(item.origin), Equation(item.origin, line)) for item, line in found)


def assertions(program: EquationSystem) -> list[str]:
    """Return the formatted assertions of the model. Messages are not broken into lines."""
    return [*_requirements(program), *_running_assertions(program), *_lengths(program)]


def _lengths(program: EquationSystem) -> Iterator[str]:
    """Yield assertions that end a run when the length of a two-point force element becomes zero."""
    bound = mo.number(program.meeting)
    for length in program.lengths:
        before = mo.quoted(f"the length of line {length.line} passes through zero at t = ")
        after = mo.quoted(" s, where its force has no direction; expected ends that stay apart")
        yield (
            f"{_MARGIN}assert({mo.text(length.value)} > {bound},\n"
            f"{_MARGIN}    {before} + String(time) +\n{_MARGIN}    {after});"
        )


def _requirements(program: EquationSystem) -> Iterator[str]:
    follow = {item.name for item in program.calculated}
    for required in program.requirements:
        if not follow & required.value.symbols:
            continue  # Only values that depend on a calculated parameter need an assertion in the Modelica source.
        value, bounds = mo.text(required.value), required.bounds
        limits = [(">" if bounds.exclusive else ">=", bounds.minimum), ("<=", bounds.maximum)]
        for sign, limit in limits:
            if limit is not None:
                text = mo.quoted(f"{required.message}: expected {sign} {limit:g}, got ")
                condition = f"{value} {sign} {mo.number(limit)}"
                yield f"{_MARGIN}assert({condition},\n{_MARGIN}    {text} + String({value}));"


def start_assertions(program: EquationSystem) -> list[str]:
    """Return the formatted assertions on the initial state; each message ends with the asserted value."""
    return [_assertion(a, mo.text(a.value)) for a in program.start_checks]


def _running_assertions(program: EquationSystem) -> list[str]:
    return [_assertion(a, "time") for a in (*program.checks, *program.assertions)]


def _assertion(a: Assertion, shown: str) -> str:
    return (
        f"{_MARGIN}assert({mo.text(a.value)} < {mo.number(a.bound)},\n"
        f"{_MARGIN}    {mo.quoted(f'{a.message} ')} + String({shown}));"
    )


def item_equations(item: Item) -> Iterator[str]:
    """Yield the equations of a definition or linear system as Modelica text, without semicolons."""
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


def _grouped(members: Iterable[tuple[str, Member]]) -> list[Group]:
    found: dict[str, list[Member]] = {}
    for title, member in members:
        found.setdefault(title, []).append(member)
    return [Group(title, tuple(group)) for title, group in found.items()]


def _start(guess: Array | None) -> tuple[str, ...]:
    return () if guess is None else (f"start = {mo.constant(guess)}",)


def _nominal(size: float | None) -> tuple[str, ...]:
    return () if size is None else (f"nominal = {mo.number(size)}",)


def _input(
    program: EquationSystem, origin: Origin, name: str, unit: str | None, description: str, start: float = 0.0
) -> Declaration:
    modifiers, place = (f"start = {mo.number(start)}",), _placement(program, name)
    return Declaration(
        origin, "", name, unit, description, modifiers=modifiers, annotation=place, type="RealInput"
    )


def _placement(program: EquationSystem, name: str) -> str:
    """Return the annotation that places the icon of an input in Modelica diagrams.

    All inputs of the model are spread over the left edge of the diagram.
    """
    every = [*(e.name for e in program.inputs), *(input_name(program, f) for f in applied_forces(program))]
    return placement(every.index(name), len(every), -110.0)


def placement(k: int, count: int, x: float) -> str:
    """Return the annotation that places a connector on a vertical edge of a diagram.

    The connector is number `k`, from 0, of `count` connectors. The edge is at the position `x`.
    """
    y = 100.0 - 200.0 * (k + 1) / (count + 1)
    corners = ", ".join(f"{{{mo.number(x + d)}, {mo.number(round(y + d, 1))}}}" for d in (-10.0, 10.0))
    return f"annotation(Placement(transformation(extent = {{{corners}}})))"


def _factor(matrix: str) -> str:
    return matrix if matrix.isidentifier() else f"({matrix})"
