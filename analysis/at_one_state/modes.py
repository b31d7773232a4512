"""Modes: eigenvalues of the equations of motion, linearised as a first-order system at one state.

x = (q, q̇, z), or (q, q̇_i, z) with `gpme_reduced`; ẋ(x + δ) ≈ ẋ(x) + A δ. A comes from central differences of the
reference's own ẋ, what stabilises the constraints included, so that its eigenvalues are what an integrator meets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from ...core.trajectory import Array
from ...reference.integration.events import Events
from ...reference.integration.motion import FormulatedModel
from ...reference.solve.model import ReferenceModel
from ...reference.solve.solver import InitialValueProblem

_DIFFERENCE = 1e-6  # rad or m, and per second
_ROUNDING = 1e-6  # of |λ|: real and imaginary parts below are what the differences leave
_RIGID = 1e-6  # of the largest eigenvalue: below it, a motion counts as one that nothing resists
_UNCERTAIN = 1e-9  # of the largest entry of A: error of the differences
_VIOLATING = 0.3  # of a mode, scaled by kinetic energy: how much of it must lie across the constraints
_RK4_RADIUS = 2.6156  # a half disc in the left half plane with this radius lies in RK4's region of stability


@dataclass(frozen=True)
class LinearisedMode:
    """A real eigenvalue, or a pair of complex ones, of the linearised equations.

    eigenvalue   1/s, imaginary part ≥ 0
    coordinate   name of the coordinate with the largest share of the mode's kinetic energy
    violating    whether it violates the constraints: then it belongs to Baumgarte's stabilisation
    rigid_body   whether nothing resists the motion: |λ| is rounding, or less than 1e-6 of the largest one
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
        """In which it decays, or grows, by the factor e; s, infinite if it does neither."""
        rate = abs(self.eigenvalue.real)
        return 1 / rate if rate else math.inf

    @property
    def longest_rk4_step(self) -> float:
        """s: with this step of the classical Runge–Kutta method the mode, if it decays, does not blow up."""
        size = abs(self.eigenvalue)
        return _RK4_RADIUS / size if size else math.inf


def modes(problem: InitialValueProblem) -> tuple[LinearisedMode, ...]:
    """All modes at t = 0 s, the stiffest one, largest in |λ|, first; friction states are zero.

    problem  equations, linearised at their initial state
    Raises SolveError where C_d is singular.
    """
    model, state = problem.model, problem.initial_state
    motion = FormulatedModel(model, problem.form)
    A = _linearised(motion, motion.states(state.q, state.qd))
    values, left, vectors = (np.asarray(part, dtype=complex) for part in eig(A, left=True))
    weights = np.sqrt(np.diag(model.mass(state.posture)[0]))
    # orthonormal rows that span those of the constraints, shape (m, n)
    across = np.asarray(np.linalg.qr((model.constraints(state).C / weights).T)[0].T)
    order = np.argsort(-np.abs(values), kind="stable")
    rigid = _rigid(A, values, np.abs(np.sum(left.conj() * vectors, axis=0)))
    return tuple(
        _mode(model, values[k], vectors[:, k], weights, across, bool(rigid[k]))
        for k in order
        if values[k].imag >= 0
    )


def _rigid(A: Array, values: NDArray[np.complex128], alike: Array) -> NDArray[np.bool_]:
    """Return which modes are rigid-body modes, shape (size,).

    alike  shape (size,): |yᴴx| of unit left and right eigenvectors, the reciprocal condition of the eigenvalue.
           Differences leave an error in A, which the two zeros of a free motion magnify by their large condition
    """
    sizes = np.abs(values)
    error = _UNCERTAIN * max(1.0, float(np.abs(A).max(initial=0.0)))
    slow = sizes <= _RIGID * sizes.max(initial=0.0)
    return np.asarray(slow | (sizes * alike <= error))


def _linearised(motion: FormulatedModel, x: Array) -> Array:
    """A, shape (size, size), at x, shape (size,)."""
    rate = motion.rate(Events(motion).segment(0.0, x, 0.0))
    shifts = _DIFFERENCE * np.eye(len(x))
    columns = [(rate(0.0, x + shift) - rate(0.0, x - shift)) / (2 * _DIFFERENCE) for shift in shifts]
    return np.array(columns).reshape(len(x), len(x)).T


def _mode(
    model: ReferenceModel,
    value: complex,
    vector: NDArray[np.complex128],
    weights: Array,
    across: Array,
    rigid_body: bool,
) -> LinearisedMode:
    n = model.mechanism.n
    # δq̇ = λ δq, but in a mode of λ ≈ 0 only δq is more than rounding
    motion = weights * max(vector[:n], value * vector[:n], key=np.linalg.norm)
    size = np.linalg.norm(motion)
    parts = [0.0 if abs(part) <= _ROUNDING * abs(value) else part for part in (value.real, value.imag)]
    return LinearisedMode(
        eigenvalue=complex(*parts),
        coordinate=model.mechanism.coordinates[int(np.argmax(np.abs(motion)))].name,
        violating=bool(np.linalg.norm(across @ motion) > _VIOLATING * size),
        rigid_body=rigid_body,
    )
