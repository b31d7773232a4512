"""Stages, limits and convergence criteria of the search for the initial state.

The search is implemented three times: in Python (`analysis/start`), in C for native FMUs, and as
initial equations of the Modelica model. All three share these stages and limits. The C code
(`fmu/sources/evaluation/start.c`) contains numbers that `fmu/code/start.py` generates from this
module.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SearchStage:
    """Stage of the search for the initial state; each stage begins with the result of the previous one.

    Attributes
    ----------
    name
        Field of `StartDependence` that lists the constraint equations of the stage.
    found
        Phrase for the result in messages, such as `static equilibrium`.
    level
        0 if the stage changes positions, 1 if it changes velocities.
    most_steps
        Maximum number of steps; 1 for a linear problem.
    longest
        Largest change of a coordinate in one step. Angles are in rad. Lengths are in m in the search
        for an equilibrium, and relative to the mechanism's size in the assembly. Longer steps may
        converge to other solutions. Shorter steps can fail: with a limit of 0.3 m, a load on a rope was
        wrongly reported as unstable.
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

    An additional spring on each coordinate makes the stiffness matrix positive definite. If a step
    is rejected, the next trial uses a stiffer spring, which gives a shorter step.

    Attributes
    ----------
    stiffer
        Factor by which the spring stiffness increases from one trial to the next. About thirty trials
        span the 16 digits of double precision.
    softest
        Spring stiffness of the second trial; the first trial has no spring. The value is relative to
        the stiffness at which the largest force causes a step of maximum length.
    most_springs
        Maximum number of trials at one position. The stiffness increases by a factor of 4 in each trial,
        so 60 trials cover every ratio of forces to stiffnesses.
    indifferent
        A stiffness counts as zero if its ratio to the largest stiffness is below this limit, because
        finite differences are inexact.
    opposed
        Limit of the ratio of two works along a step: the work of the forces at the end of the step, and
        the work of the forces at its beginning. A ratio below this negative limit means that the final
        forces oppose the step. The step is then rejected as too long (Crisfield 1982).
    loops
        Stiffness of springs that replace loop closures, relative to the stiffness of the coordinates.
        With this value, half of the digits remain significant.
    converged
        The search has converged if no coordinate changes by more than this limit in the last step. The
        unit is rad or m, or the limit is relative to the mechanism's size. Because the convergence is
        quadratic, the next step would be smaller than rounding errors.
    pivot
        A pivot of the Cholesky factorisation counts as zero below this fraction of the diagonal element
        before elimination.
    unmoved
        Rounding error of a position, rad or m. Forces count as balanced if they move the stiffest
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


CLOSED = 1e-7  # largest gap of a closed loop, m or rad; users give about 8 digits
RANK = 1e-9  # singular values of the closure Jacobian below this fraction of the largest one count as zero
STALLED = 1e-9  # the search fails if a step reduces the gap of a loop by less than this fraction
# A velocity residual counts as zero up to KEPT · max(1, sum of |terms|), in constraint units per second.
KEPT = 1e-8
BALANCED = 1e-9  # forces are in equilibrium if their sum is below this fraction of the largest force
SETTLED = 1e-13  # a search ends if its step is below SETTLED · max(1, largest |coordinate|), rad or m
CLOSE = 1e-6  # longest Newton step that is accepted without a check of the forces, rad or m
SMALLEST = 1e-12  # stiffnesses or forces below this fraction of the largest one count as zero
PATIENCE = 20  # number of recent steps whose residuals decide whether a search makes progress
# A search fails if its smallest recent residual exceeds this fraction of its largest recent residual.
PROGRESS = 0.9
