"""Linear state-space model with named states, inputs and outputs, and conversions to other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.errors import MissingToolError, UnknownNameError
from ..core.trajectory import Array
from ..language.suggest import several, unknown
from .modes import Mode, modes

if TYPE_CHECKING:
    from control import StateSpace as ControlStateSpace
    from matplotlib.figure import Figure
    from scipy.signal import StateSpace as ScipyStateSpace

_ROUNDING = 1e-12  # response that counts as rounding error, relative to states of the same unit


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Linear model of a mechanism near one state: δẋ = drift + A δx + B δu, δy = C δx + D δu.

    Parameters
    ----------
    A, B, C, D : ndarray, shapes (k, k), (k, m), (p, k) and (p, m)
        State-space matrices, in the units of the signals and s.
    states : tuple of str
        Names of the k states x in the FMU, such as `column_angle` and `column_angle_dot`.
    inputs, outputs : tuple of str
        Names of the m inputs u and the p outputs y.
    time : float
        Time of the operating point, s.
    x, u, y : ndarray, shapes (k,), (m,) and (p,)
        Values at the operating point, from which δx, δu and δy are deviations.
    drift : ndarray, shape (k,)
        Derivative ẋ at the operating point; zero in an equilibrium.
    coordinates : tuple of str
        Names of the mechanism's n coordinates.
    q : ndarray, shape (n,)
        Coordinates at the operating point, rad or m.
    motion : ndarray, shape (n, k)
        Derivatives of the coordinates with respect to the states.
    units : mapping
        Unit of each signal.
    notes : tuple of str
        Limits of the model's validity, with numbers.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    time: float
    x: Array
    u: Array
    y: Array
    drift: Array
    coordinates: tuple[str, ...]
    q: Array
    motion: Array
    units: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<StateSpace: {counts} at t = {self.time:g} s>"

    def modes(self) -> tuple[Mode, ...]:
        """Return the modes of the linear model, sorted by increasing |λ|."""
        rates = [self.units[state].endswith("/s") for state in self.states]
        return modes(self.A, self.motion, self.coordinates, rates)

    def frequency_response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Return the frequency response C (iω − A)⁻¹ B + D, shape (p, m, N).

        Values that are rounding errors are set to zero.

        Parameters
        ----------
        frequencies : array_like, shape (N,)
            Frequencies, Hz.
        """
        s = 2j * np.pi * np.asarray(frequencies, dtype=float)[:, None, None]
        states = np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B[None])
        response = self.C @ states + self.D
        response[np.abs(response) <= _ROUNDING * (np.abs(self.C) @ self._sizes(states))] = 0.0
        return np.asarray(np.moveaxis(response, 0, -1))

    def _sizes(self, states: NDArray[np.complexfloating[Any, Any]]) -> Array:
        """Return the magnitude of each state's response, shape (N, k, m): the largest among states
        of the same unit.
        """
        sizes: Array = np.abs(states)
        units = np.array([self.units[state] for state in self.states])
        for unit in set(units.tolist()):
            sizes[:, units == unit] = sizes[:, units == unit].max(axis=1, keepdims=True)
        return sizes

    def bode(self) -> Figure:
        """Draw amplitude and phase of each output per input over frequency, for at most eight pairs.

        Use `select` to choose inputs and outputs.

        Raises
        ------
        DescriptionError
            Without inputs, or with too many pairs.
        """
        from .bode import draw, frequencies, refuse_too_many

        refuse_too_many(len(self.inputs), len(self.outputs))
        at = frequencies(self.modes())
        labels = [
            f"{output} per {given}, {self.units[output]}/({self.units[given]})"
            for output in self.outputs
            for given in self.inputs
        ]
        return draw(at, self.frequency_response(at).reshape(len(labels), len(at)), labels)

    def select(
        self, inputs: str | Sequence[str] | None = None, outputs: str | Sequence[str] | None = None
    ) -> StateSpace:
        """Return the model with selected inputs and outputs, in the given order.

        Raises UnknownNameError for unknown names.
        """
        columns = _places("input", self.inputs, self.inputs if inputs is None else inputs)
        rows = _places("output", self.outputs, self.outputs if outputs is None else outputs)
        return replace(
            self,
            B=self.B[:, columns],
            C=self.C[rows],
            D=self.D[np.ix_(rows, columns)],
            u=self.u[columns],
            y=self.y[rows],
            inputs=tuple(self.inputs[k] for k in columns),
            outputs=tuple(self.outputs[k] for k in rows),
        )

    def to_scipy(self) -> ScipyStateSpace:
        """Return a `scipy.signal.StateSpace`, without names."""
        from scipy.signal import StateSpace as Scipy

        return Scipy(self.A, self.B, self.C, self.D)

    def to_control(self) -> ControlStateSpace:
        """Return a python-control `StateSpace` with names.

        Raises MissingToolError if python-control is not installed.
        """
        try:
            from control import ss
        except ImportError:
            raise MissingToolError("to_control requires python-control; run pip install control") from None
        names = {"states": list(self.states), "inputs": list(self.inputs), "outputs": list(self.outputs)}
        return ss(self.A, self.B, self.C, self.D, **names)

    def data(self) -> dict[str, Any]:
        """Return the model as JSON-compatible data, with matrices as lists of rows."""
        arrays = ("A", "B", "C", "D", "x", "u", "y", "drift", "q", "motion")
        return {
            **{name: getattr(self, name).tolist() for name in arrays[:4]},
            "states": list(self.states),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "time": self.time,
            **{name: getattr(self, name).tolist() for name in arrays[4:]},
            "coordinates": list(self.coordinates),
            "units": dict(self.units),
            "notes": list(self.notes),
        }


def _places(what: str, known: Sequence[str], wanted: str | Sequence[str]) -> list[int]:
    for name in several(wanted):
        if name not in known:
            raise UnknownNameError(unknown(what, name, known))
    return [list(known).index(name) for name in several(wanted)]
