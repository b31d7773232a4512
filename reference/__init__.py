"""Independent reference solver: the papers' 4×4 formulas, no code shared with the generator's equations."""

from .assembly import assemble
from .balance import Energy, energy
from .evaluation import closure_wrenches, evaluate, joint_loads
from .friction import friction_efforts
from .gpme import choose_dependent
from .kinematics import poses
from .model import Evaluation, Model
from .modes import Mode, modes
from .reachability import unreachable
from .reactions import Reactions, Verdict, reactions
from .redundancy import Rank
from .signals import rms
from .simulation import simulate
from .solver import Solvability, formulation, solvability
from .statics import equilibrium, start_state
from .target import programmed_target

__all__ = [
    "Energy",
    "Evaluation",
    "Mode",
    "Model",
    "Rank",
    "Reactions",
    "Solvability",
    "Verdict",
    "assemble",
    "choose_dependent",
    "closure_wrenches",
    "energy",
    "equilibrium",
    "evaluate",
    "formulation",
    "friction_efforts",
    "joint_loads",
    "modes",
    "poses",
    "programmed_target",
    "reactions",
    "rms",
    "simulate",
    "solvability",
    "start_state",
    "unreachable",
]
