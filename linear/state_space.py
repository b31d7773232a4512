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

# A frequency response counts as zero up to this fraction of the largest response with the same unit.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class StateSpace:
    """Linear model of a mechanism about one state: δẋ = drift + A δx + B δu, δy = C δx + D δu.

    Parameters
    ----------
    A
        State matrix, shape (k, k), in the units of the states and s.
    B
        Input matrix, shape (k, m).
    C
        Output matrix, shape (p, k).
    D
        Feedthrough matrix, shape (p, m).
    states
        Names of the k states, such as `column_angle` and `column_angle_dot`.
    inputs
        Names of the m inputs.
    outputs
        Names of the p outputs.
    time
        Time of the operating point, s.
    x
        States at the operating point, shape (k,).
    u
        Inputs at the operating point, shape (m,).
    y
        Outputs at the operating point, shape (p,).
    drift
        Time derivative of the states at the operating point, shape (k,); zero in an equilibrium.
    coordinates
        Names of the mechanism's n coordinates.
    q
        Coordinates at the operating point, rad or m, shape (n,).
    motion
        Derivatives of the coordinates with respect to the states, shape (n, k).
    units
        Unit of each state, input and output, by name.
    notes
        Sentences about the limits of the model's validity, with numbers.

    Examples
    --------
    >>> import gpmelica as gp
    >>> linear = gp.load("examples/four_bar_3d.toml").linearize(equilibrium=True, outputs=["E_x", "E_y"])
    >>> linear
    <StateSpace: 2 states, 0 inputs, 2 outputs at t = 0 s>
    >>> linear.C.shape, linear.select(outputs="E_x").C.shape
    ((2, 2), (1, 2))
    >>> [round(mode.damping, 2) for mode in linear.modes()]
    [0.65]
    >>> linear.to_scipy().A.shape
    (2, 2)
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
        """Return eigenfrequencies, damping ratios and mode shapes, lowest frequency first.

        Returns
        -------
        tuple of Mode
            One mode per real eigenvalue or pair of complex conjugate eigenvalues.
        """
        states = {state: self.units[state].endswith("/s") for state in self.states}
        return modes(self.A, self.motion, self.coordinates, states)

    def frequency_response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Return the frequency response C (iω − A)⁻¹ B + D.

        Parameters
        ----------
        frequencies
            Frequencies ω/2π in Hz, shape (N,).

        Returns
        -------
        ndarray of complex
            Frequency response, shape (p, m, N), in units of output per input. Values that are only rounding
            errors are replaced by zero.
        """
        s = 2j * np.pi * np.asarray(frequencies, dtype=float)[:, None, None]
        states = np.linalg.solve(s * np.eye(len(self.A)) - self.A, self.B[None])
        response = self.C @ states + self.D
        response[np.abs(response) <= _ROUNDING * (np.abs(self.C) @ self._sizes(states))] = 0.0
        return np.asarray(np.moveaxis(response, 0, -1))

    def _sizes(self, states: NDArray[np.complexfloating[Any, Any]]) -> Array:
        """Return the reference magnitude for rounding errors of each state's response, shape (N, k, m).

        There are N frequencies, k states and m inputs.

        The reference magnitude is the largest response among all states with the same unit.
        """
        sizes: Array = np.abs(states)
        units = np.array([self.units[state] for state in self.states])
        for unit in set(units.tolist()):
            sizes[:, units == unit] = sizes[:, units == unit].max(axis=1, keepdims=True)
        return sizes

    def bode(self) -> Figure:
        """Plot amplitude and phase of each output per input over frequency in Hz.

        At most eight pairs of input and output can be plotted. The method `select` returns a model with fewer
        inputs and outputs.

        Returns
        -------
        matplotlib.figure.Figure
            Bode plot.

        Raises
        ------
        DescriptionError
            If the model has no inputs, or more than eight pairs.
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
        """Return the linear model with some inputs and outputs, in the given order.

        Parameters
        ----------
        inputs
            Names of the inputs. Default: all.
        outputs
            Names of the outputs. Default: all.

        Returns
        -------
        StateSpace
            Model with all states and the selected inputs and outputs.

        Raises
        ------
        UnknownNameError
            If the model has no input or output of that name.
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
        """Convert to a state-space model of SciPy, which has no names of signals.

        Returns
        -------
        scipy.signal.StateSpace
            Model with the same matrices.
        """
        from scipy.signal import StateSpace as Scipy

        return Scipy(self.A, self.B, self.C, self.D)

    def to_control(self) -> ControlStateSpace:
        """Convert to a state-space model of python-control with names of signals.

        Returns
        -------
        control.StateSpace
            Model with the same matrices.

        Raises
        ------
        MissingToolError
            If python-control is not installed.
        """
        try:
            from control import ss
        except ImportError:
            raise MissingToolError("to_control requires python-control; run pip install control") from None
        names = {"states": list(self.states), "inputs": list(self.inputs), "outputs": list(self.outputs)}
        return ss(self.A, self.B, self.C, self.D, **names)

    def data(self) -> dict[str, Any]:
        """Return the linear model as plain data.

        Returns
        -------
        dict
            Values that the module `json` accepts; matrices are lists of rows.
        """
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
