"""Internal state variables: states of input filters, and of force elements such as controllers.

A sampled element computes its quantities at sample times only. Between two sample times, these
quantities are constant internal state variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.trajectory import Array, Trajectory
from ...language.ir import Expr
from ...mechanism import LawElement, Mechanism
from ..kinematics.quantities import KinematicState
from .filters import Filters


class InternalStates:
    """Names and initial values of the internal state variables of a mechanism.

    Offset and rate of each input filter come first, and then the states of elements. The number of
    state variables is s.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with filters and elements.
    filters : Filters
        Compiled filters.

    Attributes
    ----------
    names : list of str
        Names of the signals that show the state variables.
    start : ndarray, shape (s,)
        Initial values.
    """

    def __init__(self, mechanism: Mechanism, filters: Filters) -> None:
        own = list(_of_elements(mechanism))
        self.names = [*filters.names, *(name for name, _, _ in own)]
        self.start = np.array([*np.zeros(filters.size), *(start for _, _, start in own)])

    @property
    def size(self) -> int:
        """Number of internal state variables."""
        return len(self.names)

    def lags(self, run: Trajectory) -> Array:
        """Return the internal state variables over a run, shape (N, s).

        If the run does not contain a state variable, the initial value is used at all times.
        """
        columns = zip(self.names, self.start.tolist(), strict=True)
        found = [run.signals.get(name, np.full(len(run.time), start)) for name, start in columns]
        return np.array(found).reshape(-1, len(run.time)).T

    def signals(self, states: Sequence[KinematicState]) -> dict[str, Array]:
        """Return a signal of shape (N,) for each internal state variable, by signal name, at N instants.

        The argument contains the kinematic state at each instant.
        """
        return {name: np.array([state.lag[i] for state in states]) for i, name in enumerate(self.names)}


def indices(mechanism: Mechanism) -> dict[str, int]:
    """Return the index of each force element's state among all internal state variables.

    The keys of the result are the names of the states in force laws: element name, dot, state name.
    """
    first = 2 * len(mechanism.filters)
    return {own: first + i for i, (_, own, _) in enumerate(_of_elements(mechanism))}


def _of_elements(mechanism: Mechanism) -> Iterator[tuple[str, str, float]]:
    """Yield three values per state variable of force elements: signal name, name in force laws, initial value."""
    for element in mechanism.elements:
        held = dict.fromkeys(() if element.period is None else element.observed, 0.0)
        states = {key: _number(element, state.start) for key, state in element.states.items()}
        for key, start in (held | states).items():
            yield element.signals[key].signal.name, f"{element.name}.{key}", start


def _number(element: LawElement, start: Expr) -> float:
    return float(start.data if start.op == "constant" else element.numbers[start.data])
