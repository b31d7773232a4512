"""Mechanism in which driven joints are held at constant positions.

Without this change, no steady state exists while a prescribed motion continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import analysis
from ..analysis.system import System, assemble_system
from ..description import Description
from ..description.load import from_data, tables_of
from ..options.linear import StateOptions
from .state_space import StateSpace

_SAME = 1e-9  # A difference from the initial position counts as zero up to this value, rad or m.


def motions_held(model: System) -> System:
    """Return the mechanism with each prescribed joint motion replaced by its value at t = 0.

    Motions that follow an FMU input are not replaced. In a steady state, the filters of these inputs
    are at rest, so that the motions are constant.
    """
    held = _values(model)
    if not held:
        return model
    tables = tables_of(model.chain)
    motions = [entry | {"position": held.get(entry["name"], entry.get("position"))} for entry in tables["motions"]]
    given = [{key: value for key, value in entry.items() if value is not None} for entry in motions]
    return assemble_system(from_data(tables | {"motions": given}, source="trim"), "trim")


def notes_on_choice(model: System, space: StateSpace, options: StateOptions) -> StateSpace:
    """Return a linear model with notes on the consequences of `equilibrium` or `trim`, if one is chosen.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    space : StateSpace
        Linear model about the operating point.
    options : StateOptions
        Choice of the operating point.
    """
    if options.equilibrium:
        return _equilibrium_note(model, space)
    return _trim_notes(model, space) if options.trim else space


def _trim_notes(model: System, space: StateSpace) -> StateSpace:
    """Return a linear model about a steady state, with notes on differences from the initial state.

    The notes list the prescribed motions that are held constant, and the coordinates that differ from
    the initial state.

    Parameters
    ----------
    model : System
        Mechanism with its motions.
    space : StateSpace
        Linear model about the steady state.
    """
    first, coordinates = model.start[0].tolist(), model.mechanism.coordinates
    moved = [
        f"{c.name} from {a:.6g} to {b:.6g} {c.unit}"
        for c, a, b in zip(coordinates, first, space.q.tolist(), strict=True)
        if abs(b - a) > _SAME
    ]
    notes = []
    if held := _values(model):
        notes.append(f"motions are held at their values at t = 0: {_listed(held)}")
    if moved:
        notes.append(
            f"the equilibrium that trim has found differs from the described initial state in {', '.join(moved)};"
            " a run begins at the described initial state, so it does not remain at rest with the trim inputs"
        )
    return replace(space, notes=(*space.notes, *notes))


def _equilibrium_note(model: System, space: StateSpace) -> StateSpace:
    """Return a linear model about a static equilibrium, with a note on locked joints.

    The search for the equilibrium locks these joints, but the linear model does not contain the forces
    that would hold them. Joints that constraints hold are not listed in the note.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    space : StateSpace
        Linear model about the equilibrium.
    """
    free = analysis.free_coordinates(model.mechanism, space.q)
    loose = [name for k, name in enumerate(space.coordinates) if k not in free and space.motion[k].any()]
    if not loose:
        return space
    note = (
        f"the search for the equilibrium locked {', '.join(loose)}; the linear model does not contain the forces"
        " that would hold these joints, so they move in the modes: hold joints by [[motions]], or by inputs"
        " with trim"
    )
    return replace(space, notes=(*space.notes, note))


def moving_tasks(chain: Description) -> Sequence[str]:
    """Return the names of the programmed constraints that depend on time.

    The search for a steady state keeps the time dependence of these constraints. These constraints can
    therefore make a steady state impossible.
    """
    tasks = chain.programmed
    return [
        task.name for task in tasks if task.expression is None or "t" in chain.expression(task.expression).symbols
    ]


def _values(model: System) -> dict[str, str]:
    """Return the value at t = 0 of each joint motion that an expression prescribes.

    The keys are the names of the motions. The values are numbers written as text.
    """
    numbers, state = model.problem.model, model.problem.initial_state
    return {
        motion.name: repr(
            numbers.reader.reading(motion.name, model.chain.expression(motion.position)).number(state)
        )
        for motion in model.chain.motions
        if motion.position is not None
    }


def _listed(values: dict[str, str]) -> str:
    return ", ".join(f"{name} = {float(value):.6g}" for name, value in values.items())
