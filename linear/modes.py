"""Modes of a linear model: eigenfrequency, damping ratio and shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig, schur

from .. import analysis
from ..core.trajectory import Array

Complex = NDArray[np.complex128]
# Each entry of the state matrix A has an assumed rounding error of this value times max(norm of A, 1 per second).
ROUNDING = 1e-14
_RIGID = 1e-6  # A mode is a rigid-body mode if its |λ| is at most this fraction of the largest |λ| of all modes.
# Re λ or Im λ counts as zero if λ minus this fraction of it is numerically still an eigenvalue.
_ON_THE_WAY = 0.618
_TINY = 1e-300  # This lower bound of a denominator keeps the condition number of defective eigenvalues finite.


@dataclass(frozen=True)
class Mode:
    """Mode of a linear model: a real eigenvalue or a complex conjugate pair, with the mode shape.

    Parameters
    ----------
    eigenvalue
        Eigenvalue λ in 1/s with non-negative imaginary part. A real or imaginary part that is only a
        rounding error is replaced by zero.
    shape
        Complex amplitude of each coordinate, rad or m, scaled so that the largest amplitude is 1. The
        motion of the mode is Re(shape·exp(λ t)).
    rigid_body
        Whether the mode is a motion that no force resists. The criterion is |λ| of at most 1e-6 of the
        largest |λ|.
    state
        Name of the state that changes most, for example a friction state or a state of a controller,
        if the mode moves no coordinate. If the mode moves a coordinate, the name is empty.

    Examples
    --------
    >>> import gpmelica as gp
    >>> mode = gp.Mode(complex(-3.0, 4.0), {"rod.angle": 1.0})
    >>> mode.damping, round(mode.frequency, 3), round(mode.damped_frequency, 3)
    (0.6, 0.796, 0.637)
    """

    eigenvalue: complex
    shape: dict[str, complex]
    rigid_body: bool = False
    state: str = ""

    @property
    def frequency(self) -> float:
        """Undamped eigenfrequency ω₀/2π = |λ|/2π in Hz."""
        return abs(self.eigenvalue) / (2 * math.pi)

    @property
    def undamped_frequency(self) -> float:
        """Undamped eigenfrequency ω₀/2π in Hz, an alias of `frequency`."""
        return self.frequency

    @property
    def damping(self) -> float:
        """Damping ratio −Re λ/|λ|, which is negative if the motion grows.

        The ratio is 0 for an undamped motion and for λ = 0, and 1 for a decay without oscillation.
        """
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if self.eigenvalue.real else 0.0

    @property
    def damped_frequency(self) -> float:
        """Damped eigenfrequency ω_d/2π = |Im λ|/2π in Hz; 0 if the motion does not oscillate."""
        return self.eigenvalue.imag / (2 * math.pi)

    @property
    def grows(self) -> bool:
        """Whether the amplitude grows, so that the operating point is unstable."""
        return self.eigenvalue.real > 0.0

    @property
    def time_constant(self) -> float:
        """Time in s in which the amplitude changes by the factor e; infinite for a constant amplitude."""
        rate = abs(self.eigenvalue.real)
        return 1 / rate if rate else math.inf

    def data(self) -> dict[str, Any]:
        """Return the mode as plain data.

        Returns
        -------
        dict
            Values that the module `json` accepts; complex numbers are pairs [real, imaginary].
        """
        return {
            "frequency": self.frequency,
            "undamped_frequency": self.undamped_frequency,
            "damping": self.damping,
            "damped_frequency": self.damped_frequency,
            "rigid_body": self.rigid_body,
            "state": self.state,
            "eigenvalue": [self.eigenvalue.real, self.eigenvalue.imag],
            "shape": {name: [part.real, part.imag] for name, part in self.shape.items()},
        }


def modes(
    A: Array, motion: Array, coordinates: Sequence[str], states: Mapping[str, bool], error: float = ROUNDING
) -> tuple[Mode, ...]:
    """Return all modes of a linear model, sorted by increasing |λ|.

    States without an influence on the coordinates have modes of their own, which move no coordinate.

    Parameters
    ----------
    A : ndarray, shape (k, k)
        State matrix.
    motion : ndarray, shape (n, k)
        Derivatives of n coordinates with respect to the states.
    coordinates : sequence of str
        Names of the n coordinates.
    states : mapping
        Names of the k states, each with a Boolean: true if the state is a rate, with a unit per s.
    error : float
        Error of the elements of A, relative to max(norm of A, 1 per second).
    """
    rates = np.array([*states.values()], dtype=bool)
    A = balanced(A, motion, rates)
    moving = _moving(A, motion)
    values, shapes = _eigen(A[np.ix_(moving, moving)], rates[moving], error)
    free = np.abs(values) <= _RIGID * np.abs(values).max(initial=0.0)
    moved = motion[:, moving] @ shapes
    found = [Mode(complex(v), _shape(moved[:, k], coordinates), bool(free[k])) for k, v in enumerate(values)]
    found += _internal(A[np.ix_(~moving, ~moving)], np.array([*states])[~moving], coordinates, error)
    return tuple(sorted(found, key=lambda mode: (abs(mode.eigenvalue), -mode.eigenvalue.real)))


def scales(A: Array, motion: Array, rates: NDArray[np.bool_]) -> Array:
    """Return the scale of each state, shape (k,): 1 for coordinates and velocities.

    Scales of further states, such as integrals of controllers, contain the units of these states; see
    `analysis.state_scales`.

    Parameters
    ----------
    A, motion : ndarray, shapes (k, k) and (n, k)
        Arguments of `modes`.
    rates : ndarray of bool, shape (k,)
        Whether each state is a rate.
    """
    kinematic = rates | motion.any(axis=0)
    return np.where(kinematic, 1.0, analysis.state_scales(A, rates, kinematic & ~rates))


def balanced(A: Array, motion: Array, rates: NDArray[np.bool_]) -> Array:
    """Return the state matrix for states divided by their `scales`.

    The modes of a mechanism with a controller then do not depend on the unit of mass.
    """
    found = scales(A, motion, rates)
    return A * found / found[:, None]


def _internal(A: Array, states: NDArray[np.str_], coordinates: Sequence[str], error: float) -> list[Mode]:
    """Return the modes of states that influence no coordinate; A is their state matrix, shape (k, k)."""
    values, vectors = _eigen(A, np.zeros(len(A), dtype=bool), error)
    names = states[np.abs(vectors).argmax(axis=0)].tolist() if len(values) else []
    at_rest = dict.fromkeys(coordinates, 0j)
    return [Mode(complex(v), at_rest, state=name) for v, name in zip(values, names, strict=True)]


def free_coordinates(A: Array, motion: Array, found: Sequence[Mode]) -> Array:
    """Return the amplitude with which each coordinate takes part in rigid-body modes, shape (n,), from 0 to 1.

    The eigenvectors alone do not suffice, because a double zero eigenvalue may have one eigenvector. The
    amplitudes are those of the invariant subspace.

    Parameters
    ----------
    A, motion : ndarray, shapes (k, k) and (n, k)
        Arguments of `modes`.
    found : sequence of Mode
        Result of `modes`.
    """
    count = sum(2 if mode.eigenvalue.imag else 1 for mode in found if mode.rigid_body)
    if not count:
        return np.zeros(len(motion))
    moving = _moving(A, motion)
    inner = np.asarray(A[np.ix_(moving, moving)], dtype=np.complex128)
    sizes = np.append(np.sort(np.abs(np.linalg.eigvals(inner))), np.inf)
    limit = (sizes[count - 1] + sizes[count]) / 2
    # SciPy's type stubs require a sorting criterion with two real arguments, even for a complex matrix.
    _, basis, _ = schur(inner, output="complex", sort=lambda value: abs(value) <= limit)  # type: ignore[call-overload]
    return np.asarray(np.linalg.norm(motion[:, moving] @ basis[:, :count], axis=1))


def _moving(A: Array, motion: Array) -> NDArray[np.bool_]:
    """Return a mask, shape (k,), of the states that influence a coordinate directly or through other states."""
    coupled = np.abs(A) > (ROUNDING * max(1.0, float(np.linalg.norm(A, 2))) if len(A) else 0.0)
    moving = motion.any(axis=0)
    for _ in range(len(A)):
        moving = moving | coupled[moving].any(axis=0)
    return np.asarray(moving)


def _eigen(A: Array, rates: NDArray[np.bool_], error: float) -> tuple[Complex, Complex]:
    """Return the eigenvalues with a non-negative imaginary part and their eigenvectors, as columns."""
    if not len(A):
        return np.zeros(0, dtype=complex), np.zeros((0, 0), dtype=complex)
    # The velocities in eigenvectors are scaled to the magnitude of the positions.
    scales = np.where(rates, analysis.fastest_rate(A), 1.0)
    scaled = A * scales / scales[:, None]
    values, left, right = (np.asarray(part, dtype=complex) for part in eig(scaled, left=True, right=True))
    limit = _error(scaled, error)
    values = _without_rounding(scaled, values, _uncertainty(limit, left, right), limit)
    upper = values.imag >= 0
    return values[upper], scales[:, None] * right[:, upper]


def _error(A: Array, relative: float) -> float:
    """Return the norm of the error of the state matrix A, 1/s, from the relative error of its elements."""
    return relative * max(1.0, float(np.linalg.norm(A, 2)))


def _uncertainty(limit: float, left: Complex, right: Complex) -> Array:
    """Return the uncertainty of each eigenvalue due to rounding, 1/s.

    The uncertainty is the error `limit` of the state matrix, 1/s, times a condition number. The condition
    number is 1/|yᴴx| for unit left and right eigenvectors y and x. The condition number is large for
    nearly coincident eigenvalues, such as the double zero of a free motion.
    """
    alike = np.abs(np.sum(left.conj() * right, axis=0))
    return np.asarray(limit / np.maximum(alike, _TINY))


def _without_rounding(A: Array, values: Complex, uncertainty: Array, limit: float) -> Complex:
    """Return the eigenvalues, with each real or imaginary part that is a rounding error set to zero.

    A real or imaginary part is tested if it is not larger than the uncertainty of its eigenvalue. This
    criterion alone is not sufficient: coincident eigenvalues have an infinite uncertainty, so that their
    parts would always be set to zero. The test subtracts most of the tested part from the eigenvalue.
    The part is a rounding error if the result is also an eigenvalue, up to rounding errors.
    """
    found = values.copy()
    for parts, unit in ((values.real, 1.0), (values.imag, 1j)):
        for k in np.flatnonzero((parts != 0.0) & (np.abs(parts) <= uncertainty)):
            if _is_eigenvalue(A, values[k] - _ON_THE_WAY * parts[k] * unit, limit):
                found[k] -= parts[k] * unit
    return found


def _is_eigenvalue(A: Array, value: complex, limit: float) -> bool:
    """Whether a number is an eigenvalue of a matrix that differs from A by an error of norm `limit`."""
    smallest = np.linalg.svd(A - value * np.eye(len(A)), compute_uv=False)[-1]
    return bool(smallest <= limit)


def _shape(moved: Complex, coordinates: Sequence[str]) -> dict[str, complex]:
    largest = moved[int(np.argmax(np.abs(moved)))] if len(moved) else 1.0
    return dict(zip(coordinates, (moved / (largest or 1.0)).tolist(), strict=True))
