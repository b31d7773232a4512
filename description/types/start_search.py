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
        Largest change of a coordinate in one step. The unit of angles is rad. Lengths are in m
        (equilibrium) or relative to the mechanism's size (assembly). Newton's method converges only
        locally, so that longer steps may lead to other solutions. With a limit of 0.3 m, an FMU
        rejected a mechanism as unstable, although its rope can lift the load.
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
        Stiffness of the first springs, relative to the stiffness at which the largest force causes a
        step of maximum length.
    most_springs
        Maximum number of trials at one position; 4^60 exceeds any ratio of forces to stiffnesses.
    indifferent
        Smallest stiffness that is not attributed to rounding and finite differences, relative to the
        largest.
    opposed
        Smallest admissible work of the forces at the end of a step, relative to the work predicted at
        its beginning. If the work is smaller, the step is too long (Crisfield 1982).
    loops
        Stiffness of a spring that replaces a loop closure, relative to the stiffness of the
        coordinates. With this ratio, half of the digits remain significant.
    converged
        Largest change of a coordinate in the last step of a converged search, rad, m or a fraction of
        the mechanism's size. The next Newton step would be about the square of this change, which is
        within rounding errors.
    pivot
        Largest pivot of a Cholesky factorisation that is treated as a rounding error, relative to the
        diagonal element before elimination.
    unmoved
        Rounding error of a position, rad or m. Forces are treated as balanced if they move the stiffest
        spring by less than this error.
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
STALLED = 1e-9  # if a step decreases the gap by a smaller fraction, the search has stalled
KEPT = 1e-8  # largest rate of a fulfilled constraint, in its unit per s; relative if the terms exceed 1
BALANCED = 1e-9  # largest residual in equilibrium, relative to the largest force; limited by finite differences
SETTLED = 1e-13  # largest step within rounding errors, relative to the largest coordinate or, if greater, to 1
CLOSE = 1e-6  # if a Newton step is smaller, rad or m, it is taken without a check of the forces
SMALLEST = 1e-12  # largest stiffness or force within rounding errors, relative to the largest one
PATIENCE = 20  # number of recent steps in which the search must make progress
PROGRESS = 0.9  # if the ratio of smallest to largest recent residual exceeds this, the search ends
