"""Program → Modelica source, through the templates."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined

from . import modelica_text as mo
from .description import Chain
from .ir import Shape
from .program import Definition, Item, Program

_WIDTH = 112


@dataclass(frozen=True)
class Declaration:
    """`prefix Real name[shape](modifiers) = binding "description"`, in pieces."""

    prefix: str
    name: str
    modifiers: str
    binding: str
    description: str


@dataclass(frozen=True)
class Section:
    """Declarations and equations that belong together under one heading."""

    title: str
    declarations: tuple[Declaration, ...]
    equations: tuple[str, ...]


def render(
    program: Program, chain: Chain, version: str, start_values: Mapping[str, float] | None = None
) -> str:
    """Modelica source of a model, self-contained (no library needed).

    start_values  given numbers for what `start(x)` stands for. The model then has no initial equations and its
                  inputs are parameters: it can be evaluated at any state.
    """
    simulation, at_any_state = chain.simulation, start_values is not None
    return (
        _environment()
        .get_template("model.mo.jinja")
        .render(
            program=program,
            version=version,
            digest=digest(program),
            parameters=[*_parameters(program), *_derived_parameters(program), *_start_parameters(program, start_values)],
            inputs=[
                Declaration("parameter ", e.name, _modifiers((), e.unit), " = 0.0", e.description)
                if at_any_state
                else Declaration("input ", e.name, _modifiers((), e.unit, "start = 0.0"), "", e.description)
                for e in program.inputs
            ],
            states=list(_states(program)),
            outputs=list(_outputs(program)),
            sections=list(_sections(program)),
            initial_equations=[
                _equation(v.name, mo.text(v.expr)) for v in program.start_values if not at_any_state
            ],
            state_equations=[f"der({s.name}) = {mo.text(s.derivative)};" for s in program.states],
            output_equations=[_equation(o.name, mo.text(o.expr)) for o in program.outputs],
            uses_quintic=any("quintic_" in line for section in _sections(program) for line in section.equations),
            stop=mo.number(simulation.stop),
            interval=mo.number(simulation.output_step),
            tolerance=mo.number(simulation.tolerance),
            information=_information(program),
        )
    )


def digest(program: Program) -> str:
    """Hash of everything that decides what the model computes."""
    lines = [repr((p.name, p.value.tolist(), p.unit, p.description)) for p in program.parameters]
    lines += [repr((e.name, e.unit)) for e in program.inputs]
    lines += [f"{s.name} {s.unit} {mo.text(s.derivative)}" for s in program.states]
    lines += [f"{v.name} {mo.text(v.expr)}" for v in program.start_values]
    lines += [mo.text(time) for time in program.events]
    lines += [line for section in _sections(program) for line in section.equations]
    lines += [f"{o.name} {o.unit} {mo.text(o.expr)}" for o in program.outputs]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gpmelica", "modelica_templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["quoted"] = mo.quoted
    return environment


def _modifiers(shape: Shape, unit: str | None, *others: str) -> str:
    each = "each " if shape else ""
    parts = [*others, *([f'{each}unit = "{unit}"'] if unit else [])]
    return f"({', '.join(parts)})" if parts else ""


def _dimensions(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else ""


def _parameters(program: Program) -> Iterator[Declaration]:
    for p in program.parameters:
        # `zeros(3)` would hide what a user may change
        value = mo.number(float(p.value)) if not p.shape else "{" + ", ".join(map(mo.number, p.value)) + "}"
        yield Declaration(
            "parameter ", p.name + _dimensions(p.shape), _modifiers(p.shape, p.unit), f" = {value}", p.description
        )


def _derived_parameters(program: Program) -> Iterator[Declaration]:
    for item in program.items:
        if isinstance(item, Definition) and item.constant:
            yield Declaration(
                "final parameter ",
                item.name + _dimensions(item.shape),
                _modifiers(item.shape, item.unit),
                f" = {mo.text(item.parts[0][1])}",
                item.description,
            )


def _start_parameters(program: Program, given: Mapping[str, float] | None) -> Iterator[Declaration]:
    for value in program.start_values:
        others = ["fixed = false"] if given is None else []
        binding = "" if given is None else f" = {mo.number(given[value.name])}"
        yield Declaration(
            "parameter ", value.name, _modifiers((), "1", *others), binding, value.description
        )


def _states(program: Program) -> Iterator[Declaration]:
    for s in program.states:
        start = f"start = {mo.text(s.start)}"
        modifiers = _modifiers((), s.unit, start, "fixed = true", f"nominal = {mo.number(s.nominal)}")
        yield Declaration("output ", s.name, modifiers, "", s.description)


def _outputs(program: Program) -> Iterator[Declaration]:
    for o in program.outputs:
        yield Declaration("output ", o.name, _modifiers((), o.unit), "", o.description)


def _sections(program: Program) -> Iterator[Section]:
    items = [item for item in program.items if not (isinstance(item, Definition) and item.constant)]
    for title in dict.fromkeys(item.section for item in items):
        members = [item for item in items if item.section == title]
        yield Section(
            title,
            tuple(
                Declaration("", m.name + _dimensions(m.shape), _modifiers(m.shape, m.unit), "", m.description)
                for m in members
            ),
            tuple(line for member in members for line in _equations(member)),
        )


def _equations(item: Item) -> Iterator[str]:
    if not isinstance(item, Definition):
        yield _equation(f"{_factor(mo.text(item.matrix))}*{item.name}", mo.text(item.right))
        return
    for index, expr in item.parts:
        name = item.name + (mo.subscript(index, item.shape) if index else "")
        yield _equation(name, mo.text(expr))
    if item.symmetric:
        for k in range(1, item.shape[0]):
            yield f"{item.name}[{k + 1},1:{k}] = {item.name}[1:{k},{k + 1}];"


def _factor(matrix: str) -> str:
    return matrix if matrix.isidentifier() else f"({matrix})"


def _equation(left: str, right: str) -> str:
    """One equation, wrapped at spaces."""
    lines = textwrap.wrap(
        f"{left} = {right};", _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n    ".join(lines)


def _information(program: Program) -> str:
    """Documentation of the model, HTML."""
    facts = "".join(f"<li>{escape(key)}: {escape(value)}</li>" for key, value in program.info.items())
    return f"<html><p>{escape(program.description)}</p><ul>{facts}</ul></html>"
