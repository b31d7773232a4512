"""Modelica package of a program, rendered by templates.

The package has three models. `Mechanism` contains the equations, `Plant` has the applied forces as inputs, and
`Experiment` defines the applied forces as in the description. The FMU is built from `Experiment`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from jinja2 import Environment

from ...core.templates import environment
from ...core.trajectory import Array
from ...description import Description
from ...mechanism import Mechanism
from ..program.program import EquationSystem
from . import functions, linear_systems, lookups, marks, parts, quantities, sampled_conditions, start
from . import text as mo
from .arrays import gather, loops, mixed
from .origin import Source
from .writer import Writer


def experiment(name: str) -> str:
    """Return the name of the model `Experiment` in the package `name`, which is the model to simulate."""
    return f"{name}.Experiment"


def render(
    program: EquationSystem,
    chain: Description,
    version: str,
    start_values: Mapping[str, float] | None = None,
    guesses: Mapping[str, Array] = MappingProxyType({}),
) -> Source:
    """Return the Modelica source of a package that needs no library.

    Parameters
    ----------
    program : EquationSystem
        Equations of the model.
    chain : Description
        Description of the mechanism, which includes the settings of the simulation experiment.
    version : str
        Version of gpmelica, which is written into the header of the source.
    start_values : mapping of str to float, optional
        Numbers that replace the initial values `start(x)` of quantities x. If these numbers are given,
        the inputs of the model become parameters, so that the model can be evaluated in any state.
    guesses : mapping of str to array, optional
        Values of variables near the initial state. Solvers use these values as initial guesses if the
        guess zero would lead to a division by zero.

    Returns
    -------
    Source
        Source text with the origins of its lines and variables.
    """
    identity, writer = digest(program), Writer()
    program = sampled_conditions.for_compilers(linear_systems.for_compilers(program))
    free = start.found(program) if start_values is None else frozenset[str]()
    guesses = guesses if free else {}
    arrangement, equations = loops.with_loops(gather.arranged(program, guesses))
    arrangement, equations = mixed.with_lists(arrangement, equations)
    program = arrangement.program
    text = (
        _templates(writer)
        .get_template("package.mo.jinja")
        .render(
            program=program,
            version=version,
            digest=identity,
            types=list(quantities.definitions(program)),
            functions=list(functions.definitions(loops.expressions(arrangement, equations))),
            parameters=parts.parameters(program),
            starts=[*parts.start_parameters(program, start_values), *(start.multipliers(program) if free else [])],
            inputs=parts.inputs(program, at_any_state=start_values is not None),
            states=parts.states(program, free),
            held=parts.held(program),
            outputs=parts.outputs(program, guesses),
            switchings=parts.switchings(program),
            numbering=parts.numbering(arrangement),
            hidden=[
                *parts.derived_parameters(arrangement),
                *lookups.declarations(program),
                *marks.declarations(program, chain),
                *parts.variables(arrangement),
            ],
            switched_at_start=[*parts.switched_at_start(program), *lookups.initial_equations(program)],
            start_equations=[*parts.start_equations(program), *start.equations(program)]
            if start_values is None
            else [],
            start_assertions=parts.start_assertions(program) if start_values is None else [],
            equations=[
                *lookups.equations(program),
                *parts.equations(program, equations),
                *parts.switching_equations(program),
                *parts.sampling_equations(program),
            ],
            state_equations=parts.state_equations(program),
            output_equations=parts.output_equations(program),
            assertions=parts.assertions(program),
            forces=parts.force_equations(program),
            plant_inputs=parts.plant_inputs(program),
            plant_equations=parts.plant_equations(program),
            uses_quintic=any("quintic_" in line for item in program.items for line in parts.item_equations(item)),
            tables=lookups.functions(program),
            experiment=_settings(chain),
        )
    )
    return writer.source(text)


def _settings(chain: Description) -> dict[str, float]:
    """Return the entries of the annotation `experiment`; times in s."""
    simulation = chain.simulation
    return {
        "StartTime": 0.0,
        "StopTime": simulation.stop,
        "Tolerance": simulation.tolerance,
        "Interval": simulation.output_step,
    }


def script(program: EquationSystem, mechanism: Mechanism) -> str:
    """Return an OpenModelica script that simulates the package and plots its main coordinates.

    The script must be in the same folder as the Modelica source `Name.mo` of the model.
    """
    chain, coordinates = mechanism.chain, mechanism.coordinates
    plotted = [c.symbol for c in coordinates if c.role == "joint"] or [c.symbol for c in coordinates]
    simulation = chain.simulation
    return (
        _templates(Writer())
        .get_template("simulate.mos.jinja")
        .render(
            name=program.name,
            experiment=experiment(program.name),
            plotted=plotted,
            points=list(chain.points),
            simulation=simulation,
            intervals=max(1, round(simulation.stop / simulation.output_step)),
        )
    )


def digest(program: EquationSystem) -> str:
    """Return a hash of all data on which the results of the model depend."""
    lines = [repr((p.name, p.value.tolist(), p.unit, p.description)) for p in program.parameters]
    lines += [repr((e.name, e.unit)) for e in program.inputs]
    lines += [f"{s.name} {s.unit} {mo.text(s.derivative)}" for s in program.states]
    lines += [f"{v.name} {mo.text(v.expr)}" for v in program.start_values]
    lines += [mo.text(event.time) for event in program.events]
    lines += lookups.digest(program)
    lines += [member.text for group in parts.sampling_equations(program) for member in group.members]
    lines += [mo.text(relation.indicator) for relation in program.relations]
    lines += [line for item in program.items for line in parts.item_equations(item)]
    lines += [f"{o.name} {o.unit} {mo.text(o.expr)}" for o in program.outputs]
    checks = [*program.start_checks, *program.checks]
    lines += [f"{a.message} {mo.text(a.value)} {mo.number(a.bound)}" for a in checks]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _templates(writer: Writer) -> Environment:
    return environment(
        "modelica_templates",
        quoted=mo.quoted,
        escaped=mo.escaped,
        html=escape,
        number=mo.number,
        lines=writer.lines,
        groups=writer.groups,
    )
