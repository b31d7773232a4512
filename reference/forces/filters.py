"""Critically damped second-order filters. The output of each filter drives a joint motion or a rest length.

The output y follows a command u by ÿ = ω² (u − y) − 2 ω ẏ. The state variables are the offset y − y₀
from the initial output y₀, and the rate ẏ. Both state variables are initially zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Filter, Mechanism
from ..kinematics.jet import Number
from ..kinematics.kinematics import Kinematics, Places
from ..kinematics.quantities import CompiledExpression, ExpressionCompiler, KinematicState
from .element import Input, input_in


class Filters:
    """All k input filters of a mechanism, compiled.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with the filters.
    start : ndarray, shape (n,), or None
        Initial coordinates of driven joints, rad or m. With None, the coordinates of the currently
        evaluated state are used.
    inputs : mapping of str to input
        Command of each filter, by filter name: a number, or a function of time in s. A filter without a
        command keeps its initial output.
    """

    def __init__(self, mechanism: Mechanism, start: Array | None, inputs: Mapping[str, Input]) -> None:
        self._filters, self._inputs = mechanism.filters, [inputs.get(f.name) for f in mechanism.filters]
        self._frequency = np.array([2 * np.pi * float(f.cutoff) for f in mechanism.filters])
        self._begin = [None if f.coordinate is not None else _length(mechanism, f) for f in mechanism.filters]
        self._start = start
        self._driven: dict[int, CompiledExpression] = {}

    def drive(self, reader: ExpressionCompiler) -> None:
        """Compile the outputs of the controllers that drive filters.

        Without this call, filters with a controller keep their initial values.
        """
        given = ((i, f.name, f.command) for i, f in enumerate(self._filters))
        self._driven = {i: reader.reading(f"filter {name}", tree) for i, name, tree in given if tree is not None}

    @property
    def size(self) -> int:
        """Number of state variables of all filters: an offset and its rate for each filter."""
        return 2 * len(self._filters)

    def followed(self, state: KinematicState) -> KinematicState:
        """Return the kinematic state, completed by the outputs of the input filters."""
        if not self._filters:
            return state
        own = state.lag[..., : self.size]
        begin = np.broadcast_to(self._begins(state.q), (*state.q.shape[:-1], len(self._filters)))
        y, rate = begin + own[..., ::2], own[..., 1::2]
        # Filter outputs are set first, because a filter's input signal may depend on the outputs of filters.
        known = replace(state, followed=np.stack([y, rate, np.zeros_like(y)], axis=-1))
        u = np.stack([self._command(i, begin[..., i], known) for i in range(len(self._filters))], axis=-1)
        second = self._frequency**2 * (u - y) - 2 * self._frequency * rate
        return replace(state, followed=np.stack([y, rate, second], axis=-1))

    def begins(self, q: Array) -> list[float]:
        """Return the initial output value of each filter, rad or m.

        The coordinates q, shape (n,), are used only if the filters were created without initial
        coordinates.
        """
        return [float(begin) for begin in self._begins(q)]

    def _begins(self, q: Array) -> Array:
        held = q if self._start is None else self._start
        found = np.zeros((*held.shape[:-1], len(self._filters)))
        for i, (f, begin) in enumerate(zip(self._filters, self._begin, strict=True)):
            found[..., i] = held[..., f.coordinate] if begin is None else begin
        return found

    def rates(self, state: KinematicState) -> Array:
        """Return the time derivatives of the filters' state variables, shape (…, 2k)."""
        return state.followed[..., 1:].reshape(*state.q.shape[:-1], -1) if self._filters else state.qd[..., :0]

    @property
    def names(self) -> list[str]:
        """Names of the signals of the filters' state variables."""
        return [f.signal(quantity).name for f in self._filters for quantity in ("offset", "offset_rate")]

    def signals(self, states: Sequence[KinematicState]) -> dict[str, Array]:
        """Return a signal of shape (N,) for each input filter, by signal name: the filter's output in N states."""
        return {
            f.signal("value").name: np.array([state.followed[i, 0] for state in states])
            for i, f in enumerate(self._filters)
        }

    def _command(self, i: int, begin: Array, state: KinematicState) -> Number:
        if i in self._driven:
            return self._driven[i].number(state)
        given = self._inputs[i]
        return begin if given is None else input_in(given, state)


def _length(mechanism: Mechanism, given: Filter) -> float:
    """Return the initial rest length of a two-point force element with an input filter, m.

    The length is the value of the key `start`. Without this key, the length is the initial distance
    between the two ends.
    """
    if given.start is not None:
        return float(given.start)
    line = next(line for line in mechanism.lines if line.filter is given)
    q = np.array([c.position for c in mechanism.coordinates], dtype=float)
    kinematics = Kinematics(mechanism)
    places = Places([line.a, line.b], kinematics.slots).motion(kinematics(q, np.zeros_like(q))).position
    return float(np.linalg.norm(places[:, 1] - places[:, 0]))
