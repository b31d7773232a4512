"""Modes: eigenvalues of the equations of motion, linearised as a first-order system at one state.

The state is x = (q, q̇, z), or x = (q, q̇_i, z) with `gpme_reduced`. Central differences of ẋ(x)
give the matrix A in ẋ(x + δ) ≈ ẋ(x) + A δ. The equations include the Baumgarte stabilisation of the
constraints, because an integrator solves these equations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from ...core.trajectory import Array
from ...mechanism import signal_names
from ...reference.solve.model import ReferenceModel
from ...reference.solve.solver import InitialValueProblem
from .derivatives import rate_derivatives
from .scaling import state_scales

_ROUNDING = 1e-6  # The real or imaginary part of an eigenvalue λ counts as zero up to this fraction of |λ|.
_RIGID = 1e-6  # A mode is a rigid-body mode if its |λ| is at most this fraction of the largest |λ|.
# The error of finite differences is assumed to be this fraction of the largest entry of the state matrix A.
_UNCERTAIN = 1e-9
_VIOLATING = 0.3  # A mode violates constraints if the constraints forbid more than this fraction of its motion.
# RK4 with step size h is stable for an eigenvalue λ if Re λ ≤ 0 and |h·λ| is at most this value.
_RK4_RADIUS = 2.6156


@dataclass(frozen=True)
class LinearisedMode:
    """Mode of the linearised equations: a real eigenvalue, or a pair of conjugate complex eigenvalues.

    Parameters
    ----------
    eigenvalue : complex
        Eigenvalue with imaginary part ≥ 0, 1/s.
    coordinate : str
        Name of the coordinate with the largest share of the mode's kinetic energy. If the mode moves no
        coordinate, the field contains the name of the friction state or internal state that changes most.
    violating : bool
        Whether the mode violates the constraints. Baumgarte stabilisation adds such modes.
    rigid_body : bool
        Whether no force resists the motion: |λ| is zero up to rounding, or less than 10⁻⁶ of the
        largest |λ|.
    """

    eigenvalue: complex
    coordinate: str
    violating: bool
    rigid_body: bool = False

    @property
    def frequency(self) -> float:
        """Undamped eigenfrequency ω₀/2π = |λ|/2π, Hz."""
        return abs(self.eigenvalue) / (2 * math.pi)

    @property
    def damped_frequency(self) -> float:
        """Damped eigenfrequency ω_d/2π = |Im λ|/2π, Hz; 0 if the motion does not oscillate."""
        return abs(self.eigenvalue.imag) / (2 * math.pi)

    @property
    def time_constant(self) -> float:
        """Time in which the mode decays or grows by the factor e, s; infinite if Re λ = 0."""
        rate = abs(self.eigenvalue.real)
        return 1 / rate if rate else math.inf

    @property
    def longest_rk4_step(self) -> float:
        """Largest step size, s, for which the classical Runge-Kutta method is stable for this mode.

        The mode must decay.
        """
        size = abs(self.eigenvalue)
        return _RK4_RADIUS / size if size else math.inf


def modes(problem: InitialValueProblem) -> tuple[LinearisedMode, ...]:
    """Return all modes of the mechanism in its initial state, sorted by decreasing |λ|.

    The equations are linearised with all friction states equal to zero.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations, which are linearised at the initial state.

    Raises
    ------
    SolveError
        If the Jacobian C_d of the dependent coordinates is singular.
    """
    model, state = problem.model, problem.initial_state
    derivatives = rate_derivatives(problem)
    A = derivatives.by_state[list(derivatives.states)]
    A = _scaled(A, model.mechanism.n, derivatives.states)
    values, left, vectors = (np.asarray(part, dtype=complex) for part in eig(A, left=True))
    weights = np.sqrt(np.diag(model.mass(state.posture)[0]))
    # The rows of this matrix are an orthonormal basis of the mass-weighted velocities that constraints forbid.
    C = model.constraints(state).C
    across = np.asarray(np.linalg.qr((problem.rows.basis(C) @ C / weights).T)[0].T)
    order = np.argsort(-np.abs(values), kind="stable")
    rigid = _rigid(A, values, np.abs(np.sum(left.conj() * vectors, axis=0)))
    return tuple(
        _mode(model, values[k], vectors[:, k], weights, across, bool(rigid[k]))
        for k in order
        if values[k].imag >= 0
    )


def _scaled(A: Array, n: int, states: Sequence[int]) -> Array:
    """Return the state matrix for scaled states; see `scaling.state_scales`.

    The argument `states` contains the index of each state in the vector of the n coordinates, their n rates
    and all other states.
    """
    place = np.array(states, dtype=int)
    scales = state_scales(A, (place >= n) & (place < 2 * n), place < n)
    return A * scales / scales[:, None]


def _rigid(A: Array, values: NDArray[np.complex128], alike: Array) -> NDArray[np.bool_]:
    """Return a mask of the rigid-body modes, shape (size,).

    Parameters
    ----------
    A : ndarray, shape (size, size)
        State matrix for scaled states.
    values : ndarray, shape (size,)
        Eigenvalues.
    alike : ndarray, shape (size,)
        Products |yᴴx| of unit left and right eigenvectors. These products are the reciprocal condition
        numbers of the eigenvalues. The double zero eigenvalue of a free motion is ill-conditioned, so errors
        of A change it strongly.
    """
    sizes = np.abs(values)
    error = _UNCERTAIN * max(1.0, float(np.abs(A).max(initial=0.0)))
    slow = sizes <= _RIGID * sizes.max(initial=0.0)
    return np.asarray(slow | (sizes * alike <= error))


def _mode(
    model: ReferenceModel,
    value: complex,
    vector: NDArray[np.complex128],
    weights: Array,
    across: Array,
    rigid_body: bool,
) -> LinearisedMode:
    n = model.mechanism.n
    motion = weights * vector[:n]
    parts = [0.0 if abs(part) <= _ROUNDING * abs(value) else part for part in (value.real, value.imag)]
    moves = bool(np.linalg.norm(vector[:n]) > _UNCERTAIN * np.linalg.norm(vector))
    names = [c.name for c in model.mechanism.coordinates] if moves else _internal_names(model)
    return LinearisedMode(
        eigenvalue=complex(*parts),
        coordinate=names[int(np.argmax(np.abs(motion if moves else vector[-len(names) :])))],
        violating=moves and bool(np.linalg.norm(across @ motion) > _VIOLATING * np.linalg.norm(motion)),
        rigid_body=moves and rigid_body,
    )


def _internal_names(model: ReferenceModel) -> list[str]:
    """Return the names of the states that are neither coordinates nor rates, in the order of the equations."""
    coordinates = [model.mechanism.coordinates[k] for k in model.friction.coordinates]
    return [*signal_names(coordinates, "bristle"), *model.internal.names]
