"""Functions that collect all remarks on a description and on one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import analysis
from ..analysis import InitialValueProblem
from ..analysis.system import System
from ..core.trajectory import Trajectory
from .bodies import inertias, lengths
from .drives import constant_inputs, idle_drives
from .forces import forces_at_start, forces_in_run
from .initial_position import initial_positions
from .initial_state import InitialState, initial_state
from .lookup_tables import overshooting_tables
from .names import unused_names
from .remark import Remark, ordered
from .statics import accelerated_start, far_equilibria
from .unilateral import inactive_at_start, inactive_in_run
from .unresolved_functions import unresolved_functions

_INSTANTS = 200  # Forces along a run are evaluated at no more than this many instants.


def of_description(model: System, initial: InitialState | None = None) -> tuple[Remark, ...]:
    """Return the remarks on the description and the initial state, which require no run.

    Parameters
    ----------
    model : System
        Mechanism with its initial state.
    initial : InitialState, optional
        Forces and accelerations at t = 0; computed if omitted.

    Returns
    -------
    tuple of Remark
        Remarks, the most urgent kind first.
    """
    return ordered(_before_run(model, initial or initial_state(model, model.problem)))


def of_run(
    model: System,
    run: Trajectory,
    further: Iterable[Remark] = (),
    problem: InitialValueProblem | None = None,
) -> tuple[Remark, ...]:
    """Return the remarks on the description, its initial state and the motion.

    Parameters
    ----------
    model : System
        Mechanism with its initial state.
    run : Trajectory
        Reference run with signals and events.
    further : iterable of Remark
        Additional remarks of the caller.
    problem : InitialValueProblem, optional
        Equations of motion with the inputs of the run. Default: the equations of the model without
        inputs.

    Returns
    -------
    tuple of Remark
        Remarks, the most urgent kind first.
    """
    equations = problem or model.problem
    initial = initial_state(model, equations)
    return ordered([*_before_run(model, initial), *_in_run(model, run, equations), *further])


def _before_run(model: System, initial: InitialState) -> Iterator[Remark]:
    yield from initial_positions(model)
    yield from far_equilibria(model)
    yield from inactive_at_start(initial)
    yield from accelerated_start(model, initial)
    yield from forces_at_start(model, initial)
    yield from inertias(model)
    yield from lengths(model)
    yield from overshooting_tables(model)
    yield from unresolved_functions(model)
    yield from unused_names(model)


def _in_run(model: System, run: Trajectory, problem: InitialValueProblem) -> Iterator[Remark]:
    course = analysis.course(problem, run, most=_INSTANTS)
    yield from inactive_in_run(model, run)
    yield from idle_drives(model, run, course)
    yield from forces_in_run(model, course)
    yield from constant_inputs(model, run, problem.inputs)
