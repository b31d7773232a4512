"""Forces of the elements and accelerations of the coordinates at t = 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import analysis
from ..analysis import InitialValueProblem, KinematicState, ReferenceModel
from ..analysis.system import System
from ..core.trajectory import Array
from ..mechanism import Mechanism
from .places import member, support_key
from .takeover import taken_over

# The rounding error of an acceleration is at most this fraction of (sum of all |forces|) / inertia.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class ElementForce:
    """Force of one element at t = 0.

    Parameters
    ----------
    kind : str
        `support`, `rope`, `line`, `contact` or `closure`.
    name : str
        Name of the element.
    where : str
        Description key.
    force : float
        Force, N. Support: vertical component, positive upwards. Rope and line: tension. Contact: normal
        force. Spring-damper closure: magnitude.
    stretch : float or None
        Elongation of an elastic rope, m, or penetration depth of a unilateral support or contact, m.
        The value is negative if the element is slack or lifted. None for other elements.
    """

    kind: str
    name: str
    where: str
    force: float
    stretch: float | None = None


@dataclass(frozen=True)
class InitialState:
    """Forces and accelerations at t = 0.

    Parameters
    ----------
    forces : tuple of ElementForce
        Supports, two-point elements, contacts and spring-damper closures, in the order of the
        description.
    accelerations : ndarray, shape (n,)
        Accelerations of the coordinates, rad/s² or m/s².
    is_significant : ndarray of bool, shape (n,)
        Whether each acceleration is too large to be a rounding error of forces in equilibrium.
    uncommanded : ndarray, shape (n,)
        Accelerations without the contributions that programmed constraints and motions command, rad/s²
        or m/s². Rounding errors are set to zero.
    is_taken_over : ndarray of bool, shape (n,)
        Whether each coordinate accelerates because a programmed constraint takes over the load of a
        locked joint.
    """

    forces: tuple[ElementForce, ...]
    accelerations: Array
    is_significant: NDArray[np.bool_]
    uncommanded: Array
    is_taken_over: NDArray[np.bool_]


def initial_state(model: System, problem: InitialValueProblem) -> InitialState:
    """Evaluate the forces and accelerations of a mechanism at t = 0.

    Parameters
    ----------
    model : System
        Mechanism with its initial positions and velocities.
    problem : InitialValueProblem
        Equations of the mechanism with its initial state and inputs.

    Returns
    -------
    InitialState
        Forces of the elements and accelerations of the coordinates.
    """
    numbers, start = problem.model, problem.start
    found = analysis.evaluate(problem, 0.0, *start)
    tasks = {row for task in model.chain.tasks for row in task.rows}
    further = np.array([*np.zeros(len(numbers.friction.coordinates)), *numbers.internal.start])
    natural = analysis.natural_accelerations(problem, (0.0, *start, further))
    commanded = analysis.accelerations_by_rows(problem, found, tasks)
    # The equations of motion are linear in q̈, so subtracting the part due to commanded accelerations is exact.
    left = found.qdd - commanded
    is_left = np.abs(left) > _ROUNDING * np.maximum(natural, np.abs(commanded))
    return InitialState(
        element_forces(numbers, problem.initial_state),
        np.asarray(found.qdd),
        np.asarray(np.abs(found.qdd) > _ROUNDING * natural),
        np.where(is_left, left, 0.0),
        taken_over(model, found.C, found.rows),
    )


def element_forces(numbers: ReferenceModel, state: KinematicState) -> tuple[ElementForce, ...]:
    """Return the forces of supports, two-point force elements, contacts and spring-damper closures in a state."""
    return tuple(_forces(numbers, state))


def _forces(numbers: ReferenceModel, state: KinematicState) -> Iterator[ElementForce]:
    mechanism, signals = numbers.mechanism, numbers.forces.signals(state)
    acting = list(zip(numbers.forces.marks, numbers.forces.acting(state), strict=True))
    stretches = {
        relation.label: float(relation.margin(state))
        for relation in numbers.forces.relations()
        if isinstance(relation.key, tuple) and relation.key[-1] == "stretch"
    }
    yield from _supports(mechanism, [force for mark, force in acting if mark.kind == "support"], signals)
    yield from _lines(mechanism, signals, stretches)
    yield from _contacts(mechanism, signals)
    yield from _closures(mechanism, {mark.name: force for mark, force in reversed(acting) if mark.kind == "line"})


def _supports(
    mechanism: Mechanism, pressing: Sequence[Array], signals: Mapping[str, float]
) -> Iterator[ElementForce]:
    for index, (support, force) in enumerate(zip(mechanism.supports, pressing, strict=True)):
        depth = -signals[support.signals["gap"].signal.name] if support.one_sided else None
        yield ElementForce("support", support.name, support_key(mechanism, index), float(force[2]), depth)


def _lines(
    mechanism: Mechanism, signals: Mapping[str, float], stretches: Mapping[str, float]
) -> Iterator[ElementForce]:
    for line in mechanism.lines:
        kind, tension = "rope" if line.tension_only else "line", signals[line.signals["force"].signal.name]
        where = member("lines", mechanism.chain.lines, line.name)
        yield ElementForce(kind, line.name, where, tension, stretches.get(f"line {line.name}"))


def _contacts(mechanism: Mechanism, signals: Mapping[str, float]) -> Iterator[ElementForce]:
    for contact in mechanism.contacts:
        values = {key: signals[measure.signal.name] for key, measure in contact.signals.items()}
        where = member("contacts", mechanism.chain.contacts, contact.name)
        yield ElementForce("contact", contact.name, where, values["force"], -values["gap"])


def _closures(mechanism: Mechanism, acting: Mapping[str, Array]) -> Iterator[ElementForce]:
    for closure in mechanism.closures:
        if closure.stiffness is not None:
            where = member("closures", mechanism.chain.closures, closure.name)
            size = float(np.linalg.norm(acting[closure.name]))
            yield ElementForce("closure", closure.name, where, size)
