"""Stages of the search for the initial state, their limits and convergence criteria.

Python (analysis/start), native FMUs under changed parameters (fmu/code/start.py and
fmu/sources/evaluation/start.c, with numbers generated from this module) and the initial equations of
the Modelica model follow these stages. Python finds an equilibrium by finite differences and null
spaces, the C code by exact derivatives and Lagrange multipliers; stages and limits are common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SearchStage:
    """One stage of the search for the initial state, which continues from the result of the previous stage.

    Attributes
    ----------
    name
        Field of `StartDependence` that lists the constraint equations of the stage.
    found
        Description of the result, for messages.
    level
        0 if the stage changes positions, 1 if it changes velocities.
    most_steps
        Maximum number of steps; 1 for a linear problem.
    longest
        Largest change of a coordinate in one step: rad, or a fraction of the mechanism's size (assembly),
        or m (equilibrium). Newton's method converges locally: longer steps lead to other solutions. With
        steps of 0.3 m, an FMU rejected as unstable a load that its rope can lift.
    """

    name: str
    found: str
    level: int
    most_steps: int
    longest: float


ASSEMBLY = SearchStage("assembly", "position in which the loops are closed", 0, 300, 0.5)
EQUILIBRIUM = SearchStage("equilibrium", "static equilibrium", 0, 200, 0.5)
VELOCITIES = SearchStage("velocities", "velocities that the constraints allow", 1, 1, math.inf)
STAGES = (ASSEMBLY, EQUILIBRIUM, VELOCITIES)


@dataclass(frozen=True)
class DownhillLimits:
    """Limits of the regularised Newton steps towards an equilibrium (Levenberg 1944).

    A spring on each coordinate regularises the stiffness matrix. A stiffer spring shortens the step.

    Attributes
    ----------
    stiffer
        Ratio of the spring stiffness to that of the previous trial. About thirty trials span the range of
        double precision.
    softest
        Stiffness of the first springs, relative to the stiffness at which the largest force moves the
        longest step.
    most_springs
        Maximum number of trials at one position; 4^60 exceeds any ratio of forces to stiffnesses.
    indifferent
        Smallest stiffness that is not attributed to rounding and finite differences, relative to the
        largest.
    opposed
        Work of the forces at the end of a step, relative to the work expected at its beginning, below which
        the step is too long (Crisfield 1982).
    loops
        Stiffness of a spring that replaces a loop closure, relative to the stiffness of the coordinates.
        Half of the digits remain significant.
    converged
        Largest change of a coordinate, rad, m or a fraction of the mechanism's size, in the last step of a
        search. The next Newton step would be about its square, which is within rounding errors.
    pivot
        Largest pivot of a Cholesky factorisation that counts as a rounding error, relative to the diagonal
        element from which the elimination subtracts.
    unmoved
        Rounding error of a position, rad or m. Forces that move the stiffest spring by less are balanced.
    """

    stiffer: float = 4.0
    softest: float = 1e-3
    most_springs: int = 60
    indifferent: float = 1e-9
    opposed: float = -0.5
    loops: float = 1e4
    converged: float = 1e-9
    pivot: float = 1e-12
    unmoved: float = 1e-14


DOWNHILL = DownhillLimits()

# ---- Limits of the search in Python: finite differences and damped steps without quadratic convergence ----------

CLOSED = 1e-7  # largest gap of a closed loop, m or rad; descriptions have about 8 digits
RANK = 1e-9  # smallest significant singular value of the closure Jacobian, relative to the largest
STALLED = 1e-9  # relative decrease of the gap per step below which the search has stalled
KEPT = 1e-8  # largest rate of a fulfilled constraint, in its unit per s, or relative to the terms of the rate
BALANCED = 1e-9  # residual force in equilibrium, relative to the largest force: accuracy of finite differences
SETTLED = 1e-13  # step within rounding errors, relative to the coordinates and at least to 1 rad or m
CLOSE = 1e-6  # size of a Newton step, rad or m, below which the full step is taken without a line search
SMALLEST = 1e-12  # stiffness or force within rounding errors, relative to the largest
PATIENCE = 20  # number of steps without progress after which the search ends
PROGRESS = 0.9  # ratio of the smallest to the largest recent residual above which the search makes no progress
