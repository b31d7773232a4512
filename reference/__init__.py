"""Independent reference solver: the papers' 4×4 formulas, no code shared with the generator's equations."""

from .analysis.balance import Course, Energy, course, energy
from .analysis.consistency import start_notes
from .analysis.evaluation import closure_wrenches, evaluate, joint_loads
from .analysis.magnitudes import magnitudes, natural_accelerations
from .analysis.modes import Mode, modes
from .analysis.reachability import unreachable
from .analysis.reactions import Reactions, Verdict, reactions
from .analysis.simulation import simulate
from .analysis.target import programmed_target
from .constraints.redundancy import Rank
from .forces.element import Input, Mark, input_value
from .forces.filters import filter_begins
from .forces.friction import friction_efforts
from .forces.generalised_forces import force_places
from .kinematics.kinematics import poses
from .solve.assembly import assemble
from .solve.conditioning import elsewhere, far_masses, massless
from .solve.gpme import choose_dependent
from .solve.model import Evaluation, Model
from .solve.projection import project
from .solve.residuals import Residuals, residuals, singular_times
from .solve.solver import Solvability, formulation, rank_in, solvability
from .solve.statics import equilibrium, following, free_coordinates, start_state

__all__ = [
    "Course",
    "Energy",
    "Evaluation",
    "Input",
    "Mark",
    "Mode",
    "Model",
    "Rank",
    "Reactions",
    "Residuals",
    "Solvability",
    "Verdict",
    "assemble",
    "choose_dependent",
    "closure_wrenches",
    "course",
    "elsewhere",
    "energy",
    "equilibrium",
    "evaluate",
    "far_masses",
    "filter_begins",
    "following",
    "force_places",
    "formulation",
    "free_coordinates",
    "friction_efforts",
    "input_value",
    "joint_loads",
    "magnitudes",
    "massless",
    "modes",
    "natural_accelerations",
    "poses",
    "programmed_target",
    "project",
    "rank_in",
    "reactions",
    "residuals",
    "simulate",
    "singular_times",
    "solvability",
    "start_notes",
    "start_state",
    "unreachable",
]
