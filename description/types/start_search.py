"""Search for the initial state: its stages in order, their limits, and what counts as found.

The start of a run in Python (analysis/start), in native FMUs under changed parameters (fmu/code/start.py and
fmu/sources/evaluation/start.c, whose numbers are generated from here) and the initial equations of the Modelica
source follow these stages. Python finds an equilibrium by differences and null spaces, C by exact derivatives and
multipliers: the arithmetic is theirs, the stages and limits are common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SearchStage:
    """One stage of the search, which begins where the one before ends.

    Attributes
    ----------
    name : str
        Field of `StartDependence` that lists the constraint equations it fulfils.
    found : str
        Words for its result in messages.
    level : int
        0 if it changes positions, 1 for velocities.
    most_steps : int
        Steps after which a search without convergence is given up; 1 for a linear problem.
    longest : float
        Largest change of a coordinate in one step: rad, or part of the mechanism's extent (assembly) or m
        (equilibrium). Newton's method is local: longer steps lead to other branches. With steps of 0.3 m an FMU
        took a load that its rope can lift for unstable.
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
    """Numbers of the steps towards an equilibrium, held by springs on each coordinate (Levenberg 1944).

    Attributes
    ----------
    stiffer : float
        Stiffness of the next springs tried, by that of those before: some thirty cover all that doubles do.
    softest : float
        Stiffness of the first springs, by those that let the largest force move the longest step.
    most_springs : int
        Springs tried at one position: 4^60 is beyond any ratio of forces to stiffnesses.
    indifferent : float
        Stiffness, by the largest, that rounding and differences make of none.
    opposed : float
        Work of the forces at a step's end, by that promised at its begin, from which on the step is too long
        (Crisfield 1982).
    loops : float
        Stiffness of a spring in place of a loop, by that of the coordinates: stiff, with half the digits left.
    converged : float
        Step in rad, m or part of the extent below which Newton's next one is rounding: its square.
    pivot : float
        Pivot of a Cholesky factor, by the numbers that it is the difference of: below it, rounding.
    unmoved : float
        Rounding of a position, rad or m: forces that move the stiffest spring by less are in balance.
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

# ---- Of the search in Python alone: differences and damped steps, which do not converge quadratically -----------

CLOSED = 1e-7  # m and rad: gap of a closed loop; descriptions have 8 digits
RANK = 1e-9  # singular values of loop closures, by the largest: smaller ones are rounding
STALLED = 1e-9  # relative decrease of a gap at which no more is expected
KEPT = 1e-8  # m/s, rad/s or a constraint's unit: rate of a kept one; of fast mechanisms, by the terms of its rate
BALANCED = 1e-9  # force, by the largest that acts, that is left in an equilibrium: accuracy of differences
SETTLED = 1e-13  # step, by the coordinates and at least 1 rad or m, that is rounding
CLOSE = 1e-6  # rad or m: Newton's last step but one, which needs no trial
SMALLEST = 1e-12  # stiffness by the largest, or force by those that act, that is rounding
PATIENCE = 20  # steps: where these hardly reduce the residual, more would not do
PROGRESS = 0.9  # least residual of these steps, by the largest, above which there is no progress
